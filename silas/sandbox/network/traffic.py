"""What a run did over the network, as the proxy tells it: typed events and their totals."""

from collections.abc import Awaitable, Callable
from typing import NamedTuple

from silas.sandbox.network.names import EgressRefused, Reason


class HostOpened(NamedTuple):
    """A host is about to be connected to for the first time in a run; told before it happens."""

    host: str
    port: int
    addresses: tuple[str, ...]


class DeniedTraffic(NamedTuple):
    """Something was refused. `what` is the run's own text: a host, or empty. `times`: how often."""

    what: str
    reason: Reason
    times: int = 1


class Traffic(NamedTuple):
    """What passed between a run and one host: connections, and bytes out and in."""

    host: str
    port: int
    connections: int
    bytes_out: int
    bytes_in: int


NetworkEvent = HostOpened | DeniedTraffic | Traffic

RecordTraffic = Callable[[NetworkEvent], Awaitable[None]]
"""Where the proxy tells what happens. Where it raises, the connection is not made."""


async def record_nothing(event: NetworkEvent) -> None:
    """What stands where nobody records: nothing is reached that way."""
    del event
    raise EgressRefused(Reason.unrecorded)
