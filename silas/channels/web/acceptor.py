"""Takes connections, and waits for the head of each one's first request.

A connection that says nothing costs an open file and an entry: it has no transport, no task and no
parser until its head is whole and admitted. A browser waits behind all that came before it, so that
what one of a crowd costs decides how long.
"""

import asyncio
import errno
import socket
from collections.abc import Callable, Coroutine
from typing import Any

from silas.channels.web.connections import (
    ClientConnection,
    Connections,
    ConnectionStage,
    ConnectionState,
)
from silas.channels.web.limits import address_of

Admit = Callable[[str, bytes], bool]
"""Whether a request's head from this address is parsed at all."""

Begin = Callable[[socket.socket, ClientConnection, bytes], Coroutine[Any, Any, asyncio.Transport]]
"""Speak HTTP on a socket from now on; these bytes of it were read already."""

Arrive = Callable[["Acceptor", socket.socket, str], object]
"""Wait for the first request of a connection from this address."""

_WAITING = 2048  # connections that the system keeps until they are taken
_AT_ONCE = 32  # are taken in one turn of the loop: fewer than may be held, so that each is heard
_AGAIN_SECONDS = 1.0  # until the next try where no file is left, and none could be given up
_NO_FILES = frozenset({errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM})
END, MOST_HEAD = b"\r\n\r\n", 16 * 1024
"""Of the head of a request: how it ends, and its most bytes."""
SILENT = ConnectionState(ConnectionStage.silent)


class Acceptor:
    """Everything between a bound socket and HTTP.

    Args:
        listening: Where connections come in; not blocking.
        connections: Where each is held.
        admit: Asked once for each connection, with the head of its first request.
        begin: Called for each that is admitted.
        arrive: Waits for the first request of each; without TLS `PendingConnection`.
    """

    def __init__(
        self,
        listening: socket.socket,
        connections: Connections,
        admit: Admit,
        begin: Begin,
        arrive: Arrive,
    ) -> None:
        self._listening = listening
        self.connections = connections
        self.admit = admit
        self._begin = begin
        self._arrive = arrive
        self.loop = asyncio.get_running_loop()
        self._beginning: set[asyncio.Task[None]] = set()
        self._again: asyncio.TimerHandle | None = None

    def open(self) -> None:
        """Take connections from now on."""
        self._listening.listen(_WAITING)
        self._watch()

    async def close(self) -> None:
        """Take no more, and end those whose first request has not come."""
        if self._again is not None:
            self._again.cancel()
        self.loop.remove_reader(self._listening.fileno())
        self._listening.close()
        self.connections.close()
        if self._beginning:
            await asyncio.wait(self._beginning)

    def begin(self, one: socket.socket, held: ClientConnection, head: bytes) -> None:
        """Hand a connection over; where it is ended meanwhile, that is done afterwards."""
        ended: list[bool] = []
        held.abort = lambda: ended.append(True)
        self.await_end(self.loop.create_task(self._start_connection(one, held, head, ended)))

    def await_end(self, beginning: asyncio.Task[None]) -> None:
        """Let `close` wait for what begins a connection."""
        self._beginning.add(beginning)
        beginning.add_done_callback(self._beginning.discard)

    async def _start_connection(
        self, one: socket.socket, held: ClientConnection, head: bytes, ended: list[bool]
    ) -> None:
        try:
            transport = await self._begin(one, held, head)
        except OSError:  # it is gone
            held.leave()
            one.close()
            return
        held.abort = transport.abort
        if ended:
            transport.abort()

    def _watch(self) -> None:
        self.loop.add_reader(self._listening.fileno(), self._take)

    def _take(self) -> None:
        for _ in range(_AT_ONCE):
            try:
                one, address = self._listening.accept()
            except (BlockingIOError, InterruptedError, ConnectionAbortedError):
                return
            except OSError as error:
                if error.errno not in _NO_FILES:
                    raise
                self._no_file(error)
                return
            one.setblocking(False)
            self._arrive(self, one, address_of(address))

    def _no_file(self, error: OSError) -> None:
        """Give up one connection, or wait a while where none is held."""
        context = {"message": "accept() out of system resource", "exception": error}
        self.loop.call_exception_handler(context)
        if not self.connections.drop_one():
            self.loop.remove_reader(self._listening.fileno())
            self._again = self.loop.call_later(_AGAIN_SECONDS, self._watch)


class PendingConnection:
    """A connection whose first request has not come; nothing of it is kept once it has."""

    def __init__(self, arrivals: Acceptor, one: socket.socket, address: str) -> None:
        self._arrivals, self._socket, self._head = arrivals, one, b""
        self._open = True
        self._watched = False
        self._held = ClientConnection(arrivals.connections, address, lambda: SILENT, self._abort)
        arrivals.connections.enter(self._held)
        if self._open:
            self._read()  # a browser sends its request with its connection
        if self._open:
            self._watched = True
            arrivals.loop.add_reader(one.fileno(), self._read)

    def _read(self) -> None:
        try:
            data = self._socket.recv(MOST_HEAD)
        except (BlockingIOError, InterruptedError):
            return
        except OSError:
            data = b""
        self._head += data
        if not data:
            self._end()
        elif END in self._head or len(self._head) > MOST_HEAD:
            self._finish_head()

    def _finish_head(self) -> None:
        """Too long to be a head is for the parser to refuse."""
        if self._arrivals.admit(self._held.address, self._head):
            self._let_go()
            self._arrivals.begin(self._socket, self._held, self._head)
        else:
            self._end()

    def _end(self) -> None:
        self._held.leave()
        self._abort()

    def _abort(self) -> None:
        self._let_go()
        self._socket.close()

    def _let_go(self) -> None:
        self._open = False
        if self._watched:
            self._arrivals.loop.remove_reader(self._socket.fileno())
