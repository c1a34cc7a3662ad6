"""A home with one approved-able plan that sleeps until it is told to go on."""

import time
import zlib
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

from silas import Silas, SilasConfig, load_config
from silas.clock import SystemClock
from silas.db import Database
from silas.plans import PlanParser, plan_hash
from silas.services.setup.initialise import initialise
from silas.testing import ScriptedChannel
from tests.support.command import environment, processes_saying, silas
from tests.support.plans import a_workspace, check, sh_plan
from tests.support.waits import SECONDS


def soon(holds: Callable[[], bool], what: str) -> None:
    """Poll something another process does."""
    end = time.monotonic() + SECONDS
    while not holds():
        if time.monotonic() > end:
            raise AssertionError(f"{what} did not happen")
        time.sleep(0.02)


def digest_of(text: str) -> str:
    """What `--approve` takes for a plan."""
    return f"sha256:{plan_hash(PlanParser().parse(text))}"


class Home:
    """A home that is set up, a workspace, and a plan whose step sleeps until `go` exists."""

    def __init__(self, folder: Path) -> None:
        self.env = environment(folder / "home")
        self.config: SilasConfig = load_config(environ=self.env)
        self.work = a_workspace(folder / "work")
        self.signals = folder / "signals"
        self.signals.mkdir()
        self.nap = f"3333.{zlib.crc32(str(folder).encode())}"  # no other test sleeps like this
        self.text = sh_plan(
            f"test -e {self.signals}/go || sleep {self.nap}",
            "cp input.txt result.txt",
            id="task-nap",
            workspace=str(self.work),
            read=[str(self.signals)],
            verify=check("test -s result.txt"),
        )
        self.plan = folder / "plan.md"
        self.plan.write_text(self.text)
        self.hash = digest_of(self.text)

    @classmethod
    async def set_up(cls, folder: Path) -> "Home":
        """One in which `silas init` was done."""
        made = cls(folder)
        await initialise(made.config)
        return made

    def command(self) -> list[str]:
        """Runs the plan as approved."""
        return silas("run", self.plan, "--approve", self.hash)

    def asleep(self) -> bool:
        """Whether the step's process runs."""
        return bool(processes_saying(f"sleep\0{self.nap}"))

    def nobody(self) -> bool:
        """Whether no process of the step is left, the sandbox's own included."""
        return not processes_saying(self.nap)

    def statuses(self) -> list[str]:
        """What the journal of effects says about each call, oldest first."""
        db = Database(self.config.data_dir / "silas.db", SystemClock())
        try:
            with db.read() as tx:
                rows = tx.driver.execute("SELECT status FROM tool_outcomes ORDER BY attempted_at")
                return [str(row[0]) for row in rows]
        finally:
            db.close()

    @asynccontextmanager
    async def reopened(self, *, resume: bool) -> AsyncGenerator[tuple[Silas, ScriptedChannel]]:
        """Silas again, in this process; nobody approves anything any more."""
        channel = ScriptedChannel()
        async with Silas.open(self.config, channel=channel, resume=resume) as silas:
            yield silas, channel
