"""A thousand connections and a hundred messages a second to the cockpit, against a bare echo."""

import asyncio
import json
import os
import re
import resource
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Awaitable, Callable, Generator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, NamedTuple

from benchmarks.wire_client import Line, connect
from silas.channels.web.pages import AT_ONCE, ConnectedPage, Pages
from silas.channels.web.session import WebSession

RATE = 100.0  # messages a second, all connections together
_PATIENCE = 60.0
_AT_ONCE = 50  # connections being opened at the same time
_LINK = re.compile(r"http://127\.0\.0\.1:(\d+)/pair#(\S+)")

# The same uvicorn with the same WebSocket implementation and nothing behind it.
ECHO = """
import sys, uvicorn

async def app(scope, receive, send):
    if scope["type"] != "websocket":
        return
    await receive()
    await send({"type": "websocket.accept"})
    while (message := await receive())["type"] == "websocket.receive":
        await send({"type": "websocket.send", "text": message["text"]})

class Server(uvicorn.Server):
    async def startup(self, sockets=None):
        await super().startup(sockets)
        port = self.servers[0].sockets[0].getsockname()[1]
        print(f"http://127.0.0.1:{port}/pair#none", flush=True)

Server(uvicorn.Config(app, port=0, log_level="error", ws="websockets-sansio", lifespan="off",
                      ws_per_message_deflate=False)).run()
"""


_NO_LIMITS = {
    "SILAS_LIMITS__WS_MESSAGES_PER_MINUTE_PER_SCOPE": "1000000",
    "SILAS_LIMITS__WS_MESSAGES_PER_MINUTE_PER_IP": "1000000",
}
"""One browser at one address is a thousand here."""


class Served(NamedTuple):
    """A server that runs: its process, its port, and the token of the link it printed."""

    pid: int
    port: int
    token: str


def initialised(home: str, **more: str) -> dict[str, str]:
    """Make a home as `silas init` does; the environment of a Silas in it."""
    env = {**os.environ, "SILAS_HOME": home, "SILAS_KEYS__BACKEND": "file", **more}
    subprocess.run(
        [sys.executable, "-I", "-m", "silas", "init"],
        env=env,
        check=True,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
    )
    return env


@contextmanager
def serving(
    argv: list[str], env: Mapping[str, str], errors: int | IO[bytes] = subprocess.DEVNULL
) -> Generator[Served]:
    with subprocess.Popen(
        argv,
        env=dict(env),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=errors,
        text=True,
    ) as process:
        try:
            assert process.stdout is not None
            told = ""
            for line in process.stdout:
                told += line
                if found := _LINK.search(line):
                    yield Served(process.pid, int(found[1]), found[2])
                    break
            else:
                raise AssertionError(f"no link was printed: {told}")
        finally:
            process.terminate()
            try:
                process.wait(_PATIENCE)
            finally:
                process.kill()


def _kilobytes(pid: int) -> int:
    """What a process has in memory for itself; of an undumpable one nothing finer can be read."""
    _, resident, shared, *_ = Path(f"/proc/{pid}/statm").read_text().split()
    return (int(resident) - int(shared)) * os.sysconf("SC_PAGE_SIZE") // 1024


def paired(served: Served) -> tuple[dict[str, str], str]:
    """Pair as a browser without a key: headers with the session's cookie, and the page's token."""
    origin = f"http://127.0.0.1:{served.port}"
    body = {"token": served.token, "name": "bench", "public_key": None, "signature": None}
    request = urllib.request.Request(
        f"{origin}/pair",
        data=json.dumps(body).encode(),
        headers={"Content-Type": "application/json", "Origin": origin},
    )
    with urllib.request.urlopen(request, timeout=_PATIENCE) as answer:
        cookie = str(answer.headers["Set-Cookie"]).split(";")[0]
        page = str(json.load(answer)["page_token"])
    return {"Origin": origin, "Cookie": cookie}, page


