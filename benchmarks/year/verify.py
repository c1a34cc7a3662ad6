"""What must hold of a year: every due moment exactly once or told as missed, and nothing else."""

import itertools
from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta

from benchmarks.year.planned import START, Due, PlannedGoal, PlannedReminder
from benchmarks.year.run import Window, Year
from silas.goals.models import Cycle
from silas.reminders.models import ReminderTelling

_AGAIN = "You may have seen this"


def faults(year: Year) -> list[str]:
    """Each thing that is not as it must be, in one sentence."""
    found = [*_of_goals(year), *_of_reminders(year)]
    if not year.chain.valid:
        found.append(f"the record does not hold: {year.chain.reason}")
    if year.stray:
        found.append(f"{year.stray} model calls where no work was done and nothing was asked")
    return found


def _of_goals(year: Year) -> Iterator[str]:
    for goal in year.goals:
        cycles = year.cycles[goal.id]
        yield from (f"{goal.id} began at {one.due} and never ended" for one in _open(cycles))
        if goal.due is None:
            yield from _always_on(goal, cycles)
            continue
        covered = Counter(moment for one in cycles for moment in _covered(goal.due, one))
        for moment, times in covered.items():
            if times > 1:
                yield f"{goal.id} ran {times} times for {moment}"
        due = goal.due(START, year.until)
        for moment in sorted(covered.keys() - set(due)):
            yield f"{goal.id} ran for {moment}, when it was not due"
        for moment in due:
            if moment not in covered and not _paused(moment, year.windows[goal.id]):
                yield f"{goal.id} was due at {moment}, and neither ran nor is told as missed"


def _open(cycles: Sequence[Cycle]) -> list[Cycle]:
    return [one for one in cycles if one.ended_at is None]


def _covered(due: Due, cycle: Cycle) -> list[datetime]:
    """The moment of a cycle, and those that it says were missed."""
    if not cycle.missed:
        return [cycle.due]
    later = due(cycle.due, cycle.due + timedelta(days=800))
    return [cycle.due, *later[: cycle.missed]]


def _paused(moment: datetime, windows: Sequence[Window]) -> bool:
    """Whether its owner had paused it, or it had paused itself and said so."""
    return not any(window.begin < moment <= window.end for window in windows)


def _always_on(goal: PlannedGoal, cycles: Sequence[Cycle]) -> Iterator[str]:
    """Five minutes after each end, later only after failures."""
    for before, one in itertools.pairwise(cycles):
        if before.ended_at is None or one.due < before.ended_at + timedelta(minutes=5):
            yield f"{goal.id} ran at {one.due}, less than five minutes after an end"


def _of_reminders(year: Year) -> Iterator[str]:
    plain = Counter(
        text.split("\n")[0] for _, text in year.world.told if _AGAIN not in text
    )  # how often each was said as new
    for one in year.reminders:
        tellings = year.tellings[one.text]
        end = min(year.cancelled.get(one.text, year.until), year.until)
        due = one.due(START, end)
        covered = Counter(moment for telling in tellings for moment in _told(one, telling))
        for moment, times in covered.items():
            if times > 1:
                yield f"{one.text} was told {times} times for {moment}"
        for moment in sorted(covered.keys() - set(due)):
            yield f"{one.text} was told for {moment}, when it was not due"
        for moment in sorted(set(due) - covered.keys()):
            yield f"{one.text} was due at {moment}, and neither told nor told as missed"
        said = plain[f"Reminder: {one.text}"]
        if said > len(tellings):
            yield f"{one.text} was said {said} times as new, for {len(tellings)} moments"


def _told(one: PlannedReminder, telling: ReminderTelling) -> list[datetime]:
    if not telling.told:
        return []
    later = one.due(telling.due, telling.due + timedelta(days=800)) if telling.missed else []
    return [telling.due, *later[: telling.missed]]
