"""What remembering consists of: the one place that knows its classes (spec 4.2, 6)."""

from collections.abc import AsyncGenerator, Callable, Coroutine, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from silas.audit import Audit
from silas.audit.intent import ChangeEvents, record_change
from silas.audit.log import AuditLog
from silas.audit.reader import AuditReader
from silas.audit.refusals import RefusalRecord
from silas.autonomy.questions import memory_card
from silas.cards import CardChannel
from silas.clock import Clock, SystemClock
from silas.config import SilasConfig
from silas.context.chronicle import ChronicleStore, SqlChronicleStore
from silas.context.origin import names
from silas.context.tokens import TokenCounter
from silas.db import Database, at_once
from silas.errors import MemoryRefused
from silas.home.database import open_database, require_database
from silas.home.effective_clock import effective_time
from silas.home.key_vault import open_vault, owner_keys
from silas.home.keyless import NoKey
from silas.keys import KeyRing, Signer
from silas.memory import MemoryItem, NoVectors, Vectors, forgotten, records
from silas.memory.bundle import Bundles, BundleSigner
from silas.memory.consolidate import ConfirmMemory, ConsolidationRules, Consolidator
from silas.memory.embedding import SemanticSearch
from silas.memory.meter import MemoryMeter
from silas.memory.models import MemoryType
from silas.memory.operations import Operations, RulesFit
from silas.memory.owners_words import checked_words, owners_own
from silas.memory.retrieve import HybridRetriever
from silas.memory.store import SqlMemoryStore
from silas.memory.vectors import NumpyVectorIndex
from silas.plans.characters import show
from silas.services.embedder import embedder_of
from silas.services.memory_search import MemorySearch
from silas.services.record import require_whole_record
from silas.stream.owner import Owner
from silas.stream.scope_work import any_rests_on
from silas.types import OWNER

if TYPE_CHECKING:
    from silas.reminders.service import Reminders

_FORGETTING: Final = ChangeEvents("memory.forgetting", "memory.forgotten", "memory.not_forgotten")

_PER_RULE = 2  # tokens of the line that a rule stands in


@dataclass(frozen=True)
class MemoryRooms:
    """Everything that remembering is asked for, wired.

    Attributes:
        vectors: Finds by meaning; `NoVectors` where no embedder is configured.
        upkeep: What runs in the background as long as Silas does; each call makes one coroutine.
    """

    store: SqlMemoryStore
    retriever: HybridRetriever
    ops: Operations
    meter: MemoryMeter
    vectors: Vectors
    consolidator: Consolidator
    bundles: Bundles
    upkeep: tuple[Callable[[], Coroutine[Any, Any, None]], ...]


class MemoryPorts(NamedTuple):
    """What remembering needs of the rest of Silas.

    Attributes:
        signer: The owner's key, for exports.
        ring: His keys, to tell which bundles are his.
        confirm: Asks him whether a memory is true.
        count_tokens: How many tokens a text has.
        rules_fit: Whether these standing rules have room in every prompt together.
    """

    signer: BundleSigner
    ring: KeyRing
    confirm: ConfirmMemory
    count_tokens: Callable[[str], int]
    rules_fit: RulesFit


def memory_rooms(
    config: SilasConfig, db: Database, clock: Clock, audit: Audit, around: MemoryPorts
) -> MemoryRooms:
    """The rooms of memory over a database.

    Raises:
        ConfigError: The embedder cannot be used as configured.
    """
    settings = config.memory
    store = SqlMemoryStore(db, clock)
    upkeep: list[Callable[[], Coroutine[Any, Any, None]]] = []
    vectors: Vectors = NoVectors()
    reembed = _nothing_to_embed
    embedder = embedder_of(config)
    if embedder.dim:
        search = SemanticSearch(
            db, embedder, NumpyVectorIndex(db, embedder.name, embedder.dim), clock
        )
        vectors, reembed = search, search.reembed
        upkeep.append(search.keep_up)
    consolidator = Consolidator(
        db, clock, ConsolidationRules.of(settings), around.confirm, around.rules_fit, reembed, audit
    )
    return MemoryRooms(
        store=store,
        retriever=HybridRetriever(store, vectors, around.count_tokens, clock),
        ops=Operations(store, clock, around.rules_fit),
        meter=MemoryMeter(
            config.limits.memory_ops_per_minute_per_scope, clock, RefusalRecord(audit, clock)
        ),
        vectors=vectors,
        consolidator=consolidator,
        bundles=Bundles(
            db,
            clock,
            around.signer,
            lambda key, digest: is_owners(around.ring, AuditReader(db), key, digest),
            around.rules_fit,
            audit,
        ),
        upkeep=tuple(upkeep),
    )


