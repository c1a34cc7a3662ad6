"""The audit log held against a signed head that is kept outside its database (decision D295)."""

import asyncio
import json
from collections.abc import Callable, Sequence
from typing import NamedTuple, Protocol

from silas.audit.chain import find_misplaced, read_head, walk
from silas.audit.log import broken_log, signed_head
from silas.audit.models import (
    ACCEPTANCE_DOMAIN,
    GENESIS,
    AuditHead,
    ChainVerdict,
    Checkpoint,
    OwnerSigner,
)
from silas.audit.sqlite_statements import NEWEST_ACCEPTANCE
from silas.audit.witness import Witness, contradiction, head_line
from silas.audit.witness import read_head as read_line
from silas.audit.witnessed_log import Warn, WitnessedAuditLog
from silas.canonical import canonical_json
from silas.clock import Clock
from silas.db import Database
from silas.errors import ApprovalError, DatabaseError, SilasError, Stopped, from_foreign, reason
from silas.stop.epochs import void_tokens

AT_ONCE = 1000
"""Entries that are hashed again at every start, 1 microsecond each; the rest in the background."""

Follow = Callable[[str, str], None]
"""Told how the record stands: words where it was changed, and its newest signed head where there is
a later one; either may be empty. Called on the event loop; never fails."""

_UNREAD = "cannot be compared with its newest signed head: "
_PIECE = 5000  # entries hashed in one step of the background

_KEEPS = "SELECT since, fault FROM audit_kept"
_BEGIN = """
INSERT INTO audit_kept (one, since, fault, signing) VALUES (1, :since, '', 0)
ON CONFLICT (one) DO NOTHING
"""
_FAULT = "UPDATE audit_kept SET fault = :fault"
_SIGNING = "UPDATE audit_kept SET signing = :signing"
_HAS_CHECKPOINT = "SELECT 1 FROM audit_checkpoints WHERE body = :body AND signature = :signature"
_ACCEPT = "INSERT INTO audit_acceptances (body, signature) VALUES (:body, :signature)"


class KeptHead(NamedTuple):
    """What is kept outside the database.

    Attributes:
        lines: Each place and the signed head there, as witnesses get it.
        missing: Places that should have one and have none.
        marked: Whether the key's record says that a head is kept.
        fault: Words where a place cannot be read.
    """

    lines: tuple[tuple[str, str], ...] = ()
    missing: tuple[str, ...] = ()
    marked: bool = False
    fault: str = ""


class KeptHeads(Protocol):
    """Keeps the newest signed head where whoever writes the database does not write."""

    def look(self) -> KeptHead:
        """What is kept now."""
        ...

    def move(self, head: AuditHead, line: str) -> None:
        """Keep a later head; an earlier one is left out. Raises `OSError` or `SilasError`."""
        ...

    def put(self, head: AuditHead, line: str) -> None:
        """Keep a head that the owner accepted. Raises `OSError` or `SilasError`."""
        ...

    def mark(self) -> None:
        """Say beside the key that a head is kept. Raises `OSError` or `SilasError`."""
        ...


