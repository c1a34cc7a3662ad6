"""A personality learns within bounds, forgets its moods, and never stops anybody."""

import sqlite3
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from silas.context import TokenCounter
from silas.errors import ConfigError, DatabaseError
from silas.persona import PersonaState, TurnSummary
from silas.persona.axes import MOST_DRIFT, calm_mood
from silas.persona.engine import MOST_UNTRUSTED_PER_HOUR, PersonalityEngine
from silas.persona.models import AxisDelta, AxisProfile, MoodState
from silas.persona.state import PersonaEvent
from silas.persona.store import SqlPersonaStore
from silas.types import TaintLevel
from tests.persona.kit import Room


@pytest.fixture
def room(tmp_path: Path) -> Iterator[Room]:
    made = Room(tmp_path)
    yield made
    made.db.close()


def said(text: str, taint: TaintLevel = TaintLevel.owner, outcome: str = "answered") -> TurnSummary:
    return TurnSummary(outcome, text, taint)


async def test_what_the_owner_says_about_tone_stays_and_changes_how_silas_speaks(
    room: Room,
) -> None:
    for _ in range(8):
        await room.engine.after_turn("owner", said("too wordy"))
    state = await room.engine.state("owner")
    assert state.drift.verbosity == pytest.approx(-MOST_DRIFT)
    assert state.baseline_axes.verbosity == pytest.approx(0.0)
    manner = await room.engine.manner("owner", "hello there")
    assert "as few words as carry the meaning" in manner.directives
    room.clock.advance(30 * 24 * 3600)
    assert (await room.engine.state("owner")).drift == state.drift


@pytest.mark.proves("S5.14-UNTRUSTED-LIMITED", "S5.1.4-DRIFT-TRUSTED")
@pytest.mark.parametrize("taint", [TaintLevel.auth, TaintLevel.external])
async def test_feedback_that_the_owner_did_not_sign_never_moves_the_baseline(
    room: Room, taint: TaintLevel
) -> None:
    for text in ("too harsh", "you are too wordy", "thank you", "too formal") * 10:
        await room.engine.after_turn("guest", said(text, taint))
    await room.engine.adjust_axes("guest", {"warmth": 1.0}, trusted=False, persist_to_baseline=True)
    await room.engine.adjust_axes("guest", {"warmth": 1.0}, trusted=False)
    state = await room.engine.state("guest")
    assert (state.drift, state.tuning) == (AxisDelta(), AxisDelta())
    assert state.baseline_axes == room.config.baseline
    kept = await room.engine.events("guest")
    assert len(kept) == MOST_UNTRUSTED_PER_HOUR
    assert all(event.delta_axes == AxisDelta() and not event.trusted for event in kept)
    for name in MoodState.model_fields:
        assert abs(getattr(state.mood, name) - 0.5) <= 0.05 * MOST_UNTRUSTED_PER_HOUR
    room.clock.advance(3601)
    await room.engine.after_turn("guest", said("thank you", taint))
    assert len(await room.engine.events("guest")) == MOST_UNTRUSTED_PER_HOUR + 1


@pytest.mark.proves("S5.14-BOUNDED-DELTAS", "A10-DECAY-PER-HOUR")
def test_a_mood_goes_a_tenth_of_the_way_back_every_hour() -> None:
    angry, neutral = MoodState(frustration=1.0), MoodState()
    assert calm_mood(angry, neutral, 0.10, 1).frustration == pytest.approx(0.95)
    assert calm_mood(angry, neutral, 0.10, 2).frustration == pytest.approx(0.905)
    assert calm_mood(angry, neutral, 0.10, 0) == angry
    assert calm_mood(angry, neutral, 1.0, 1) == neutral
    assert calm_mood(angry, neutral, 0.0, 1000) == angry