class Crowd:
    """Connections to one server, and the acknowledgements that came back.

    Attributes:
        lines: The connections.
        refused: What the server would not take.
        waits: Seconds from when a message was due to go out until its acknowledgement.
    """

    def __init__(self, served: Served, cockpit: bool) -> None:
        self._served = served
        self._cockpit = cockpit
        self._due: dict[str, float] = {}
        self._sent: list[list[str]] = []
        self._acked: list[list[str]] = []
        self._greeted = 0
        self.lines: list[Line] = []
        self.waits: list[float] = []
        self.refused: list[str] = []

    async def open(self, count: int) -> None:
        """Open so many, a few at a time; each has its first answer before this returns."""
        headers, page = paired(self._served) if self._cockpit else ({}, "")
        for start in range(0, count, _AT_ONCE):
            here = range(start, min(start + _AT_ONCE, count))
            self.lines += await asyncio.gather(*(self._one(number, headers) for number in here))
            if self._cockpit:
                for line in self.lines[start:]:
                    line.say(json.dumps({"type": "auth", "token": page, "after": 0}))
                await _until(lambda: self._greeted == len(self.lines), "the greeting")

    def _one(self, number: int, headers: Mapping[str, str]) -> Awaitable[Line]:
        self._sent.append([])
        self._acked.append([])
        told: Callable[[bytes], None] = lambda data: self._told(number, data)  # noqa: E731
        return connect(self._served.port, "/ws", headers, told)

    def _told(self, number: int, data: bytes) -> None:
        # what is for everybody is counted and not read: a thousand readers are not the subject
        if self._cockpit and not data.startswith((b'{"type":"ack"', b'{"type":"error"')):
            self._greeted += data.startswith(b'{"type":"stream_state"')
            return
        frame: dict[str, Any] = json.loads(data)
        if frame["type"] == "error":
            self.refused.append(f"{frame['code']}: {frame['message']}")
            self._due.pop(frame["id"], None)
            return
        now = time.perf_counter()
        self._acked[number].append(frame["id"])
        self.waits.append(now - self._due.pop(frame["id"]))

    async def speak(self, first: int, count: int) -> None:
        """So many messages, one after the other at `RATE`, each from the next connection."""
        start = time.perf_counter() + 0.1
        for number in range(first, first + count):
            due = start + (number - first) / RATE
            await asyncio.sleep(max(0.0, due - time.perf_counter()))
            at = number % len(self.lines)
            name = f"{'c' if self._cockpit else 'e'}-{number}"
            self._due[name] = due
            self._sent[at].append(name)
            self.lines[at].say(_message(name))
        await _until(lambda: not self._due, "an acknowledgement")

    def check(self) -> None:
        """Every message was acknowledged once, in order, and nobody was cut off."""
        assert not self.refused, self.refused[:3]
        assert self._acked == self._sent
        assert [line.closed for line in self.lines if line.closed] == []

    def leave(self) -> None:
        for line in self.lines:
            line.leave()


def _message(name: str) -> str:
    message = {"type": "message", "id": name, "text": "What time is it?"}
    return json.dumps({**message, "sender_id": None, "reply_to": None, "proof": None})


async def _until(holds: Callable[[], bool], what: str) -> None:
    end = time.perf_counter() + _PATIENCE
    while not holds():
        assert time.perf_counter() < end, f"{what} did not come"
        await asyncio.sleep(0.005)


def _at(values: list[float], share: float) -> float:
    return sorted(values)[min(len(values) - 1, int(len(values) * share))]


