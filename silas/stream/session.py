"""What a program holds of a running Silas: ask, run, wait, cancel, undo (contract)."""

import os
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

from silas.approval import ApprovalVerifier
from silas.audit import Audit
from silas.cards import CardChannel, ChannelMessage, message_bytes
from silas.clock import Clock
from silas.errors import PlanFamilyError
from silas.gates import Gates
from silas.memory import MemoryRetriever, MemoryStore
from silas.plans import (
    PlanError,
    PlanParser,
    WaitingPlan,
    WorkItem,
    WorkItemResult,
    WorkItemStatus,
    WorkItemStore,
)
from silas.stop.halt import Halt
from silas.stream.dispatch import Dispatcher
from silas.stream.models import Incoming, Reply
from silas.stream.ports import View
from silas.stream.propose import Proposer
from silas.stream.signin import SignMessage, attested
from silas.stream.stream import Stream
from silas.tools import RunApprovalPolicy, ToolExecutor, ToolRegistry
from silas.tools.registry import tool_rows
from silas.types import OWNER, new_nonce
from silas.work.executor import WorkItemExecutor
from silas.work.held_store import Holding
from silas.work.run_policy import PROMPT, RunPolicies
from silas.work.undo import Undo

_CHANGE_IT = "Change the plan and run it again: under the same id it takes the place of this one."

Undone = Callable[[WorkItem], Awaitable[None]]
"""Takes note that the owner took back what a work item changed; never fails."""

ResultOf = Callable[[str], Awaitable[WorkItemResult | None]]
"""How work ended, as it may be shown; None where none of this id has ended."""


