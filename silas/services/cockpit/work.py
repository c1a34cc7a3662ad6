"""The work items for the cockpit, and what the owner may do about them, the emergency stop too."""

import asyncio
from collections.abc import Callable, Collection
from contextlib import suppress
from pathlib import Path
from typing import Any, Final, NamedTuple

from silas.approval import NonceStore
from silas.channels.web.reports import quoted_in
from silas.channels.web.views import BudgetRow, CheckView, Done, SectionView, WorkDetail, WorkRow
from silas.channels.web.views_ahead import ProjectRow
from silas.errors import ChannelError, from_foreign
from silas.language import COCKPIT, refusal_words, said_at, tr, tr_later
from silas.plans import WorkItem, WorkItemResult, WorkItemType
from silas.plans.budget import shares
from silas.plans.card_preview import PlanLook
from silas.plans.characters import show
from silas.plans.store import SqlWorkItemStore
from silas.services.cockpit.announcements import Announcer
from silas.services.cockpit.project_graph import project_row
from silas.services.cockpit.record import signed_of
from silas.services.emergency_stop import StopService
from silas.services.plans import plan_card
from silas.services.projects import project_shown
from silas.services.schedules.goal_standing import repaired_words
from silas.services.stop_now import StopNow
from silas.services.work import ShownWork, piece_of_work, result_of, waits_words
from silas.stream.session import Session
from silas.work.checks.reason_words import reason_words
from silas.work.end_words import tell_end
from silas.work.models import PATCH
from silas.work.unanswered import plan_anew

MOST_ROWS = 200
"""Work items in the list: those that changed last."""

_LONGEST_DIFF = 200_000  # characters; `silas diff ID` has all of it
_SHARED = 3  # limits of a project that its tasks share: tokens, cost and time
_STOPPED = tr_later("Stopped; nothing of it was applied.")
_APPROVED = tr_later("This is the plan as it was approved.")


class TakenBack(NamedTuple):
    """Whether what work changed was taken back: in words, and how it stands then; else empty."""

    words: str = ""
    status: str = ""


NOT_BACK: Final = TakenBack()


