"""What the Stream's tests say often: scripted routes and plans, rooms that note who was there."""

import asyncio
import json
import os
import sqlite3
from collections.abc import Awaitable, Callable, Sequence
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from silas.agents import AgentResponse, ExecutorAgentOutput, PlanAction, PlanActionType
from silas.agents import RouteDecision as Route
from silas.audit.log import AuditLog
from silas.cards import Card, ChannelMessage, PlanAnswer, PlanCard
from silas.context import ContextItem, ContextManager
from silas.gates import Gate
from silas.memory import MemoryItem
from silas.memory.operations import Operations
from silas.memory.rows import COLUMNS, item_of
from silas.persona import Persona
from silas.plans import WorkItem
from silas.sandbox import SandboxFiles, SandboxLimits, SandboxResult
from silas.services.tools.look_tools import describe_viewers
from silas.stream.look_answers import LookAnswers
from silas.stream.models import Incoming, SendText
from silas.stream.ports import Access, MakeToolRun, Note, Review
from silas.stream.turn_place import Aside
from silas.testing import CallTool, FakeSandbox, Harness, Ports, ScriptedChannel, ScriptedModel
from silas.testing.models import Step
from silas.testing.tools import exit_result
from silas.tools.look_limits import LookLimits
from silas.tools.provenance import Provenance
from silas.tools.toolset import AllTools, ToolRun
from silas.types import OWNER, InteractionMode, InteractionRegister
from tests.stream.rooms import (
    ARRIVAL_STEPS,
    CONTEXT_STEPS,
    RETRIEVER_STEPS,
    Journal,
    NotingAccess,
    NotingGates,
    NotingModel,
    NotingOperations,
    NotingPersona,
    NotingReview,
    NotingSignIn,
    Watched,
)
from tests.support.waits import SECONDS

T = TypeVar("T")


async def soon(what: Awaitable[T]) -> T:
    """Wait, but not for ever."""
    async with asyncio.timeout(SECONDS):
        return await what


def direct(message: str = "Hello.", **response: Any) -> Route:
    """The proxy answers by itself."""
    return Route(
        route="direct",
        reason="small talk",
        response=AgentResponse(message=message, **response),
        interaction_register=InteractionRegister.status,
        interaction_mode=InteractionMode.default_and_offer,
        context_profile="conversation",
    )


def to_planner(**changes: Any) -> Route:
    """The proxy hands over to the planner."""
    fields: dict[str, Any] = {
        "route": "planner",
        "reason": "work",
        "interaction_register": InteractionRegister.execution,
        "interaction_mode": InteractionMode.act_and_report,
        "context_profile": "coding",
        **changes,
    }
    return Route.model_validate(fields)


def answer(message: str) -> AgentResponse:
    """The planner answers without a plan."""
    return AgentResponse(message=message)


def proposing(plan: str | None, message: str = "I propose this.", **response: Any) -> AgentResponse:
    """The planner proposes a plan; `action`, `mode` and `follows` go into the plan action."""
    action = PlanAction(
        action=response.pop("action", PlanActionType.propose),
        plan_markdown=plan,
        continuation_of=response.pop("follows", None),
        interaction_mode_override=response.pop("mode", None),
    )
    return AgentResponse(message=message, plan_action=action, **response)


def ran(*names: str) -> ExecutorAgentOutput:
    """The executor says it is done."""
    return ExecutorAgentOutput(summary="Done.", artifact_refs=list(names))


def planned(*steps: Step, executor: Sequence[Step] | None = None) -> dict[str, ScriptedModel]:
    """Models whose proxy always plans, whose planner plays `steps`, whose executor runs `true`."""
    work = [CallTool("shell_exec", {"argv": ["true"]}), ran()] if executor is None else executor
    return {
        "proxy": ScriptedModel([to_planner() for _ in steps]),
        "planner": ScriptedModel(steps),
        "executor": ScriptedModel(work),
    }


def done_sandbox() -> FakeSandbox:
    """Every command ends well and prints what the built plans' check wants."""
    return FakeSandbox(lambda run: exit_result(0, "done\n"))


class WaitingSandbox:
    """Runs nothing, and answers only when the test lets it."""

    name = "waiting"

    def __init__(self) -> None:
        self.started, self.go_on = asyncio.Event(), asyncio.Event()

    async def run(
        self, argv: Sequence[str], limits: SandboxLimits, files: SandboxFiles
    ) -> SandboxResult:
        self.started.set()
        await self.go_on.wait()
        return exit_result(0, "done\n")


def answering(verdict: str) -> Callable[[Card[Any]], Any]:
    """One answer to every plan, yes to who may be shown the folder, the safe one to all else."""

    def answered(card: Card[Any]) -> Any:
        if isinstance(card, PlanCard):
            return PlanAnswer.model_validate({"verdict": verdict})
        return saying_yes(card) if asks_to_show(card) else card.safe

    return answered


def plans_of(channel: ScriptedChannel) -> list[PlanCard]:
    """The cards of plans that were shown."""
    return [card for card in channel.cards if isinstance(card, PlanCard)]


def asks_to_show(card: Card[Any]) -> bool:
    """Whether a card asks if models elsewhere may be shown what lies in a folder."""
    return card.intent.startswith("Let the model look at files")


def may_be_shown(h: Harness, place: Path) -> None:
    """The owner has said that models elsewhere may be shown what lies in a folder."""
    answers = LookAnswers(h.db, h.clock)
    answers.keep(os.path.realpath(place), describe_viewers(h.config.models), allowed=True)