async def _nothing_to_embed() -> int:
    return 0


def is_owners(ring: KeyRing, record: AuditReader, public_key: str, digest: str) -> bool:
    """Whether a key was the owner's when it signed the bundle of this digest.

    The key in force is. A former one only for what this record has from its time: whoever came to
    have an old key can sign what he likes, and date it back.
    """
    if public_key == ring.current:
        return True
    former = next((key for key in ring.former if key.public_key == public_key), None)
    if former is None:
        return False
    exports = record.since(0, {"memory.exported"})
    return any(told.seq <= former.seq and told.data.get("digest") == digest for told in exports)


def ask_owner(channel: CardChannel, audit: Audit, clock: Clock) -> ConfirmMemory:
    """Asks the owner on a card beside his work; a channel that fails means no."""
    owner = Owner(channel, audit, clock)

    async def confirm(item: MemoryItem) -> bool:
        return (await owner.ask(memory_card(item, channel.channel_name))).approved

    return confirm


class KeylessSigner:
    """For commands that sign nothing: no key is unlocked for them."""

    public_key = ""

    async def sign_shown(self, data: bytes, shown: bytes) -> bytes:
        """Never called."""
        raise AssertionError("a command that signs nothing asked for a signature")


class ForgetCounts(NamedTuple):
    """How many memories, lines of the conversation, and reminders."""

    memories: int
    lines: int
    reminders: int = 0


@dataclass(frozen=True)
class MemoryService:
    """What is remembered, for the commands about it; they work beside a running Silas."""

    rooms: MemoryRooms
    db: Database
    clock: Clock
    audit: Audit
    chronicle: ChronicleStore
    reminders: "Reminders"

    @property
    def _search(self) -> MemorySearch:
        rooms = self.rooms
        return MemorySearch(rooms.retriever, rooms.store, self.clock, raw_in_reach=False)

    async def newest(self, limit: int, scope_id: str = OWNER) -> list[MemoryItem]:
        """Active memories, the newest first."""
        return await self._search.newest(limit, scope_id)

    async def search(self, query: str, limit: int, *, raw: bool) -> list[MemoryItem]:
        """What the owner is remembered to have, best first.

        Args:
            query: A question or words.
            limit: At most so many of each kind.
            raw: With what was said and read word for word, Silas's own words included.
        """
        found = await self._search.find(OWNER, query, limit)
        return found + (await self.rooms.store.search_raw(query, limit) if raw else [])

    async def one(self, memory_id: str, scope_id: str = OWNER) -> MemoryItem:
        """One memory. Raises `MemoryRefused` where there is none of this id."""
        found = await self.rooms.store.get(memory_id, scope_id)
        if found is None:
            raise records.unknown_memory(memory_id, scope_id)
        return found

    def to_forget(self, memory_id: str, scope_id: str = OWNER) -> MemoryItem:
        """One memory that may be forgotten, with what can be read of it where it is damaged.

        Raises:
            MemoryRefused: There is none of this id, or it is constitutional.
        """
        with self.db.read() as tx:
            return records.to_forget(tx, memory_id, scope_id).item

    def count_of(self, source: str, scope_id: str = OWNER) -> int:
        """How many memories came from a source and would be forgotten with it."""
        with self.db.read() as tx:
            return len(records.of_source(tx, source, scope_id, _EVERYTHING))

    async def require_known(self, source: str, scope_id: str = OWNER) -> None:
        """Refuse a source that nothing here came from, so that a slip is not taken for forgotten.

        Known is what memories, lines of the conversation, reminders or work came from, and what was
        forgotten before. To be asked before `forget_source`, which makes its source known.

        Raises:
            MemoryRefused: It is none of these (`E_MEM_UNKNOWN`).
        """
        with self.db.read() as tx:
            gone = forgotten.since(tx, scope_id, 0).sources
            if any(names(one, source) for one in gone) or any_rests_on(tx, source, scope_id):
                return
        if self.count_of(source, scope_id) or await self.chronicle.count_from(scope_id, source):
            return
        if scope_id == OWNER and self.reminders.count_from(source):
            return
        raise MemoryRefused(
            f"Nothing here came from {show(source[:80])}; `silas memory show ID` says where a "
            "memory came from.",
            code="E_MEM_UNKNOWN",
            scope_id=scope_id,
        )

    async def forget_source(self, source: str, scope_id: str = OWNER) -> ForgetCounts:
        """Forget everything that came from a source, the conversation's lines too, on record.

        The memories last: a running Silas is told of them, and may read no line of it any more.
        """
        facts = {"scope_id": scope_id, "source": source}
        async with record_change(self.audit, _FORGETTING, **facts) as found:
            said = await self.chronicle.forget(scope_id, source)
            memories = await self.rooms.store.forget(source, scope_id)
            reminders = self.reminders.forget(source) if scope_id == OWNER else 0
            found["count"] = memories + said
        return ForgetCounts(memories, said, reminders)

    async def add(self, text: str, source: str) -> str:
        """Remember the owner's own words as he said them, on record; returns the memory's id.

        Args:
            text: His words; whoever calls has his signature over them, or his terminal.
            source: Where he said them.

        Raises:
            MemoryRefused: There is nothing in them, or too much (`E_MEM_WORDS`).
            Stopped: The record was changed outside Silas; nothing is taken in.
        """
        self.audit.require_whole()
        op = {"op": "store", "content": checked_words(text), "memory_type": MemoryType.fact}
        with self.db.write():
            made = at_once(self.rooms.ops.apply(op, owners_own(source)))
            self.audit.log_now("memory.added", memory_id=made)
        return made

    async def correct(self, memory_id: str, text: str, source: str) -> None:
        """Put the owner's own words in the place of a memory, on record. Raises as `add`, and where
        there is none of this id or nothing changes it.
        """
        self.audit.require_whole()
        await self.one(memory_id)
        op = {"op": "update", "memory_id": memory_id, "content": checked_words(text)}
        with self.db.write():
            at_once(self.rooms.ops.apply(op, owners_own(source)))
            self.audit.log_now("memory.corrected", memory_id=memory_id)

    async def forget_one(self, memory_id: str, scope_id: str = OWNER) -> None:
        """Forget one memory, on record.

        Raises:
            DatabaseError: It cannot be recorded; nothing was forgotten.
            MemoryRefused: There is none of this id, or it is constitutional.
        """
        with self.db.write():
            at_once(self.rooms.store.delete(memory_id, scope_id))
            facts = {"scope_id": scope_id, "source": memory_id, "count": 1}
            self.audit.log_now("memory.forgotten", **facts)