@settings(max_examples=50, deadline=None)
@given(
    st.lists(st.sampled_from(["task_completed", "blocked", "compliment", "wild"]), max_size=30),
    st.floats(0, 1),
)
async def test_no_series_of_events_leaves_the_bounds(
    tmp_path_factory: pytest.TempPathFactory, kinds: list[str], rate: float
) -> None:
    wild = {"mood": {"energy": 1.0, "patience": -1.0}, "axes": {"humor": 1.0, "warmth": -1.0}}
    room = Room(
        tmp_path_factory.mktemp("persona"),
        decay_rate_per_hour=rate,
        mood={"event_weights": {"wild": wild, "compliment": wild}},
    )
    for kind in kinds:
        before = await room.engine.state("owner")
        after = await room.engine.apply_event("owner", kind, trusted=True, source="runtime")
        for name in MoodState.model_fields:
            assert abs(getattr(after.mood, name) - getattr(before.mood, name)) <= 0.2 + 1e-9
        for axis in AxisProfile.model_fields:
            step = getattr(after.drift, axis) - getattr(before.drift, axis)
            assert abs(step) <= 0.1 + 1e-9
            assert abs(getattr(after.drift, axis)) <= MOST_DRIFT
        room.clock.advance(60)
    room.db.close()


async def test_decay_is_kept_and_a_clock_set_back_does_nothing(room: Room) -> None:
    await room.engine.apply_event("owner", "ci_failure", trusted=False, source="runtime")
    now = room.clock.now()
    later = await room.engine.decay("owner", now + timedelta(hours=1))
    assert later.mood.frustration == pytest.approx(0.59)
    again = await room.engine.decay("owner", now)
    assert again.mood == later.mood


async def test_a_wish_for_a_while_fades_and_is_bounded(room: Room) -> None:
    state = await room.engine.adjust_axes("owner", {"humor": 0.9}, trusted=True)
    assert state.tuning.humor == 0.5
    room.clock.advance(3600 * 48)
    assert (await room.engine.state("owner")).tuning.humor < 0.01
    with pytest.raises(ConfigError, match="no axis 'charm'"):
        await room.engine.adjust_axes("owner", {"charm": 0.1}, trusted=True)


async def test_the_manner_follows_time_and_whatever_process_moved_it(room: Room) -> None:
    other = PersonalityEngine(
        room.config, SqlPersonaStore(room.db), TokenCounter().count, room.audit, room.clock
    )
    at_first = await room.engine.manner("owner", "Hello.")
    assert await room.engine.manner("owner", "Hello.") == at_first
    await other.adjust_axes("owner", {"initiative": 0.2}, trusted=True)
    wished = await room.engine.manner("owner", "Hello.")
    assert wished.initiative == pytest.approx(at_first.initiative + 0.2)
    room.clock.advance(3600)
    faded = await room.engine.manner("owner", "Hello.")
    assert at_first.initiative < faded.initiative < wished.initiative
    lasting = {"initiative": 0.1}
    await other.adjust_axes("customer-1", lasting, trusted=True, persist_to_baseline=True)
    for hours in (0, 100):
        room.clock.advance(3600 * hours)
        learned = await room.engine.manner("customer-1", "Hello.")
        assert learned.initiative > at_first.initiative
    await other.set_preset("customer-1", next(name for name in other.presets if name != "default"))
    assert await room.engine.manner("customer-1", "Hello.") != learned
    assert await room.engine.manner("customer-2", "Hello.") == at_first


@pytest.mark.proves("S5.1.3-PERSONA-RESTORED")
async def test_presets_are_kept_each_with_its_voice(tmp_path: Path) -> None:
    jarvis = {"formality": 0.95, "voice": {"tone": "unflappable, wry"}}
    room = Room(tmp_path, presets={"jarvis": jarvis})
    assert sorted(room.engine.presets) == ["default", "jarvis"]
    await room.engine.set_preset("owner", "jarvis")
    manner = await room.engine.manner("owner", "good evening")
    assert "unflappable, wry" in manner.directives
    assert (await room.engine.state("owner")).voice.tone == "unflappable, wry"
    assert "unflappable" not in (await room.engine.manner("guest", "good evening")).directives
    with pytest.raises(ConfigError, match="choose one of default, jarvis"):
        await room.engine.set_preset("owner", "hal")
    again = Room(tmp_path, presets={"jarvis": jarvis})
    assert await again.engine.manner("owner", "good evening") == manner
    without = Room(tmp_path)
    await without.engine.manner("owner", "hello")
    assert "unflappable" not in (await without.engine.manner("owner", "hello")).directives


