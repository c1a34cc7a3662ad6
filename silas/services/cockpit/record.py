"""What happened, for the cockpit: the audit as a narrative, and what is behind each entry."""

import asyncio
from collections.abc import Callable
from datetime import datetime
from typing import Any

from silas.approval import ApprovalToken, NonceStore
from silas.approval.earlier_uses import used_before
from silas.audit.kinds import KINDS, QUIET, Kind, kind_of
from silas.audit.narrate import known_events
from silas.audit.reader import AuditReader, ReadEntry
from silas.cards import PlanCard
from silas.channels.web.metrics import EVENTS, MetricWindow
from silas.channels.web.views import (
    Activity,
    ActivityView,
    EntryDetail,
    Metric,
    RunStepView,
    SignedApprovalView,
)
from silas.clock import Clock
from silas.errors import ChannelError, SilasError
from silas.language import tr
from silas.plans import plan_hash
from silas.plans.card_preview import PlanLook
from silas.services.activity.entry_words import EntryWords, KeptPlan, entry_item
from silas.services.plans import plan_card
from silas.work.models import PATCH, FindResult

_MOST_RAN = 200
_LONGEST_DIFF = 200_000  # characters; `silas diff ID` has all of it

_NOT_KEPT = "It was not approved, so Silas has not kept the plan; its hash is sha256:{}."
_OTHER = "The plan with this id is another one now; the hash of the one shown is sha256:{}."

_ABOUT_A_PLAN = frozenset(
    {
        *("plan_proposed", "plan_waits", "plan_approved", "plan_not_approved", "plan_refused"),
        *("approval.issued", "approval.used", "approval.refused"),
        "approval.revoked",
    }
)
_RAN: dict[str, str] = {
    "tool_call.attempted": "running",
    "tool_call.succeeded": "done",
    "tool_call.failed": "failed",
    "tool_call.unknown": "unknown",
    "verification_finished": "done",
    "workspace_applied": "done",
    "workspace_undone": "done",
    "worker_started": "done",
    "work_item_attempt": "done",
    "work_item_finished": "done",
    "work_item_not_begun": "failed",
    "work_item_cancelled": "failed",
    "execution_failed": "failed",
    "execution_blocked_no_approval": "failed",
}
_CHANGED = frozenset(
    {"workspace_applied", "workspace_undone", "work_item_finished", "work_item_not_begun"}
)


