"""A stranger's walk through the cockpit: twenty everyday tasks, and what each of them takes.

`make walk` does each on a phone and on a desktop, in a Chromium with a real server, and writes the
table into docs/cockpit.md: taps, keys, typed texts, and seconds of the machine.
"""

import asyncio
import shutil
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import median

from playwright.async_api import Browser

from tests.support.phone import LOOPBACK
from tests.web.support.chromium import FOUND, HOW, chromium
from tests.web.support.cockpit import Home, a_cockpit
from tests.web.support.device import SIZES, Size, devices
from tests.web.support.walk_tasks import TASKS
from tests.web.support.walker import Effort, Task, Walk, Walker, walked

PAGE = Path(__file__).resolve().parent.parent / "docs" / "cockpit.md"
ROUNDS = 3
BEGINS, ENDS = "<!-- make walk: begins -->\n", "<!-- make walk: ends -->\n"

COUNTED = ("taps", "keys", "typings")

Key = tuple[str, str]
"""A task and its step."""


async def one_walk(browser: Browser, size: Size, tasks: Sequence[Task]) -> dict[Key, Effort]:
    """All of these tasks in one house, which is new."""
    house = Path(tempfile.mkdtemp(prefix="silas-walk-"))
    try:
        home = Home(house)
        home.write_by_hand()
        async with a_cockpit(home, **LOOPBACK) as cockpit, devices(browser) as new:
            device = await new(cockpit.origin, size)
            walker = Walker(device)
            await walker.is_counted()
            await device.pair(await cockpit.link())
            walk = Walk(cockpit, walker, new)
            return {
                (task.name, step.name): await walked(step, walk)
                for task in tasks
                for step in task.steps
            }
    finally:
        shutil.rmtree(house, ignore_errors=True)


def middle(rounds: Sequence[Effort]) -> Effort:
    """What the rounds have in the middle; hands do the same in each."""
    counts = {name: int(median(getattr(one, name) for one in rounds)) for name in COUNTED}
    return Effort(**counts, seconds=median(one.seconds for one in rounds))


def table(found: Mapping[str, Mapping[Key, Effort]]) -> str:
    """The table of the page: a row for each step, for each size taps, keys, typings, seconds."""
    sizes = list(found)
    names = ["taps", "keys", "typed", "s"]
    head = ["", "task", *(f"{size}: {name}" for size in sizes for name in names)]
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    for number, task in enumerate(TASKS, 1):
        for at, step in enumerate(task.steps):
            words = ": ".join(filter(None, (task.name, step.name)))
            cells = [str(number) if at == 0 else "", words]
            for size in sizes:
                one = found[size][task.name, step.name]
                cells += [str(one.taps), str(one.keys), str(one.typings), f"{one.seconds:.1f}"]
            lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def put_into(page: str, rows: str) -> str:
    """The page with these rows in the place of those that it had."""
    before, _, rest = page.partition(BEGINS)
    _, _, after = rest.partition(ENDS)
    return f"{before}{BEGINS}\n{rows}\n{ENDS}{after}"


async def main() -> int:
    """Walk, and write the table."""
    if FOUND is None:
        print(f"No walk: {HOW}", file=sys.stderr)
        return 2
    found: dict[str, dict[Key, Effort]] = {}
    async with chromium() as browser:
        for size in SIZES:
            rounds = [await one_walk(browser, size, TASKS) for _ in range(ROUNDS)]
            found[size.name] = {key: middle([one[key] for one in rounds]) for key in rounds[0]}
            print(f"{size.name}: done", flush=True)
    rows = table(found)
    PAGE.write_text(put_into(PAGE.read_text(encoding="utf-8"), rows), encoding="utf-8")
    print(rows)
    return 0


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))
