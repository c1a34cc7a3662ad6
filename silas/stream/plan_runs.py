"""Plans that a program gives, and what waits for its owner: asked about, run, awaited (5.1.2)."""

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from typing import Final

from silas.audit import Audit
from silas.cards import CardChannel
from silas.errors import PlanFamilyError
from silas.language import tr, tr_later
from silas.plans import (
    PlanError,
    WaitingPlan,
    WorkItem,
    WorkItemResult,
    WorkItemStatus,
    WorkItemStore,
)
from silas.plans.projects.kept import waiting_project
from silas.stop.halt import StoppableWork
from silas.stream.dispatch import Dispatcher
from silas.stream.propose import APPROVED_ELSEWHERE, Proposer
from silas.stream.scope_work import ScopeWork
from silas.stream.stream import Stream
from silas.tools import RunApprovalPolicy
from silas.types import OWNER
from silas.work.authority.run_policy import PROMPT, RunPolicies
from silas.work.changes.held_store import ChangeHolder
from silas.work.executor import WorkItemExecutor
from silas.work.projects.rest import RestOfProject
from silas.work.unanswered import plan_anew

_CHANGE_IT: Final = (
    "Change the plan and run it again: under the same id it takes the place of this one."
)

_NO_ANSWER: Final = tr_later(
    "This work ended because its question got no answer in time; you asked for it anew."
)

_BEING_CHANGED: Final = tr_later(
    "You asked for changes of this plan, and an answer is under way; wait for it, or stop it, "
    "before you are asked about the plan as it was."
)


