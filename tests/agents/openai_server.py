"""A loopback OpenAI-compatible server that answers from a script and records what it was sent."""

import asyncio
import json
from collections.abc import AsyncGenerator, Callable, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

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
    base_url: str = ""
    bodies: list[Json] = field(default_factory=list[Json])
    headers: list[dict[str, str]] = field(default_factory=list[dict[str, str]])
    paths: list[str] = field(default_factory=list[str])
    gone: asyncio.Event = field(default_factory=asyncio.Event)

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
        body = await reader.readexactly(int(headers.get("content-length", "0")))
        self.paths.append(first.split(" ")[1])
        self.headers.append(headers)
        self.bodies.append(json.loads(body))
        turn = len(self.bodies) - 1
        reply: Reply = (
            self.replies[turn]
            if turn < len(self.replies)
            else Failure(418, f"the script has only {len(self.replies)} answers")
        )
        answer = reply if not callable(reply) else reply(self.bodies[-1])
        if isinstance(answer, Hang):
            await reader.read()  # ends when the client gives up
            self.gone.set()
            return False
        if isinstance(answer, Drop):
            return False
        status, sent, extra = _response(answer, self.bodies[-1], turn, self.usage)
        data = sent.encode()
        fields = {
            "content-type": "application/json",
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


@asynccontextmanager
async def openai_server(
    replies: Iterable[Reply], *, usage: bool = True
) -> AsyncGenerator[OpenAIServer]:
    """Listen on a free loopback port for the duration of the block."""
    state = OpenAIServer(list(replies), usage)
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
        await asyncio.wait_for(asyncio.gather(*tasks, return_exceptions=True), 5)
        await asyncio.wait_for(server.wait_closed(), 5)