class RecordRoom:
    """`silas.channels.web.port.Record` over the audit log and the stores."""

    def __init__(
        self,
        reader: AuditReader,
        entries: EntryWords,
        nonces: NonceStore,
        clock: Clock,
        redact: Callable[[str], str],
        look: PlanLook,
        result: FindResult,
    ) -> None:
        self._reader = reader
        self._entries = entries
        self._nonces = nonces
        self._clock = clock
        self._redact = redact
        self._look = look
        self._result_of = result
        self._tally = MetricWindow()
        self._counting = asyncio.Lock()

    async def activity(
        self, *, before: int, last: int, kind: Kind | None, item: str, everything: bool
    ) -> Activity:
        """See `ActivityRecord.activity`. Long looks happen beside the event loop."""
        events = _wanted_events(kind, everything)
        found = await asyncio.to_thread(self._reader.before, before, last, events, item)
        entries = [await self._entry(told) for told in found.entries]
        return Activity(entries=tuple(entries), more=found.before > 1, before=found.before)

    async def entry(self, seq: int) -> EntryDetail:
        """See `ActivityRecord.entry`."""
        told = await asyncio.to_thread(self._reader.one, seq)
        if told is None:
            raise ChannelError(
                f"The record has no entry {seq} that can be read.", code="E_CHANNEL_NOT_FOUND"
            )
        item_id = entry_item(told)
        history = await asyncio.to_thread(self._reader.about, item_id, seq) if item_id else []
        plan = await self._entries.plan(item_id)
        shown = self._lines_shown(told, plan)
        return EntryDetail(
            **(await self._entry(told)).model_dump(),
            shown=None if shown is None else tuple(map(self._redact, shown)),
            signed=await self._find_approval(told, plan, history),
            ran=await self._ran(history) or None,
            diff=await self._diff(told, item_id),
        )

    async def ux_metrics(self) -> tuple[Metric, ...]:
        """See `ActivityRecord.ux_metrics`. Only entries since the last time are looked at."""
        async with self._counting:
            await asyncio.to_thread(self._count)
            return self._tally.metrics(self._clock.now())

    def _count(self) -> None:
        newest = self._reader.newest()
        self._tally.add(self._reader.since(self._tally.upto, EVENTS), newest)

    async def _entry(self, told: ReadEntry) -> ActivityView:
        return ActivityView(
            seq=told.seq,
            at=told.at,
            kind=kind_of(told.event),
            words=await self._entries.words(told),
            work_item_id=entry_item(told),
            event=told.event,
            quiet=told.event in QUIET,
        )

    def _lines_shown(self, told: ReadEntry, plan: KeptPlan | None) -> list[str] | None:
        if told.event in _ABOUT_A_PLAN:
            return self._plan_shown(told, plan)
        tool, digest = told.data.get("tool"), told.data.get("digest")
        if isinstance(tool, str) and isinstance(digest, str) and digest:
            return [
                f"One call of {tool}, action {told.data.get('action') or '?'}.",
                f"Of its arguments the record keeps the digest alone: sha256:{digest}",
            ]
        return None

    def _plan_shown(self, told: ReadEntry, plan: KeptPlan | None) -> list[str] | None:
        wanted = told.data.get("plan_hash") or told.data.get("digest")
        if plan is None:
            return [_NOT_KEPT.format(wanted)] if wanted else None
        if wanted and wanted != plan_hash(plan.item):
            return [_OTHER.format(wanted)]
        return _lines(plan_card(plan.item, plan.rationale, self._look))

    async def _find_approval(
        self, told: ReadEntry, plan: KeptPlan | None, history: list[ReadEntry]
    ) -> SignedApprovalView | None:
        """The approval that an entry is about, or that was in force when it was written."""
        named = told.data.get("token_id") or told.data.get("token")
        token = None if plan is None else plan.item.approval_token
        if token is not None and _fits(token, named, told.at):
            uses = await self._uses(token.token_id, history)
            return signed_of(token, uses, _device(history, token.issued_at))
        issued = [
            one
            for one in history
            if one.event == "approval.issued" and one.data.get("token_id") == named
        ]
        if not named or not issued:
            return None
        return await self._from_record(issued[-1], history)

    async def _from_record(self, issued: ReadEntry, history: list[ReadEntry]) -> SignedApprovalView:
        """Of an approval whose token is not kept: what the record says of it."""
        said = issued.data
        token_id = str(said.get("token_id"))
        return SignedApprovalView(
            token_id=token_id,
            hash=str(said.get("digest", "")),
            scope=str(said.get("scope", "")),
            verdict=str(said.get("verdict", "")),
            issued_at=issued.at,
            expires_at=None,
            max_executions=int(said.get("max_executions", 1)),
            uses=await self._uses(token_id, history),
            device=_device(history, issued.at),
        )

    async def _uses(self, token_id: str, history: list[ReadEntry]) -> int:
        """Uses that were spent; of an approval that is over they are forgotten but on record."""
        told = [one for one in history if one.event == "approval.used"]
        on_record = sum(one.data.get("token_id") == token_id for one in told)
        return max(await self._nonces.uses(token_id), on_record)

    async def _ran(self, history: list[ReadEntry]) -> tuple[RunStepView, ...]:
        ended = {one.data.get("step") for one in history if one.event in _ENDS}
        ran = [
            one
            for one in history
            if one.event in _RAN
            and not (one.event == "tool_call.attempted" and one.data.get("step") in ended)
        ][-_MOST_RAN:]
        words = [await self._entries.words(one) for one in ran]
        return tuple(
            RunStepView(at=one.at, words=told, state=_state(one))
            for one, told in zip(ran, words, strict=True)
        )

    async def _diff(self, told: ReadEntry, item_id: str) -> str:
        if told.event not in _CHANGED or not item_id:
            return ""
        try:
            result = await self._result_of(item_id)
        except SilasError:
            return ""
        if result is None:
            return ""
        return self._redact((result.artifacts.get(PATCH, "") or result.diff)[:_LONGEST_DIFF])


def _lines(card: PlanCard) -> list[str]:
    """A card as lines of text; a page wraps them itself."""
    risk = tr("Risk: {value}", value=tr(card.risk.value))
    lines = [card.intent, card.effect, risk, f"{tr('Why: ')}{card.rationale}"]
    for detail in card.details:
        lines += ["", f"{detail.heading}:", *(f"  {line}" for line in detail.lines)]
    return lines


_ENDS = frozenset({"tool_call.succeeded", "tool_call.failed", "tool_call.unknown"})


def signed_of(token: ApprovalToken, uses: int, device: str) -> SignedApprovalView:
    """What may be said of a token; its signature is not among it."""
    before = used_before(token)
    return SignedApprovalView(
        token_id=token.token_id,
        hash=token.plan_hash,
        scope=token.scope.value,
        verdict=token.verdict.value,
        issued_at=token.issued_at,
        expires_at=token.expires_at,
        max_executions=token.max_executions + before,
        uses=uses + before,
        device=device,
    )


def _fits(token: ApprovalToken, named: Any, at: datetime) -> bool:
    return token.token_id == named if named else token.issued_at <= at


def _device(history: list[ReadEntry], issued_at: datetime) -> str:
    """The device of the answer that came just before an approval was signed."""
    answers = [one for one in history if one.event == "card_answered" and one.at <= issued_at]
    return str(answers[-1].data.get("device", "")) if answers else ""


def _state(told: ReadEntry) -> Any:
    if told.event == "verification_finished":
        return "done" if told.data.get("all_passed") is True else "failed"
    if told.event == "work_item_finished":
        return "done" if told.data.get("status") == "done" else "failed"
    return _RAN[told.event]


def _wanted_events(kind: Kind | None, everything: bool) -> frozenset[str] | None:
    if kind is None:
        return None if everything else known_events() - QUIET
    if kind == "system":
        events = known_events() - frozenset[str]().union(*KINDS.values())
    else:
        events = KINDS[kind]
    return events if everything else events - QUIET
