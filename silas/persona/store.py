"""Personalities in the database: one row per scope, and events that only grow (spec 4.18, 5.15)."""

import json
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any, Protocol

from pydantic import ValidationError

from silas.damage import readable_rows, set_aside
from silas.db import Database
from silas.errors import DatabaseError
from silas.persona.sqlite_statements import NEWEST_EVENTS
from silas.persona.state import PersonaEvent, PersonaState

_STATE = (
    "SELECT baseline_axes_json, mood_json, voice_json, active_preset, last_context, drift_json,"
    " tuning_json, updated_at FROM persona_state WHERE scope_id = :scope_id"
)
_SAVE = """
INSERT INTO persona_state (scope_id, baseline_axes_json, mood_json, voice_json, active_preset,
  last_context, drift_json, tuning_json, updated_at)
VALUES (:scope_id, :baseline_axes_json, :mood_json, :voice_json, :active_preset,
  :last_context, :drift_json, :tuning_json, :updated_at)
ON CONFLICT (scope_id) DO UPDATE SET
  baseline_axes_json = excluded.baseline_axes_json, mood_json = excluded.mood_json,
  voice_json = excluded.voice_json, active_preset = excluded.active_preset,
  last_context = excluded.last_context, drift_json = excluded.drift_json,
  tuning_json = excluded.tuning_json, updated_at = excluded.updated_at
"""
_APPEND = """
INSERT INTO persona_events (event_id, scope_id, event_type, trusted, delta_axes_json,
  delta_mood_json, source, created_at)
VALUES (:event_id, :scope_id, :event_type, :trusted, :delta_axes_json,
  :delta_mood_json, :source, :created_at)
"""
_UNTRUSTED = """
SELECT count(*) FROM persona_events
WHERE scope_id = :scope_id AND created_at > :since AND trusted = 0 AND source = 'channel'
"""


class PersonaStore(Protocol):
    """Keeps personalities; no call ever sees another scope's (spec 4.18)."""

    async def get_state(self, scope_id: str) -> PersonaState | None:
        """The personality of a scope, None where nothing has moved it yet."""
        ...

    async def save_state(self, state: PersonaState) -> None:
        """Keep it in place of the former."""
        ...

    async def append_event(self, event: PersonaEvent) -> None:
        """Add to what happened."""
        ...

    async def list_events(self, scope_id: str, limit: int = 100) -> list[PersonaEvent]:
        """What happened, the newest first."""
        ...

    async def save_event(self, event: PersonaEvent, state: PersonaState) -> None:
        """An event and what it led to, together or not at all."""
        ...

    async def count_untrusted(self, scope_id: str, moment: datetime) -> int:
        """How many events since then came from somebody nobody vouches for."""
        ...


class SqlPersonaStore:
    """`PersonaStore` over the database. Statements are tiny and run inline (decision A23)."""

    def __init__(self, db: Database) -> None:
        self._db = db

    async def get_state(self, scope_id: str) -> PersonaState | None:
        """See `PersonaStore.get_state`."""
        with self._db.read() as tx:
            row = tx.run(_STATE, scope_id=scope_id).fetchone()
        if row is None:
            return None
        try:
            return _state(scope_id, row)
        except DatabaseError:  # the engine speaks neutrally then
            set_aside(self._db, "persona_state", scope_id, row)
            raise

    async def save_state(self, state: PersonaState) -> None:
        """See `PersonaStore.save_state`."""
        with self._db.write() as tx:
            tx.run(_SAVE, **_state_row(state))

    async def append_event(self, event: PersonaEvent) -> None:
        """See `PersonaStore.append_event`."""
        with self._db.write() as tx:
            tx.run(_APPEND, **_event_row(event))

    async def list_events(self, scope_id: str, limit: int = 100) -> list[PersonaEvent]:
        """See `PersonaStore.list_events`."""
        with self._db.read() as tx:
            rows = tx.run(NEWEST_EVENTS, scope_id=scope_id, limit=limit).fetchall()
        return readable_rows(
            self._db, "persona_events", rows, lambda row: row[0], lambda row: _event(scope_id, row)
        )

    async def save_event(self, event: PersonaEvent, state: PersonaState) -> None:
        """See `PersonaStore.save_event`."""
        with self._db.write() as tx:
            tx.run(_APPEND, **_event_row(event))
            tx.run(_SAVE, **_state_row(state))

    async def count_untrusted(self, scope_id: str, moment: datetime) -> int:
        """See `PersonaStore.count_untrusted`."""
        with self._db.read() as tx:
            found = tx.run(_UNTRUSTED, scope_id=scope_id, since=_moment(moment)).fetchone()
        return int(found[0])


def _moment(moment: datetime) -> str:
    # always with fractions: as text, a whole second would sort after them
    return moment.astimezone(UTC).isoformat(timespec="microseconds")


def _state_row(state: PersonaState) -> dict[str, str]:
    return {
        "scope_id": state.scope_id,
        "baseline_axes_json": state.baseline_axes.model_dump_json(),
        "mood_json": state.mood.model_dump_json(),
        "voice_json": state.voice.model_dump_json(),
        "active_preset": state.active_preset,
        "last_context": state.last_context,
        "drift_json": state.drift.model_dump_json(),
        "tuning_json": state.tuning.model_dump_json(),
        "updated_at": _moment(state.updated_at),
    }


def _event_row(event: PersonaEvent) -> dict[str, str | int]:
    return {
        "event_id": event.event_id,
        "scope_id": event.scope_id,
        "event_type": event.event_type,
        "trusted": int(event.trusted),
        "delta_axes_json": event.delta_axes.model_dump_json(),
        "delta_mood_json": event.delta_mood.model_dump_json(),
        "source": event.source,
        "created_at": _moment(event.created_at),
    }


@lru_cache(maxsize=64)  # a turn looks twice, and nearly every row is as it was
def _state(scope_id: str, row: tuple[Any, ...]) -> PersonaState:
    axes, mood, voice, preset, context, drift, tuning, updated = row
    try:
        return PersonaState.model_validate(
            {
                "scope_id": scope_id,
                "baseline_axes": json.loads(axes),
                "mood": json.loads(mood),
                "voice": json.loads(voice),
                "active_preset": preset,
                "last_context": context,
                "drift": json.loads(drift),
                "tuning": json.loads(tuning),
                "updated_at": updated,
            }
        )
    except (ValidationError, ValueError, TypeError) as error:
        raise _damage_error("personality", scope_id) from error


def _event(scope_id: str, row: tuple[Any, ...]) -> PersonaEvent:
    event_id, kind, trusted, axes, mood, source, created = row
    try:
        return PersonaEvent.model_validate(
            {
                "event_id": event_id,
                "scope_id": scope_id,
                "event_type": kind,
                "trusted": bool(trusted),
                "delta_axes": json.loads(axes),
                "delta_mood": json.loads(mood),
                "source": source,
                "created_at": created,
            }
        )
    except (ValidationError, ValueError, TypeError) as error:
        raise _damage_error("personality's history", scope_id) from error


def _damage_error(what: str, scope_id: str) -> DatabaseError:
    return DatabaseError(
        f"The stored {what} of {scope_id} was changed or damaged; restore the database from a "
        "backup.",
        code="E_DB_CORRUPT",
        scope_id=scope_id,
    )
