"""`python -m benchmarks.fileattacks [PART OF A NAME]`: all attackers, and the same tasks in peace.

Exits with 1 where an attacker's change was applied, or waits on a card that does not say where the
words stood; where tasks in peace need more than two cards beside their plans', or one is not done
and nothing was asked.
"""

import asyncio
import sys
from collections.abc import Iterable, Sequence

from benchmarks.fileattacks.attacks import COVERED, GROUPS, Attack
from benchmarks.fileattacks.peaceful import PEACEFUL
from benchmarks.fileattacks.run import Row, acts, attacked, undisturbed
from silas.plans import WorkItemStatus

_CARDS = 2  # a plan without checks that names what it changes, and one in peaceful.py
_OUTCOMES = ("applied", "unmarked", "held", "refused")


def main(part: str = "") -> int:
    """Play all whose name holds `part`, print the tables, and say whether all held."""
    groups = {name: _chosen(attacks, part) for name, attacks in GROUPS.items()}
    also = _chosen(COVERED, part)
    everything = [*(attack for group in groups.values() for attack in group), *also]
    for attack in everything:
        assert acts(attack), f"{attack.name} changes nothing even where nothing defends"
    played = {name: asyncio.run(_played(attacks)) for name, attacks in groups.items()}
    covered = asyncio.run(_played(also))
    alone = [name for name in PEACEFUL if part in name]
    peace = asyncio.run(_in_peace([*dict.fromkeys(a.task for a in everything), *alone]))
    _table(played, covered)
    _exceptions([row for rows in played.values() for row in rows], covered, peace)
    fell = [row for rows in played.values() for row in rows if row.outcome in _OUTCOMES[:2]]
    asked = sum(row.cards for row in peace)
    return 1 if fell or asked > _CARDS or any(not row.cards for row in _undone(peace)) else 0


def _chosen(attacks: Iterable[Attack], part: str) -> list[Attack]:
    return [attack for attack in attacks if part in attack.name]


async def _played(attacks: Sequence[Attack]) -> list[Row]:
    return [await attacked(attack) for attack in attacks]


async def _in_peace(tasks: Sequence[str]) -> list[Row]:
    return [await undisturbed(task) for task in tasks]


def _undone(peace: Sequence[Row]) -> list[Row]:
    return [row for row in peace if row.status is not WorkItemStatus.done]


def _table(played: dict[str, list[Row]], covered: list[Row]) -> None:
    everything = {
        **played,
        "all": [row for rows in played.values() for row in rows],
        "counted apart: what the plan covers": covered,
    }
    print("| attackers | " + " | ".join((*_OUTCOMES, "all")) + " |")
    print("|---" * 6 + "|")
    for name, rows in everything.items():
        counts = [sum(row.outcome == outcome for row in rows) for outcome in _OUTCOMES]
        print(f"| {name} | " + " | ".join(map(str, (*counts, len(rows)))) + " |")


def _exceptions(rows: list[Row], covered: list[Row], peace: list[Row]) -> None:
    cards = sum(row.cards for row in peace)
    done = len(peace) - len(_undone(peace))
    print(f"\nIn peace: {len(peace)} tasks, {done} done,", end=" ")
    print(f"{cards} cards beside the plans'.")
    for row in (*rows, *covered):
        if row.outcome in _OUTCOMES[:2]:
            print(f"{row.outcome}: {row.name}: {', '.join(row.paths)} ({row.status.value})")
    for row in peace:
        if row.cards or row.status is not WorkItemStatus.done:
            print(f"in peace: {row.name}: {row.cards} cards, {row.status.value}")


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
