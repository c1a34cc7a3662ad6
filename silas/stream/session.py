"""What a program holds of a running Silas: ask, run, wait, cancel, undo (contract)."""

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from silas.approval import ApprovalVerifier
from silas.audit import Audit
from silas.context.conversation_store import FIRST
from silas.memory.meter import MeteredRetriever
from silas.plans import PlanParser, WorkItem, WorkItemResult, WorkItemStatus, WorkItemStore
from silas.stream.look_answers import LookAnswers, ShownAnswer
from silas.stream.models import Reply
from silas.stream.owner_messages import OwnerMessages
from silas.stream.plan_runs import PlanRuns
from silas.stream.ports import GoalControls, LooksAhead
from silas.stream.stream import Stream
from silas.stream.tidying import Tidying
from silas.tools import RunApprovalPolicy, ToolRegistry
from silas.tools.registry import tool_rows
from silas.work.authority.narrowing import ApprovalNarrowing
from silas.work.authority.run_policy import PROMPT
from silas.work.executor import WorkItemExecutor
from silas.work.projects.undo import UndoneWork, WorkUndo

if TYPE_CHECKING:
    from datetime import datetime

    from silas.goals.models import Goal
    from silas.work.authority.narrowing import NarrowedApproval, TightenedSettings
    from silas.work.batches.execution import UndoneBatch
    from silas.work.batches.review import TidiedFolder
    from silas.work.batches.store import KeptBatch


class WithoutAsking(NamedTuple):
    """What comes by itself, and what may run without asking; each is made when it is asked for.

    Attributes:
        ahead: Tells what is to come.
        narrowing: Makes approvals smaller.
        goals: What the clock checks.
        looks: What the owner answered about showing directories to models.
    """

    ahead: Callable[[], LooksAhead]
    narrowing: Callable[[], ApprovalNarrowing]
    goals: Callable[[], GoalControls]
    looks: LookAnswers


