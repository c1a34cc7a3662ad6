"""A signed plan and somebody who changes one thing before it runs, whatever that is."""

from collections.abc import AsyncGenerator, Awaitable, Callable, Generator, Sequence
from contextlib import ExitStack, asynccontextmanager, contextmanager, suppress
from pathlib import Path
from random import Random
from typing import Any, NamedTuple, cast
from unittest.mock import patch

from pydantic import ValidationError

from benchmarks.disk_changes import CHANGES
from benchmarks.one_change import one_change
from silas.agents import ExecutorAgentOutput
from silas.approval import ApprovalDecision, ApprovalToken, ApprovalVerdict
from silas.canonical import canonical_json
from silas.cards import Card, PlanAnswer, PlanCard
from silas.errors import SilasError
from silas.plans import WorkItem, plan_bytes
from silas.plans.binding import Grants, PlanBinding
from silas.plans.store import SqlWorkItemStore
from silas.plans.subject import PLAN_FIELDS, SCOPE_FIELDS
from silas.sandbox import SandboxFiles, SandboxLimits
from silas.skills import SkillText
from silas.testing import (
    CallTool,
    FakeSandbox,
    FakeTool,
    Harness,
    ScriptedChannel,
    ScriptedModel,
    a_plan,
)
from silas.testing.tools import MemoryOutcomeStore, exit_result
from silas.tools import AutonomyLevel, RiskLevel, ToolCallContext, ToolConfig, validated_call
from silas.tools.pending_call import AskReason, PendingCall
from silas.types import OWNER
from silas.work.authority.grant_uses import RunGrants
from silas.work.authority.task_authority import TaskAuthority
from silas.work.models import ProgressEvent

_CALL = {"to": "anna", "text": "The report is ready.", "env": "LANG=C.UTF-8"}
_STORED = (*PLAN_FIELDS, *SCOPE_FIELDS, "approval_token", "plan_bytes", "plan_hash")


class Installed:
    """Skills whose files the attacker may write."""

    def __init__(self) -> None:
        self.files = {"excel/SKILL.md": "1" * 64, "excel/scripts/read.py": "2" * 64}

    def catalogue(self) -> dict[str, str]:
        """One."""
        return {"excel": "Reads tables."}

    def metadata(self, names: Sequence[str]) -> tuple[str, ...]:
        """As installed."""
        return tuple(f"{name}: Reads tables." for name in names)

    def instructions(self, names: Sequence[str]) -> tuple[SkillText, ...]:
        """As installed."""
        return tuple(SkillText(name, "Read.", self.files[f"{name}/SKILL.md"]) for name in names)

    def digests(self, names: Sequence[str]) -> dict[str, str]:
        """Of the files as they are now."""
        return dict(self.files) if "excel" in names else {}

    def missing(self, names: Sequence[str]) -> tuple[str, ...]:
        """All but the one."""
        return tuple(name for name in names if name != "excel")


class Owner:
    """Approves every plan, while somebody may be at work behind his back."""

    behind: Callable[[], None] = staticmethod(lambda: None)

    def __call__(self, card: Card[Any]) -> Any:
        """Yes to plans, the safe answer to everything else."""
        if not isinstance(card, PlanCard):
            return card.safe
        self.behind()
        return PlanAnswer(verdict="approved")


class Attack(NamedTuple):
    """What was changed, and how many commands and calls ran nevertheless."""

    kind: str
    what: str
    executions: int