class KeptAuditLog(WitnessedAuditLog):
    """An audit log that knows from outside what it said last, and signs nothing that differs.

    The head moves on only after its checkpoint is on the disk, so that it is never ahead of the
    log. Where the log differs, `require_whole` refuses every approval and effect of this process.
    """

    def __init__(
        self,
        db: Database,
        clock: Clock,
        signer: OwnerSigner,
        witnesses: Sequence[Witness],
        warn: Warn,
        heads: KeptHeads,
    ) -> None:
        super().__init__(db, clock, signer, witnesses, warn)
        self._owner = signer
        self._heads = heads
        self._fault = ""
        self._kept_then: tuple[tuple[str, str], ...] = ()
        self._followers: list[Follow] = []

    def follow(self, tell: Follow) -> None:
        """Tell this from now on: each head that is signed, and a change once it is noticed."""
        self._followers.append(tell)

    @property
    def words(self) -> str:
        """One sentence for the owner where the record was changed; empty where it was not."""
        if not self._fault:
            return ""
        unread = self._fault.startswith(_UNREAD)
        what = self._fault if unread else f"was changed outside Silas: {self._fault}"
        return (
            f"The record {what} Nothing is approved, signed or changed until you have looked: "
            "`silas audit verify` checks all of it, and after a restored backup `silas audit "
            "accept` goes on."
        )

    def require_whole(self) -> None:
        """See `Audit`. Looks again once the kept head was exchanged, which accepting does."""
        if self._fault and self._heads.look().lines != self._kept_then:
            self._latch(self._compare() or self._verify(AuditHead(0, GENESIS)).reason)
        if self._fault:
            raise Stopped(self.words, code="E_STOPPED_RECORD")

    async def open(self) -> str:
        """Compare, and begin to keep a head where none is kept yet; see `words` for the answer.

        Costs a few milliseconds however long the log is.
        """
        fault = await asyncio.to_thread(self._found_at_start)
        if fault:
            await self._notice(fault)
        else:
            try:
                await self._begin()
            except ApprovalError:  # a signer apart is away; the next start does it
                return ""
        return self.words

    def look(self) -> str:
        """Compare, and refuse from now on what a changed record refuses; keeps no head."""
        self._latch(self._found_at_start())
        return self.words

    async def verify_chain(self) -> ChainVerdict:
        """See `AuditLog`; and against the kept head."""
        different = await asyncio.to_thread(self._compare)
        verdict = await super().verify_chain()
        reason = verdict.reason or different
        self._remember_fault(reason)
        return ChainVerdict(not reason, verdict.entries_checked, reason)

    async def verify_gradually(self) -> None:
        """Hash the whole log again and check every checkpoint, in small steps beside the loop."""
        head, upto = AuditHead(0, GENESIS), (await self.head()).seq
        while head.seq < upto:
            found = await asyncio.to_thread(walk, self._db, head, min(head.seq + _PIECE, upto))
            if found.fault:
                await self._found_in_the_past(found.fault)
                return
            head = found.head
        for checkpoint in self._checkpoints():
            fault = await asyncio.to_thread(self._checkpoint_fault, checkpoint)
            if fault:
                await self._found_in_the_past(fault)
                return

    def newest_line(self) -> str:
        """The newest head that is kept, for others to keep as well; empty where there is none."""
        if self._fault:
            return ""
        lines = self._heads.look().lines
        return max(lines, key=lambda each: _seq_in(*each))[1] if lines else ""

    async def compare_head(self, line: str, place: str) -> None:
        """Compare with a head that somebody else was told, such as a paired device.

        What the owner did not sign, or signed before accepting a changed record, says nothing. A
        later head than the log has is kept, so that every start misses what is behind it.
        """
        head = read_line(line, place)
        if head is None or not self.signed_by_owner(head.body, head.signature):
            return
        if _moment_in(head.body) <= self._accepted_at():
            return
        fault = contradiction([(place, line)], (), self.hash_of, self.signed_by_owner)
        if fault:
            await asyncio.to_thread(self._heads.move, head.head, line)
            await self._notice(fault)

    def _accepted_at(self) -> str:
        """When the owner accepted a changed record last; empty where that never was."""
        with self._db.read() as tx:
            row = tx.run(NEWEST_ACCEPTANCE).fetchone()
        if row is None:
            return ""
        try:
            signature = bytes.fromhex(row[1])
        except ValueError:  # somebody edited it
            return ""
        signed = self._owner.verify(ACCEPTANCE_DOMAIN + row[0].encode(), signature)
        return _moment_in(row[0]) if signed else ""

    async def accept(self, head: AuditHead) -> Checkpoint:
        """Take the log as it is now for the owner's, by the owner's signature, and go on with it.

        Every approval given so far is void then: an older record lacks what was spent since.

        Args:
            head: The newest entry, as the owner was shown it.

        Raises:
            DatabaseError: It has another head (`E_DB_HEAD`), or its chain does not hold by itself.
            ApprovalError: The owner did not sign.
        """
        verdict = await asyncio.to_thread(self._verify, AuditHead(0, GENESIS))
        if not verdict.valid:
            raise broken_log(verdict.reason)
        if await self.head() != head:
            raise DatabaseError(
                f"The newest entry is not {head}; look at the record again with `silas audit "
                "verify`, and accept what it says.",
                code="E_DB_HEAD",
            )
        was = self._newest_kept() or AuditHead(0, GENESIS)
        body = canonical_json(
            {
                "at": self._clock.now().isoformat(),
                "entry_hash": head.entry_hash,
                "seq": head.seq,
                "was_entry_hash": was.entry_hash,
                "was_seq": was.seq,
            }
        )
        signature = await self._owner.sign_shown(ACCEPTANCE_DOMAIN + body.encode(), body.encode())
        with self._db.write(durable=True) as tx:
            tx.run(_ACCEPT, body=body, signature=signature.hex())
            void_tokens(tx, self._clock.now())  # it may not know what was spent or taken back since
            self.log_now(
                "record.accepted", seq=head.seq, entry_hash=head.entry_hash, was_seq=was.seq
            )
            tx.run(_BEGIN, since=self._clock.now().isoformat())
            tx.run(_FAULT, fault="")
        checkpoint = await super()._sign_checkpoint()
        await asyncio.to_thread(self._heads.put, signed_head(checkpoint), self._line(checkpoint))
        self._heads.mark()
        self._latch("")
        self._inform(self._line(checkpoint))
        return checkpoint

    async def _sign_checkpoint(self) -> Checkpoint:
        fault = self._fault or await asyncio.to_thread(self._compare)
        if fault:
            await self._notice(fault)
            raise broken_log(fault)
        self._flush()
        checkpoint = await super()._sign_checkpoint()
        line = self._line(checkpoint)
        try:
            await asyncio.to_thread(self._heads.move, signed_head(checkpoint), line)
        except (OSError, SilasError) as error:  # it stays behind, which is no contradiction
            await self._record_not_kept(error)
        self._inform(line)
        return checkpoint

    def _flush(self) -> None:
        """What is about to be signed is on the disk before a signer apart remembers it."""
        with self._db.write(durable=True) as tx:
            tx.run(_SIGNING, signing=read_head(self._db, GENESIS).seq)

    async def _record_not_kept(self, error: OSError | SilasError) -> None:
        known = from_foreign(error)
        code = "E_SILAS_UNEXPECTED" if known is None else known.code
        await self.log("head_not_kept", code=code)
        why = reason(error)
        await self._warn(f"The newest signed head of the record could not be kept: {why}.")

    # What is found -------------------------------------------------------------------------------
    def _found_at_start(self) -> str:
        fault = self._compare()
        if not fault and self._row()[1]:  # the background found something, once
            fault = self._verify(AuditHead(0, GENESIS)).reason
            self._remember_fault(fault)
        return fault

    def _compare(self) -> str:
        kept = self._heads.look()  # before the record, behind which it always stays
        if kept.fault:
            return f"{_UNREAD}{kept.fault}"
        return self._outside(kept) or self._inside(kept)

    def _outside(self, kept: KeptHead) -> str:
        if kept.missing and (kept.marked or self._row()[0]):
            return f"The newest signed head is gone from {' and from '.join(kept.missing)}."
        fault = contradiction(kept.lines, (), self.hash_of, self.signed_by_owner)
        if fault:
            return fault
        gone = [words for each in kept.lines if (words := self._no_checkpoint(each))]
        return next(iter(gone), "")

    def _no_checkpoint(self, kept: tuple[str, str]) -> str:
        head = read_line(kept[1], kept[0])
        if head is None:
            raise AssertionError("what is no head was a contradiction")
        with self._db.read() as tx:
            found = tx.run(_HAS_CHECKPOINT, body=head.body, signature=head.signature).fetchone()
        return "" if found else f"The checkpoint of entry {head.head.seq} is gone from the record."

    def _inside(self, kept: KeptHead) -> str:
        newest, head = self._newest_checkpoint(), read_head(self._db, GENESIS)
        if newest is None:
            return f"None of its {head.seq} entries was ever signed." if head.seq else ""
        if fault := self._checkpoint_fault(newest):
            return fault
        known = [read_line(line, place) for place, line in kept.lines]
        signed = min([signed_head(newest).seq, *(each.head.seq for each in known if each)])
        start = max(signed - AT_ONCE, 0)
        before = self.hash_of(start)
        if before is None:
            return f"Entry {start} is missing."
        return walk(self._db, AuditHead(start, before), head.seq).fault or find_misplaced(self._db)

    def _newest_kept(self) -> AuditHead | None:
        lines = self._heads.look().lines
        heads = [each.head for place, line in lines if (each := read_line(line, place))]
        return max(heads, default=None)

    # What is done about it -----------------------------------------------------------------------
    async def _begin(self) -> None:
        kept = self._heads.look()
        if not kept.lines:
            await self._sign_checkpoint()  # of a home from before, or of one that is new
            await self.log("record.kept", places=list(kept.missing))
            await self._sign_checkpoint()
        elif newest := self._newest_checkpoint():
            line = self._line(newest)
            if kept.missing or any(line != known for _, known in kept.lines):
                await asyncio.to_thread(self._heads.move, signed_head(newest), line)
        if self._heads.look().missing:
            return  # said already; nothing may be missed that was never kept
        if not self._row()[0]:
            with self._db.write(durable=True) as tx:
                tx.run(_BEGIN, since=self._clock.now().isoformat())
        if not kept.marked:
            await asyncio.to_thread(self._heads.mark)

    async def _found_in_the_past(self, fault: str) -> None:
        self._remember_fault(fault)
        await self._notice(fault)

    async def _notice(self, fault: str) -> None:
        if self._fault:
            return
        self._latch(fault)
        await self.log("record.changed", reason=fault)
        await self._warn(self.words)

    def _latch(self, fault: str) -> None:
        before, self._fault = self._fault, fault
        self._kept_then = self._heads.look().lines if fault else ()
        if fault != before:
            self._inform("")

    def _inform(self, line: str) -> None:
        for tell in self._followers:
            tell(self.words, line)

    def _remember_fault(self, fault: str) -> None:
        if self._row()[1] != fault:
            with self._db.write() as tx:
                tx.run(_FAULT, fault=fault)

    def _row(self) -> tuple[str, str]:
        """Since when a head is kept, and what was found in the past; empty where nothing was."""
        with self._db.read() as tx:
            row = tx.run(_KEEPS).fetchone()
        return (str(row[0]), str(row[1])) if row else ("", "")

    def _line(self, checkpoint: Checkpoint) -> str:
        """The head as it was signed, with the key that signed it."""
        return head_line(checkpoint, self.public_key)


def _seq_in(place: str, line: str) -> int:
    head = read_line(line, place)
    return -1 if head is None else head.head.seq


def _moment_in(body: str) -> str:
    """The moment in a body that was signed, in UTC, so that texts compare as moments do."""
    return str(json.loads(body)["at"])
