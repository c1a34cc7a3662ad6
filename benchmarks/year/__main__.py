"""A simulated year: `python -m benchmarks.year [DAYS [GOALS [REMINDERS [KILLS [FAILS]]]]]`.

With nothing given a year from 1 November 2027 with 50 goals, 200 reminders, about 100 processes
that are killed somewhere, and 2 of 100 healthy checks that fail: with approvals for one use, with
the standing approvals of goals, and with what Silas proposes of how much it asks accepted. Ends
with 1 where anything is not as it must be.
"""

import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from benchmarks.year.run import Simulation, Year
from benchmarks.year.verify import faults

WHOLE = (366, 50, 200, 100, 2)
KINDS = {
    "with standing approvals": (True, False),
    "and with what Silas proposes accepted": (True, True),
    "with approvals for one use": (False, False),
}
"""What is lived through: whether a goal's approval stands, and whether proposals are accepted."""


def play(
    days: int,
    goals: int,
    reminders: int,
    kills: int,
    fails: int = 2,
    *,
    trust: bool,
    earned: bool = False,
    seed: int = 7,
) -> Year:
    """Live through it once, in a home of its own."""
    with tempfile.TemporaryDirectory(prefix="silas-year-") as home:
        given = Simulation(
            Path(home), seed, days, goals, reminders, kills, fails / 100, trust=trust, earned=earned
        )
        return given.run()


def figures(year: Year, days: int) -> dict[str, float]:
    """What is told of a year."""
    cycles = [one for of_goal in year.cycles.values() for one in of_goal]
    tellings = [one for of_reminder in year.tellings.values() for one in of_reminder]
    started = sum(bool(one.task_id) for one in cycles)
    return {
        "processes": year.lives,
        "killed": year.kills,
        "cycles of goals": len(cycles),
        "moments of goals told as missed": sum(one.missed for one in cycles),
        "healthy cycles": sum(one.outcome.value == "healthy" for one in cycles),
        "works started": started,
        "reminders told": sum(one.told for one in tellings),
        "moments of reminders told as missed": sum(one.missed for one in tellings),
        "told once more as perhaps seen": sum(one.tries > 1 for one in tellings),
        "model calls": year.world.models,
        "model calls in which no work was done": year.stray,
        "entries of the record": year.chain.entries_checked,
        "cards": len(year.world.cards),
        "cards a week": len(year.world.cards) * 7 / days,
        "proposals to widen, accepted": len(year.world.accepted),
    }


def main(arguments: Sequence[str]) -> int:
    given = (*map(int, arguments), *WHOLE[len(arguments) :])
    wrong = 0
    for kind, (trust, earned) in KINDS.items():
        began = time.process_time()
        year = play(*given, trust=trust, earned=earned)
        print(f"\n{kind}")
        for name, value in figures(year, given[0]).items():
            print(f"  {name:44} {value:12,.2f}")
        print(
            f"  {'seconds of processor time':44} {time.process_time() - began:12,.2f}", flush=True
        )
        for fault in faults(year):
            wrong += 1
            print(f"  WRONG: {fault}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