class House:
    """A wired Silas, one signed plan, and everything that may be changed before it runs."""

    def __init__(
        self,
        harness: Harness,
        place: Path,
        installed: Installed,
        owner: Owner,
        sandbox: FakeSandbox,
    ) -> None:
        self._h = harness
        self._place = place
        self._installed = installed
        self._owner = owner
        self._calls = 0
        self.sandbox = sandbox
        self.mail = FakeTool("mail", requires_authority=True)

    async def begin(self) -> None:
        """Have the plan approved, by the owner who reads its card."""
        mail = ToolConfig(connector_id="mail", risk_default=RiskLevel.low)
        self._h.silas.registry.register(self.mail, mail)
        item = a_plan(
            workspace=str(self._place / "project"),
            read=[str(self._place / "run.sh"), str(self._place / "lib")],
            network=["pypi.org"],
            skills=["excel"],
            budget={"max_attempts": 1},
        )
        proposal = await self._h.silas.runs.proposer.propose(
            item, self._h.silas.runs.channel, OWNER, "Why."
        )
        assert proposal.verdict == "approved", proposal.words
        self._signed = item.model_dump_json()

    def item(self) -> WorkItem:
        """The approved plan as it was signed."""
        return WorkItem.model_validate_json(self._signed)

    async def control(self) -> int:
        """How much runs when nothing was changed: the plan's command and check, and one call."""
        return await self._executed(self.item()) + await self._called("mail", "run", dict(_CALL))

    async def attack(self, kind: str, draw: Random) -> Attack:
        """Change one thing of this kind, try to run, and take the change back."""
        what, executions = await KINDS[kind](self, draw)
        return Attack(kind, what, executions)

    # what is changed -----------------------------------------------------------------------------
    async def plan_field(self, draw: Random) -> tuple[str, int]:
        """A field of the plan, text that is shown among them."""
        what, item = self._other_plan(draw)
        return what, await self._executed(item)

    async def token_field(self, draw: Random) -> tuple[str, int]:
        """A field of the token: signed or not, its conditions and its counters."""
        what, item = self._other_token(draw)
        return what, await self._executed(item)

    async def counters(self, draw: Random) -> tuple[str, int]:
        """What the token says of its uses, which nothing signs."""
        item = self.item()
        assert item.approval_token is not None
        wrong: tuple[tuple[int, list[str]], ...] = ((1, []), (0, ["one"]), (2, ["one", "one"]))
        used, nonces = draw.choice(wrong)
        said = item.approval_token.model_dump(mode="json")
        said |= {"executions_used": used, "execution_nonces": nonces}
        token = ApprovalToken.model_validate(said)
        return f"{used} uses, nonces {nonces}", await self._executed(
            item.model_copy(update={"approval_token": token})
        )

    async def row_as_it_is(self, draw: Random) -> tuple[str, int]:
        """A column of the stored row."""
        await self._h.store.save(self.item())
        while True:
            name = draw.choice(_STORED)
            with suppress(SilasError), self._row() as tx:  # an id may be taken: then another change
                [[before]] = tx.execute(f"SELECT {name} FROM work_items WHERE id=?", _ID).fetchall()
                _, after = one_change({"column": before}, draw)
                tx.execute(f"UPDATE work_items SET {name}=? WHERE id=?", (_text(after), *_ID))
            if not await self._stored_as_signed():
                break
        executions = await self._executed_from_store()
        with self._row() as tx:
            tx.execute("DELETE FROM work_items WHERE title IS NOT NULL OR title IS NULL")
        return f"column {name}", executions

    async def row_computed_anew(self, draw: Random) -> tuple[str, int]:
        """The stored row by somebody who makes its bytes and hash fit what he changed."""
        other = draw.choice((self._other_plan, self._other_token))
        what, item = other(draw)
        await self._h.store.save(item)
        loaded = await self._h.store.get(item.id)
        assert loaded is not None
        return what, await self._executed(loaded)

    async def world(self, draw: Random) -> tuple[str, int]:
        """What the plan names on the disk: script bytes, links, other directories."""
        what, change = draw.choice(CHANGES)
        with ExitStack() as back:
            change(self._place, draw, back)
            return what, await self._executed(self.item())

    async def grants(self, draw: Random) -> tuple[str, int]:
        """The configuration of the sandbox."""
        granted = self._binding._grants  # pyright: ignore[reportPrivateUsage]
        what, other = _until_valid(
            {"backend": granted.backend, "limits": granted.limits.model_dump(mode="json")},
            lambda d: Grants(
                str(d["backend"]), SandboxLimits.model_validate(d["limits"]), granted.shown_to
            ),
            lambda grants: canonical_json([grants.backend, grants.limits.model_dump(mode="json")]),
            draw,
        )
        with patch.object(self._binding, "_grants", other):
            return what, await self._executed(self.item())

    async def skills(self, draw: Random) -> tuple[str, int]:
        """A file of a skill."""
        what, files = _until_valid(self._installed.files, dict, canonical_json, draw)
        with patch.object(self._installed, "files", files):
            return what, await self._executed(self.item())

    async def call(self, draw: Random) -> tuple[str, int]:
        """The arguments of a call that the owner approved by itself."""
        what, changed = _until_valid(
            {"action": "run", "args": _CALL},
            lambda d: (str(d["action"]), {str(k): v for k, v in dict(d["args"]).items()}),
            canonical_json,
            draw,
        )
        return what, await self._called("mail", *changed)

    async def while_asked(self, draw: Random) -> tuple[str, int]:
        """The plan, while the owner reads its card."""
        item = self.item().model_copy(update={"approval_token": None})
        what, other = self._other_plan(draw)

        def exchange() -> None:
            for name in (*PLAN_FIELDS, *SCOPE_FIELDS):
                setattr(item, name, getattr(other, name))

        with patch.object(self._owner, "behind", exchange):
            await self._h.silas.runs.proposer.propose(
                item, self._h.silas.runs.channel, OWNER, "Why."
            )
        return what, await self._executed(item)

    # how it is run -------------------------------------------------------------------------------
    async def _executed(self, item: WorkItem) -> int:
        before = len(self.sandbox.runs)
        with suppress(SilasError):
            await self._h.silas.executor.execute(item, _unheard)
        return len(self.sandbox.runs) - before

    async def _executed_from_store(self) -> int:
        try:
            item = await self._h.store.get(*_ID)
        except SilasError:
            return 0
        return 0 if item is None else await self._executed(item)

    async def _called(self, tool: str, action: str, args: dict[str, Any]) -> int:
        """Approve one call, then make this one."""
        before, self._calls = len(self.mail.calls), self._calls + 1
        grants = RunGrants(self.item(), (), MemoryOutcomeStore(self._h.clock))
        authority = TaskAuthority(self.item(), self._h.approval, self._binding, None, grants, _yes)
        assert await authority.ask(
            [PendingCall(validated_call("mail", "run", dict(_CALL)), RiskLevel.low, AskReason.plan)]
        ) == [True]
        context = ToolCallContext(
            trace_id="mutations",
            task_id="task-example",
            step_id=str(self._calls),
            idempotency_key="",
            autonomy_level=AutonomyLevel.A2,
            granted_scopes=frozenset(),
            authorise=authority.authorise,
            authorise_alone=authority.authorise_alone,
            provenance=grants.provenance,
            files=SandboxFiles(cwd=self._place),
            limits=SandboxLimits(),
        )
        with suppress(SilasError):
            await self._h.tools.call(tool, action, args, context)
        return len(self.mail.calls) - before

    # what there is -------------------------------------------------------------------------------
    @property
    def _binding(self) -> PlanBinding:
        return self._h.silas.runs.proposer._tokens._binding  # pyright: ignore[reportPrivateUsage]

    def _other_plan(self, draw: Random) -> tuple[str, WorkItem]:
        item = self.item()
        fields = item.model_dump(mode="json")
        plan = {name: fields[name] for name in (*PLAN_FIELDS, *SCOPE_FIELDS)}
        return _until_valid(
            plan,
            lambda d: WorkItem.model_validate({**d, "approval_token": item.approval_token}),
            lambda other: plan_bytes(other).decode(),
            draw,
        )

    def _other_token(self, draw: Random) -> tuple[str, WorkItem]:
        item = self.item()
        assert item.approval_token is not None
        what, token = _until_valid(
            item.approval_token.model_dump(mode="json"),
            ApprovalToken.model_validate,
            lambda other: canonical_json(other.model_dump(mode="json")),
            draw,
        )
        return what, item.model_copy(update={"approval_token": token})

    async def _stored_as_signed(self) -> bool:
        try:
            item = await self._h.store.get(*_ID)
        except SilasError:
            return False
        return item is not None and item == self.item()

    @contextmanager
    def _row(self) -> Generator[Any]:
        store = cast(SqlWorkItemStore, self._h.store)
        with store._db.write() as tx:  # pyright: ignore[reportPrivateUsage]
            yield tx.driver


