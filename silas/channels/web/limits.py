"""How much may come in: token buckets per session and per remote address (spec 18.5)."""

import ipaddress
from functools import lru_cache

from silas.clock import Clock
from silas.token_buckets import TokenBuckets

PAIRINGS_PER_MINUTE = 10
"""Tries to pair from one address: nobody types that fast, and 256 bits need more."""

PAIRINGS_IN_ALL = 30
"""Tries to pair from everywhere together."""

REQUESTS_PER_MESSAGE = 10
"""Requests that come with each message that is allowed: a page has many files and lists."""

_EVERYWHERE = ""


class WebLimits:
    """The limits of the cockpit; each says what ran out, or nothing.

    Args:
        per_session: Messages a minute of one paired browser.
        per_address: Messages a minute from one remote address.
        clock: Time.
    """

    def __init__(self, per_session: int, per_address: int, clock: Clock) -> None:
        self._sessions = TokenBuckets(per_session, clock)
        self._addresses = TokenBuckets(per_address, clock)
        self._requests = TokenBuckets(per_address * REQUESTS_PER_MESSAGE, clock)
        self._session_requests = TokenBuckets(per_address * REQUESTS_PER_MESSAGE, clock)
        self._pairings = TokenBuckets(PAIRINGS_PER_MINUTE, clock)
        self._all_pairings = TokenBuckets(PAIRINGS_IN_ALL, clock)

    def message(self, session_id: str, address: str) -> str:
        """For a message, an answer or a command."""
        if not self._sessions.take(session_id):
            return "messages of one browser"
        return "" if self._addresses.take(address) else "messages from one address"

    def request(self, address: str) -> str:
        """For any request at all."""
        return "" if self._requests.take(address) else "requests from one address"

    def session_request(self, session_id: str) -> str:
        """For any request of a paired browser: others at its address do not use up its bucket."""
        return "" if self._session_requests.take(session_id) else "requests of one browser"

    def pairing(self, address: str) -> str:
        """For a try to pair."""
        if not self._pairings.take(address):
            return "tries to pair from one address"
        return "" if self._all_pairings.take(_EVERYWHERE) else "tries to pair"


def address_of(client: object) -> str:
    """Whom a limit is for: an IPv4 address, or the network of an IPv6 one.

    One subscriber has 2^64 IPv6 addresses, and would have as many buckets.

    Args:
        client: What ASGI says: `(host, port)`, or None.
    """
    return _network(str(client[0]) if isinstance(client, tuple | list) and client else "")  # pyright: ignore[reportUnknownArgumentType] - whatever a server says


@lru_cache(maxsize=1024)
def _network(host: str) -> str:
    try:
        address = ipaddress.ip_address(host.partition("%")[0])
    except ValueError:
        return "unknown"
    if isinstance(address, ipaddress.IPv6Address):
        if address.ipv4_mapped is None:
            return str(ipaddress.ip_network((address, 64), strict=False))
        address = address.ipv4_mapped
    return str(address)
