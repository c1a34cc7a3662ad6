"""What a turn takes into view and writes down, each piece with where it came from (3 to 11.5)."""

from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial

from silas.canonical import canonical_json, sha256_hex
from silas.clock import Clock
from silas.context import ChronicleStore, ContextItem, ContextZone
from silas.context.models import ItemKind
from silas.db import at_once
from silas.errors import SilasError
from silas.memory import MemoryItem, MemoryStore, MemoryType, ReingestionTier
from silas.memory.port import as_sources
from silas.plans import WorkItem
from silas.stream.inbox import Inbox
from silas.stream.items import ItemFactory, ItemOrigin
from silas.stream.ports import ModelView, Together
from silas.stream.sources import answered_by
from silas.stream.state import Lookup, Turn, need
from silas.stream.work_context import plan_name
from silas.tools.builtin.git_look import WORKSPACE_TOOL_NAMES
from silas.tools.builtin.recall import EVICTED
from silas.types import TaintLevel, new_id

SAID = "conversation_raw"
"""The kind of the raw record of what somebody said."""

_MOST_SOURCES = 256
"""Of what an answer rests on so many sources are kept; beyond it the oldest are left out."""

_LOOKS = tuple(f"tool:{name}" for name in ("memory_search", *WORKSPACE_TOOL_NAMES))
"""Where results of looks in memory and at the folder come from."""


