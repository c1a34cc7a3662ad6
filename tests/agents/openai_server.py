"""A loopback server that answers from a script in a published protocol.

It records what it was sent. OpenAI's chat completions unless another one of `wires.py` is named.
"""

import asyncio
import json
from collections.abc import AsyncGenerator, Callable, Iterable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from tests.agents.wires import CHAT, Json, Reason, Said, Wire
from tests.support.waits import SECONDS


@dataclass(frozen=True)
class Failure:
    """An HTTP error."""

    status: int
    message: str = "scripted failure"
    headers: dict[str, str] = field(default_factory=dict[str, str])
    code: str | None = None
    body: Json | None = None  # sent as it is; by default one that holds message and code


@dataclass(frozen=True)
class Unfinished:
    """An answer that a server ends before the model was done, or that a filter ends."""

    reason: Reason
    answer: "str | Tool"


@dataclass(frozen=True)
class Broken:
    """An answer whose connection breaks in the middle."""

    answer: "str | Tool"


@dataclass(frozen=True)
class Ended:
    """A stream that a gateway closes in order, in the middle; a whole answer is as it is."""

    answer: "str | Tool"


@dataclass(frozen=True)
class Raw:
    """A body sent as it is, with status 200."""

    body: str


class Hang:
    """No answer until the client goes away."""


class Drop:
    """The connection is closed without an answer."""


@dataclass(frozen=True)
class Tool:
    """A tool call with its arguments as the server would send them: text."""

    name: str
    arguments: str

    @staticmethod
    def call(name: str, **arguments: Any) -> "Tool":
        """With arguments as JSON."""
        return Tool(name, json.dumps(arguments))


_Told = str | Tool | tuple[Tool, ...] | Unfinished | Broken | Ended
Answer = _Told | Failure | Raw | Hang | Drop
Reply = Answer | Callable[[Json], Answer]


@dataclass
class OpenAIServer:
    """What is played, and what came in."""

    replies: list[Reply]
    usage: bool = True
    streams: bool = True
    base_url: str = ""
    bodies: list[Json] = field(default_factory=list[Json])
    headers: list[dict[str, str]] = field(default_factory=list[dict[str, str]])
    paths: list[str] = field(default_factory=list[str])
    gone: asyncio.Event = field(default_factory=asyncio.Event)
    listing: dict[str, "Answer"] = field(default_factory=dict[str, "Answer"])
    looked_at: list[str] = field(default_factory=list[str])
    wire: Wire = CHAT

    @property
    def port(self) -> int:
        """Where it listens."""
        return int(self.base_url.rpartition(":")[2].removesuffix("/v1"))

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while (head := await reader.readuntil(b"\r\n\r\n")) != b"":
                if not await self._one(head.decode("latin-1"), reader, writer):
                    break
        except (asyncio.IncompleteReadError, ConnectionError):
            pass  # the client closed its connection: nothing is left to answer
        finally:
            writer.close()

    async def _one(
        self, head: str, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> bool:
        first, *lines = head.split("\r\n")
        headers = {k.lower(): v for k, v in (line.split(": ", 1) for line in lines if line)}
        method, path, _ = first.split(" ")
        if method == "GET":
            self.looked_at.append(path)
            return await self._sent(self.listing.get(path, Failure(404)), {}, reader, writer)
        body = await reader.readexactly(int(headers.get("content-length", "0")))
        self.paths.append(path)
        self.headers.append(headers)
        self.bodies.append(json.loads(body))
        turn = len(self.bodies) - 1
        reply: Reply = (
            self.replies[turn]
            if turn < len(self.replies)
            else Failure(418, f"the script has only {len(self.replies)} answers")
        )
        answer = reply if not callable(reply) else reply(self.bodies[-1])
        return await self._sent(answer, self.bodies[-1], reader, writer)

    async def _sent(
        self,
        answer: Answer,
        asked: Json,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
    ) -> bool:
        if isinstance(answer, Hang):
            await reader.read()  # ends when the client gives up
            self.gone.set()
            return False
        if isinstance(answer, Drop):
            return False
        status, sent, extra = self._written(answer, asked)
        streamed = sent.startswith(("data: ", "event: "))
        data = sent.encode()
        fields = {
            "content-type": "text/event-stream" if streamed else "application/json",
            "content-length": str(len(data)),
            **extra,
        }
        top = "".join(f"{k}: {v}\r\n" for k, v in fields.items())
        broken = isinstance(answer, Broken)
        piece = data[: len(data) // 2] if broken else data
        writer.write(f"HTTP/1.1 {status} Scripted\r\n{top}\r\n".encode() + piece)
        await writer.drain()
        return not broken

    def _written(
        self,
        answer: _Told | Failure | Raw,
        asked: Json,
    ) -> tuple[int, str, dict[str, str]]:
        """Status, body and headers."""
        if isinstance(answer, Failure):
            error = {"message": answer.message, "type": "scripted", "code": answer.code}
            return answer.status, json.dumps(answer.body or {"error": error}), answer.headers
        if isinstance(answer, Raw):
            return 200, answer.body, {}
        said = self._said(answer, asked)
        in_pieces = asked.get("stream") or "streamGenerateContent" in self.paths[-1]
        if self.streams and in_pieces:
            events = self.wire.events(said)
            return 200, _half(events) if isinstance(answer, Ended) else events, {}
        return 200, json.dumps(self.wire.whole(said)), {}

    def _said(self, answer: _Told, asked: Json) -> Said:
        about: Json = {
            "model": asked.get("model", ""),
            "turn": len(self.bodies) - 1,
            "usage": self.usage,
        }
        if isinstance(answer, Unfinished | Broken | Ended):
            about["reason"] = answer.reason if isinstance(answer, Unfinished) else "stop"
            answer = answer.answer
        if isinstance(answer, str):
            return Said(answer, **about)
        calls = (answer,) if isinstance(answer, Tool) else answer
        return Said(None, tuple((call.name, call.arguments) for call in calls), **about)


def _half(events: str) -> str:
    each = events.split("\n\n")
    return "\n\n".join([*each[: len(each) // 2], ""])


@asynccontextmanager
async def openai_server(
    replies: Iterable[Reply],
    *,
    usage: bool = True,
    streams: bool = True,
    listing: Mapping[str, Answer] | None = None,
    wire: Wire = CHAT,
) -> AsyncGenerator[OpenAIServer]:
    """Listen on a free loopback port for the duration of the block."""
    state = OpenAIServer(list(replies), usage, streams, listing=dict(listing or {}), wire=wire)
    tasks: set[asyncio.Task[None]] = set()

    def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.ensure_future(state.serve(reader, writer))
        tasks.add(task)
        task.add_done_callback(tasks.discard)

    server = await asyncio.start_server(accept, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    state.base_url = f"http://127.0.0.1:{port}/v1"
    try:
        yield state
    finally:
        server.close()
        for task in tuple(tasks):
            task.cancel()
        await asyncio.wait_for(asyncio.gather(*tasks, return_exceptions=True), SECONDS)
        await asyncio.wait_for(server.wait_closed(), SECONDS)
