"""How much Silas asks changes by a card, a token and its verification, and never by itself."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from silas.autonomy.calibrate import direction_of, knobs, rate_of
from silas.autonomy.models import AutonomyConfig
from silas.autonomy.proposals import (
    PROPOSAL_DAYS,
    AutonomyThresholdProposal,
    threshold_subject,
)
from silas.autonomy.questions import threshold_card
from silas.autonomy.signals import STANDING_FAMILY, Decision, Signal, note_used_up
from silas.autonomy.store import RecordedDecision
from silas.errors import ApprovalError, DatabaseError
from silas.language import speak
from silas.language.calendar import moment_words
from silas.types import OWNER
from tests.autonomy.kit import Rooms

FAMILY = "batch:archive"
YES: tuple[Decision, ...] = ("approved",) * 30
NO: tuple[Decision, ...] = ("declined",) * 30


@pytest.fixture
def rooms(tmp_path: Path) -> Iterator[Rooms]:
    made = Rooms(tmp_path)
    yield made
    made.db.close()


async def proposed(rooms: Rooms, *outcomes: Decision) -> list[AutonomyThresholdProposal]:
    await rooms.decide(FAMILY, *outcomes)
    return await rooms.calibrator.evaluate(OWNER, rooms.clock.now())


@pytest.mark.proves("S0.5.4-WIDENING-BY-CARD", "S15-NEVER-WIDEN")
async def test_few_corrections_lead_to_a_proposal_and_change_nothing(rooms: Rooms) -> None:
    before = rooms.calibrator.in_force(OWNER)
    (made,) = await proposed(rooms, *YES)
    assert [(c.key, c.current_value, c.proposed_value, c.direction) for c in made.changes] == [
        ("batch_review.default_size", "10", "20", "widen"),
        ("batch_review.confidence.high_min", "0.85", "0.8", "widen"),
    ]
    assert (made.sample_size, made.correction_rate, made.risk_level) == (30, 0.0, "high")
    assert rooms.calibrator.in_force(OWNER) == before
    assert rooms.calibrator.waiting(OWNER) == [made]
    await rooms.calibrator.apply(made, "decline")
    assert rooms.calibrator.in_force(OWNER) == before
    assert rooms.calibrator.waiting(OWNER) == []


@pytest.mark.parametrize(
    ("outcomes", "direction"),
    [
        (YES[:29], None),
        (YES, "widen"),
        ((*YES, "declined"), "widen"),
        ((*YES[:27], "undo", "edit_selection", "declined"), None),
        ((*YES[:24], *NO[:6]), "tighten"),
        ((*YES, *("dismissed",) * 20), "widen"),
        ((*YES[:20], *("dismissed",) * 20), None),
    ],
)
async def test_the_rate_of_corrections_decides_and_too_few_decisions_say_nothing(
    rooms: Rooms, outcomes: tuple[Decision, ...], direction: str | None
) -> None:
    made = await proposed(rooms, *outcomes)
    assert [one.changes[0].direction for one in made] == ([direction] if direction else [])


@pytest.mark.proves("S5.1.6-ANTI-RATCHET")
async def test_widening_needs_new_decisions_each_time_stops_at_its_cap_and_goes_back_by_a_tap(
    rooms: Rooms,
) -> None:
    for size in ("20", "40", "50"):
        (made,) = await proposed(rooms, *YES)
        assert await rooms.calibrator.evaluate(OWNER, rooms.clock.now()) == []
        await rooms.calibrator.apply(made, "approve")
        assert rooms.calibrator.in_force(OWNER)["batch_review.default_size"] == size
        assert float(rooms.calibrator.in_force(OWNER)["batch_review.confidence.high_min"]) >= 0.70
        assert await proposed(rooms, *YES[:29]) == []
        rooms.clock.advance(15 * 24 * 3600)
    assert await proposed(rooms, *YES) == []  # everything is at its cap
    rooms.clock.advance(15 * 24 * 3600)
    (back,) = await proposed(rooms, *NO)
    assert back.changes[0].direction == "tighten"
    await rooms.calibrator.apply(back, "tighten_now")
    assert rooms.calibrator.in_force(OWNER)["batch_review.default_size"] == "25"


async def test_a_proposal_to_widen_can_be_answered_by_tightening(rooms: Rooms) -> None:
    (made,) = await proposed(rooms, *YES)
    changed = await rooms.calibrator.apply(made, "tighten_now")
    assert changed == {
        "batch_review.default_size": "5",
        "batch_review.confidence.high_min": "0.9",
    }


@given(st.floats(0, 200), st.sampled_from(["widen", "tighten"]), st.integers(1, 100))
def test_no_step_leaves_the_hard_caps(start: float, direction: Any, times: int) -> None:
    for knob in knobs(AutonomyConfig(), 10, 0.85).values():
        value = start
        for _ in range(times):
            value = knob.step(value, direction)
        assert min(knob.cap, knob.narrowest) <= value <= max(knob.cap, knob.narrowest)


@given(st.lists(st.sampled_from(["approved", "declined", "undo", "edit_selection"]), max_size=60))
def test_widening_and_tightening_never_hold_at_once(outcomes: list[str]) -> None:
    rate = rate_of([RecordedDecision(n, one) for n, one in enumerate(outcomes)])
    found = direction_of(rate, AutonomyConfig())
    assert found is None or len(outcomes) >= 30
    if found == "widen":
        assert rate.value <= 0.05
    if found == "tighten":
        assert rate.value >= 0.20


@pytest.mark.proves("A10-THRESHOLDS-APPROVED", "S5.9-PERSISTENT-NEEDS-APPROVAL")
async def test_without_a_token_that_verifies_nothing_changes(
    rooms: Rooms, monkeypatch: pytest.MonkeyPatch
) -> None:
    (made,) = await proposed(rooms, *YES)
    before = rooms.calibrator.in_force(OWNER)

    async def refuse(*_: object, **__: object) -> None:
        raise ApprovalError("no", code="E_APPROVAL_SUBJECT")

    monkeypatch.setattr(rooms.approval, "require", refuse)
    for decision in ("approve", "tighten_now"):
        with pytest.raises(ApprovalError):
            await rooms.calibrator.apply(made, decision)
    assert rooms.calibrator.in_force(OWNER) == before
    assert rooms.calibrator.waiting(OWNER) == [made]


@pytest.mark.proves("S4.23-APPLIED-ATOMICALLY")
async def test_approved_changes_come_into_force_together_with_their_entry_or_not_at_all(
    rooms: Rooms, monkeypatch: pytest.MonkeyPatch
) -> None:
    (made,) = await proposed(rooms, *YES)
    before = rooms.calibrator.in_force(OWNER)
    real = rooms.audit.log_now

    def broken(event: str, **data: Any) -> str:
        if event == "autonomy_decided":
            raise DatabaseError("full", code="E_DB_OPERATION")
        return real(event, **data)

    monkeypatch.setattr(rooms.audit, "log_now", broken)
    with pytest.raises(DatabaseError):
        await rooms.calibrator.apply(made, "approve")
    assert rooms.calibrator.in_force(OWNER) == before
    monkeypatch.setattr(rooms.audit, "log_now", real)
    changed = await rooms.calibrator.apply(made, "approve")
    assert changed["batch_review.default_size"] == "20"
    entries = [json.loads(entry.body) for entry in await rooms.audit.entries(limit=100)]
    (said,) = [entry["data"] for entry in entries if entry["event"] == "autonomy_decided"]
    assert said["changed"] == [f"{key} = {value}" for key, value in changed.items()]
    used = [entry["event"] for entry in entries]
    assert {"approval.issued", "approval.used"} <= set(used)


@pytest.mark.proves("S3.11-AUTONOMY-BINDING")
@pytest.mark.parametrize(
    "change",
    [
        {"scope_id": "other"},
        {"goal_id": "goal-1"},
        {"sample_size": 31},
        {"correction_rate": 0.01},
        {"evidence_window": "for ever"},
    ],
)
async def test_a_token_binds_the_ordered_changes_and_their_evidence(
    rooms: Rooms, change: dict[str, Any]
) -> None:
    (made,) = await proposed(rooms, *YES)
    digest = threshold_subject(made).digest
    assert threshold_subject(made.model_copy(update=change)).digest != digest
    turned = made.model_copy(update={"changes": made.changes[::-1]})
    assert threshold_subject(turned).digest != digest
    wider = made.changes[0].model_copy(update={"proposed_value": "50"})
    other = made.model_copy(update={"changes": (wider, *made.changes[1:])})
    assert threshold_subject(other).digest != digest


async def test_families_without_a_setting_are_counted_and_nothing_is_proposed(
    rooms: Rooms,
) -> None:
    await rooms.decide("tool:shell_exec", *YES)
    await rooms.decide("plan:coding", *NO)
    assert await rooms.calibrator.evaluate(OWNER, rooms.clock.now()) == []
    assert rooms.store.families(OWNER) == ["plan:coding", "tool:shell_exec"]


@pytest.mark.proves("S18.5-PROPOSALS")
async def test_only_so_many_a_week_and_only_for_the_owner(tmp_path: Path) -> None:
    rooms = Rooms(tmp_path, per_week=1)
    await rooms.decide("batch:archive", *YES)
    await rooms.decide("standing:mail", *YES)
    await note_used_up(rooms.calibrator.record_outcome, "E_APPROVAL_SPENT")
    assert len(await rooms.calibrator.evaluate(OWNER, rooms.clock.now())) == 1
    assert await rooms.calibrator.evaluate(OWNER, rooms.clock.now()) == []
    rooms.clock.advance(8 * 24 * 3600)
    assert len(await rooms.calibrator.evaluate(OWNER, rooms.clock.now())) == 1
    await rooms.decide("batch:archive", *YES, scope="customer-1")
    assert rooms.store.families("customer-1") == []
    assert await rooms.calibrator.evaluate("customer-1", rooms.clock.now()) == []


@pytest.mark.proves("S18.5-LEFT-OUT-ON-RECORD")
async def test_a_proposal_that_a_week_has_no_room_for_is_on_record_once_a_week(
    tmp_path: Path,
) -> None:
    rooms = Rooms(tmp_path, per_week=1)
    await rooms.decide("batch:archive", *YES)
    assert len(await rooms.calibrator.evaluate(OWNER, rooms.clock.now())) == 1
    assert await rooms.calibrator.evaluate(OWNER, rooms.clock.now()) == []
    assert await rooms.left_out() == []  # nothing more was wanted
    await rooms.decide("batch:mail", *YES)
    for _ in range(3):
        assert await rooms.calibrator.evaluate(OWNER, rooms.clock.now()) == []
        assert await rooms.left_out() == [("proposals of autonomy", OWNER)]
    rooms.clock.advance(8 * 24 * 3600)
    assert len(await rooms.calibrator.evaluate(OWNER, rooms.clock.now())) == 1
    assert len(await rooms.left_out()) == 1
    rooms.db.close()


async def test_a_proposal_expires_is_offered_no_more_and_cannot_be_approved(rooms: Rooms) -> None:
    (proposal,) = await proposed(rooms, *YES)
    assert rooms.calibrator.waiting(OWNER) == [proposal]
    zone = ZoneInfo("Europe/Vienna")
    until = moment_words(proposal.expires_at, zone)
    assert f"offered until: {until}" in str(threshold_card(proposal, zone))
    rooms.clock.advance(PROPOSAL_DAYS * 24 * 3600)
    assert rooms.calibrator.waiting(OWNER) == []
    before = rooms.calibrator.in_force(OWNER)
    with pytest.raises(ApprovalError, match="has expired"):
        await rooms.calibrator.apply(proposal, "approve")
    assert rooms.calibrator.in_force(OWNER) == before


WIDENED: dict[str, tuple[tuple[str, ...], list[tuple[str, str, str]]]] = {
    "its uses were spent": (("E_APPROVAL_SPENT",), [("standing.max_executions", "20", "40")]),
    "its time was over": (("E_APPROVAL_EXPIRED",), [("standing.expires_at", "30", "60")]),
    "both": (
        ("E_APPROVAL_SPENT", "E_APPROVAL_EXPIRED"),
        [("standing.max_executions", "20", "40"), ("standing.expires_at", "30", "60")],
    ),
    "it was taken back": (("E_APPROVAL_REVOKED",), []),
    "nothing: no card came": ((), []),
}


@pytest.mark.parametrize("why", WIDENED)
async def test_work_that_was_started_alone_and_went_well_may_go_as_far_as_saves_a_card(
    rooms: Rooms, why: str
) -> None:
    codes, wider = WIDENED[why]
    for _ in range(30):
        await rooms.calibrator.record_outcome(Signal(STANDING_FAMILY, "approved"))
    for code in codes:
        await note_used_up(rooms.calibrator.record_outcome, code)
    proposals = await rooms.calibrator.evaluate(OWNER, rooms.clock.now())
    assert [
        (change.key, change.current_value, change.proposed_value)
        for proposal in proposals
        for change in proposal.changes
    ] == wider


async def test_an_approval_is_never_made_longer_than_the_cap(rooms: Rooms) -> None:
    for value in ("60", "90"):
        for _ in range(30):
            await rooms.calibrator.record_outcome(Signal(STANDING_FAMILY, "approved"))
        await note_used_up(rooms.calibrator.record_outcome, "E_APPROVAL_EXPIRED")
        (proposal,) = await rooms.calibrator.evaluate(OWNER, rooms.clock.now())
        assert await rooms.calibrator.apply(proposal, "approve") == {"standing.expires_at": value}
        rooms.clock.advance(8 * 24 * 3600)
    for _ in range(30):
        await rooms.calibrator.record_outcome(Signal(STANDING_FAMILY, "approved"))
    await note_used_up(rooms.calibrator.record_outcome, "E_APPROVAL_EXPIRED")
    assert await rooms.calibrator.evaluate(OWNER, rooms.clock.now()) == []


async def test_a_proposal_says_what_each_setting_is_and_why_in_the_owners_language(
    rooms: Rooms,
) -> None:
    zone = ZoneInfo("Europe/Vienna")
    for _ in range(30):
        await rooms.calibrator.record_outcome(Signal(STANDING_FAMILY, "approved"))
    await note_used_up(rooms.calibrator.record_outcome, "E_APPROVAL_SPENT")
    (proposal,) = await rooms.calibrator.evaluate(OWNER, rooms.clock.now())
    card = threshold_card(proposal, zone)
    assert card.affected == "1 setting"
    assert card.rationale == (
        "Of 30 decisions about work that goals started you corrected 0; Silas could ask less."
    )
    assert card.details[0].lines == (
        "how often one yes to a goal starts work: 20 -> 40 (`standing.max_executions`)",
    )
    speak("de")
    try:
        card = threshold_card(proposal, zone)
    finally:
        speak("en")
    assert card.affected == "1 Einstellung"
    assert card.rationale == (
        "Von 30 Entscheidungen über von Zielen begonnene Arbeit hast du 0 berichtigt; "
        "Silas könnte weniger fragen."
    )
    assert card.details[0].lines[0].startswith("wie oft ein Ja zu einem Ziel Arbeit beginnt: 20 ")
    assert card.details[1].lines[0].startswith("Zeitraum: die letzten 30 Entscheidungen in ")