_ID = ("task-example",)

KINDS: dict[str, Callable[[House, Random], Awaitable[tuple[str, int]]]] = {
    "plan": House.plan_field,
    "token": House.token_field,
    "counters": House.counters,
    "row": House.row_as_it_is,
    "row computed anew": House.row_computed_anew,
    "disk": House.world,
    "grants": House.grants,
    "skills": House.skills,
    "call": House.call,
    "while asked": House.while_asked,
}
"""Everything an attack may be about."""


async def _yes(item: WorkItem, questions: Sequence[object]) -> list[ApprovalDecision]:
    return [ApprovalDecision(verdict=ApprovalVerdict.approved) for _ in questions]


async def _unheard(event: ProgressEvent) -> None:
    pass


def _text(document: dict[str, Any]) -> Any:
    """A column's new content; what is no text any more is stored as its JSON."""
    value = document.get("column")
    return value if value is None or isinstance(value, str) else canonical_json(value)


def _until_valid(
    document: dict[str, Any],
    made: Callable[[dict[str, Any]], Any],
    seen: Callable[[Any], str],
    draw: Random,
) -> tuple[str, Any]:
    """One change that can be read at all and means something else than what was there."""
    before = seen(made(document))
    while True:
        what, changed = one_change(document, draw)
        try:
            other = made(changed)
            if seen(other) != before:
                return what, other
        except (ValidationError, ValueError, TypeError, KeyError):
            continue


@asynccontextmanager
async def approved(folder: Path) -> AsyncGenerator[House]:
    """A Silas at home in `folder` that has one plan approved."""
    place = folder / "place"
    for name in ("project", "lib"):
        (place / name).mkdir(parents=True)
    (place / "project" / "result.txt").write_text("done\n")
    (place / "run.sh").write_text("#!/bin/sh\nexec true\n")
    installed = Installed()
    work = [CallTool("shell_exec", {"argv": ["true"]}), ExecutorAgentOutput(summary="Did it.")]
    model = ScriptedModel(work * 20_000)  # for every attack, should all of them get through
    with patch("silas.wiring.parts.skill_loader", return_value=installed):
        owner, sandbox = Owner(), FakeSandbox(lambda run: exit_result(stdout="done"))
        home = folder / "home"
        home.mkdir()
        models = {"executor": model}
        async with Harness(ScriptedChannel(owner), models=models, sandbox=sandbox, home=home) as h:
            house = House(h, place, installed, owner, sandbox)
            await house.begin()
            yield house