async def test_switched_off_it_is_neutral_and_keeps_nothing(tmp_path: Path) -> None:
    room = Room(tmp_path, enabled=False)
    await room.engine.after_turn("owner", said("too harsh"))
    await room.engine.after_work("owner", "task_completed")
    assert await room.engine.manner("owner", "hi") == ("default", "", 0.5)
    assert await room.store.get_state("owner") is None
    assert await room.engine.events("owner") == []


async def test_a_turn_in_which_nothing_was_said_about_silas_writes_nothing(room: Room) -> None:
    before = room.db.path.with_name("silas.db-wal").stat().st_size
    await room.engine.manner("owner", "list my files")
    await room.engine.after_turn("owner", said("list my files"))
    assert room.db.path.with_name("silas.db-wal").stat().st_size == before
    await room.engine.after_turn("owner", said("urgent: it is down"))
    assert (await room.engine.state("owner")).last_context == "crisis"


@pytest.mark.proves("S5.14-FAILS-TO-NEUTRAL")
async def test_a_personality_that_breaks_leaves_a_neutral_one_and_a_line_in_the_record(
    room: Room,
) -> None:
    await room.engine.set_preset("owner", "chill")
    with room.db.write() as tx:
        tx.driver.execute("UPDATE persona_state SET mood_json = 'broken'")
    manner = await room.engine.manner("owner", "urgent")
    assert (manner.context_key, manner.initiative) == ("default", 0.70)
    assert manner == await room.engine.manner("owner", "hello")
    await room.engine.after_turn("owner", said("too harsh"))
    entries = await room.audit.entries(limit=50)
    assert sum("persona_failed" in entry.body for entry in entries) == 3
    with pytest.raises(DatabaseError):
        await room.engine.state("owner")
    room.db.close()
    assert await room.engine.manner("owner", "urgent") == manner
    await room.engine.after_turn("owner", said("too harsh"))
    await room.engine.after_work("owner", "task_completed")


@pytest.mark.proves("S4.18-PERSONA-STORE", "S5.15-EVENTS-APPEND-ONLY")
async def test_events_and_states_are_kept_by_scope_and_no_event_is_ever_changed(
    room: Room,
) -> None:
    await room.engine.after_turn("owner", said("too harsh"))
    await room.engine.apply_event("guest", "blocked", trusted=False, source="runtime")
    kept = await room.store.list_events("owner")
    assert [(one.event_type, one.trusted, one.source) for one in kept] == [
        ("feedback_too_harsh", True, "owner_feedback")
    ]
    assert kept[0].delta_axes.assertiveness == pytest.approx(-0.05)
    assert (await room.store.get_state("guest")) != (await room.store.get_state("owner"))
    for statement in (
        "UPDATE persona_events SET trusted = 1",
        "DELETE FROM persona_events",
    ):
        with pytest.raises(DatabaseError), room.db.write() as tx:
            tx.driver.execute(statement)
    assert await room.store.list_events("owner") == kept


async def test_a_state_comes_back_as_it_was_kept(room: Room) -> None:
    state = PersonaState(
        scope_id="owner",
        mood=MoodState(energy=0.1),
        active_preset="work",
        last_context="crisis",
        updated_at=room.clock.now(),
        drift=AxisDelta(warmth=0.1),
        tuning=AxisDelta(humor=-0.2),
    )
    await room.store.save_state(state)
    assert await room.store.get_state("owner") == state
    event = PersonaEvent(
        event_id="e", scope_id="owner", event_type="x", trusted=True, source="runtime",
        created_at=room.clock.now(),
    )  # fmt: skip
    await room.store.append_event(event)
    assert await room.store.list_events("owner") == [event]
    with pytest.raises((DatabaseError, sqlite3.Error)):
        await room.store.append_event(event)
