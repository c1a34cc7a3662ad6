"""The audit log: append, verify, sign checkpoints, export (spec 4.16)."""

import asyncio
import json
import os
from collections.abc import Iterator
from contextlib import suppress
from errno import EISDIR
from functools import lru_cache
from hashlib import sha256
from pathlib import Path
from typing import Any, TextIO

from silas.audit.chain import ChainWalk, find_misplaced, read_head, stored_entries, walk
from silas.audit.models import (
    CHECKPOINT_DOMAIN,
    GENESIS,
    AuditEntry,
    AuditHead,
    ChainVerdict,
    Checkpoint,
    CheckpointSigner,
)
from silas.audit.sqlite_statements import CHECKPOINTS, ENTRIES_HOLDING, NEWEST_CHECKPOINT
from silas.canonical import canonical_json, sha256_hex
from silas.clock import Clock
from silas.db import Database
from silas.errors import DatabaseError
from silas.types import new_id

EXPORT_FORMAT = 1
"""The number in an export's first line; `silas.audit.verify` refuses any other."""

# The same bytes as `canonical_json`, without making an encoder for every call.
_encode = json.JSONEncoder(sort_keys=True, separators=(",", ":"), allow_nan=False).encode

_named = lru_cache(maxsize=256)(_encode)  # events: a closed list

_APPEND = "INSERT INTO audit_log (seq, body, entry_hash) VALUES (:seq, :body, :entry_hash)"
_NEWEST = "SELECT seq, entry_hash FROM audit_log ORDER BY seq DESC LIMIT 1"

# Two callers at the same moment sign the same bytes and get the same checkpoint.
_KEEP_CHECKPOINT = """
INSERT INTO audit_checkpoints (checkpoint_id, body, signature)
SELECT :checkpoint_id, :body, :signature
WHERE NOT EXISTS (SELECT 1 FROM audit_checkpoints WHERE checkpoint_id = :checkpoint_id)
"""

_ENTRIES = """
SELECT this.seq, this.body, coalesce(before.entry_hash, :genesis), this.entry_hash
FROM audit_log AS this LEFT JOIN audit_log AS before ON before.seq = this.seq - 1
WHERE this.seq > :after ORDER BY this.seq LIMIT :limit
"""

_HASH = "SELECT entry_hash FROM audit_log WHERE seq = :seq"


