"""One run of everything: a plan that changes a directory and has an effect outside, approved."""

import tempfile
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Literal, NamedTuple, Self

from silas.cards import Card, PlanCard
from silas.plans import WorkItem, WorkItemResult
from silas.sandbox import SandboxFiles, SandboxLimits, SandboxResult
from silas.testing import CallTool, FakeTool, Harness, MockClock, ScriptedChannel, ScriptedModel
from silas.testing.builders import plan_text
from silas.testing.tools import exit_result
from silas.tools import RiskLevel, ToolConfig, ToolRegistry, ToolResult
from tests.chaos.faults import Faults
from tests.stream.kit import ran, saying_yes
from tests.work.kit import State, state_of

ITEM = "task-example"
Noted = Literal["asked", "approved", "call-approved", "worked", "effect"]
"""What the world outside counts: plans asked and approved, calls approved, work done, effects."""

BEFORE = {"kept.txt": "kept\n", "old.txt": "old\n", "src/code.py": "1\n"}


def work_in(here: Path) -> None:
    """What the plan's script does to its directory; a second time makes no difference."""
    (here / "result.txt").write_text("done\n")
    (here / "src" / "code.py").write_text("2\n")
    (here / "old.txt").unlink(missing_ok=True)
    (here / "new").mkdir(exist_ok=True)
    (here / "new" / "file").write_text("new\n")


def fill(here: Path) -> None:
    """The owner's directory before."""
    here.mkdir()
    for name, text in BEFORE.items():
        (here / name).parent.mkdir(exist_ok=True)
        (here / name).write_text(text)


class Found(NamedTuple):
    """What stands after a restart."""

    item: WorkItem | None
    result: WorkItemResult | None
    waiting: list[WorkItem]


class World:
    """What outlives the process: its home, the owner's directory, and what was noted outside."""

    def __init__(self, base: Path) -> None:
        self.home, self.project = base / "home", base / "project"
        self._noted = base / "noted"
        self.clock = MockClock()

    @classmethod
    def made(cls, base: Path) -> Self:
        """A fresh one; `World(base)` is the same one seen from another process."""
        world = cls(base)
        world.home.mkdir(parents=True)
        fill(world.project)
        work = base / "after"
        fill(work)
        work_in(work)
        return world

    @property
    def before(self) -> State:
        """The owner's directory as it was."""
        with tempfile.TemporaryDirectory() as elsewhere:
            fill(Path(elsewhere) / "before")
            return state_of(Path(elsewhere) / "before")

    @property
    def after(self) -> State:
        """The owner's directory as the plan makes it."""
        return state_of(self.home.parent / "after")

    @property
    def plan(self) -> str:
        """The plan as text, always the same."""
        return plan_text(workspace=str(self.project))

    def note(self, what: Noted) -> None:
        """Something happened outside the process; no crash makes it not have happened."""
        with self._noted.open("a") as file:
            file.write(f"{what}\n")

    def noted(self) -> Counter[str]:
        """How often each of these things happened."""
        return Counter(self._noted.read_text().split() if self._noted.exists() else ())


class WorkingSandbox:
    """Does in the private copy what the script says, and reads there what the check wants."""

    name = "working"

    def __init__(self, world: World, faults: Faults) -> None:
        self._world, self._faults = world, faults

    async def run(
        self, argv: Sequence[str], limits: SandboxLimits, files: SandboxFiles
    ) -> SandboxResult:
        del limits
        self._faults.point("sandbox")
        here = next(mount.source for mount in files.mounts if mount.target == files.cwd)
        if argv[-1] == "work":
            work_in(here)
            self._world.note("worked")
            said = ""
        else:
            result = here / "result.txt"
            said = result.read_text() if result.exists() else ""
        self._faults.point("sandbox")
        return exit_result(0, said)


class Run:
    """One process in that world."""

    def __init__(self, world: World, faults: Faults, *, sends: bool) -> None:
        self.world, self.faults = world, faults
        self.channel = ScriptedChannel(self._answer)
        steps = [CallTool("shell_exec", {"argv": ["work"]}), ran()]
        if sends:
            steps.insert(1, CallTool("send", {"to": "somebody"}))
        self.harness = Harness(
            self.channel,
            models={"executor": ScriptedModel(steps * 3)},
            home=world.home,
            clock=world.clock,
            sandbox=WorkingSandbox(world, faults),
        )

    def _answer(self, card: Card[Any]) -> Any:
        if isinstance(card, PlanCard):
            self.world.note("asked")
        self.faults.point("asked")
        self.world.note("approved" if isinstance(card, PlanCard) else "call-approved")
        self.faults.point("answered")
        return saying_yes(card)

    async def send(self, _: dict[str, Any]) -> ToolResult:
        """The effect outside: it cannot be taken back, and must not happen twice."""
        self.faults.point("effect")
        self.world.note("effect")
        self.faults.point("effect")
        return ToolResult(ok=True, return_value="sent")

    def tools(self, made: Callable[..., ToolRegistry]) -> Callable[..., ToolRegistry]:
        """The built-in tools, and the one that sends."""

        def with_send(*given: Any) -> ToolRegistry:
            registry = made(*given)
            config = ToolConfig(connector_id="outside", risk_default=RiskLevel.medium)
            registry.register(FakeTool("send", self.send), config)
            return registry

        return with_send

    async def first(self) -> None:
        """Propose, approve, run."""
        async with self.harness as h:
            await h.silas.run(self.world.plan)

    async def again(self) -> Found:
        """Start on what is there, let the owner be asked, wait until nothing is under way."""
        async with self.harness as h:
            await h.silas.listen()
            await h.silas.wait_for_work()
            item = await h.store.get(ITEM)
            result = await h.store.get_result(ITEM)
            chain = await h.audit.verify_chain()
            assert chain.valid, chain.reason
            waiting = await h.silas.runs.proposer.waiting()
            return Found(item, result, waiting)
