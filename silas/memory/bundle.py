"""Taking memories from one Silas to another (spec 4.2.3, 6.5).

A bundle is read to its end and weighed before anything is changed, from a copy that nobody else
has: what was weighed is what is imported. What is in memory does not grow with the bundle.
"""

import asyncio
import hashlib
import io
from collections.abc import Callable, Iterator
from datetime import datetime
from itertools import islice
from tempfile import SpooledTemporaryFile
from typing import IO, BinaryIO, NamedTuple, Protocol, Self

from silas.audit import Audit
from silas.clock import Clock
from silas.db import Database, Tx
from silas.keys import verify_with
from silas.memory import records
from silas.memory.bundle_lines import (
    BundleHeader,
    BundleLimits,
    BundleReader,
    SignedBundle,
    bundle_bytes,
    bundle_error,
    header_line,
    item_line,
    signature_line,
)
from silas.memory.bundle_rules import (
    BundleFacts,
    BundleTrust,
    ImportFate,
    Mode,
    cap_trust,
    fate,
    goes,
    plain_name,
)
from silas.memory.models import MemoryItem, MemoryType, ReingestionTier, TrustLevel
from silas.memory.operations import RulesFit
from silas.memory.replacing import replace_memories
from silas.memory.rows import COLUMNS, readable_items
from silas.types import OWNER

_AT_ONCE = 100  # memories of one transaction: some milliseconds, and others wait for its end
_IN_MEMORY = 8 * 1024 * 1024  # bytes of a bundle that are not put into a file
_PIECE = 1024 * 1024  # bytes that are copied at once
_NO_LIMITS = BundleLimits()

_PAGE = f"""
SELECT place, {COLUMNS} FROM memory_items
WHERE scope_id = :scope_id AND memory_id > :after ORDER BY memory_id LIMIT :limit
"""


class ExportedBundle(NamedTuple):
    """What was written: how many memories, and SHA-256 over them."""

    memories: int
    digest: str


class BundleSigner(Protocol):
    """What a bundle needs of the owner's key: `silas.keys.Signer` has it."""

    @property
    def public_key(self) -> str:
        """The verify key as 64 hex digits."""
        ...

    async def sign_shown(self, data: bytes, shown: bytes) -> bytes:
        """The signature over the owner's decision; a signer apart asks for it by itself."""
        ...


IsOwners = Callable[[str, str], bool]
"""Whether this public key was the owner's when it signed the bundle with this digest."""


class ExaminedBundle:
    """A bundle that was read to its end and may be imported. Leaving it lets go of the copy."""

    def __init__(self, facts: BundleFacts, lines: IO[bytes]) -> None:
        self.facts = facts
        self._lines = lines

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self._lines.close()

    def batches(self) -> Iterator[list[MemoryItem]]:
        """Its memories as they would be kept, some at a time."""
        self._lines.seek(0)
        while lines := list(islice(self._lines, _AT_ONCE)):
            items = [MemoryItem.model_validate_json(line) for line in lines]
            yours = self.facts.whose is BundleTrust.yours
            yield items if yours else [cap_trust(item, self.facts.name) for item in items]


