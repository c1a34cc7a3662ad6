"""Which tools of which MCP server the owner looked at and trusted, by digest (decision D121)."""

from collections.abc import Iterable
from typing import NamedTuple

from pydantic import ValidationError

from silas.clock import Clock
from silas.db import Database
from silas.errors import DatabaseError
from silas.tools.mcp.definitions import McpToolDefinition

_OF = """
SELECT server, tool, digest, definition, source FROM mcp_tools
WHERE server = :server ORDER BY tool
"""
_ANY = "SELECT tool FROM mcp_tools WHERE server = :server LIMIT 1"
_PINS = "SELECT server, tool, digest, source FROM mcp_tools ORDER BY server, tool"
_DROP = "DELETE FROM mcp_tools WHERE server = :server"
_TRUST = """
INSERT INTO mcp_tools (server, tool, digest, definition, source, trusted_at)
VALUES (:server, :tool, :digest, :definition, :source, :trusted_at)
"""


class ServerTrust(NamedTuple):
    """What the owner trusted of one server; nothing where he never did.

    Attributes:
        source: The digest of the configuration it was trusted under; empty for none.
        definitions: By the server's own tool names.
    """

    source: str
    definitions: dict[str, McpToolDefinition]


class SqlTrust:
    """The pins, in the database. Statements are tiny and run inline (decision A23)."""

    def __init__(self, db: Database, clock: Clock) -> None:
        self._db = db
        self._clock = clock

    def of(self, server: str) -> ServerTrust:
        """What was trusted of a server.

        Raises:
            DatabaseError: A row is not what was trusted any more.
        """
        with self._db.read() as tx:
            found = [_Row(*row) for row in tx.run(_OF, server=server)]
        definitions = {row.tool: _definition(row) for row in found}
        return ServerTrust(found[0].source if found else "", definitions)

    def pins(self) -> tuple[tuple[str, ...], ...]:
        """Server, tool, digest and source of all that is trusted: another where trust is another.

        Raises:
            DatabaseError: The database cannot be read.
        """
        with self._db.read() as tx:
            return tuple(tuple(map(str, row)) for row in tx.run(_PINS))

    def trust(self, server: str, source: str, definitions: Iterable[McpToolDefinition]) -> None:
        """Remember exactly these, instead of whatever was trusted before; joins a transaction."""
        now = self._clock.now().isoformat()
        rows = [
            {
                "server": server,
                "tool": each.name,
                "digest": each.digest,
                "definition": each.model_dump_json(),
                "source": source,
                "trusted_at": now,
            }
            for each in definitions
        ]
        with self._db.write() as tx:
            tx.run(_DROP, server=server)
            tx.run_many(_TRUST, rows)

    def distrust(self, server: str) -> bool:
        """Trust nothing of a server any more; whether anything was. Joins a transaction."""
        with self._db.write() as tx:
            found = tx.run(_ANY, server=server).fetchone() is not None
            tx.run(_DROP, server=server)
            return found


class _Row(NamedTuple):
    server: str
    tool: str
    digest: str
    definition: str
    source: str


def _definition(row: _Row) -> McpToolDefinition:
    try:
        found = McpToolDefinition.model_validate_json(row.definition)
        if (found.server, found.name, found.digest) != (row.server, row.tool, row.digest):
            raise ValueError
    except (ValidationError, ValueError) as error:
        raise DatabaseError(
            f"What was trusted of the MCP server {row.server!r} was changed or damaged; run "
            f"`silas mcp trust {row.server}` again.",
            code="E_DB_CORRUPT",
        ) from error
    return found
