"""The two things the proxy asks of the network outside: resolve a name, connect to an address."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

from silas.sandbox.network.names import EgressRefused, Reason

if TYPE_CHECKING:
    import asyncio

Streams = tuple["asyncio.StreamReader", "asyncio.StreamWriter"]


class Outside(Protocol):
    """The network as the proxy sees it. What it may be asked for is decided before."""

    async def resolve(self, host: str) -> Sequence[str]:
        """The addresses of a full host name, as text. Raises `OSError` where there are none."""
        ...

    async def connect(self, address: str, port: int) -> Streams:
        """A TCP connection to exactly this address. Raises `OSError`, or `EgressRefused`."""
        ...


class NoOutside:
    """A machine that lets nobody out; what stands where nothing else was chosen."""

    async def resolve(self, host: str) -> Sequence[str]:
        """Never resolves anything."""
        raise EgressRefused(Reason.unresolved, host)

    async def connect(self, address: str, port: int) -> Streams:
        """Never connects."""
        raise EgressRefused(Reason.unreachable, f"{address}:{port}")


NO_OUTSIDE = NoOutside()
"""The default of everything that takes an `Outside`."""