class WorkRoom:
    """`silas.channels.web.port.Work` over an open Silas."""

    def __init__(
        self,
        session: Session,
        store: SqlWorkItemStore,
        nonces: NonceStore,
        service: StopService,
        announce: Announcer,
        redact: Callable[[str], str],
        undo_folder: Path,
        shown: ShownWork,
        look: PlanLook,
    ) -> None:
        self._session = session
        self._store = store
        self._nonces = nonces
        self._service = service
        self._announce = announce
        self._redact = redact
        self._look = look
        self._undo_folder = undo_folder
        self._shown = shown

    async def rows(self) -> tuple[WorkRow, ...]:
        """See `Work.rows`: plans that wait first, then the newest items."""
        waiting = await self._session.runs.proposer.waiting()
        asked = {item.id for item in waiting}
        items = [one for one in await self._store.newest(MOST_ROWS) if one.id not in asked]
        undoable, back = await asyncio.to_thread(self._stands, items)
        changed = {one.item.id for one in await self._session.runs.proposer.to_change()}
        rows = [self._waiting_row(item, changed) for item in reversed(waiting)]
        for item in items:
            result = await result_of(item, self._shown)
            row = self._row(item, result, undoable.get(item.id), back.get(item.id, NOT_BACK))
            rows.append(self._with_clock(row, item))
        return tuple(rows)

    async def one(self, work_item_id: str) -> WorkDetail:
        """See `Work.one`."""
        question = self._session.runs.proposer.question
        piece = await piece_of_work(work_item_id, question, self._store, self._shown)
        item, result, waiting = piece
        undoable, back = await asyncio.to_thread(self._stands, [item])
        if waiting is None:
            row = self._row(item, result, undoable.get(item.id), back.get(item.id, NOT_BACK))
            row = await self._with_trouble(self._with_clock(row, item))
            why = tr(_APPROVED)
        else:
            changed = (item.id,) if waiting.changes_wanted else ()
            row, why = self._waiting_row(item, changed), waiting.rationale
        token = item.approval_token
        uses = 0 if token is None else await self._nonces.uses(token.token_id)
        card = await asyncio.to_thread(plan_card, item, why, self._look)
        return WorkDetail(
            **row.model_dump(),
            intent=card.intent,
            risk=card.risk.value,
            affected=card.effect,
            plan=tuple(SectionView(heading=d.heading, lines=d.lines) for d in card.details),
            hash=card.plan_hash,
            checks=self._checks(item),
            checks_changed=() if result is None else tuple(map(show, result.checks_changed)),
            diff="" if result is None else self._diff(result),
            output="" if result is None else self._redact(result.output),
            report="" if result is None else self._redact(result.report),
            grounds="" if result is None else result.grounds,
            approval=None if token is None else signed_of(token, uses, ""),
            attempts=item.attempts,
            budget=tuple(
                BudgetRow(words=one.words, share=one.share)
                for one in shares(item.budget_used, item.budget)[: _SHARED if item.tasks else None]
            ),
            next_steps=() if result is None else tuple(map(self._redact, result.next_steps)),
            running=work_item_id in self._session.executor.running(),
            project=None if waiting is not None else await self._graph(item),
            again=waiting is None and plan_anew(item, result) is not None,
            rest=waiting is None and await self._has_rest(item),
            rest_as="" if waiting is not None else await self._rest_as(item),
        )

    async def _graph(self, item: WorkItem) -> ProjectRow | None:
        """A project as it stands, running or ended."""
        if item.type is not WorkItemType.project:
            return None
        results = [await self._store.get_result(task.id) for task in item.children]
        held = [one.work_item_id for one in results if one is not None and one.held]
        shown = await project_shown(item, self._store, self._session.undoing.changes, held)
        return project_row(shown, self._redact)

    async def _has_rest(self, item: WorkItem) -> bool:
        """Whether it is a project of which something is not done and can be asked for."""
        project = item.type is WorkItemType.project
        return project and await self._session.undoing.rests.has_rest(item)

    async def _rest_as(self, item: WorkItem) -> str:
        """As which project its rest was approved; empty where none was."""
        if item.type is not WorkItemType.project:
            return ""
        return await self._session.undoing.rests.approved_as(item)

    async def cancel(self, work_item_id: str) -> Done:
        """See `Work.cancel`."""
        if not await self._session.cancel(work_item_id):
            raise ChannelError(
                tr_later("This work is not running, so there is nothing to stop."),
                code="E_CHANNEL_NOT_NOW",
            )
        return Done(words=tr(_STOPPED))

    async def stop_answer(self, message_id: str) -> Done:
        """See `Work.stop_answer`."""
        if not self._session.stop_answer(message_id):
            raise ChannelError(
                tr_later("No answer to this message is under way, so there is nothing to stop."),
                code="E_CHANNEL_NOT_NOW",
            )
        return Done(words=tr("This answer is stopped; everything else goes on."))

    async def ask(self, work_item_id: str) -> Done:
        """See `Work.ask`."""
        asked = await self._session.ask_again(work_item_id)
        words = tr("Its card is shown again.") if asked else tr("Its card is open already.")
        return Done(words=words)

    async def rest(self, work_item_id: str) -> Done:
        """See `Work.rest`."""
        name = await self._session.ask_for_rest(work_item_id)
        return Done(words=tr("Its rest is asked about as {rest}; the card is shown.", rest=name))

    async def undo(self, work_item_id: str) -> Done:
        """See `Work.undo`."""
        taken = await self._session.undo(work_item_id)
        for name in dict.fromkeys((*taken.taken_back, work_item_id)):
            self._announce.announce_undo(name)
        if taken.taken_back == (work_item_id,) and not taken.stays:
            return Done(words=tr("Taken back: its files are as they were before."))
        return Done(words=taken.words(work_item_id))

    async def stop(self) -> Done:
        """See `Work.stop`: the file first, so that nothing new begins; then the kill."""
        stopping = StopNow(self._service.sentinel.folder)
        stopping.place()
        self._session.runs.halt.ring()  # what is under way here ends, however soon the stop is over
        ended = await asyncio.to_thread(stopping.kill)
        if stopping.failure is not None:
            raise from_foreign(stopping.failure) or stopping.failure
        stopping.keep()
        with suppress(Exception):  # it holds whether or not it could be recorded yet
            self._service.record()
        self._announce.announce_stop(
            said_at(COCKPIT, refusal_words(self._service.sentinel.words()))
        )
        return Done(
            words=tr(
                "Silas is stopped, and every approval is void. Tools killed: {killed}.",
                killed=ended.killed,
            )
        )

    async def resume(self) -> Done:
        """See `Work.resume`."""
        if not self._service.sentinel.stands():
            return Done(words=tr("Silas is not stopped."))
        await self._service.resume()
        self._announce.announce_stop("")
        return Done(words=tr("Silas works again; what was interrupted needs a new approval."))

    def _waiting_row(self, item: WorkItem, changed: Collection[str]) -> WorkRow:
        wanted = tr("Waits for your answer; you wanted it changed.")
        return WorkRow(
            id=item.id,
            title=item.title,
            status="waiting",
            created_at=None,
            summary=wanted if item.id in changed else tr("Waits for your answer."),
            undoable=False,
        )

    def _row(
        self, item: WorkItem, result: WorkItemResult | None, undoable: str | None, back: TakenBack
    ) -> WorkRow:
        """A row; `undoable` is None where nothing stands, or what a crash left half-changed."""
        ended = "" if result is None else tell_end(result.summary)
        asks = "" if undoable else waits_words(item, self._store)
        summary = undoable or asks or ended
        held = result is not None and bool(result.held)  # its changes wait for a yes
        return WorkRow(
            id=item.id,
            title=item.title,
            status="waiting" if held else back.status or item.status.value,
            created_at=item.created_at,
            summary=self._redact(said_at(COCKPIT, summary, quoted_in(result) if result else ())),
            undoable=undoable is not None,
            taken_back=back.words,
            part_of=item.parent or "",
            asks=bool(asks),
        )

    def _with_clock(self, row: WorkRow, item: WorkItem) -> WorkRow:
        """A goal's row as its clock has it: its checks may fail, what failed may be repaired, or it
        may run no more.
        """
        if item.type is not WorkItemType.goal:
            return row
        goal = self._session.goal(item.id)
        if goal is None or goal.standing == "active":
            return row
        why = said_at(COCKPIT, self._redact(refusal_words(goal.why)))
        coming = self._session.unasked.goals().coming_words(item.id)
        repaired = repaired_words(goal, coming)
        summary = tr("It is paused. {why}", why=why) if why else repaired or row.summary
        return row.model_copy(update={"status": goal.standing, "summary": summary})

    async def _with_trouble(self, row: WorkRow) -> WorkRow:
        """A goal's row that says what its work asks, why that asks each time, or why it starts
        nothing.
        """
        if row.status == "paused":
            return row
        ahead = self._session.unasked.ahead()
        asks = await ahead.question(row.id)
        words = said_at(COCKPIT, self._redact(refusal_words(asks or await ahead.trouble(row.id))))
        told = {"summary": words, "asks": bool(asks)}
        return row.model_copy(update=told) if words else row

    def _stands(self, items: list[WorkItem]) -> tuple[dict[str, str], dict[str, TakenBack]]:
        """Which of them changed something that stands, with words where only half of it does; and
        of which something was taken back, in words.

        Most have no folder, which is one look.
        """
        kept = {path.name for path in self._undo_folder.glob("*")}
        tasks = [name for item in items for name in item.tasks]  # of projects
        found = [name for name in (*(item.id for item in items), *tasks) if name in kept]
        undoing = self._session.undoing.changes
        whole = {name: "" for name in found if undoing.latest_applied(name) is not None}
        whole |= {item.id: "" for item in items if not whole.keys().isdisjoint(item.tasks)}
        halves = (
            {half.work_item_id: half.words for half in undoing.files.list_left()} if found else {}
        )
        back = {
            item.id: TakenBack(self._session.taken_back(item), self._session.undoing.state(item))
            for item in items
            if not {item.id, *item.tasks}.isdisjoint(found)
        }
        return {**whole, **{name: halves[name] for name in found if name in halves}}, back

    def _checks(self, item: WorkItem) -> tuple[CheckView, ...]:
        """What the checks of the last attempt found."""
        if not item.verification_results:
            return ()
        last = item.verification_results[-1]
        results: list[dict[str, Any]] = last.get("results", [])
        return tuple(
            CheckView(
                name=str(one.get("name", "")),
                passed=one.get("passed") is True,
                words=self._redact(reason_words(str(one.get("reason", "")))),
                output=self._redact(str(one.get("output", ""))),
                attempt=int(last.get("attempt", 0)),
            )
            for one in results
        )

    def _diff(self, result: WorkItemResult) -> str:
        patch = result.artifacts.get(PATCH, "") or result.diff
        return self._redact(patch[:_LONGEST_DIFF])