async def _measure(ours: Served, bare: Served, connections: int, messages: int) -> dict[str, float]:
    cockpit, echo = Crowd(ours, cockpit=True), Crowd(bare, cockpit=False)
    memory: list[float] = []
    opening: list[float] = []
    for crowd, served in ((echo, bare), (cockpit, ours)):
        before, started = _kilobytes(served.pid), time.perf_counter()
        await crowd.open(connections)
        opening.append((time.perf_counter() - started) / connections)
        memory.append((_kilobytes(served.pid) - before) / connections)
    share = max(1, messages // 4)
    for first in range(0, 4 * share, share):
        await echo.speak(first, share)
        await cockpit.speak(first, share)
    for crowd in (cockpit, echo):
        crowd.check()
        crowd.leave()
    ours_p50, bare_p50 = statistics.median(cockpit.waits), statistics.median(echo.waits)
    ours_p99, bare_p99 = _at(cockpit.waits, 0.99), _at(echo.waits, 0.99)
    return {
        "connections at once": connections,
        "messages a second": RATE,
        "an acknowledgement, p50, ms": ours_p50 * 1e3,
        "an acknowledgement, p99, ms": ours_p99 * 1e3,
        "a bare echo, p50, ms": bare_p50 * 1e3,
        "a bare echo, p99, ms": bare_p99 * 1e3,
        "ratio of the p50": ours_p50 / bare_p50,
        "ratio of the p99": ours_p99 / bare_p99,
        "opening a connection, ms": opening[1] * 1e3,
        "opening a bare one, ms": opening[0] * 1e3,
        "memory of a connection, KB": memory[1],
        "memory of a bare one, KB": memory[0],
    }


_SEND = 0.00015  # seconds; what writing a bundle of a second to one page takes
_HOPS = 2  # turns of the loop: a frame arrives, and its page's own task reads and answers it


def _works(seconds: float) -> None:
    end = time.thread_time() + seconds
    while time.thread_time() < end:
        pass


async def _beside_a_bundle(count: int, at_once: int) -> float:
    """Of CPU time, the longest that an acknowledgement takes while a bundle goes to everybody."""
    session = WebSession(id="s-1", device_id="d-1", device="bench", level="auth")
    pages, written = Pages(at_once), 0

    async def write(page: ConnectedPage) -> None:
        nonlocal written
        while await page.next() is not None:
            _works(_SEND)
            written += 1

    writing: list[asyncio.Task[None]] = []
    for _ in range(count):
        page = ConnectedPage(session)
        pages.enter(page)
        writing.append(asyncio.create_task(write(page)))
    await asyncio.sleep(0)  # everybody waits for something to write
    pages.all("a frame")
    pages.enter(ConnectedPage(session))  # the bundle goes out now
    longest = 0.0
    while written < count:
        started = time.thread_time()
        for _ in range(_HOPS):
            await asyncio.sleep(0)
        longest = max(longest, time.thread_time() - started)
    pages.close(1001)
    await asyncio.gather(*writing)
    return longest


def _shares(count: int) -> dict[str, float]:
    """Giving way to the loop while a bundle goes out, against writing it in one step."""
    ours = asyncio.run(_beside_a_bundle(count, AT_ONCE))
    whole = asyncio.run(_beside_a_bundle(count, count))
    return {
        "beside a bundle, longest (CPU), ms": ours * 1e3,
        "the same, a bundle in one step, ms": whole * 1e3,
        "ratio of these": ours / whole,
    }


def _room_for(connections: int) -> None:
    """Files this process and its children may have open: two crowds, and their servers."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = 3 * connections + 500
    if soft != resource.RLIM_INFINITY and soft < wanted:
        assert hard == resource.RLIM_INFINITY or hard >= wanted, f"ulimit -n {wanted} is needed"
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


def measure(connections: int = 1000, messages: int = 1000) -> dict[str, float]:
    """Milliseconds from when a message was due until its acknowledgement, and memory."""
    _room_for(connections)
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        env = initialised(folder, **_NO_LIMITS)
        start = [sys.executable, "-I", "-m", "silas", "start", "--port", "0"]
        with (
            serving([sys.executable, "-c", ECHO], env) as bare,
            serving(start, env) as ours,
        ):
            figures = asyncio.run(_measure(ours, bare, connections, messages))
    return {**figures, **_shares(connections)}