class Bundles:
    """`MemoryPortability`: writes and takes bundles, each of one scope's memories."""

    def __init__(
        self,
        db: Database,
        clock: Clock,
        signer: BundleSigner,
        is_owners: IsOwners,
        rules_fit: RulesFit,
        audit: Audit,
        limits: BundleLimits = _NO_LIMITS,
    ) -> None:
        self._db = db
        self._clock = clock
        self._signer = signer
        self._is_owners = is_owners
        self._rules_fit = rules_fit
        self._audit = audit
        self._limits = limits

    async def export_bundle(
        self, since: datetime | None = None, include_raw: bool = True, scope_id: str = OWNER
    ) -> bytes:
        """Everything remembered, as one bundle signed by the owner.

        Args:
            since: Only what changed at or after this moment; None for all.
            include_raw: With the raw lane.
            scope_id: Whose memories.

        Raises:
            ApprovalError: The owner's key is with a signer apart, and it did not sign.
        """
        target = io.BytesIO()
        await self.export_to(target, since, include_raw, scope_id)
        return target.getvalue()

    async def export_to(
        self,
        target: BinaryIO,
        since: datetime | None = None,
        include_raw: bool = True,
        scope_id: str = OWNER,
    ) -> ExportedBundle:
        """As `export_bundle`, into a file. Where it raises, what was written is no bundle."""
        with SpooledTemporaryFile(_IN_MEMORY) as lines:
            count, digest = await asyncio.to_thread(
                self._write_items, lines, since, include_raw, scope_id
            )
            header = BundleHeader(
                count=count,
                digest=digest,
                exported_at=self._clock.now(),
                owner_key=self._signer.public_key,
                scope_id=scope_id,
            )
            head = header_line(header)
            whole = await asyncio.to_thread(_copy_bundle, head, lines, target)
        signed = SignedBundle.of(header, whole)
        signature = await self._signer.sign_shown(bundle_bytes(signed), head)
        target.write(signature_line(signature))
        await self._audit.log("memory.exported", scope_id=scope_id, count=count, digest=digest)
        return ExportedBundle(count, digest)

    async def import_bundle(
        self, bundle: bytes, mode: str = "merge", name: str = "import", scope_id: str = OWNER
    ) -> dict[str, int]:
        """Take a bundle in: `examine`, then `carry_out`.

        Raises:
            MemoryRefused: See `examine`; nothing was changed.
        """
        with await self.examine(io.BytesIO(bundle), mode, name, scope_id) as examined:
            return await self.carry_out(examined)

    async def examine(
        self, source: BinaryIO, mode: str, name: str, scope_id: str = OWNER
    ) -> ExaminedBundle:
        """Read a bundle to its end and say what importing it would do; nothing is changed.

        Args:
            source: The bundle.
            mode: `merge` or `replace`.
            name: What its memories' source is called where it is not the owner's.
            scope_id: Whose memories.

        Raises:
            MemoryRefused: It is damaged, cut off, changed, too large, of another scope, would
                change what is more trusted than it is itself, or has more standing rules than fit.
        """
        lines = SpooledTemporaryFile(_IN_MEMORY)  # noqa: SIM115 - `ExaminedBundle` closes it
        try:
            return await asyncio.to_thread(
                self._examine_bundle, source, lines, mode, plain_name(name), scope_id
            )
        except BaseException:
            lines.close()
            raise

    async def carry_out(self, examined: ExaminedBundle) -> dict[str, int]:
        """Import a bundle that was examined.

        `merge` goes in small steps, so that others can write meanwhile; broken off, it can be run
        again. `replace` keeps what comes beside and exchanges both in one short transaction.

        Returns:
            How many memories were `stored`, `updated`, `kept` as they were here, and `deleted`.
        """
        facts = examined.facts
        told = {"name": facts.name, "mode": facts.mode, "whose": facts.whose.value}
        await self._audit.log(
            "memory.import_began", **told, count=facts.memories, digest=facts.digest
        )
        work = self._replace_scope if facts.mode == "replace" else self._merge_bundle
        counts = await asyncio.to_thread(work, examined)
        await self._audit.log("memory.imported", **told, **counts)
        return counts

    # export ---------------------------------------------------------------------------------------
    def _write_items(
        self, lines: IO[bytes], since: datetime | None, include_raw: bool, scope_id: str
    ) -> tuple[int, str]:
        count, digest = 0, hashlib.sha256()
        for item in self._all(scope_id):
            raw = item.reingestion_tier is ReingestionTier.low_reingestion
            if (raw and not include_raw) or (since is not None and item.updated_at < since):
                continue
            line = item_line(item)
            lines.write(line)
            digest.update(line)
            count += 1
        return count, digest.hexdigest()

    def _all(self, scope_id: str) -> Iterator[MemoryItem]:
        """A scope's memories by their ids, a page at a time."""
        last = ""
        while True:
            with self._db.read() as tx:
                rows = tx.run(_PAGE, scope_id=scope_id, after=last, limit=_AT_ONCE).fetchall()
            yield from readable_items(self._db, [row[1:] for row in rows])
            if len(rows) < _AT_ONCE:
                return
            last = rows[-1][1]

    # import ---------------------------------------------------------------------------------------
    def _examine_bundle(
        self, source: BinaryIO, lines: IO[bytes], mode: str, name: str, scope_id: str
    ) -> ExaminedBundle:
        if mode not in {"merge", "replace"}:
            raise bundle_error(f"there is no mode {mode[:40]!r}; it is merge or replace")
        way: Mode = "merge" if mode == "merge" else "replace"
        reader = BundleReader(source, self._limits)
        header = reader.header
        if header.scope_id != scope_id:
            raise bundle_error(f"it has memories of {header.scope_id!r}, not of {scope_id!r}")
        for item in reader.items():
            lines.write(item_line(item))
        facts = BundleFacts(
            name,
            way,
            scope_id,
            self._bundle_trust(reader),
            header.owner_key,
            header.exported_at,
            header.digest,
            header.count,
        )
        return self._examine_lines(facts, lines)

    def _bundle_trust(self, reader: BundleReader) -> BundleTrust:
        key = reader.header.owner_key
        if not key:
            return BundleTrust.nobodys
        if not verify_with(key, bundle_bytes(reader.signed), reader.signature):
            raise bundle_error("its signature is not that of the key it names, so it was changed")
        return (
            BundleTrust.yours
            if self._is_owners(key, reader.header.digest)
            else BundleTrust.anothers
        )

    def _examine_lines(self, facts: BundleFacts, lines: IO[bytes]) -> ExaminedBundle:
        counts = dict.fromkeys(ImportFate, 0)
        rules: dict[str, MemoryItem] = {}
        matched = 0
        for batch in ExaminedBundle(facts, lines).batches():
            with self._db.read() as tx:
                for item in batch:
                    found = records.find(tx, item.memory_id, facts.scope_id)
                    old = None if found is None else found.item
                    outcome = fate(old, item, facts.whose, facts.mode)
                    if facts.whose is not BundleTrust.yours and "\0" in item.content:
                        raise bundle_error(f"the memory {item.memory_id[:80]!r} holds a NUL")
                    if outcome is ImportFate.refused:
                        raise bundle_error(
                            f"it would change the memory {item.memory_id[:80]!r}, which is trusted "
                            "more than the bundle"
                        )
                    counts[outcome] += 1
                    matched += old is not None and goes(old, facts.whose)
                    if _is_rule(item):
                        rules[item.memory_id] = item
        self._check_rules(rules, facts)
        going = self._count_going(facts) - matched if facts.mode == "replace" else 0
        return ExaminedBundle(
            facts._replace(
                stored=counts[ImportFate.stored],
                updated=counts[ImportFate.updated],
                kept=counts[ImportFate.kept],
                deleted=going,
            ),
            lines,
        )

    def _check_rules(self, coming: dict[str, MemoryItem], facts: BundleFacts) -> None:
        """All standing rules must have room in every prompt, those that stay included."""
        if not coming:
            return
        here = {item.memory_id: item for item in self._all(facts.scope_id) if _is_rule(item)}
        stay = {
            name: item
            for name, item in here.items()
            if facts.mode == "merge" or not goes(item, facts.whose)
        }
        if not self._rules_fit([*(stay | coming).values()]):
            raise bundle_error("its standing rules and yours have no room in every prompt together")

    def _count_going(self, facts: BundleFacts) -> int:
        return sum(goes(item, facts.whose) for item in self._all(facts.scope_id))

    def _merge_bundle(self, examined: ExaminedBundle) -> dict[str, int]:
        counts = _no_counts()
        for batch in examined.batches():
            with self._db.write() as tx:
                for item in batch:
                    counts[_put(tx, item, examined.facts)] += 1
        return counts

    def _replace_scope(self, examined: ExaminedBundle) -> dict[str, int]:
        return replace_memories(self._db, examined.facts, examined.batches())


def _put(tx: Tx, item: MemoryItem, facts: BundleFacts) -> str:
    """Keep one memory; what became trusted since the bundle was weighed stays as it is."""
    found = records.find(tx, item.memory_id, facts.scope_id)
    outcome = fate(None if found is None else found.item, item, facts.whose, facts.mode)
    if outcome in {ImportFate.kept, ImportFate.refused}:
        return ImportFate.kept
    if found is not None:
        records.remove(tx, found)
    records.insert(tx, [item])
    return outcome


def _no_counts() -> dict[str, int]:
    return {"stored": 0, "updated": 0, "kept": 0, "deleted": 0}


def _is_rule(item: MemoryItem) -> bool:
    standing = item.trust_level is not TrustLevel.working
    return standing and item.memory_type is MemoryType.preference


def _copy_bundle(head: bytes, lines: IO[bytes], target: BinaryIO) -> str:
    """Write a bundle's header and memories; returns SHA-256 over both."""
    whole = hashlib.sha256(head)
    target.write(head)
    lines.seek(0)
    while piece := lines.read(_PIECE):
        whole.update(piece)
        target.write(piece)
    return whole.hexdigest()