def saying_yes(card: Card[Any]) -> Any:
    """The recommended answer of every card."""
    return card.actions[0].value


def said(
    h: Harness,
    text: str = "hello",
    connection: str = OWNER,
    *,
    channel: str = "cli",
    sender: str = "someone",
) -> Incoming:
    """An unsigned message, arriving now."""
    message = ChannelMessage(channel=channel, sender_id=sender, text=text, timestamp=h.clock.now())
    return Incoming(message, connection)


async def recorded(h: Harness) -> list[tuple[str, dict[str, Any]]]:
    """Everything in the audit log, as event and data."""
    assert isinstance(h.audit, AuditLog)
    bodies = [json.loads(entry.body) for entry in await h.audit.entries(limit=10_000)]
    return [(body["event"], body["data"]) for body in bodies]


async def entries_of(h: Harness, event: str) -> list[dict[str, Any]]:
    """The data of one kind of audit entry, in order."""
    return [data for name, data in await recorded(h) if name == event]


class NotingChannel(ScriptedChannel):
    """Says yes to everything, and notes what was sent and shown."""

    def __init__(self, journal: Journal) -> None:
        super().__init__(saying_yes)
        self._journal = journal

    async def send(self, recipient_id: str, text: str, reply_to: str | None = None) -> None:
        self._journal.append("send")
        await super().send(recipient_id, text, reply_to)

    async def ask(self, to: str, card: Card[T]) -> T:
        self._journal.append("12 card")
        return await super().ask(to, card)


class House:
    """A wired Silas of real rooms, each behind a door that notes who went through it."""

    persona: NotingPersona
    review: NotingReview
    ops: NotingOperations

    def __init__(
        self,
        proxy: Sequence[Step],
        planner: Sequence[Step] = (),
        *,
        gates: Sequence[Gate] = (),
        initiative: float | None = None,
        settings: dict[str, Any] | None = None,
    ) -> None:
        self.journal = Journal()
        self.access = NotingAccess(self.journal)
        self.gates = NotingGates(self.journal)
        self.noting = NotingChannel(self.journal)
        self.proxy = NotingModel(proxy, "proxy", self.journal)
        self.planner = NotingModel(planner, "planner", self.journal)
        self.dispatched: list[WorkItem] = []
        self.tool_runs: list[ToolRun] = []
        self._initiative = initiative
        self._system_gates = tuple(gates)
        self.harness = Harness(
            self.noting,
            models={"proxy": self.proxy, "planner": self.planner, "executor": ScriptedModel([])},
            sandbox=done_sandbox(),
            settings=settings,
            ports=self._ports(),
        )

    def _ports(self) -> Ports:
        def access(connection_id: str) -> Access:
            return self.access

        def dispatch(item: WorkItem, send: SendText) -> None:
            self.journal.append("12 dispatch")
            self.dispatched.append(item)

        def memory_ops(real: Operations) -> NotingOperations:
            self.ops = NotingOperations(real, journal)
            return self.ops

        def persona(real: Persona) -> NotingPersona:
            self.persona = NotingPersona(real, journal)
            self.persona.level = self._initiative
            return self.persona

        def review(real: Review) -> NotingReview:
            self.review = NotingReview(real, journal)
            return self.review

        journal = self.journal
        return Ports(
            tool_run=self._noting_tool_runs,
            access=lambda _: access,
            gates=lambda _: self.gates,
            system_gates=lambda _: self._system_gates,
            sign_in=partial(NotingSignIn, journal=journal),
            dispatch=lambda _: dispatch,
            memory_ops=memory_ops,
            persona=persona,
            review=review,
            context=partial(Watched, journal=journal, steps=CONTEXT_STEPS),
            retriever=partial(Watched, journal=journal, steps=RETRIEVER_STEPS),
            skills=partial(Watched, journal=journal, steps={"catalogue": "6.5 skills"}),
            arrivals=partial(Watched, journal=journal, steps=ARRIVAL_STEPS),
        )

    def _noting_tool_runs(self, real: MakeToolRun) -> MakeToolRun:
        def tool_run(
            role: str,
            turn: str,
            scope: str,
            allowed: frozenset[str] | AllTools,
            provenance: Provenance,
            note: Note,
            looks: LookLimits,
            aside: Aside,
        ) -> ToolRun:
            self.journal.append("6 toolset" if role == "proxy" else "7 toolset of the planner")
            run = real(role, turn, scope, allowed, provenance, note, looks, aside)
            self.tool_runs.append(run)
            return run

        return tool_run

    def in_view(self, kind: str, scope: str = OWNER) -> list[ContextItem]:
        """The items of a kind that stand in view."""
        return [item for item in self.harness.context.in_view(scope) if item.kind == kind]

    async def raw(self, kind: str, scope: str = OWNER) -> list[MemoryItem]:
        """The raw records of a kind, the oldest first."""
        found = everything(self.harness)
        return [one for one in found if one.source_kind == kind and one.scope_id == scope]


def manager(h: Harness) -> ContextManager:
    """The context manager of a Silas."""
    assert isinstance(h.context, ContextManager)
    return h.context


def everything(h: Harness) -> list[MemoryItem]:
    """Every memory there is, in whatever lane and scope, the oldest first."""
    with closing(sqlite3.connect(h.config.data_dir / "silas.db")) as db:
        rows = db.execute(f"SELECT {COLUMNS} FROM memory_items ORDER BY place").fetchall()
    return [item_of(row) for row in rows]
