"""How tools fared, remembered from one process to the next (`tool-runtime.md`)."""

from contextlib import suppress
from typing import Final, Protocol

from pydantic import ValidationError

from silas.damage import set_aside
from silas.db import Database
from silas.errors import DatabaseError
from silas.tools.models import ToolHealth

_KNOWN = "SELECT health FROM tool_health WHERE tool_name = :tool_name"
_KEEP = """
INSERT INTO tool_health (tool_name, health) VALUES (:tool_name, :health)
ON CONFLICT (tool_name) DO UPDATE SET health = excluded.health
"""


class HealthStore(Protocol):
    """Where the registry keeps the health of tools."""

    def get_health(self, tool_name: str) -> ToolHealth:
        """The health as it was kept last; that of a new tool where nothing was."""
        ...

    def keep(self, tool_name: str, health: ToolHealth) -> None:
        """Keep a health that has changed."""
        ...


class NoHealthStore:
    """Keeps nothing: every process begins with healthy tools."""

    def get_health(self, tool_name: str) -> ToolHealth:
        """That of a new tool."""
        return ToolHealth()

    def keep(self, tool_name: str, health: ToolHealth) -> None:
        """Dropped."""


NOT_KEPT: Final = NoHealthStore()


class SqlHealthStore:
    """In the database; `db.migrate("silas.tools")` makes its table."""

    def __init__(self, db: Database) -> None:
        self._db = db

    def get_health(self, tool_name: str) -> ToolHealth:
        """See `HealthStore.get_health`. What cannot be read is as if nothing had been kept."""
        with self._db.read() as tx:
            row = tx.run(_KNOWN, tool_name=tool_name).fetchone()
        if row is None:
            return ToolHealth()
        try:
            return ToolHealth.model_validate_json(str(row[0]))
        except ValidationError:
            set_aside(self._db, "tool_health", tool_name, row[0])
            return ToolHealth()

    def keep(self, tool_name: str, health: ToolHealth) -> None:
        """See `HealthStore.keep`."""
        # It is told after the call, whose outcome is recorded: a hint that is lost undoes nothing.
        with suppress(DatabaseError), self._db.write() as tx:
            tx.run(_KEEP, tool_name=tool_name, health=health.model_dump_json())