@dataclass(frozen=True)
class Session:
    """A wired, started Silas. Attributes are ports; nothing in here decides anything."""

    stream: Stream
    messages: OwnerMessages
    runs: PlanRuns
    executor: WorkItemExecutor
    store: WorkItemStore
    undoing: WorkUndo
    tidying: Tidying
    unasked: WithoutAsking
    approval: ApprovalVerifier
    audit: Audit
    registry: ToolRegistry
    retriever: MeteredRetriever

    async def ask(
        self, text: str, *, workspace: Path | None = None, conversation: str = FIRST
    ) -> Reply:
        """One owner turn, signed as the owner's; approved work goes on in the background.

        Args:
            text: What the owner says.
            workspace: The directory this is about, offered to plans; by default the current one,
                unless that is the root or the home directory.
            conversation: In which conversation it is said, by its id; by default the first one.

        Raises:
            ContextError: There is no such conversation, or it is archived.
            Stopped: Silas is stopped, or was before an answer was there.
            SandboxUnavailable: The plan needs a sandbox and there is none; nothing was asked.
            LLMError: No answer could be had from the model.
        """
        place = current_workspace() if workspace is None else str(workspace)
        return await self.stream.handle(self.messages.make(text, place, conversation))

    def busy(self) -> bool:
        """Whether a turn or work is under way."""
        return self.stream.pressure > 0 or bool(self.executor.running())

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
        return await self.runs.run(plan_markdown, policy)

    async def answer(self, work_item_id: str) -> WorkItemResult:
        """Ask about a plan that waits for its owner, then go on as `run` does; or about changes
        that wait, which are then applied.

        Raises:
            PlanFamilyError: Nothing of this id waits.
            Stopped, SandboxUnavailable: As `run`.
        """
        return await self.runs.answer(work_item_id)

    async def ask_again(self, work_item_id: str) -> bool:
        """Show the card of a plan that waits again, or of changes that do; what follows a yes goes
        on in the background.

        Returns:
            False where its card is shown already.

        Raises:
            PlanFamilyError: Nothing of this id waits, or its owner asked for changes of it and an
                answer is under way.
            Stopped: Silas is stopped.
        """
        return await self.runs.ask_again(work_item_id)

    async def rest_of(self, project_id: str) -> str:
        """The plan of a new project over what a project did not come to, for `run`.

        Raises:
            PlanFamilyError: There is no such project, or nothing of it can be asked for now.
        """
        return (await self.undoing.rests.of(project_id)).text

    async def ask_for_rest(self, project_id: str) -> str:
        """Keep the same as a plan that waits, and show its card; see `ask_again`.

        Returns:
            The id of the new project.
        """
        rest = await self.undoing.rests.of(project_id)
        await self.runs.ask_for_rest(project_id, rest)
        return rest.item.id

    async def wait(self, work_item_id: str) -> WorkItemResult | None:
        """The result of dispatched work, waiting for it if it still runs; None if unknown."""
        return await self.runs.wait(work_item_id)

    async def wait_for_revision(self, work_item_id: str) -> str:
        """The id of the work in place of work that ended, once its owner has approved its plan.

        Waits for his answer; empty where there is no other plan, or no yes.
        """
        return await self.runs.wait_for_revision(work_item_id)

    async def cancel(self, work_item_id: str) -> bool:
        """Stop running work; False where it is not running."""
        return await self.executor.cancel(work_item_id)

    def stop_answer(self, message_id: str) -> bool:
        """Stop the answer to one message of the owner's; False where none is under way.

        Args:
            message_id: What the channel calls the message.
        """
        return self.stream.stop_answer(message_id)

    async def wait_for_work(self) -> None:
        """Wait until no work is under way."""
        while running := self.executor.running():
            await self.executor.wait(running[0])

    async def undo(self, work_item_id: str) -> UndoneWork:
        """Restore the workspace that a work item changed, or each that a project did."""
        return await self.undoing.undo(work_item_id)

    def taken_back(self, item: WorkItem) -> str:
        """That what work changed was taken back, and when; empty where none of it was."""
        return self.undoing.taken_back_words(item)

    async def tidy(self, folder: Path, *, only: str = "") -> "TidiedFolder":
        """Ask about the files of a folder batch by batch, and move what is approved.

        Args:
            folder: The one folder in which files may be moved.
            only: A pattern such as `*.pdf`; files that do not fit it stay.

        Raises:
            BatchRefused: The folder cannot be tidied; nothing was asked.
            Stopped: Silas is stopped, or its record was changed.
        """
        return await self.tidying.tidy(folder, only)

    async def undo_batch(self, batch_id: str, numbers: "Sequence[int]" = ()) -> "UndoneBatch":
        """Move the files of a batch back, or only those with these numbers.

        Args:
            batch_id: Its id, the beginning of it, or `last`.
            numbers: Of files as its card numbered them, from 1; none for all.

        Raises:
            BatchRefused: There is none, or its time is over; nothing was moved.
        """
        return await self.tidying.review().undo(batch_id, numbers)

    def batch(self, batch_id: str) -> "KeptBatch | None":
        """A batch of files that was approved, by its whole id; None where there is none."""
        return next(iter(self.tidying.review().execution.store.list_by_prefix(batch_id)), None)

    def pause(self, goal_id: str, *, why: str = "") -> "Goal":
        """Run a goal no more until it is resumed; what is under way ends.

        Args:
            goal_id: Which.
            why: Said where it is listed as paused; empty where its owner did it.

        Raises:
            GoalRefused: There is none, or it does not run.
        """
        return self.unasked.goals().pause(goal_id, why)

    def goal(self, goal_id: str) -> "Goal | None":
        """How the clock of a goal stands; None where none of this id was approved."""
        return self.unasked.goals().get_goal(goal_id)

    async def find_goal(self, which: str) -> str:
        """The id of the goal that is meant, by its id or by words of its title; what was said where
        it is none. Raises `GoalRefused` where several are.
        """
        from silas.goals.goal_names import the_one  # noqa: PLC0415 - few sessions are of goals

        one = the_one(which, await self.unasked.ahead().goals_named(which))
        return one.id if one else which

    async def take_back(self, goal_id: str) -> None:
        """Take the whole approval of a goal back. Raises `ApprovalError` where it has none."""
        await self.unasked.narrowing().take_back(goal_id)

    async def narrow(
        self, goal_id: str, *, uses: int | None = None, until: "datetime | None" = None
    ) -> "NarrowedApproval":
        """Leave the approval of a goal fewer uses, an earlier end, or both; signed, on record.

        Args:
            goal_id: Whose approval.
            uses: How often more it may start work without asking; None leaves what is left.
            until: When it ends, with a zone; None leaves the end.

        Raises:
            ApprovalError: It has none in force, or this would not make it smaller; nothing changed.
            Stopped: Silas is stopped, or its record was changed.
        """
        return await self.unasked.narrowing().narrow(goal_id, uses, until)

    def tighten(self) -> "TightenedSettings":
        """Ask as often as configured again, whatever was widened since; returns what changed."""
        return self.unasked.narrowing().tighten()

    def showing(self) -> list[ShownAnswer]:
        """What the owner answered about showing directories to models, by directory."""
        return self.unasked.looks.all()

    def forget_showing(self, workspace: Path) -> list[ShownAnswer]:
        """Take the answers about a directory back, so that the owner is asked again.

        Raises:
            ApprovalError: There is none about it.
            Stopped: The record was changed; nothing is taken back before the owner has looked.
        """
        self.audit.require_whole()
        return self.unasked.looks.take_back(str(workspace), self.audit.log_now)

    async def listen(self, conversation: str = FIRST) -> None:
        """Serve the channel until it closes; requests are about the current directory.

        Args:
            conversation: Where what is said belongs, by its id; by default the first one.

        Raises:
            ContextError: There is no such conversation, or it is archived.
        """
        await self.stream.listen(current_workspace(), self.messages.attest_in(conversation))

    async def work_items(self) -> list[WorkItem]:
        """Every work item, by status, newest last."""
        found = [item for status in WorkItemStatus for item in await self._list_by_status(status)]
        return sorted(found, key=lambda item: (item.created_at, item.id))

    async def _list_by_status(self, status: WorkItemStatus) -> list[WorkItem]:
        return list(await self.store.list_by_status(status))

    def tool_rows(self) -> list[dict[str, Any]]:
        """Every tool's name, risk, scopes, health and last error."""
        return tool_rows(self.registry)


def current_workspace() -> str | None:
    """The current directory as a workspace to offer; None for what no plan should change whole."""
    return _offered_folder(os.getcwd(), os.environ.get("HOME"))


@lru_cache(maxsize=16)  # every turn asks, nearly always about one place
def _offered_folder(place: str, _: str | None) -> str | None:
    return None if place == os.sep or _same(place, os.path.expanduser("~")) else place


def _same(place: str, home: str) -> bool:
    try:
        return os.path.samefile(place, home)
    except OSError:
        return False  # there is no home