@dataclass(frozen=True)
class Session:
    """A wired, started Silas. Attributes are ports; nothing in here decides anything."""

    stream: Stream
    proposer: Proposer
    executor: WorkItemExecutor
    dispatcher: Dispatcher
    store: WorkItemStore
    undoing: Undo
    holding: Holding
    approval: ApprovalVerifier
    audit: Audit
    gates: Gates
    tools: ToolExecutor
    registry: ToolRegistry
    context: View
    memory: MemoryStore
    retriever: MemoryRetriever
    clock: Clock
    channel: CardChannel
    sign_message: SignMessage
    halt: Halt
    policies: RunPolicies
    undone: Undone
    result_of: ResultOf
    replacing: Callable[[str], str]

    async def ask(self, text: str, *, workspace: Path | None = None) -> Reply:
        """One owner turn, signed as the owner's; approved work goes on in the background.

        Args:
            text: What the owner says.
            workspace: The directory this is about, offered to plans; by default the current one,
                unless that is the root or the home directory.

        Raises:
            Stopped: Silas is stopped, or was before an answer was there.
            SandboxUnavailable: The plan needs a sandbox and there is none; nothing was asked.
            LLMError: No answer could be had from the model.
        """
        message = ChannelMessage(
            channel=self.channel.channel_name,
            sender_id=OWNER,
            text=text,
            timestamp=self.clock.now(),
        )
        nonce = new_nonce()
        signature = self.sign_message(message_bytes(message, nonce))
        place = standing_in() if workspace is None else str(workspace)
        return await self.stream.handle(Incoming(message, OWNER, signature, nonce, place))

    def parse(self, plan_markdown: str) -> WorkItem:
        """A plan as a work item. Raises `PlanError` with line and column."""
        return PlanParser().parse(plan_markdown)

    async def run(
        self, plan_markdown: str, *, policy: RunApprovalPolicy = PROMPT
    ) -> WorkItemResult:
        """Propose a plan, ask, execute, verify; returns when the work has ended.

        Args:
            plan_markdown: The plan.
            policy: How this run, and no other, answers the questions of its tools; its plan is
                asked about in any case. `approve_all` lifts nothing but a toolset's own question.

        Raises:
            PlanError: The plan cannot be read; nothing was asked.
            Stopped: Silas is stopped, or was before the plan was approved; nothing was run.
            SandboxUnavailable: There is no sandbox; nothing was asked.
        """
        item = self.proposer.parse(plan_markdown)
        if isinstance(item, PlanError):
            await self.audit.log("plan_unreadable", reason=str(item))
            raise item
        wanted = await self.proposer.to_change()
        replaces = [one for one in wanted if one.id == item.id]
        why = "You asked to run this plan."
        return await self._asked(item, why, policy, replaces, _CHANGE_IT)

    async def answer(self, work_item_id: str) -> WorkItemResult:
        """Ask about a plan that waits for its owner, then go on as `run` does; or about changes
        that wait, which are then applied.

        Raises:
            PlanFamilyError: Nothing of this id waits.
            Stopped, SandboxUnavailable: As `run`.
        """
        item = await self._with_held_changes(work_item_id)
        if item is not None:
            return await self.halt.unless_stopped(partial(self.holding.answer, item))
        waiting = await self._waiting(work_item_id)
        return await self._asked(waiting.item, waiting.rationale, PROMPT, (), "")

    async def ask_again(self, work_item_id: str) -> bool:
        """Show the card of a plan that waits again, or of changes that do; what follows a yes goes
        on in the background.

        Returns:
            False where its card is shown already.

        Raises:
            PlanFamilyError: Nothing of this id waits.
            Stopped: Silas is stopped.
        """
        self.halt.require_running()
        if work_item_id in self.executor.running():
            return False
        item = await self._with_held_changes(work_item_id)
        if item is not None:
            return self.stream.ask_held(item, partial(self.holding.answer, item))
        return self.stream.ask_about(await self._waiting(work_item_id))

    async def _with_held_changes(self, work_item_id: str) -> WorkItem | None:
        """The item, where changes of it wait; a plan of the same id that waits goes first."""
        if await self.proposer.question(work_item_id) is not None:
            return None
        waits = self.holding.held.find(work_item_id) is not None
        return await self.store.get(work_item_id) if waits else None

    async def _waiting(self, work_item_id: str) -> WaitingPlan:
        waiting = await self.proposer.question(work_item_id)
        if waiting is None:
            raise PlanFamilyError(
                f"No plan {work_item_id!r} waits for your answer; see `silas status`.",
                code="E_PLAN_NOT_WAITING",
            )
        return waiting

    async def _asked(
        self,
        item: WorkItem,
        rationale: str,
        policy: RunApprovalPolicy,
        replaces: Sequence[WorkItem],
        change_it: str,
    ) -> WorkItemResult:
        """`change_it` is how the owner, who wants changes, makes them."""
        propose = partial(self.proposer.propose, item, self.channel, OWNER, rationale, replaces)
        proposal = await self.halt.unless_stopped(propose)
        if proposal.verdict != "approved":
            self.halt.require_running()  # who was asked while Silas was stopped has not declined
            wanted = change_it if proposal.verdict == "edit_requested" else ""
            words = f"{proposal.words} {wanted}".rstrip()
            return WorkItemResult(
                work_item_id=item.id,
                status=WorkItemStatus.blocked,
                summary=words,
                last_error=words,
            )
        with self.policies.given(item.id, policy):
            return await self.dispatcher.execute(item, partial(self.channel.send, OWNER))

    async def wait(self, work_item_id: str) -> WorkItemResult | None:
        """The result of dispatched work, waiting for it if it still runs; None if unknown."""
        running = await self.executor.wait(work_item_id)
        return running if running is not None else await self.result_of(work_item_id)

    async def revised(self, work_item_id: str) -> str:
        """The id of the work in place of work that ended, once its owner has approved its plan.

        Waits for his answer; empty where there is no other plan, or no yes.
        """
        name = self.replacing(work_item_id)
        if not name:
            return ""
        await self.stream.answered(name)
        return "" if await self.store.get(name) is None else name

    async def cancel(self, work_item_id: str) -> bool:
        """Stop running work; False where it is not running."""
        return await self.executor.cancel(work_item_id)

    async def settled(self) -> None:
        """Wait until no work is under way."""
        while running := self.executor.running():
            await self.executor.wait(running[0])

    async def undo(self, work_item_id: str) -> None:
        """Restore the workspace that a work item changed."""
        await self.undoing.undo(work_item_id)
        item = await self.store.get(work_item_id)
        if item is not None:
            await self.undone(item)

    async def listen(self) -> None:
        """Serve the channel until it closes; requests are about the current directory."""
        await self.stream.listen(standing_in(), partial(attested, self.sign_message))

    async def work_items(self) -> list[WorkItem]:
        """Every work item, by status, newest last."""
        found = [item for status in WorkItemStatus for item in await self._with(status)]
        return sorted(found, key=lambda item: (item.created_at, item.id))

    async def _with(self, status: WorkItemStatus) -> list[WorkItem]:
        return list(await self.store.list_by_status(status))

    def tool_rows(self) -> list[dict[str, Any]]:
        """Every tool's name, risk, scopes, health and last error."""
        return tool_rows(self.registry)


def standing_in() -> str | None:
    """The current directory as a workspace to offer; None for what no plan should change whole."""
    return _offered(os.getcwd(), os.environ.get("HOME"))


@lru_cache(maxsize=16)  # every turn asks, nearly always about one place
def _offered(place: str, _: str | None) -> str | None:
    return None if place == os.sep or _same(place, os.path.expanduser("~")) else place


def _same(place: str, home: str) -> bool:
    try:
        return os.path.samefile(place, home)
    except OSError:
        return False  # there is no home
