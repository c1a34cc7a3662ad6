"""Walk the stored chain: a thousand entries at a time, and one by one where something is wrong."""

from collections.abc import Iterator
from hashlib import sha256
from typing import NamedTuple

from silas.audit.models import AuditHead
from silas.audit.sqlite_statements import ENTRY_BYTES, JOINED_ENTRIES
from silas.db import Database

_CHUNK = (
    1000  # entries per statement; the database is held for one chunk (0.4 ms), not for the walk
)

_HEAD = "SELECT seq, entry_hash FROM audit_log ORDER BY seq DESC LIMIT 1"
_BEFORE_FIRST = "SELECT seq FROM audit_log WHERE seq < 1 LIMIT 1"
_ENTRIES = """
SELECT body, entry_hash FROM audit_log WHERE seq > :after AND seq <= :upto ORDER BY seq
"""


class ChainWalk(NamedTuple):
    """How far the chain holds: the last good entry, and words about the first bad one."""

    head: AuditHead
    checked: int
    fault: str = ""


class StoredEntry(NamedTuple):
    """A row as it is stored, nothing about it believed yet."""

    seq: int
    body: bytes
    entry_hash: str


def read_head(database: Database, genesis: str) -> AuditHead:
    """The newest entry's number and hash; of an empty log, zero and the genesis hash."""
    with database.read() as tx:
        row = tx.run(_HEAD).fetchone()
    return AuditHead(*row) if row else AuditHead(0, genesis)


def walk(database: Database, start: AuditHead, upto: int) -> ChainWalk:
    """Check entries `start.seq + 1` to `upto` on top of a hash that is known to be good.

    At one microsecond an entry, fetching each row by itself would cost more than hashing it. The
    joined statement is only ever believed when it says that all is well.
    """
    head, checked = start, 0
    while head.seq < upto:
        last = min(head.seq + _CHUNK, upto)
        good = _whole_chunk(database, head, last)
        if good is None:
            slow = _row_by_row(database, head, last)
            checked += slow.checked
            if slow.fault:
                return ChainWalk(slow.head, checked, slow.fault)
            head = slow.head
            continue
        checked += last - head.seq
        head = good
    return ChainWalk(head, checked)


def _whole_chunk(database: Database, head: AuditHead, last: int) -> AuditHead | None:
    with database.read() as tx:
        joined, count = tx.run(JOINED_ENTRIES, after=head.seq, upto=last).fetchone()
    if count != last - head.seq:
        return None
    pieces = (head.entry_hash.encode() + b"\n" + joined).split(b"\x1e")
    newest = pieces.pop()
    # A separator inside a forged row would give more pieces than rows.
    if len(pieces) != count:
        return None
    stored = b"".join([p[:65] for p in pieces[1:]]) + newest
    if "\n".join([sha256(p).hexdigest() for p in pieces]).encode() != stored:
        return None
    if not all([p.endswith(b',"seq":%d}' % n) for n, p in enumerate(pieces, head.seq + 1)]):
        return None
    return AuditHead(last, newest.decode())


def _row_by_row(database: Database, head: AuditHead, last: int) -> ChainWalk:
    """Name the first bad entry exactly."""
    with database.read() as tx:
        rows = [StoredEntry(*row) for row in tx.run(ENTRY_BYTES, after=head.seq, upto=last)]
    good, checked = head, 0
    for row in rows:
        if fault := _fault(row, good):
            return ChainWalk(good, checked, fault)
        good, checked = AuditHead(row.seq, row.entry_hash), checked + 1
    if good.seq != last:
        return ChainWalk(good, checked, f"Entry {good.seq + 1} is missing.")
    return ChainWalk(good, checked)


def _fault(row: StoredEntry, before: AuditHead) -> str:
    expected = before.seq + 1
    if row.seq != expected:
        return f"Entry {expected} is missing."
    found = sha256(before.entry_hash.encode() + b"\n" + row.body).hexdigest()
    if found != row.entry_hash:
        return f"Entry {expected} is not what was written, or the entry before it was replaced."
    if not row.body.endswith(b',"seq":%d}' % expected):
        return f"Entry {expected} carries another entry's number."
    return ""


def find_misplaced(database: Database) -> str:
    """Words if a row stands before the first entry, where no walk and no reader comes by."""
    with database.read() as tx:
        row = tx.run(_BEFORE_FIRST).fetchone()
    return f"An entry {row[0]} was inserted before the first." if row else ""


def stored_entries(database: Database, after: int, upto: int) -> Iterator[list[tuple[str, str]]]:
    """Bodies and hashes in order, a chunk at a time."""
    while after < upto:
        last = min(after + _CHUNK, upto)
        with database.read() as tx:
            rows = tx.run(_ENTRIES, after=after, upto=last).fetchall()
        yield rows
        after = last
