"""How many connections are held, and how long each may take: who is not paired is dropped first.

A connection is unknown until a request on it carried a paired browser's session. Unknown ones have
few places, which are given to the newest: a browser that pairs or comes back sends its request with
its connection, and a crowd that holds sockets open and says nothing loses the oldest of them.
"""

import resource
from collections.abc import Callable, Hashable
from enum import StrEnum
from itertools import islice
from typing import NamedTuple

from silas.clock import Clock

CONNECTION = "connection"
"""Under which name a request's `scope["state"]` holds its `ClientConnection`."""

MOST_CONNECTIONS, MOST_UNKNOWN = 2048, 256
"""In all, and of them those that no paired browser has spoken on."""

_FILES_WANTED = 8192  # more than every connection, the sandbox's pipes and the database together
_OTHER_FILES = 512  # of the files that may be open, those that are no held connections
_CLOSES_SECONDS = 5.0


class ConnectionStage(StrEnum):
    """What a connection waits for."""

    silent = "its first whole request"
    answering = "its answer"
    unread = "its peer, who does not read what was sent"
    idle = "its next whole request"
    talking = "frames; pings find out whether the peer is there"
    closing = "its peer, who does not read the end"


MOST_SECONDS = {
    ConnectionStage.silent: 5.0,
    ConnectionStage.unread: 20.0,
    ConnectionStage.idle: 15.0,
    ConnectionStage.closing: _CLOSES_SECONDS,
}
"""How long each may take; the answer has limits of its own, and so has a live connection."""


class ConnectionState(NamedTuple):
    """What a connection does now; `of` is the request that it is about."""

    stage: ConnectionStage
    of: Hashable = None


class ClientConnection:
    """One connection that is held.

    Args:
        held: Where it is held.
        address: Of the peer, as limits count it.
        look: Says what it does now.
        abort: Ends it at once, whatever was still to be sent.
    """

    def __init__(
        self,
        held: "Connections",
        address: str,
        look: Callable[[], ConnectionState],
        abort: Callable[[], None],
    ) -> None:
        self._held = held
        self.address, self.look, self.abort = address, look, abort
        self.known = False
        self.since: tuple[ConnectionState, float] | None = None

    def hand_over(self, look: Callable[[], ConnectionState]) -> None:
        """From now on another protocol says what it does."""
        self.look = look

    def recognise(self) -> None:
        """A paired browser has spoken on it."""
        self._held.recognise(self)

    def leave(self) -> None:
        """It is closed."""
        self._held.leave(self)


class Connections:
    """All that are held.

    Args:
        most: How many in all.
        most_unknown: How many of them without a session; the others are kept for paired browsers.
        clock: Time.
    """

    def __init__(self, most: int, most_unknown: int, clock: Clock) -> None:
        self._most = most
        self._most_unknown = most_unknown
        self._clock = clock
        self._closed = False
        self._known: dict[ClientConnection, None] = {}
        self._unknown: dict[str, dict[ClientConnection, None]] = {}

    def __len__(self) -> int:
        """How many there are."""
        return len(self._known) + self.unknown

    @property
    def unknown(self) -> int:
        """How many without a session."""
        return sum(map(len, self._unknown.values()))

    def enter(self, connection: ClientConnection) -> None:
        """Hold one more; where there is no place left the oldest silent one of others ends."""
        if self.unknown >= self._most_unknown or len(self) >= self._most:
            self.drop_one()
        self._unknown.setdefault(connection.address, {})[connection] = None
        if self._closed:
            self._end(connection)

    def close(self) -> None:
        """End those whose first request has not come, and take no more."""
        self._closed = True
        for connection in [one for crowd in self._unknown.values() for one in crowd]:
            if connection.look().stage is ConnectionStage.silent:
                self._end(connection)

    def leave(self, connection: ClientConnection) -> None:
        """Hold one less; twice is harmless."""
        self._known.pop(connection, None)
        crowd = self._unknown.get(connection.address, {})
        crowd.pop(connection, None)
        if not crowd:
            self._unknown.pop(connection.address, None)

    def recognise(self, connection: ClientConnection) -> None:
        """Give it one of the places for paired browsers, if any is left and it still is here."""
        here = connection in self._unknown.get(connection.address, {})
        if here and len(self._known) < self._most - self._most_unknown:
            self.leave(connection)
            connection.known = True
            self._known[connection] = None

    def drop_one(self) -> bool:
        """End one of the address that has most, if any: the oldest silent one, else the oldest.

        The newer half is spared: its requests may not have been read yet.
        """
        crowd = max(self._unknown.values(), key=len, default=None)
        if crowd is None:
            return False
        older = islice(crowd, (len(crowd) + 1) // 2)
        silent = (one for one in older if one.look().stage is not ConnectionStage.answering)
        self._end(next(silent, None) or next(iter(crowd)))
        return True

    def sweep(self) -> None:
        """End what has taken longer than its stage may; call this every second."""
        now = self._clock.monotonic()
        crowds = (self._known, *self._unknown.values())
        for connection in [one for crowd in crowds for one in crowd]:
            look = connection.look()
            if connection.since is None or connection.since[0] != look:
                connection.since = (look, now)
            elif now - connection.since[1] >= MOST_SECONDS.get(look.stage, float("inf")):
                self._end(connection)

    def _end(self, connection: ClientConnection) -> None:
        self.leave(connection)
        connection.abort()


def room_for_connections(clock: Clock) -> Connections:
    """As many as the files allow that this process may have open; raises its soft limit first."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = _FILES_WANTED if hard == resource.RLIM_INFINITY else min(hard, _FILES_WANTED)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
        soft = wanted
    files = _FILES_WANTED if soft == resource.RLIM_INFINITY else soft
    most = min(MOST_CONNECTIONS, max(files - _OTHER_FILES, files // 2))
    return Connections(most, min(MOST_UNKNOWN, most // 2), clock)
