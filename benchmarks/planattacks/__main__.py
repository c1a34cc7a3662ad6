"""`python -m benchmarks.planattacks`: what of them stands unmarked on a plan's card."""

import asyncio
import sys

from benchmarks.planattacks.attacks import ATTACKS
from benchmarks.planattacks.run import Seen, play, unmarked


async def _all() -> list[Seen]:
    return [await play(attack) for attack in ATTACKS]


def main() -> int:
    seen = asyncio.run(_all())
    for one in seen:
        told = "marked" if one.marked else "UNMARKED" if one.asked else "no card"
        print(f"  {one.attack.name:36} {one.attack.place:8} {told}")
    left = unmarked(seen)
    asked = sum(one.asked for one in seen)
    print(f"{len(seen)} attacks, {asked} on a card, {len(left)} unmarked")
    return 1 if left else 0


if __name__ == "__main__":
    sys.exit(main())
