"""Ten thousand changes of one thing each between signing and running: how many of them run.

One plan is proposed, shown, approved and signed in a wired Silas whose sandbox counts what it is
asked to run. Then one thing at a time is changed, the plan is executed, and the change taken back:
a field of the plan, of the token, of the stored row (as it is, or by somebody who computes the
stored bytes and hash anew), what the plan names on the disk, the grants, the skills, the arguments
of a call that was approved by itself, or the plan while the owner reads its card. Between them the
same is executed unchanged, so that a Silas that runs nothing at all is noticed.
"""

import asyncio
import tempfile
from pathlib import Path
from random import Random
from time import perf_counter

from benchmarks.tampering import KINDS, approved

_UNCHANGED = 3  # the agent's command, the check, and a call that was approved by itself
_EVERY = 100  # attacks between two controls


def measure(rounds: int = 10_000) -> dict[str, float]:
    """Make so many attacks, each kind in turn.

    Returns:
        `executions`: commands and calls that ran after a change; anything but 0 is a hole, and
        ends the run. `attacks` and `controls`: how many there were, and how many unchanged plans
        ran in between. `attack_ratio`: how long an attack takes to be refused, against an
        execution of the unchanged plan.
    """
    with tempfile.TemporaryDirectory() as folder:
        return asyncio.run(_measured(Path(folder), rounds))


async def _measured(folder: Path, rounds: int) -> dict[str, float]:
    draw, kinds = Random(20260218), tuple(KINDS)
    executions, controls = 0, 0
    spent = {"attack": 0.0, "control": 0.0}
    async with approved(folder) as house:
        for number in range(rounds):
            if number % _EVERY == 0:
                controls += 1
                begin = perf_counter()
                ran = await house.control()
                spent["control"] += perf_counter() - begin
                assert ran == _UNCHANGED, f"unchanged, {ran} of 3 ran"
            begin = perf_counter()
            attack = await house.attack(kinds[number % len(kinds)], draw)
            spent["attack"] += perf_counter() - begin
            executions += attack.executions
            assert not attack.executions, attack
        assert await house.control() == _UNCHANGED
    return {
        "executions": executions,
        "attacks": rounds,
        "controls": controls + 1,
        "attack_ratio": (spent["attack"] / rounds) / (spent["control"] / controls),
    }


if __name__ == "__main__":
    for name, value in measure().items():
        print(f"{name:20} {value:10.3f}")
