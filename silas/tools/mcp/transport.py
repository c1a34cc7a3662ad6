"""The protocol's messages over a program in the sandbox, or over HTTP; both bounded."""

import asyncio
import math
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit

import anyio
import httpx2
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.client.streamable_http import streamable_http_client
from mcp.shared._stream_protocols import ReadStream, WriteStream
from mcp.shared.message import SessionMessage
from mcp_types import jsonrpc_message_adapter

from silas.errors import SandboxError, SilasError
from silas.sandbox import Mount, RecordTraffic, SandboxFiles, SandboxLimits
from silas.sandbox.bubblewrap.resident import UNREAD_BYTES, Conversation, Residents
from silas.tools.mcp.settings import MCPEntry

_EMPTY = Path("/work")  # inside the sandbox, for a server without a `cwd`
_CPU_SECONDS = 86_400  # a program that stays may work for long; memory and processes are bounded
_CONNECT_SECONDS = 10.0
_READ_SECONDS = 3600.0  # each call has a time limit of its own
_END_SECONDS = 1.0  # for a program that closed its output to end as well

_Into = MemoryObjectSendStream[SessionMessage | Exception]


class PeerExit:
    """Whether the other side went away, and its last words; over HTTP nobody can know."""

    def __init__(self) -> None:
        self.came = asyncio.Event()
        self.words = ""

    def note_exit(self, words: str) -> None:
        """It went away."""
        self.words = words
        self.came.set()


class McpConnection(NamedTuple):
    """The streams of one connection, and its end."""

    read: ReadStream[SessionMessage | Exception]
    write: WriteStream[SessionMessage]
    ending: PeerExit


@asynccontextmanager
async def program(
    entry: MCPEntry, residents: Residents, record: RecordTraffic
) -> AsyncGenerator[McpConnection]:
    """A server in the sandbox: only what the owner named is there.

    Raises:
        SilasError: It could not be started.
    """
    argv = [entry.server.command or "", *entry.server.args]
    async with residents.resident(argv, _limits(entry), _files(entry, record)) as talk:
        into, read = anyio.create_memory_object_stream[SessionMessage | Exception](0)
        write, out = anyio.create_memory_object_stream[SessionMessage](0)
        async with anyio.create_task_group() as tasks, into, read, write, out:
            ending = PeerExit()
            tasks.start_soon(_hear, talk, into, ending)
            tasks.start_soon(_tell, talk, out)
            yield McpConnection(read, write, ending)
            tasks.cancel_scope.cancel()


def _limits(entry: MCPEntry) -> SandboxLimits:
    return SandboxLimits(
        memory_mb=entry.handling.memory_mb, cpu_seconds=_CPU_SECONDS, wall_seconds=math.inf
    )


def _files(entry: MCPEntry, record: RecordTraffic) -> SandboxFiles:
    handling = entry.handling
    shown = [Mount(source=path, target=path) for path in handling.read]
    shown += [Mount(source=path, target=path, writable=True) for path in handling.write]
    return SandboxFiles(
        cwd=entry.server.cwd or _EMPTY,
        mounts=tuple(shown),
        env={name: value.get_secret_value() for name, value in entry.server.env.items()},
        network=handling.hosts,
        record=record,
    )


async def _hear(talk: Conversation, into: _Into, ending: PeerExit) -> None:
    """What it says, line by line; a line that is no message is noted as such and passed over."""
    async with into:
        while (line := await talk.next_line()) is not None:
            try:
                message = jsonrpc_message_adapter.validate_json(line, by_name=False)
            except ValueError as error:
                await into.send(error)
                continue
            await into.send(SessionMessage(message))
        ending.note_exit(await _last_words(talk))


async def _last_words(talk: Conversation) -> str:
    """How a program ended that says no more: by itself, or at a limit."""
    try:
        async with asyncio.timeout(_END_SECONDS):
            result = await talk.wait_for_end()
    except TimeoutError:
        return "it says nothing any more"
    except SilasError as error:
        return error.message
    said = result.stderr.strip().rpartition("\n")[2]
    why = f"exit code {result.exit_code}" if result.ended_by == "exit" else result.ended_by
    return f"it ended: {why}{said and f', {said}'}"


async def _tell(talk: Conversation, out: MemoryObjectReceiveStream[SessionMessage]) -> None:
    async with out:
        async for sent in out:
            words = sent.message.model_dump_json(by_alias=True, exclude_unset=True)
            try:
                await talk.say(words.encode())
            except SandboxError:
                return  # its end is heard on the other side


def http_fault(error: httpx2.TransportError, url: str) -> str:
    """Why a server behind an address did not answer; of the address no user, path or query."""
    parts = urlsplit(url)
    address = f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}" if parts.netloc else "it"
    if isinstance(error, httpx2.ConnectError):
        return f"nobody answers at {address}"
    if isinstance(error, httpx2.TimeoutException):
        return f"{address} takes too long to answer"
    return f"the connection to {address} broke off"


class _Bounded(httpx2.AsyncByteStream):
    """The body of one answer, up to a ceiling."""

    def __init__(self, inner: Any) -> None:
        self._inner = inner

    async def __aiter__(self) -> AsyncIterator[bytes]:
        passed = 0
        async for chunk in self._inner:
            passed += len(chunk)
            if passed > UNREAD_BYTES:
                raise httpx2.ReadError("the answer is larger than Silas takes")
            yield chunk

    async def aclose(self) -> None:
        await self._inner.aclose()


class _Careful(httpx2.AsyncHTTPTransport):
    """No answer is larger than what a program in the sandbox may say.

    A stream of events goes on for long and is bounded event by event. A request that could not be
    made, or had no answer, is the end of the connection: the SDK would wait for its answer.
    """

    def __init__(self, ending: PeerExit) -> None:
        super().__init__()
        self._ending = ending

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        try:
            response = await super().handle_async_request(request)
        except httpx2.TransportError as error:
            if request.method == "POST":
                self._ending.note_exit(http_fault(error, str(request.url)))
            raise
        if not response.headers.get("content-type", "").startswith("text/event-stream"):
            response.stream = _Bounded(response.stream)
        return response


@asynccontextmanager
async def over_http(entry: MCPEntry) -> AsyncGenerator[McpConnection]:
    """A server behind an address: the owner's headers, no cookies or proxies from the environment.

    A redirect is followed only on the same origin.
    """
    headers = {name: value.get_secret_value() for name, value in entry.server.headers.items()}
    ending = PeerExit()
    async with (
        httpx2.AsyncClient(
            headers=headers,
            timeout=httpx2.Timeout(_CONNECT_SECONDS, read=_READ_SECONDS),
            transport=_Careful(ending),
            trust_env=False,
        ) as client,
        streamable_http_client(
            entry.server.url or "", http_client=client, max_sse_event_size=UNREAD_BYTES
        ) as (read, write),
    ):
        yield McpConnection(read, write, ending)
