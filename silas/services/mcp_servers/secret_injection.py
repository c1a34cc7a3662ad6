"""Secrets put into the variables and headers of an MCP server whenever it is started."""

import re
from collections.abc import AsyncGenerator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import TYPE_CHECKING

from silas.audit import Audit
from silas.errors import ConfigError
from silas.keys.secret_registry import SecretRegistry
from silas.tools.mcp.settings import MCPEntry

if TYPE_CHECKING:
    from silas.tools.mcp.link import Connect
    from silas.tools.mcp.transport import McpConnection

_HEADER = re.compile(r"[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?")


class SecretInjector:
    """Gives a server the secrets that its entry names, as they are at that moment.

    The first time that it is given a secret is on record.

    Args:
        secrecy: Where they are, and what keeps them out of sight.
        audit: The record; it has references, never values.
    """

    def __init__(self, secrecy: SecretRegistry, audit: Audit) -> None:
        self._secrecy = secrecy
        self._audit = audit
        self._recorded = set[tuple[str, str]]()

    def connect(
        self,
        entry: MCPEntry,
        reach: "Callable[[MCPEntry], AbstractAsyncContextManager[McpConnection]]",
    ) -> "Connect":
        """Opens one connection after another, each with the secrets of then."""

        @asynccontextmanager
        async def open_connection() -> "AsyncGenerator[McpConnection]":
            async with reach(await self._fill(entry)) as connection:
                yield connection

        return open_connection

    async def _fill(self, entry: MCPEntry) -> MCPEntry:
        """The entry with values instead of names; what cannot be recorded is not given.

        Raises:
            ConfigError: A secret is not there, cannot be opened, or does not fit.
        """
        if not entry.server.secret_names:
            return entry
        found = self._secrecy.values_of(entry.server.secret_names)
        filled = entry.server.with_secrets({name: value for name, (_, value) in found.items()})
        for name, value in filled.headers.items():
            if not _HEADER.fullmatch(value.get_secret_value()):
                raise ConfigError(
                    f"The secret for the header {name} holds a line break or another character "
                    "that no header may have; store it anew as plain text on one line.",
                    code="E_CFG_SECRET",
                )
        for ref_id, _ in found.values():
            given = (entry.name, ref_id)  # a server that fails again and again fills no record
            if given not in self._recorded:
                await self._audit.log("mcp.secret_given", server=entry.name, ref_id=ref_id)
                self._recorded.add(given)
        self._secrecy.record_use(ref_id for ref_id, _ in found.values())
        return entry.model_copy(update={"server": filled})
