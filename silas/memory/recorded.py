"""Memory operations on record: one that cannot be recorded changes nothing (decision B5)."""

from collections.abc import Callable, Mapping
from typing import Any

from silas.db import Database, at_once
from silas.memory.port import MemoryOperations, OpBasis

RecordMemory = Callable[..., object]
"""Writes an entry of the audit log, in the transaction that is open: event, then its fields."""


class RecordedOperations:
    """`MemoryOperations`, where what changes or forgets a memory is recorded in its transaction.

    What is new is not: it is kept with the words it came from, and nothing is lost by it.

    Args:
        operations: Changes memory, in the database of `db`.
        db: Where the record is, too.
        record: The audit log.
    """

    def __init__(self, operations: MemoryOperations, db: Database, record: RecordMemory) -> None:
        self._operations = operations
        self._db = db
        self._record = record

    async def apply(self, op: Mapping[str, Any], basis: OpBasis) -> str:
        """See `MemoryOperations.apply`. Raises `DatabaseError` where it cannot be recorded."""
        with self._db.write():
            name = at_once(self._operations.apply(op, basis))
            match op.get("op"):
                case "update" | "link":
                    self._record("memory.changed", scope_id=basis.scope_id, memory_id=name)
                case "delete":
                    self._record("memory.forgotten", scope_id=basis.scope_id, source=name, count=1)
                case _:
                    pass
        return name