class AuditLog:
    """The record in the database. Several processes may append at once and keep one chain.

    The chain shows every change that was made without the owner's key and before a checkpoint.
    Whoever may write the file can still rewrite what no checkpoint and no noted head covers yet.
    """

    def __init__(self, db: Database, clock: Clock, signer: CheckpointSigner) -> None:
        self._db = db
        self._clock = clock
        self._signer = signer

    @property
    def public_key(self) -> str:
        """The owner's verify key as 64 hex digits."""
        return self._signer.public_key

    async def log(self, event: str, **data: Any) -> str:
        """Append an entry; it is committed when this returns, unless a transaction is open.

        Args:
            event: What happened, as `domain.verb` or one word.
            data: JSON values. Never a secret or a payload: callers log digests.

        Returns:
            The entry's id.

        Raises:
            DatabaseError: It could not be written; an open transaction must not commit either,
                so let the error pass.
            TypeError, ValueError: The data is not JSON.
        """
        return self.log_now(event, **data)

    def log_now(self, event: str, **data: Any) -> str:
        """`log` for code that already holds a database transaction: joins it."""
        entry_id = new_id("audit")
        facts, what = _encode(data), _named(event)
        at = f'"{self._clock.now().isoformat()}"'  # digits and signs: nothing to escape
        # Runs for every gate and every tool call. The head is read inside the transaction, because
        # other processes append too.
        with self._db.write() as tx:
            seq, previous = tx.run(_NEWEST).fetchone() or (0, GENESIS)
            body = f'{{"at":{at},"data":{facts},"event":{what},"id":"{entry_id}","seq":{seq + 1}}}'
            entry_hash = sha256(f"{previous}\n{body}".encode()).hexdigest()
            tx.run(_APPEND, seq=seq + 1, body=body, entry_hash=entry_hash)
        return entry_id

    async def head(self) -> AuditHead:
        """The newest entry; note it elsewhere to detect a cut-off end."""
        return read_head(self._db, GENESIS)

    async def entries(self, after: int = 0, limit: int = 100) -> list[AuditEntry]:
        """At most `limit` entries that follow number `after`, oldest first."""
        with self._db.read() as tx:
            rows = tx.run(_ENTRIES, genesis=GENESIS, after=after, limit=limit).fetchall()
        return [
            AuditEntry(seq, _entry_id(body), body, previous, entry_hash)
            for seq, body, previous, entry_hash in rows
        ]

    def newest_first(self, text: str) -> Iterator[tuple[str, dict[str, Any]]]:
        """Event and data of the entries that hold this text, the newest first.

        A damaged entry is passed over: whoever verifies the chain names it.
        """
        with self._db.read() as tx:
            bodies = tx.run(ENTRIES_HOLDING, text=text).fetchall()
        for (body,) in bodies:
            with suppress(ValueError, TypeError, KeyError, RecursionError):
                entry = json.loads(body)
                yield str(entry["event"]), dict(entry["data"])

    async def verify_chain(self) -> ChainVerdict:
        """Check every entry from the first, and every checkpoint, beside the event loop."""
        return await asyncio.to_thread(self._verify, AuditHead(0, GENESIS))

    async def verify_from_checkpoint(self, checkpoint_id: str | None = None) -> ChainVerdict:
        """Check from the latest or a named checkpoint to the head (all of it if there is none)."""
        known = self._checkpoints()
        if checkpoint_id is not None:
            known = [c for c in known if c.checkpoint_id == checkpoint_id]
            if not known:
                return ChainVerdict(False, 0, f"There is no checkpoint {checkpoint_id}.")
        if not known:
            return await self.verify_chain()
        if fault := self._checkpoint_fault(known[-1]):
            return ChainVerdict(False, 0, fault)
        return await asyncio.to_thread(self._verify, signed_head(known[-1]))

    async def write_checkpoint(self) -> str:
        """Sign and keep the current head, after checking what came since the last checkpoint.

        Returns:
            The checkpoint's id; the same head at the same moment has the same one.

        Raises:
            DatabaseError: The chain does not hold, and a broken chain is never signed.
        """
        return (await self.signed_head()).checkpoint_id

    async def export(self, target: Path | str | TextIO) -> AuditHead:
        """Write the log as JSON lines: public key, entries as stored, checkpoints, signed head.

        `python -I -m silas.audit.verify FILE PUBLIC_KEY` checks the file. A file is replaced whole
        and readable by its owner alone. A broken chain is exported as it is, without a new
        signature, and the verifier will say what is wrong.

        Returns:
            The head that was exported.
        """
        try:
            head = signed_head(await self.signed_head())
        except DatabaseError as error:
            if error.code != "E_DB_CORRUPT":
                raise
            head = await self.head()
        if isinstance(target, str | Path):
            await asyncio.to_thread(self._export_file, Path(target), head)
        else:
            await asyncio.to_thread(self._export_lines, target, head)
        return head

    async def signed_head(self) -> Checkpoint:
        """The checkpoint of the current head, made if there is none; see `write_checkpoint`."""
        return await self._sign_checkpoint()

    def require_whole(self) -> None:
        """A log that nothing outside remembers is only checked where it is verified or signed."""

    async def _sign_checkpoint(self) -> Checkpoint:
        newest = self._newest_checkpoint()
        start = AuditHead(0, GENESIS)
        if newest is not None:
            if fault := self._checkpoint_fault(newest):
                raise broken_log(fault)
            start = signed_head(newest)
        found = await asyncio.to_thread(self._walk, start)
        if found.fault:
            raise broken_log(found.fault)
        if newest is not None and found.head == start:
            return newest
        return await self._sign(found.head)

    async def _sign(self, head: AuditHead) -> Checkpoint:
        at = self._clock.now().isoformat()
        body = canonical_json({"at": at, "entry_hash": head.entry_hash, "seq": head.seq})
        signed = CHECKPOINT_DOMAIN + body.encode()
        # beside the event loop, because a signer may be a process of its own
        signature = await asyncio.to_thread(self._signer.sign, signed)
        new = Checkpoint(_checkpoint_id(body), body, signature.hex())
        # on the disk before anybody outside is told: power loss must not put the log behind them
        with self._db.write(durable=True) as tx:
            tx.run(_KEEP_CHECKPOINT, **new._asdict())
        return new

    def _newest_checkpoint(self) -> Checkpoint | None:
        with self._db.read() as tx:
            row = tx.run(NEWEST_CHECKPOINT).fetchone()
        return Checkpoint(*row) if row else None

    def _checkpoints(self) -> list[Checkpoint]:
        with self._db.read() as tx:
            rows = tx.run(CHECKPOINTS).fetchall()
        return [Checkpoint(*row) for row in rows]

    def _checkpoint_fault(self, checkpoint: Checkpoint) -> str:
        """Words if a checkpoint is not this owner's, or not about the chain that is stored."""
        name = checkpoint.checkpoint_id
        signed = self.signed_by_owner(checkpoint.body, checkpoint.signature)
        if name != _checkpoint_id(checkpoint.body) or not signed:
            return f"Checkpoint {name} was not signed by this owner's key."
        head = signed_head(checkpoint)
        if head.seq == 0:
            return ""
        stored = self.hash_of(head.seq)
        if stored is None:
            return f"Entry {head.seq} is missing: checkpoint {name} has signed it."
        if stored != head.entry_hash:
            return f"Entry {head.seq} is not the one that checkpoint {name} has signed."
        return ""

    def signed_by_owner(self, body: str, signature: str) -> bool:
        """Whether a checkpoint's body carries the owner's signature, given in hex."""
        try:
            raw = bytes.fromhex(signature)
        except ValueError:
            return False
        return self._signer.verify(CHECKPOINT_DOMAIN + body.encode(), raw)

    def hash_of(self, seq: int) -> str | None:
        """The stored hash of an entry, of 0 the one before the first; None if there is none."""
        if seq == 0:
            return GENESIS
        with self._db.read() as tx:
            row = tx.run(_HASH, seq=seq).fetchone()
        return None if row is None else str(row[0])

    def _walk(self, start: AuditHead) -> ChainWalk:
        return walk(self._db, start, read_head(self._db, GENESIS).seq)

    def _verify(self, start: AuditHead) -> ChainVerdict:
        found = self._walk(start)
        reason = found.fault or find_misplaced(self._db)
        for checkpoint in self._checkpoints():
            reason = reason or self._checkpoint_fault(checkpoint)
        return ChainVerdict(not reason, found.checked, reason)

    def _export_file(self, path: Path, head: AuditHead) -> None:
        if not path.name:  # such as `.`: there is no name to give a file
            raise IsADirectoryError(EISDIR, os.strerror(EISDIR), str(path))
        partial = path.with_name(f".{new_id('part')}")
        try:
            descriptor = os.open(partial, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
            with os.fdopen(descriptor, "w", encoding="ascii", newline="\n") as stream:
                self._export_lines(stream, head)
            partial.replace(path)
        except OSError as error:  # whoever reads it named the file, not what it is written as
            raise OSError(error.errno, error.strerror, str(path)) from error
        finally:
            with suppress(OSError):  # there is none where its directory cannot be used
                partial.unlink(missing_ok=True)

    def _export_lines(self, stream: TextIO, head: AuditHead) -> None:
        header = {"public_key": self.public_key, "silas_audit": EXPORT_FORMAT}
        stream.write(canonical_json(header) + "\n")
        lines = _checkpoint_lines(self._checkpoints())
        stream.writelines(lines.pop(0, []))
        seq = 0
        for rows in stored_entries(self._db, 0, head.seq):
            for body, entry_hash in rows:
                seq += 1
                # The body stands in the line byte for byte, because its bytes were hashed.
                stream.write(f'{{"entry":{body},"hash":"{entry_hash}"}}\n')
                stream.writelines(lines.pop(seq, []))
        for late in lines.values():
            stream.writelines(late)


def signed_head(checkpoint: Checkpoint) -> AuditHead:
    """What a checkpoint says; believe it only after its signature was checked.

    Of a damaged body, entry -1: an export must be possible where the log is broken, too.
    """
    try:
        said = json.loads(checkpoint.body)
        return AuditHead(int(said["seq"]), str(said["entry_hash"]))
    except (ValueError, TypeError, KeyError):
        return AuditHead(-1, "")


def _entry_id(body: str) -> str:
    """Of a damaged entry nothing: its neighbours must be readable all the same."""
    try:
        return str(json.loads(body)["id"])
    except (ValueError, TypeError, KeyError, RecursionError):
        return ""


def _checkpoint_id(body: str) -> str:
    return f"checkpoint-{sha256_hex(CHECKPOINT_DOMAIN + body.encode())[:32]}"


def _checkpoint_lines(checkpoints: list[Checkpoint]) -> dict[int, list[str]]:
    lines: dict[int, list[str]] = {}
    for each in checkpoints:
        line = f'{{"checkpoint":{each.body},"signature":"{each.signature}"}}\n'
        lines.setdefault(signed_head(each).seq, []).append(line)
    return lines


def broken_log(fault: str) -> DatabaseError:
    """The error for a log that must not be signed."""
    return DatabaseError(
        f"The audit log does not hold and is not signed: {fault} Export it, and restore a backup.",
        code="E_DB_CORRUPT",
    )