_EVERYTHING = 10_000_000  # more than anybody has


@asynccontextmanager
async def open_memory(
    config: SilasConfig, *, sign: bool = False, take_in: bool = False
) -> "AsyncGenerator[MemoryService]":
    """What an initialised Silas remembers, without starting anything else.

    Args:
        config: The configuration.
        sign: Unlock the owner's key, for an export; looking and forgetting need none.
        take_in: Something is to be remembered from here on.

    Raises:
        ConfigError: Silas was not set up here, or the key is locked.
        Stopped: The record was changed outside Silas, and nothing is signed or taken in.
    """
    clock = SystemClock()
    require_database(config)  # before a passphrase is asked for
    signer: BundleSigner | Signer = KeylessSigner()
    if sign:
        signer, ring = owner_keys(config, open_vault(config), unlock=True)
    else:
        ring = open_vault(config).ring(config.owner_id)
    try:
        with open_database(config, clock) as db:
            if sign or take_in:
                require_whole_record(config, db)
            yield service_on(config, db, clock, signer, ring)
    finally:
        ring.release()


def service_on(
    config: SilasConfig, db: Database, clock: Clock, signer: BundleSigner, ring: KeyRing
) -> MemoryService:
    """The service over a database that is open, with the keys that bundles are known by."""
    audit = AuditLog(db, clock, NoKey())
    count = TokenCounter().count
    fit = rules_within(config, count)
    rooms = memory_rooms(
        config, db, clock, audit, MemoryPorts(signer, ring, _nobody_to_ask, count, fit)
    )
    chronicle = SqlChronicleStore(db, clock, config.context.chronicle)
    from silas.services.schedules.reminders import notifier_of, reminders_over  # noqa: PLC0415 - few need it

    time = effective_time(db, clock, audit)
    whole = partial(require_whole_record, config, db)
    reminders = reminders_over(config, db, time, audit, notifier_of(config).notify, whole)
    return MemoryService(rooms, db, clock, audit, chronicle, reminders)


async def _nobody_to_ask(item: MemoryItem) -> bool:
    del item
    return False


def rules_within(config: SilasConfig, count: Callable[[str], int]) -> RulesFit:
    """Whether standing rules have room in every prompt: in the system's zone, and in a third of the
    window where that is less.
    """
    room = min(config.context.system_max, config.context.total_tokens // 3)

    def fit(rules: Sequence[MemoryItem]) -> bool:
        return sum(count(rule.content) + _PER_RULE for rule in rules) <= room

    return fit
