"""Work in view of its conversation: what was begun, how it ended, what can be gone on from."""

from collections.abc import Iterator
from datetime import tzinfo
from typing import Final

from silas.context import ChronicleStore, ContextZone
from silas.context.render import day_and_time
from silas.plans import WorkItem, WorkItemResult, WorkItemStatus
from silas.stream.items import ItemFactory, ItemOrigin
from silas.stream.ports import ModelView, Review
from silas.stream.scope_work import KnownWork, ScopeWork
from silas.stream.state import Conversations, ScopeState
from silas.types import TaintLevel, whose
from silas.work.changes.undo import Undo
from silas.work.models import PATCH
from silas.work.projects.undo import all_taken_back
from silas.work.report import result_texts
from silas.workspace.patch_moves import changed_in

_RECENT = 5  # pieces of work that a conversation can go on from
_SUMMARY = 600  # characters of a result's verdict that stand in view
_SAID = 1500  # characters of its report, and as many of its output
_FILES = 20  # changed files that are named
_FACT = 200  # characters of one
_GOING_ON = frozenset(
    {
        WorkItemStatus.pending,
        WorkItemStatus.running,
        WorkItemStatus.paused,
        WorkItemStatus.healthy,  # a goal that the clock goes on checking
    }
)


_BEGINS = frozenset({"status: pending"})


_PLAN = "plan:"
_WORK = "work:"
TAKEN_BACK: Final = "taken back by the owner: what it changed is as it was before"
"""A line of work in view that was undone, whole."""


def plan_name(work_item_id: str) -> str:
    """How the plan of a piece of work is named among what is in view."""
    return f"{_PLAN}{work_item_id}"


def work_of(ctx_id: str) -> str:
    """The id of the work that stands in view under this name."""
    return ctx_id.removeprefix(_WORK)


def named_plan(ctx_id: str) -> str:
    """The id of the work whose plan has this name; empty where it names no plan."""
    return ctx_id.removeprefix(_PLAN) if ctx_id.startswith(_PLAN) else ""


def _lines_of_changed_files(result: WorkItemResult) -> Iterator[str]:
    """Which files it changed, without what they hold: what was read of them before is old."""
    facts = changed_in(result.artifacts.get(PATCH, ""))
    if not facts:
        return
    waits = ", not yet applied: they wait for the owner" if result.held else ""
    yield f"changed{waits} (what was read of these before is old):"
    yield from (f"  {line[:_FACT]}" for line in facts[:_FILES])
    if len(facts) > _FILES:
        yield f"  and {len(facts) - _FILES} more"


class WorkContext:
    """Keeps the newest work of each conversation in its workspace, named by its id."""

    def __init__(
        self,
        work: ScopeWork,
        context: ModelView,
        chronicle: ChronicleStore,
        conversations: Conversations,
        review: Review,
        items: ItemFactory,
        undo: Undo,
        zone: tzinfo,
    ) -> None:
        self._work = work
        self._context = context
        self._chronicle = chronicle
        self._conversations = conversations
        self._review = review
        self._items = items
        self._undo = undo
        self._zone = zone
        self._shown = dict[str, tuple[str, ...]]()

    async def recent(self, scope: ScopeState) -> None:
        """What was worked on before this sitting, each with its plan as it was proposed."""
        found = await self._work.recent(scope.address, _RECENT)
        for known in found:
            self._show(scope, known)
        over = {plan_name(k.item.id): k for k in found if k.item.status not in _GOING_ON}
        names = [plan_name(known.item.id) for known in found]
        for plan in await self._chronicle.list_by_ids(scope.id, names):
            self._context.add(scope.address, plan)
            if plan.ctx_id in over:  # it may leave, and it can be gone on from until then
                done = over[plan.ctx_id].item.status is WorkItemStatus.done
                self._context.complete(scope.address, plan.ctx_id, succeeded=done)

    def began(self, scope: ScopeState, item: WorkItem) -> None:
        """It was approved, and is under way."""
        self._show(scope, KnownWork(item, None, (), forgotten=False))

    async def show_end(self, item: WorkItem) -> None:
        """Show how it ended; its plan may leave, and its next steps are offered."""
        address = self._work.address_of(item.id)
        known = await self._work.find_work(item.id, whose(address))
        if known is None:
            return
        scope = self._conversations.of(address)
        if scope.awake:
            self._show(scope, known)
            done = known.item.status is WorkItemStatus.done
            self._context.complete(address, plan_name(item.id), succeeded=done)
        if known.result is not None:
            await self._review.after_result(known.item, known.result)

    async def show_taken_back(self, scope: ScopeState) -> None:
        """Say of work in view what the owner took back since it was shown, by whatever door, and
        how a goal stands that was shown as it began.
        """
        for item in self._context.get_zone(scope.address, ContextZone.workspace):
            work_item_id = work_of(item.ctx_id)
            changed = self._taken_back(self._shown.get(work_item_id, ()))
            if item.kind != "execution_result":
                continue
            lines = item.content.splitlines()
            begins = not _BEGINS.isdisjoint(lines)  # a goal stands from then on, and never ends
            if begins or (changed and changed not in item.content):
                known = await self._work.find_work(work_item_id, whose(scope.address))
                stays = known is not None and f"status: {known.item.status.value}" in lines
                if known is not None and (changed or not stays):
                    self._show(scope, known)

    def _taken_back(self, names: tuple[str, ...]) -> str:
        """What of this work, of a project of its tasks, the owner took back."""
        undone = [name for name in names if self._undo.is_undone(name)]
        if not undone:
            return ""
        if all_taken_back(names, self._undo):
            return TAKEN_BACK
        return f"taken back by the owner in part: {', '.join(undone)}"

    def may_leave(self, address: str, work_item_id: str) -> None:
        """Its plan was declined, or another one takes its place: it may be evicted."""
        self._context.complete(address, plan_name(work_item_id))

    def _show(self, scope: ScopeState, known: KnownWork) -> None:
        item, result = known.item, known.result
        lines = [f"work item {item.id}: {item.title}", f"status: {item.status.value}"]
        lines.insert(1, f"begun: {day_and_time(item.created_at, self._zone)}")
        self._shown[item.id] = names = tuple(item.tasks) or (item.id,)
        taken_back = self._taken_back(names)
        lines += [taken_back] if taken_back else []
        taint, sources = TaintLevel.owner, tuple[str, ...]()
        if known.forgotten:
            lines.append("result: not shown, because what it rests on was forgotten")
        elif result is not None:
            lines.append(f"result: {result.summary[:_SUMMARY]}")
            lines += [text[:_SAID] for text in result_texts(result)]
            lines += _lines_of_changed_files(result)
            # an agent wrote it, from whatever it had read
            taint, sources = TaintLevel.external, known.sources
        name = f"{_WORK}{item.id}"
        self._context.add(
            scope.address,
            self._items.make(
                scope,
                ContextZone.workspace,
                "execution_result",
                "\n".join(lines),
                ItemOrigin(taint, name, sources),
                ctx_id=name,
            ),
        )
