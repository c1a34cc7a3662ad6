"""A program that holds sockets to the cockpit open and fills each one up that is closed.

`python flood.py PORT KIND COUNT` says `held` when all were taken once, and `refilled N` after every
hundred. It goes on until its standard input ends.
"""

import resource
import select
import socket
import sys

KINDS = ("silent", "headers", "bodies", "unread", "upgrades")
_DRIP_SECONDS = 0.2
_TELL = 100
_HEAD = "Host: 127.0.0.1:{port}\r\nOrigin: http://127.0.0.1:{port}\r\n"
_BODY = "Content-Type: application/json\r\nContent-Length: 900\r\n\r\n"
_UPGRADE = (
    "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
    "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n"
)


def _first(kind: str, port: int) -> bytes:
    head = _HEAD.format(port=port)
    return {
        "silent": "",
        "headers": "GET / HTTP/1.1\r\n" + head,
        "bodies": "POST /pair HTTP/1.1\r\n" + head + _BODY,
        "unread": ("GET /static/app.js HTTP/1.1\r\n" + head + "\r\n") * 50,
        "upgrades": "GET /ws HTTP/1.1\r\n" + head + _UPGRADE,
    }[kind].encode()


class Flood:
    """So many sockets of one kind."""

    def __init__(self, port: int, kind: str, count: int) -> None:
        self._port, self._count = port, count
        self._first = _first(kind, port)
        self._drips = kind in ("headers", "bodies")
        self._events = select.EPOLLRDHUP | (0 if kind == "unread" else select.EPOLLIN)
        self._poll = select.epoll()
        self._sockets: dict[int, socket.socket] = {}
        self._fresh: set[int] = set()
        self._taken = 0

    def run(self) -> None:
        """Until the standard input ends."""
        self._poll.register(sys.stdin.fileno(), select.EPOLLIN)
        for _ in range(self._count):
            self._open()
        while True:
            for number, event in self._poll.poll(_DRIP_SECONDS):
                if number == sys.stdin.fileno():
                    return
                self._about(number, event)
            if self._drips:
                for one in self._sockets.values():
                    _send(one, b"x")

    def _open(self) -> None:
        one = socket.socket()
        one.setblocking(False)
        one.connect_ex(("127.0.0.1", self._port))
        self._sockets[one.fileno()] = one
        self._fresh.add(one.fileno())
        self._poll.register(one.fileno(), self._events | select.EPOLLOUT)

    def _about(self, number: int, event: int) -> None:
        if number in self._fresh and event & select.EPOLLOUT:
            self._fresh.discard(number)
            self._poll.modify(number, self._events)
            _send(self._sockets[number], self._first)
            self._taken += 1
            if self._taken == self._count:
                print("held", flush=True)
            elif self._taken > self._count and self._taken % _TELL == 0:
                print(f"refilled {self._taken - self._count}", flush=True)
        elif event & ~select.EPOLLOUT and self._ended(number):
            self._poll.unregister(number)
            self._fresh.discard(number)
            self._sockets.pop(number).close()
            self._open()

    def _ended(self, number: int) -> bool:
        try:
            return not self._sockets[number].recv(65536)
        except BlockingIOError:
            return False
        except OSError:
            return True


def _send(one: socket.socket, data: bytes) -> None:
    try:
        one.send(data)
    except OSError:  # it is full or gone; the poll tells which
        return


if __name__ == "__main__":
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    Flood(int(sys.argv[1]), sys.argv[2], int(sys.argv[3])).run()
