"""A loopback OpenAI-compatible server that answers from a script and records what it was sent."""

import asyncio
import json
from collections.abc import AsyncGenerator, Callable, Iterable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from tests.support.waits import SECONDS

Json = dict[str, Any]


@dataclass(frozen=True)
class Failure:
    """An HTTP error."""

    status: int
    message: str = "scripted failure"
    headers: dict[str, str] = field(default_factory=dict[str, str])
    code: str | None = None


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


Answer = str | Tool | tuple[Tool, ...] | Failure | Raw | Hang | Drop
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
        status, sent, extra = _response(answer, asked, len(self.bodies) - 1, self.usage)
        streamed = bool(self.streams and asked.get("stream") and status == 200)
        data = (_events(json.loads(sent)) if streamed else sent).encode()
        fields = {
            "content-type": "text/event-stream" if streamed else "application/json",
            "content-length": str(len(data)),
            **extra,
        }
        top = "".join(f"{k}: {v}\r\n" for k, v in fields.items())
        writer.write(f"HTTP/1.1 {status} Scripted\r\n{top}\r\n".encode() + data)
        await writer.drain()
        return True


def _response(
    answer: str | Tool | tuple[Tool, ...] | Failure | Raw, asked: Json, turn: int, usage: bool
) -> tuple[int, str, dict[str, str]]:
    if isinstance(answer, Failure):
        error = {"error": {"message": answer.message, "type": "scripted", "code": answer.code}}
        return answer.status, json.dumps(error), answer.headers
    if isinstance(answer, Raw):
        return 200, answer.body, {}
    message: Json = {"role": "assistant", "content": None}
    if isinstance(answer, str):
        message["content"] = answer
    else:
        calls = (answer,) if isinstance(answer, Tool) else answer
        message["tool_calls"] = [
            {
                "id": f"call_{turn}_{number}",
                "type": "function",
                "function": {"name": call.name, "arguments": call.arguments},
            }
            for number, call in enumerate(calls)
        ]
    completion: Json = {
        "id": f"chatcmpl-{turn}",
        "object": "chat.completion",
        "created": 1_700_000_000,
        "model": asked.get("model", ""),
        "choices": [
            {
                "index": 0,
                "message": message,
                "finish_reason": "stop" if isinstance(answer, str) else "tool_calls",
            }
        ],
    }
    if usage:
        completion["usage"] = {"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110}
    return 200, json.dumps(completion), {}


def _events(completion: Json) -> str:
    """The same answer in pieces, as such servers stream it."""
    choice: Json = completion["choices"][0]
    message: Json = choice["message"]
    calls: list[Json] = message.get("tool_calls") or []
    deltas: list[Json] = [{"role": "assistant", "content": None if calls else ""}]
    for at, call in enumerate(calls):
        named: Json = {**call, "function": {**call["function"], "arguments": ""}}
        deltas.append({"tool_calls": [{"index": at, **named}]})
        for piece in _cut(call["function"]["arguments"]):
            deltas.append({"tool_calls": [{"index": at, "function": {"arguments": piece}}]})
    deltas += [{"content": piece} for piece in _cut(message["content"] or "")]
    head: Json = {name: completion[name] for name in ("id", "created", "model")}
    head["object"] = "chat.completion.chunk"
    chunks: list[Json] = [
        {**head, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]}
        for delta in deltas
    ]
    end: Json = {"index": 0, "delta": {}, "finish_reason": choice["finish_reason"]}
    chunks.append({**head, "choices": [end]})
    if "usage" in completion:
        chunks.append({**head, "choices": [], "usage": completion["usage"]})
    lines = [f"data: {json.dumps(chunk)}\n\n" for chunk in chunks]
    return "".join([*lines, "data: [DONE]\n\n"])


def _cut(text: str) -> list[str]:
    return [text[at : at + 7] for at in range(0, len(text), 7)]


@asynccontextmanager
async def openai_server(
    replies: Iterable[Reply],
    *,
    usage: bool = True,
    streams: bool = True,
    listing: Mapping[str, Answer] | None = None,
) -> AsyncGenerator[OpenAIServer]:
    """Listen on a free loopback port for the duration of the block."""
    state = OpenAIServer(list(replies), usage, streams, listing=dict(listing or {}))
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
