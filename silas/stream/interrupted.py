"""What a crash left unanswered is told, honestly and without doing any of it again (5.1.3)."""

from collections.abc import Sequence
from typing import NamedTuple

from silas.audit import Audit
from silas.cards import CardChannel
from silas.context import ChronicleStore, ContextItem, ContextZone
from silas.damage import skip_damaged
from silas.db import at_once
from silas.errors import ChannelError
from silas.language import COCKPIT
from silas.memory import MemoryItem, MemoryStore, MemoryType, ReingestionTier
from silas.plans import WaitingPlans, WorkItemStore
from silas.stream.inbox import Inbox, Interrupted
from silas.stream.items import ItemFactory, ItemOrigin
from silas.stream.ports import Together
from silas.stream.state import ScopeState
from silas.stream.turn_writer import SAID, raw_name
from silas.stream.work_context import named_plan
from silas.types import OWNER, TaintLevel

_LOOKED = 20  # entries of the conversation, the newest, among which its plan is
_SHOWN = 300  # characters of a message that is told of

_UNANSWERED = (
    "I was interrupted before I answered “{text}”. Nothing of it is done again by itself; "
    "say it once more if you still want it."
)
_WAITS = (
    "I was interrupted while the plan for “{text}” waited for your answer. It still waits and "
    "nothing of it was run; there is no need to say it again. {where}"
)
_APPROVED = (
    "I was interrupted after you approved the plan for “{text}”. There is no need to say it again: "
    "{where}"
)
_ASKS = {COCKPIT: "It is in Review."}
_STANDS = {COCKPIT: "“Work” under “More” says how it stands."}
_ASKS_BY_COMMAND = "`silas approve {plan}` asks you."
_STANDS_BY_COMMAND = (
    "`silas status` says how {plan} stands, and `silas chat` goes on with it where it is open."
)
_ON_ITS_WAY = "I was interrupted while I sent you this; you may have it already:\n\n{answer}"
NOTE = "[SYSTEM] Silas ended before it answered the last message."


class InterruptedTurns(NamedTuple):
    """What telling needs."""

    arrivals: Inbox
    chronicle: ChronicleStore
    memory: MemoryStore
    items: ItemFactory
    channel: CardChannel
    together: Together
    audit: Audit
    waiting: WaitingPlans
    work: WorkItemStore


def left_unanswered(arrivals: Inbox, *, alone: bool) -> Sequence[Interrupted]:
    """What the last process left; nothing where another one is at work, which may answer it."""
    return arrivals.list_left() if alone else ()


async def tell_interrupted(unanswered: Sequence[Interrupted], of: InterruptedTurns) -> None:
    """Tell whoever is still without an answer; a crash meanwhile tells them twice, never not.

    Args:
        unanswered: What was left when no process was at work.
        of: What telling needs.
    """
    for left in unanswered:
        if left.scope_id == OWNER or left.channel == of.channel.channel_name:
            try:
                await of.channel.send(left.address, await _words(left, of))
            except ChannelError:
                await of.audit.log("send_failed", connection_id=left.scope_id)
        before = await of.chronicle.get_recent(left.scope_id, 1, conversation=left.conversation)
        number = before[-1].turn_number + (not left.heard) if before else 0
        raw = await _write_missing(of, left, before)
        with of.together():
            at_once(of.memory.store_many(raw))
            if not left.answer:
                _note_message(of, left, _scope(left, number))
            of.arrivals.delete_done(left.id)
            of.audit.log_now("turn_interrupted", scope_id=left.scope_id, answered=bool(left.answer))


async def _write_missing(
    of: InterruptedTurns, left: Interrupted, newest: Sequence[ContextItem]
) -> list[MemoryItem]:
    """The raw record of a message that was heard, where the turn ended before it wrote it (D250).

    Its words are those of the chronicle: what a rule took out of the message stays out.
    """
    name = raw_name(left.id)
    if not left.heard or not newest or await of.memory.get(name, left.scope_id) is not None:
        return []
    said = newest[-1]
    return [
        MemoryItem(
            memory_id=name,
            content=said.content.partition(": ")[2],
            memory_type=MemoryType.episode,
            reingestion_tier=ReingestionTier.low_reingestion,
            taint=said.taint,
            created_at=said.created_at,
            updated_at=said.created_at,
            source_kind=SAID,
            scope_id=left.scope_id,
            sources=said.sources,
        )
    ]


async def _words(left: Interrupted, of: InterruptedTurns) -> str:
    """What is said about one message: one thing, which agrees with what becomes of its plan."""
    if left.answer:
        return _ON_ITS_WAY.format(answer=left.answer)
    text = " ".join(left.text.split())
    shown = text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"
    plan = await _plan_of(left, of)
    if plan and any(one.item.id == plan for one in await of.waiting.all()):
        where = _ASKS.get(of.channel.channel_name, _ASKS_BY_COMMAND.format(plan=plan))
        return _WAITS.format(text=shown, where=where)
    begun = await skip_damaged(of.work.get(plan)) if plan else None
    if begun is not None and begun.created_at >= left.at:  # not an earlier one of that name
        where = _STANDS.get(of.channel.channel_name, _STANDS_BY_COMMAND.format(plan=plan))
        return _APPROVED.format(text=shown, where=where)
    return _UNANSWERED.format(text=shown)


async def _plan_of(left: Interrupted, of: InterruptedTurns) -> str:
    """The plan that its turn put into view before anybody was asked; empty where it had none."""
    if left.scope_id != OWNER:
        return ""  # somebody else's plan waits for the owner, who is told of it as of any other
    where = left.conversation
    for entry in reversed(
        await of.chronicle.get_recent(left.scope_id, _LOOKED, conversation=where)
    ):
        if entry.created_at >= left.at and (named := named_plan(entry.ctx_id)):
            return named
    return ""


def _scope(left: Interrupted, number: int) -> ScopeState:
    return ScopeState(left.scope_id, number, conversation=left.conversation)


def _note_message(of: InterruptedTurns, left: Interrupted, scope: ScopeState) -> None:
    """The chronicle has the message, though nobody can say any more whose word it was."""
    zone = ContextZone.chronicle
    notes = [of.items.make(scope, zone, "system", NOTE, ItemOrigin(TaintLevel.owner, "silas"))]
    if not left.heard:
        said = f"[{TaintLevel.external}] {left.sender_id}: {left.text}"
        origin = ItemOrigin(TaintLevel.external, f"channel:{left.channel}")
        notes.insert(0, of.items.make(scope, zone, "message", said, origin))
    at_once(of.chronicle.append(left.scope_id, *notes))
