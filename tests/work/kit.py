"""A wired Silas whose executor plays a script, and shorthands for what tests of work say often."""

import json
import os
import stat
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from silas.agents import ExecutorAgentOutput
from silas.audit.log import AuditLog
from silas.cards import Card, GateCard, PlanAnswer, PlanCard, ToolCallCard
from silas.plans import WorkItem, WorkItemResult, subject_of
from silas.sandbox import Sandbox
from silas.testing import CallTool, Harness, MockClock, ScriptedChannel, ScriptedModel, a_plan
from silas.testing.approval import a_decision
from silas.testing.models import Step
from silas.work.models import ProgressEvent

DONE = ExecutorAgentOutput(summary="Did it.")


def sh(script: str) -> CallTool:
    """A call that runs a shell script in the workspace."""
    return CallTool("shell_exec", {"argv": ["sh", "-c", script]})


def argv(*words: str) -> CallTool:
    """A call of one program."""
    return CallTool("shell_exec", {"argv": list(words)})


EVERYTHING = sh(
    "echo done > result.txt; rm binary; chmod 700 run.sh; mkdir new; echo n > new/file;"
    " rm -r src/empty; ln -sf run.sh link; rm src/old.py; mkdir src/old.py"
)
"""Every kind of change at once, to what the `project` fixture holds."""

State = dict[str, tuple[str, int, bytes]]


def state_of(root: Path) -> State:
    """Every path below with its kind, permissions and content."""

    def one(path: Path) -> tuple[str, int, bytes]:
        facts = path.lstat()
        if path.is_symlink():
            return "link", 0, os.fsencode(os.readlink(path))
        kind = "dir" if path.is_dir() else "file"
        content = path.read_bytes() if kind == "file" else b""
        return kind, stat.S_IMODE(facts.st_mode), content

    return {str(path.relative_to(root)): one(path) for path in sorted(root.rglob("*"))}


def owner(*, plan: bool = True, gate: bool = False, call: bool = False) -> ScriptedChannel:
    """An owner who says yes to these kinds of cards, and the safe answer to all others."""

    def answer(card: Card[Any]) -> Any:
        if isinstance(card, PlanCard):
            return PlanAnswer(verdict="approved") if plan else card.safe
        if isinstance(card, GateCard):
            return "approve" if gate else card.safe
        if isinstance(card, ToolCallCard):
            return "approve" if call else card.safe
        return card.safe

    return ScriptedChannel(answer)


@asynccontextmanager
async def at_work(
    *steps: Step,
    channel: ScriptedChannel | None = None,
    planner: ScriptedModel | None = None,
    model: type[ScriptedModel] = ScriptedModel,
    tokens: tuple[int, int] = (0, 0),
    cost_usd: str = "0",
    settings: Mapping[str, Any] | None = None,
    sandbox: Sandbox | None = None,
    clock: MockClock | None = None,
    home: Path | None = None,
) -> "AsyncGenerator[Work]":
    """A Silas whose executor model plays these steps; the owner approves plans and nothing else."""
    executor = model(steps, tokens=tokens, cost_usd=cost_usd)
    planned = planner or ScriptedModel([])
    harness = Harness(
        channel or owner(),
        models={"executor": executor, "planner": planned},
        settings=settings,
        sandbox=sandbox,
        clock=clock,
        home=home,
    )
    async with harness:
        yield Work(harness, executor, planned)


class Work:
    """The wired Silas, its models, and what they were told."""

    def __init__(self, harness: Harness, executor: ScriptedModel, planner: ScriptedModel) -> None:
        self.harness = harness
        self.silas = harness.silas
        self.executor = executor
        self.planner = planner
        self.told: list[ProgressEvent] = []

    async def notify(self, event: ProgressEvent) -> None:
        """Remember what was told."""
        self.told.append(event)

    async def approve(self, item: WorkItem) -> WorkItem:
        """Give an item a signed token with its one use spent, as the Stream does."""
        approval = self.silas.approval
        token = await approval.issue_token(subject_of(item), a_decision())
        assert await approval.verify(token, subject_of(item))
        item.approval_token = token
        await self.silas.store.save(item)
        return item

    async def run(self, **plan: Any) -> WorkItemResult:
        """Approve a plan and execute it to its end."""
        return await self.execute(await self.approve(a_plan(**plan)))

    async def execute(self, item: WorkItem) -> WorkItemResult:
        """Execute as it is."""
        return await self.silas.executor.execute(item, self.notify)

    async def stored(self, work_item_id: str = "task-example") -> WorkItem:
        """The item as it is kept."""
        item = await self.silas.store.get(work_item_id)
        assert item is not None
        return item

    async def events(self) -> list[str]:
        """The names of everything recorded, in order."""
        return [event for event, _ in await self.record()]

    async def record(self, event: str = "") -> list[tuple[str, dict[str, Any]]]:
        """What was recorded, or only the entries of one event."""
        audit = self.harness.audit
        assert isinstance(audit, AuditLog)
        bodies = [json.loads(entry.body) for entry in await audit.entries(0, 10_000)]
        return [(b["event"], b["data"]) for b in bodies if event in ("", b["event"])]

    def briefing(self, number: int) -> str:
        """What the executor was first told in one of its requests, counted from 0."""
        return self.executor.requests[number].text


def scratch(work: Work) -> list[Path]:
    place = work.harness.config.data_dir / "scratch"
    return list(place.iterdir()) if place.exists() else []