@dataclass(frozen=True)
class PlanRuns:
    """Runs plans; each is asked about first, by the same proposer as a plan of a turn.

    Attributes:
        proposer: Asks the owner; nothing else makes an approval.
        dispatcher: Runs what was approved and shows its progress.
        executor: Knows what runs.
        store: Keeps work items.
        holding: Keeps changes that wait for a yes.
        policies: How the questions of each run are answered.
        stream: Asks beside a conversation.
        channel: Where a plan that is run at once is asked about.
        halt: Ends what is asked or run when Silas is stopped.
        audit: Where an unreadable plan is recorded.
        replacing: The id of the plan in place of another one.
        work: Whose work is, and how it ended.
    """

    proposer: Proposer
    dispatcher: Dispatcher
    executor: WorkItemExecutor
    store: WorkItemStore
    holding: ChangeHolder
    policies: RunPolicies
    stream: Stream
    channel: CardChannel
    halt: StoppableWork
    audit: Audit
    replacing: Callable[[str], str]
    work: ScopeWork

    async def run(self, plan_markdown: str, policy: RunApprovalPolicy) -> WorkItemResult:
        """See `Session.run`."""
        item = self.proposer.parse(plan_markdown)
        if isinstance(item, PlanError):
            await self.audit.log("plan_unreadable", reason=str(item))
            raise item
        wanted = await self.proposer.to_change()
        replaces = [one.item for one in wanted if one.item.id == item.id]
        waiting = WaitingPlan(item, "You asked to run this plan.")
        if await self.proposer.is_new(item):
            for one in (item, *item.children):
                self.work.take_over(one.id)
        return await self._ask_plan(waiting, policy, replaces, _CHANGE_IT)

    async def answer(self, work_item_id: str) -> WorkItemResult:
        """See `Session.answer`."""
        item = await self._with_held_changes(work_item_id)
        if item is not None:
            return await self.halt.run_unless_stopped(partial(self._decide_changes, item))
        return await self._ask_plan(await self._find_waiting(work_item_id), PROMPT, (), "")

    async def ask_again(self, work_item_id: str) -> bool:
        """See `Session.ask_again`."""
        self.halt.require_running()
        if work_item_id in self.executor.running():
            return False
        item = await self._with_held_changes(work_item_id)
        if item is not None:
            return self.stream.questions.ask_held(
                item, partial(self._decide_in_background, item), self.dispatcher
            )
        waiting = await self._find_waiting(work_item_id)
        if waiting.changes_wanted and self.stream.thinks_about(work_item_id):
            raise PlanFamilyError(_BEING_CHANGED, code="E_PLAN_BEING_CHANGED")
        return self.stream.questions.ask_about(waiting, self.dispatcher)

    async def ask_for_rest(self, project_id: str, rest: RestOfProject) -> None:
        """Keep the rest of a project among the plans that wait, and show its card, in the
        conversation in which the project was asked for.
        """
        self.halt.require_running()
        await self.proposer.keep(rest.item, rest.words, self.work.asked_by(project_id))
        await self.ask_again(rest.item.id)

    async def wait_for_revision(self, work_item_id: str) -> str:
        """See `Session.wait_for_revision`."""
        name = self.replacing(work_item_id)
        if not name:
            return ""
        await self.stream.questions.wait_for_answer(name)
        return "" if await self.store.get(name) is None else name

    async def wait(self, work_item_id: str) -> WorkItemResult | None:
        """See `Session.wait`."""
        running = await self.executor.wait(work_item_id)
        return running if running is not None else await self.work.result(work_item_id)

    async def _decide_changes(self, item: WorkItem) -> WorkItemResult:
        """Ask about changes that wait; of a task of a project, how the project ends after it."""
        result = await self.holding.answer(item)
        return await self._project_after(item) or result

    async def _decide_in_background(self, item: WorkItem) -> WorkItemResult:
        """The same in the background: the project tells by itself how it goes."""
        result = await self.holding.answer(item)
        await self._project_after(item)
        return result

    async def _project_after(self, item: WorkItem) -> WorkItemResult | None:
        """Its project goes on, or has failed; None where there is none, or it still waits."""
        if self.holding.held.find(item.id) is not None:
            return None
        project = await waiting_project(item, self.store)
        if project is not None and project.id in self.executor.running():
            await self.executor.wait(project.id)
            project = await waiting_project(item, self.store)
        if project is None:
            return None
        send = partial(self.channel.send, self.dispatcher.address_of(project.id))
        return await self.dispatcher.execute(project, send)

    async def _with_held_changes(self, work_item_id: str) -> WorkItem | None:
        """The item, where changes of it wait; a plan of the same id that waits goes first."""
        if await self.proposer.question(work_item_id) is not None:
            return None
        waits = self.holding.held.find(work_item_id) is not None
        return await self.store.get(work_item_id) if waits else None

    async def _find_waiting(self, work_item_id: str) -> WaitingPlan:
        """A plan that waits, or that of work which ended without an answer to its question."""
        waiting = await self.proposer.question(work_item_id)
        item = None if waiting else await self.store.get(work_item_id)
        if item is not None:
            plan = plan_anew(item, await self.work.result(work_item_id))
            by = self.work.asked_by(work_item_id)
            waiting = plan and WaitingPlan(plan, tr(_NO_ANSWER), asked_by=by)
        if waiting is None:
            raise PlanFamilyError(
                f"No plan {work_item_id!r} waits for your answer; see `silas status`.",
                code="E_PLAN_NOT_WAITING",
            )
        return waiting

    async def _ask_plan(
        self,
        waiting: WaitingPlan,
        policy: RunApprovalPolicy,
        replaces: Sequence[WorkItem],
        change_it: str,
    ) -> WorkItemResult:
        """`change_it` is how the owner, who wants changes, makes them."""
        item, why = waiting.item, waiting.rationale
        propose = partial(
            self.proposer.propose, item, self.channel, OWNER, why, replaces, waiting.asked_by
        )
        proposal = await self.halt.run_unless_stopped(propose)
        if proposal.verdict != "approved":
            self.halt.require_running()  # who was asked while Silas was stopped has not declined
            wanted = change_it if proposal.verdict == "edit_requested" else ""
            elsewhere = proposal.verdict == APPROVED_ELSEWHERE
            words = f"{proposal.words} {wanted}".rstrip()
            return WorkItemResult(
                work_item_id=item.id,
                status=WorkItemStatus.running if elsewhere else WorkItemStatus.blocked,
                summary=words,
                last_error=None if elsewhere else words,
            )
        with ExitStack() as given:
            for one in (item, *item.children):
                given.enter_context(self.policies.hold_policy(one.id, policy))
            return await self.dispatcher.execute(item, partial(self.channel.send, OWNER))
