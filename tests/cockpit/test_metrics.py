"""Fatigue and the measures of spec 0.5.6: tables, and through the audit of a whole Silas."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from silas.approval.cadence import ENOUGH, TOO_MANY, WINDOW, AttentionCue, Cadence
from silas.audit.reader import AuditReader, ReadEntry
from silas.channels.web.fatigue import FatigueWatch
from silas.channels.web.metrics import MetricWindow
from silas.types import Risk
from tests.cockpit.house import House, a_house

NOW = datetime(2026, 11, 22, tzinfo=UTC)
MEDIUM, HIGH, LOW = Risk.medium, Risk.high, Risk.low


@pytest.mark.parametrize(
    ("seconds", "risk", "waiting", "cue"),
    [
        ([], MEDIUM, [], AttentionCue.none),
        ([0.4] * (ENOUGH - 1), MEDIUM, [], AttentionCue.none),
        ([0.4] * ENOUGH, MEDIUM, [], AttentionCue.cadence),
        ([0.4] * ENOUGH, HIGH, [], AttentionCue.cadence),
        ([0.4] * ENOUGH, LOW, [], AttentionCue.none),
        ([1.0] * ENOUGH, MEDIUM, [], AttentionCue.none),
        ([0.4, 0.4, 5.0, 5.0, 5.0], MEDIUM, [], AttentionCue.none),
        ([0.4, 0.4, 0.4, 5.0, 5.0], MEDIUM, [], AttentionCue.cadence),
        ([9.0] * WINDOW + [0.4] * ENOUGH, MEDIUM, [], AttentionCue.none),
        ([9.0] * WINDOW + [0.4] * (ENOUGH + 1), MEDIUM, [], AttentionCue.cadence),
        ([], MEDIUM, [MEDIUM] * TOO_MANY, AttentionCue.none),
        ([], MEDIUM, [MEDIUM] * (TOO_MANY + 1), AttentionCue.density),
        ([], MEDIUM, [LOW] * 50, AttentionCue.none),
        ([], MEDIUM, [HIGH] * 3 + [MEDIUM] * 3 + [LOW], AttentionCue.density),
        ([0.4] * ENOUGH, MEDIUM, [MEDIUM] * 9, AttentionCue.cadence),
    ],
)
def test_the_cue_is_for_habits_of_speed_and_for_piles(
    seconds: list[float], risk: Risk, waiting: list[Risk], cue: AttentionCue
) -> None:
    cadence = Cadence()
    for one in seconds:
        cadence = cadence.after(risk, one)
    assert cadence.cue(waiting) is cue


def _told(seq: int, event: str, days: float = 0, **data: Any) -> ReadEntry:
    return ReadEntry(seq, NOW - timedelta(days=days), event, data)


def _answers(count: int, **data: Any) -> list[ReadEntry]:
    return [_told(n, "card_answered", **data) for n in range(1, count + 1)]


def _measured(entries: list[ReadEntry]) -> dict[str, Any]:
    tally = MetricWindow()
    tally.add(one._replace(seq=seq) for seq, one in enumerate(entries, 1))
    return {one.name: one for one in tally.metrics(NOW)}


@pytest.mark.parametrize(
    ("name", "entries", "value", "state"),
    [
        ("decision_time_medium", _answers(4, risk="medium", seconds=9), None, "none"),
        ("decision_time_medium", _answers(5, risk="medium", seconds=9), 9, "good"),
        ("decision_time_medium", _answers(5, risk="medium", seconds=0.5), 0.5, "watch"),
        ("decision_time_medium", _answers(5, risk="medium", seconds=31), 31, "watch"),
        ("decision_time_low", _answers(5, risk="low", seconds=3), 3, "good"),
        ("decision_time_low", _answers(5, risk="medium", seconds=3), None, "none"),
        ("decision_time_low", _answers(5, risk="low", seconds="fast"), None, "none"),
        ("taps_per_batch", _answers(2, kind="batch_review", taps=2), 2, "good"),
        ("taps_per_batch", _answers(2, kind="batch_review", taps=4), 4, "watch"),
        ("taps_per_batch", _answers(2, kind="approval_request", taps=4), None, "none"),
        ("decline_rate", _answers(9, role="decline"), None, "none"),
        ("decline_rate", _answers(10, role="recommended"), 0, "watch"),
        ("decline_rate", [*_answers(9), *_answers(1, role="decline")], 10, "good"),
        ("decline_rate", [*_answers(6), *_answers(4, verdict="declined")], 40, "watch"),
        ("correction_rate", _answers(10, verdict="approved"), 0, "good"),
        ("correction_rate", [*_answers(8), *_answers(2, verdict="edit_requested")], 20, "watch"),
        ("freetext_rate", [*_answers(7), *_answers(3, freetext=True)], 30, "watch"),
        ("freetext_rate", _answers(10, freetext=False), 0, "good"),
        ("undo_rate", [_told(n, "workspace_applied") for n in range(4)], None, "none"),
        ("undo_rate", [_told(n, "workspace_applied") for n in range(5)], 0, "good"),
        (
            "undo_rate",
            [*(_told(n, "workspace_applied") for n in range(5)), _told(9, "workspace_undone")],
            20,
            "watch",
        ),
        ("fatigue_triggers", [], None, "none"),
        ("fatigue_triggers", _answers(1), 0, "good"),
        ("fatigue_triggers", [*_answers(1), _told(2, "fatigue_cue")], 1, "watch"),
        ("fatigue_triggers", [*_answers(1), _told(2, "fatigue_cue", days=8)], 0, "good"),
        (
            "decision_time_low",
            [_told(n, "card_answered", 31, risk="low", seconds=3) for n in range(5)],
            None,
            "none",
        ),
    ],
)
def test_each_measure_is_a_number_where_there_is_enough_and_says_so_where_not(
    name: str, entries: list[ReadEntry], value: float | None, state: str
) -> None:
    metric = _measured(entries)[name]
    assert (metric.value, metric.state) == (value, state)
    assert metric.words.endswith(".")
    assert ("Not enough yet" in metric.words) is (state == "none")


async def _answer(attention: FatigueWatch, seconds: float, **given: Any) -> Any:
    usual: dict[str, Any] = {
        "kind": "approval_request",
        "risk": MEDIUM,
        "seconds": seconds,
        "answer": "Approve and run once",
        "role": "recommended",
        "verdict": "approved",
        "device": "a phone",
    }
    return await attention.record_answer(**{**usual, **given})


@pytest.mark.proves("S0.5.4-ATTENTION-CUES", "S0.5.4-NO-THROTTLING")
async def test_answers_that_come_too_fast_are_told_once_and_hold_nobody_up() -> None:
    async with a_house() as house:
        attention = FatigueWatch(house.harness.audit)
        cues = [await _answer(attention, 0.2) for _ in range(7)]
        assert [cue.kind if cue else None for cue in cues] == [None] * 4 + ["cadence", None, None]
        slow = [await _answer(attention, 9) for _ in range(9)]
        assert [cue.kind for cue in slow if cue] == ["none"]
        metrics = await _metrics(house)
        assert metrics["fatigue_triggers"]["value"] == 1
        assert metrics["decision_time_medium"]["value"] == 9
        await _answer(attention, 9, role="decline", verdict="declined")
        again = await _metrics(house)
    assert again["decline_rate"]["value"] == round(100 / 17, 1)


async def test_a_pile_of_questions_is_told_and_its_end_too() -> None:
    async with a_house() as house:
        attention = FatigueWatch(house.harness.audit)
        assert (await attention.find_cue([HIGH] * 6)).kind == "density"  # pyright: ignore[reportOptionalMemberAccess] - there is one
        assert await attention.find_cue([HIGH] * 7) is None
        assert (await attention.find_cue([])).kind == "none"  # pyright: ignore[reportOptionalMemberAccess] - there is one


async def _metrics(house: House) -> dict[str, Any]:
    return {one["name"]: one for one in await house.get("/metrics/ux")}


@pytest.mark.proves("S0.5.6-LOCAL-METRICS")
async def test_the_measures_look_at_each_entry_once(monkeypatch: pytest.MonkeyPatch) -> None:
    async with a_house() as house:
        seen: list[int] = []
        since = AuditReader.since

        def counted(reader: AuditReader, seq: int, events: Any) -> Any:
            seen.append(seq)
            return since(reader, seq, events)

        monkeypatch.setattr(AuditReader, "since", counted)
        attention = FatigueWatch(house.harness.audit)
        await _answer(attention, 3)
        await _metrics(house)
        await _answer(attention, 3)
        metrics = await _metrics(house)
        assert await _metrics(house) == metrics
        newest = AuditReader(house.parts.db).newest()
    assert seen[0] == 0
    assert 0 < seen[1] < newest
    assert seen[2] == newest
    assert "2 of 10 answers" in metrics["decline_rate"]["words"]
