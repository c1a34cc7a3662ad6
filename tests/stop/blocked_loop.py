"""A program that runs a plan and blocks its own event loop while a tool runs; see the tests."""

import asyncio
import sys
from pathlib import Path
from typing import Any

from silas import Silas, load_config
from silas.cards import PlanAnswer
from silas.testing import ScriptedChannel

plan, sign, release = map(Path, sys.argv[1:])


def approve(card: Any) -> Any:
    return PlanAnswer(verdict="approved")


async def main() -> None:
    async with Silas.open(load_config(), channel=ScriptedChannel(approve)) as silas:
        work = asyncio.create_task(silas.run(plan.read_text()))
        while not sign.exists():  # the tool says that it runs
            await asyncio.sleep(0.01)
        while not release.exists():
            pass
        result = await work
        print(result.status.value, "-", result.summary)


asyncio.run(main())
