"""Memories for tests: a builder, and a store that stands on a real database."""

from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from silas.db import Database
from silas.memory import MemoryItem, MemoryType
from silas.memory.store import SqlMemoryStore
from silas.testing import MockClock
from silas.types import TaintLevel

NOW = MockClock().now()


def a_memory(memory_id: str, content: str, **fields: Any) -> MemoryItem:
    """A memory of the owner's, made now, unless a field says otherwise."""
    return MemoryItem.model_validate(
        {
            "memory_id": memory_id,
            "content": content,
            "memory_type": MemoryType.fact,
            "taint": TaintLevel.owner,
            "created_at": NOW,
            "updated_at": NOW,
            **fields,
        }
    )


@contextmanager
def a_store(directory: Path, clock: MockClock | None = None) -> Generator[SqlMemoryStore]:
    """A store on a database of its own."""
    clock = clock or MockClock()
    database = Database(directory / "silas.db", clock)
    database.migrate("silas.memory")
    try:
        yield SqlMemoryStore(database, clock)
    finally:
        database.close()


def ids(items: list[MemoryItem]) -> list[str]:
    """The ids, in order."""
    return [item.memory_id for item in items]