class TurnWriter:
    """Makes items, takes them into view, and writes what has come together in one transaction.

    Args:
        items: Makes items of the context.
        context: What is in view.
        chronicle: What was said, for later sittings.
        memory: Where the raw records go, and what left the view.
        arrivals: Messages that are not answered yet.
        together: Makes one transaction of several writes.
        clock: When.
    """

    def __init__(
        self,
        items: ItemFactory,
        context: ModelView,
        chronicle: ChronicleStore,
        memory: MemoryStore,
        arrivals: Inbox,
        together: Together,
        clock: Clock,
    ) -> None:
        self._items = items
        self._context = context
        self._chronicle = chronicle
        self._memory = memory
        self._arrivals = arrivals
        self._together = together
        self._clock = clock

    # 3, 3.5
    def message(self, turn: Turn) -> None:
        """The message into the chronicle, and as it came into the raw lane."""
        said = (
            f"[{turn.message.taint}] {turn.message.incoming.message.sender_id}: {turn.message.text}"
        )
        item = self._entry(turn, "message", said, ItemOrigin(turn.message.taint, turn.source))
        turn.message.message_id = item.ctx_id
        turn.seat.on_leaving = partial(self._note_sources, turn)
        self._into_chronicle(turn, item)
        self._write_raw(turn, turn.message.text, SAID, turn.message.taint, (turn.source,))

    # 5
    async def make_room(self, turn: Turn) -> None:
        """What has to go is remembered as it stood there (decision A12)."""
        gone = await self._context.enforce_budget(turn.address, turn.number, turn.message.text)
        now = self._clock.now()
        for item in gone:
            if _is_elsewhere(item) or not item.content:
                continue
            known_as = _kept_as(item)
            if await self._memory.get(known_as, turn.scope_id) is not None:
                continue  # it left before a restart, and came back with the conversation
            turn.kept.memories.append(
                MemoryItem(
                    memory_id=known_as,
                    content=item.content,
                    memory_type=MemoryType.episode,
                    taint=item.taint,
                    created_at=item.created_at,
                    updated_at=now,
                    session_id=turn.seat.scope.session_id,
                    source_kind=EVICTED,
                    scope_id=turn.scope_id,
                    sources=as_sources(item.source, item.sources),
                )
            )

    # 11, 11.5
    def answer(self, turn: Turn, text: str, *, said: bool) -> None:
        """What tools returned and what is answered into the chronicle; all of it raw, too.

        Why a model gave no answer is not `said`: the next one would take it for Silas's words.
        """
        rests_on, taint = self.sources(turn), turn.response_taint
        for lookup in turn.shown.lookups:
            self._lookup(turn, lookup)
        if said:
            self.reply(turn, text, taint, turn.answer.speaker, rests_on)
        for query in need(turn.answer.response, "step 7").memory_queries:
            asked = canonical_json(query.model_dump(mode="json"))
            self._write_raw(turn, asked, "research_query_raw", taint, rests_on)
        self._write_raw(
            turn, text, "agent_response_raw", taint, as_sources(turn.answer.speaker, rests_on)
        )

    def reply(
        self, turn: Turn, text: str, taint: TaintLevel, speaker: str, sources: Sequence[str] = ()
    ) -> None:
        """What is said to whoever asked, into the chronicle."""
        origin = ItemOrigin(taint, speaker, sources)
        self._into_chronicle(turn, self._entry(turn, "message", f"Silas: {text}", origin))

    def _lookup(self, turn: Turn, lookup: Lookup) -> None:
        name, result = lookup.tool_name, lookup.result
        source = source_of(lookup)
        asked = canonical_json({"tool": name, "args": lookup.args})
        self._write_raw(turn, asked, "research_query_raw", turn.response_taint, (turn.source,))
        words = result.return_value or result.error or ""
        self._write_raw(turn, words, "tool_output_raw", result.taint, (source,))
        origin = ItemOrigin(result.taint, source)
        item = self._entry(turn, "tool_result", words, origin, succeeded=result.ok)
        self._into_chronicle(turn, item)

    def sources(self, turn: Turn) -> tuple[str, ...]:
        """Where everything in view came from; what is made of it came from there, too."""
        ways = self._context.ways(turn.address)
        found = dict.fromkeys((*turn.proposal.made_from, *(name for way in ways for name in way)))
        for lookup in turn.shown.lookups:
            found[source_of(lookup)] = None
        # a memory's own sources stand beside its name, and outlive it
        return tuple(name for name in found if not name.startswith("memory:"))[-_MOST_SOURCES:]

    def _note_sources(self, turn: Turn) -> None:
        turn.proposal.made_from = self.sources(turn)

    def write_heard(self, turn: Turn) -> None:
        """Write the message into the chronicle before a model is asked, and what left the view.

        Where nothing left it, the raw record is written with those of the answer (decision D250).
        """
        kept = turn.kept
        waits = [] if kept.memories else kept.raw
        if waits:
            kept.raw = []
        self.flush(turn, lambda: self._arrivals.mark_heard(turn.message.arrival))
        kept.raw = waits

    def end_turn(self, turn: Turn) -> None:
        """The turn ends here, whatever the reason: what was said is on record all the same."""
        said = [record for record in turn.kept.raw if record.source_kind == SAID]
        with suppress(SilasError):  # what ended the turn is told, and not this
            at_once(self._memory.store_many(said))

    def flush(self, turn: Turn, *also: Callable[[], None]) -> None:
        """Write what has come together, in one transaction; nothing of it, or all."""
        kept, scope_id = turn.kept, turn.scope_id
        with self._together():
            at_once(self._chronicle.append(scope_id, *kept.chronicle))
            at_once(self._memory.store_many([*kept.raw, *kept.memories]))
            for write in also:
                write()
        kept.chronicle, kept.memories, kept.raw = [], [], []

    # 12
    async def plan(self, turn: Turn, item: WorkItem, markdown: str) -> None:
        """A plan into the workspace; it cannot be evicted before its work has ended.

        It is written at once, before anybody is asked, so that a restart has it with the work.
        """
        origin = ItemOrigin(turn.response_taint, turn.answer.speaker, self.sources(turn))
        zone, name = ContextZone.workspace, plan_name(item.id)
        made = self._items.make(
            turn.standing, zone, "plan", markdown, origin, ctx_id=name, pinned=True
        )
        self._context.add(turn.address, made)
        await self._chronicle.append(turn.scope_id, made)

    def _entry(
        self, turn: Turn, kind: ItemKind, text: str, origin: ItemOrigin, *, succeeded: bool = False
    ) -> ContextItem:
        zone = ContextZone.chronicle
        return self._items.make(turn.standing, zone, kind, text, origin, succeeded=succeeded)

    def _into_chronicle(self, turn: Turn, item: ContextItem) -> None:
        if turn.standing.folder == turn.seat.scope.folder:  # else it is remembered, and not in view
            self._context.add(turn.address, item)
        turn.kept.chronicle.append(item)

    def _write_raw(
        self, turn: Turn, text: str, kind: str, taint: TaintLevel, sources: Sequence[str]
    ) -> None:
        if not text:
            return
        now = self._clock.now()
        turn.kept.raw.append(
            MemoryItem(
                memory_id=raw_name(turn.message.arrival) if kind == SAID else new_id("mem"),
                content=text,
                memory_type=MemoryType.episode,
                reingestion_tier=ReingestionTier.low_reingestion,
                taint=taint,
                created_at=now,
                updated_at=now,
                session_id=turn.seat.scope.session_id,
                source_kind=kind,
                scope_id=turn.scope_id,
                sources=tuple(sources),
            )
        )


def _is_elsewhere(item: ContextItem) -> bool:
    """Whether it came from memory or the folder, and is still there; its words are on record."""
    looked = item.kind == "tool_result" and item.source.startswith(_LOOKS)
    return item.kind == "memory" or looked


def _kept_as(item: ContextItem) -> str:
    """What an item is remembered as once it has left: the same each time it leaves as it is."""
    named = canonical_json([item.ctx_id, item.content])
    return f"mem-{sha256_hex(named.encode())[:32]}"


def raw_name(arrival_id: str) -> str:
    """The id of the raw record of a message, so that a start finds whether it was written."""
    return f"mem-{arrival_id.removeprefix('msg-')}"


def source_of(lookup: Lookup) -> str:
    """Where a tool's answer came from."""
    return answered_by(lookup.tool_name, lookup.result.source)
