"""Which tools a connection that is not the owner's may use (spec 5.6)."""

import stat
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, cast

from silas.audit import Audit
from silas.canonical import read_json, sha256_hex
from silas.clock import Clock
from silas.errors import ConfigError
from silas.gates.models import AccessLevel

DEFAULT_LEVEL = "public"
"""Where every connection begins, and where it drops back to."""

LoadCustomer = Callable[[], dict[str, Any] | None]
"""Reads what is known about the verified customer of one connection."""


class AccessController:
    """The access of one connection: deterministic, moved by gates only, never by a model.

    Levels rise in the order in which they are given. A level is reached when all its `requires`
    gates have passed; one that requires nothing is reached by nobody but through the default.
    When a level expires, what was verified for it is forgotten: it has to be proved again.

    Args:
        levels: The active goal's `access_levels`; without `public` the default offers no tools.
        connection_id: Whose access this is, for the audit.
        load_customer: Reads the customer's context once a level was reached.
        clock: What time it is.
        audit: Where transitions are recorded.
    """

    def __init__(
        self,
        levels: Mapping[str, AccessLevel],
        connection_id: str,
        load_customer: LoadCustomer,
        clock: Clock,
        audit: Audit,
    ) -> None:
        self._levels = dict(levels)
        self._connection_id = connection_id
        self._load_customer = load_customer
        self._clock = clock
        self._audit = audit
        self._level = DEFAULT_LEVEL
        self._verified: set[str] = set()
        self._customer: dict[str, Any] | None = None
        self._granted_at: float | None = None

    @property
    def level(self) -> str:
        """The current level, as of the last question asked."""
        return self._level

    async def gate_passed(self, gate_name: str) -> None:
        """Record that a gate was satisfied, and rise as far as that now allows."""
        await self._expire()
        self._verified.add(gate_name)
        order = [DEFAULT_LEVEL, *(name for name in self._levels if name != DEFAULT_LEVEL)]
        higher = order[order.index(self._level) + 1 :]
        reached = [
            name
            for name in higher
            if (needed := self._levels[name].requires) and self._verified.issuperset(needed)
        ]
        if reached:
            await self._rise(reached[-1])

    async def get_allowed_tools(self) -> list[str]:
        """The tools of the current level, after dropping back from an expired one."""
        await self._expire()
        level = self._levels.get(self._level)
        return list(level.tools) if level else []

    async def get_customer_context(self) -> dict[str, Any] | None:
        """What is known about the customer, if identity is verified and has not expired."""
        await self._expire()
        return self._customer

    async def _rise(self, name: str) -> None:
        customer = self._load_customer()
        # the audit first: a level whose grant could not be recorded is not granted
        await self._audit.log(
            "access_level_changed",
            connection_id=self._connection_id,
            before=self._level,
            after=name,
            customer_id=str((customer or {}).get("customer_id", "")),
        )
        self._level, self._customer = name, customer
        self._granted_at = self._clock.monotonic()

    async def _expire(self) -> None:
        level = self._levels.get(self._level)
        if self._granted_at is None or level is None or level.expires_after is None:
            return
        if self._clock.monotonic() - self._granted_at < level.expires_after:
            return
        before = self._level
        self._level, self._customer, self._granted_at = DEFAULT_LEVEL, None, None
        self._verified.clear()
        await self._audit.log(
            "access_level_changed",
            connection_id=self._connection_id,
            before=before,
            after=DEFAULT_LEVEL,
            customer_id="",
        )


class OwnerAccess:
    """The owner's access: every tool, whatever the goal says. Policy gates still apply (A11)."""

    def __init__(self, tools: Callable[[], Sequence[str]]) -> None:
        self._tools = tools

    @property
    def level(self) -> str:
        """A name that no goal can give a level of its own by accident."""
        return "(owner)"

    async def gate_passed(self, gate_name: str) -> None:
        """Nothing to rise to."""

    async def get_allowed_tools(self) -> list[str]:
        """All tools there are now."""
        return list(self._tools())

    async def get_customer_context(self) -> dict[str, Any] | None:
        """The owner is not a customer."""
        return None


def read_customer(directory: Path, connection_id: str) -> dict[str, Any] | None:
    """The customer context of a connection, from `<sha256 of its id>.json`; None without one.

    Raises:
        ConfigError: Other users may write to the directory, so its contents prove nothing.
    """
    if not directory.is_dir():
        return None
    if directory.stat().st_mode & (stat.S_IWOTH | stat.S_IWGRP):
        raise ConfigError(
            f"Others may write to {directory}; run `chmod 700` on it.",
            code="E_CFG_CUSTOMER_DIR",
        )
    file = directory / f"{sha256_hex(connection_id.encode())}.json"
    if not file.is_file():
        return None
    data: Any = read_json(file.read_bytes())
    return cast(dict[str, Any], data) if isinstance(data, dict) else None
