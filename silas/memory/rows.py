"""A memory as a row of `memory_items`, and back."""

import json
from array import array
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any

from pydantic import ValidationError

from silas.damage import readable_rows
from silas.db import Database
from silas.errors import DatabaseError, MemoryRefused
from silas.memory.models import MemoryItem, MemoryType, ReingestionTier, TrustLevel
from silas.types import TaintLevel

TABLE = "memory_items"

FIELDS = (
    "memory_id",
    "content",
    "memory_type",
    "reingestion_tier",
    "trust_level",
    "taint",
    "created_at",
    "updated_at",
    "valid_from",
    "valid_until",
    "access_count",
    "last_accessed",
    "semantic_tags",
    "entity_refs",
    "causal_refs",
    "temporal_next",
    "temporal_prev",
    "session_id",
    "embedding",
    "source_kind",
    "scope_id",
    "sources",
)
"""The columns of a memory, in the order of its fields."""

COLUMNS = ", ".join(FIELDS)

_NAMES = ("memory_type", "reingestion_tier", "trust_level", "taint")
_MOMENTS = ("created_at", "updated_at", "valid_from", "valid_until", "last_accessed")
_TEXTS = ("memory_id", "content", "source_kind", "scope_id")
_READABLE = json.JSONEncoder(ensure_ascii=False).encode  # one for every row
_LISTS = ("semantic_tags", "entity_refs", "causal_refs", "sources")


def moment_text(moment: datetime) -> str:
    """A moment as text that sorts as the moments do: UTC, to the microsecond.

    Raises:
        MemoryRefused: It lies outside the years 1 to 9999 of UTC.
    """
    try:
        return moment.astimezone(UTC).isoformat(timespec="microseconds")
    except OverflowError as error:
        raise MemoryRefused(
            f"The moment {moment} lies outside the calendar; give one of the years 1 to 9999.",
            code="E_MEM_FIELD",
        ) from error


def row_of(item: MemoryItem) -> dict[str, Any]:
    """The values of a memory by `FIELDS`."""
    values = item.__dict__
    return {name: made(values[name]) if made else values[name] for name, made in _COLUMNS}


def list_text(values: Sequence[str]) -> str:
    """Names as a JSON array, readable words in it, so that they can be searched as they are."""
    return _READABLE(values) if values else "[]"


def item_of(row: Sequence[Any]) -> MemoryItem:
    """A row, in the order of `FIELDS`, as a memory.

    What this domain wrote is taken as it is (checking it again costs more than the query that found
    it), except what decides how far it is trusted.

    Raises:
        DatabaseError: The row was damaged.
    """
    values: dict[str, Any] = dict(zip(FIELDS, row, strict=True))
    try:
        for name in _MOMENTS:
            if values[name] is not None:
                values[name] = datetime.fromisoformat(values[name])
        for name in _LISTS:
            values[name] = () if values[name] == "[]" else tuple(json.loads(values[name]))
        values["memory_type"] = MemoryType(values["memory_type"])
        values["reingestion_tier"] = ReingestionTier(values["reingestion_tier"])
        values["trust_level"] = TrustLevel(values["trust_level"])
        values["taint"] = TaintLevel(values["taint"])
        if values["embedding"] is not None:
            values["embedding"] = tuple(array("d", values["embedding"]))
        if not all(isinstance(values[name], str) for name in _TEXTS):
            raise TypeError("it has no text")
        return MemoryItem.model_construct(**values)
    except (ValidationError, ValueError, TypeError, RecursionError) as error:
        raise DatabaseError(
            f"The stored memory {values['memory_id']} was damaged; restore the database from a "
            "backup, or forget this memory.",
            code="E_DB_CORRUPT",
        ) from error


def readable_items(db: Database, rows: Iterable[Sequence[Any]]) -> list[MemoryItem]:
    """The rows, in the order of `FIELDS`, that can be read; the others are set aside."""
    return readable_rows(db, TABLE, rows, lambda row: row[0], item_of)


def salvage_row(row: Sequence[Any]) -> MemoryItem:
    """What can be read of a damaged row: enough to forget it, and trusted with nothing."""
    sound = row_of(_SOUND)
    for name, value in zip(FIELDS, row, strict=True):
        with suppress(DatabaseError):
            item_of([{**sound, name: value}[field] for field in FIELDS])
            sound[name] = value
    return item_of([sound[field] for field in FIELDS])


def is_valid(item: MemoryItem, now: datetime) -> bool:
    """Whether a memory holds at this moment."""
    begun = item.valid_from is None or item.valid_from <= now
    return begun and (item.valid_until is None or now < item.valid_until)


def _moment(value: datetime | None) -> str | None:
    return None if value is None else moment_text(value)


def _vector(value: Sequence[float] | None) -> bytes | None:
    return None if value is None else array("d", value).tobytes()


_MADE: Mapping[str, Callable[[Any], Any]] = {
    **dict.fromkeys(_NAMES, str),
    **dict.fromkeys(_MOMENTS, _moment),
    **dict.fromkeys(_LISTS, list_text),
    "embedding": _vector,
}
"""What becomes of a value in its column; the others are stored as they are."""

_COLUMNS = tuple((name, _MADE.get(name)) for name in FIELDS)

_LONG_AGO = datetime(1970, 1, 1, tzinfo=UTC)
_SOUND = MemoryItem(
    memory_id="damaged",
    content="",
    memory_type=MemoryType.episode,
    taint=TaintLevel.external,
    created_at=_LONG_AGO,
    updated_at=_LONG_AGO,
    source_kind="damaged",
)
