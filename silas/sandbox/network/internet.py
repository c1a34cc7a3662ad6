"""The real network outside, for the proxy alone."""

import asyncio
import socket
from collections.abc import Sequence

from silas.sandbox.network.addresses import is_public
from silas.sandbox.network.names import EgressRefused, Reason
from silas.sandbox.network.outside import Streams


class Internet:
    """The host's own resolver and network."""

    async def resolve(self, host: str) -> Sequence[str]:
        """Ask the system's resolver, without its search list."""
        absolute = host + "."
        loop = asyncio.get_running_loop()
        found = await loop.getaddrinfo(absolute, None, type=socket.SOCK_STREAM)
        return [str(address[4][0]) for address in found]

    async def connect(self, address: str, port: int) -> Streams:
        """Connect without resolving again; a public address of this very machine is refused."""
        if not is_public(address):
            raise EgressRefused(Reason.not_public, address)
        reader, writer = await asyncio.open_connection(address, port)
        ends = (writer.get_extra_info(name) for name in ("sockname", "peername"))
        here, there = (end[0] if end else "" for end in ends)
        if here == there:
            writer.close()
            raise EgressRefused(Reason.not_public, address)
        return reader, writer
