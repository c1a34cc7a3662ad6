"""The live link to one MCP server: connect, compare with what was trusted, call, reconnect.

The protocol is the official SDK's. What a server asks of Silas (sampling, elicitation, roots) is
refused by that SDK, as no such capability is offered.
"""

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from importlib.metadata import version
from typing import Any, Protocol, cast

import httpx2
from mcp.client.session import ClientSession, MessageHandlerFnT
from mcp.shared.exceptions import MCPError
from mcp_types import (
    CONNECTION_CLOSED,
    INTERNAL_ERROR,
    INVALID_REQUEST,
    PARSE_ERROR,
    REQUEST_TIMEOUT,
    CallToolRequest,
    CallToolRequestParams,
    CallToolResult,
    Implementation,
    PaginatedRequestParams,
    ToolListChangedNotification,
)

from silas.clock import Clock
from silas.context import scrub
from silas.errors import SilasError, ToolError
from silas.tools.mcp.content import answer_of
from silas.tools.mcp.definitions import MOST_TOOLS, ListedTool, ServerTools, listing
from silas.tools.mcp.tool import McpAnswer, McpCallInterrupted, McpCallNotSent
from silas.tools.mcp.transport import McpConnection, PeerExit, http_fault

Connect = Callable[[], AbstractAsyncContextManager[McpConnection]]
"""Opens one connection; raises `SilasError` where there is none."""

HANDSHAKE_SECONDS = 20.0
"""For a server to start, introduce itself and list its tools."""

_PAGES = 20  # of a list of tools; a list that never ends is no list
_PAUSES = (1.0, 2.0, 5.0, 15.0, 60.0)  # seconds before each next try; the last one again and again
_NO_ANSWER = frozenset(
    {CONNECTION_CLOSED, REQUEST_TIMEOUT, INTERNAL_ERROR, PARSE_ERROR, INVALID_REQUEST}
)
"""Codes that say that something broke, here or there, and not that the call was turned down."""

_LASTED = 60.0  # seconds; a connection that held so long was none that fails again and again
_WORDS = 300  # characters of a reason
_WORDS_SECONDS = 1.0  # for the last words of a program that would not start


class Watcher(Protocol):
    """Who is told how it stands with a server."""

    async def up(self, now: ServerTools) -> bool:
        """It is there, with these tools; whether they are as they should be."""
        ...

    async def down(self, why: str) -> None:
        """It is not there."""
        ...


class ServerLink:
    """One server. `run` keeps it connected until it is cancelled; `call` uses what is there."""

    def __init__(self, name: str, connect: Connect, watcher: Watcher, clock: Clock) -> None:
        self._name = name
        self._connect = connect
        self._watcher = watcher
        self._clock = clock
        self._connected: list[ClientSession] = []
        self._trouble = asyncio.Event()
        self._changed = asyncio.Event()
        self._retry = asyncio.Event()
        self._ended = False
        self.tried = asyncio.Event()

    async def run(self) -> None:
        """Connect, again and again; each failure makes the next pause longer."""
        failures = 0
        while True:
            since = self._clock.monotonic()
            try:
                async with asyncio.timeout(None) as patience:
                    why = await self._connection(patience)
            except Exception as error:  # whatever a server does, the others go on
                why = _reason(error)
            if self._ended:  # it broke while it was taken down, which hid the cancellation
                return
            await self._watcher.down(why)
            self.tried.set()
            failures = 0 if self._clock.monotonic() - since > _LASTED else failures
            pause = _PAUSES[min(failures, len(_PAUSES) - 1)]
            failures += 1
            await self._wait_before_retry(pause)

    def end(self) -> None:
        """Never connect again; whoever says so cancels `run` next."""
        self._ended = True

    def retry(self) -> None:
        """Try now where it is not there, instead of at the end of the pause."""
        self.tried.clear()
        self._retry.set()

    async def _wait_before_retry(self, seconds: float) -> None:
        self._retry.clear()
        waits = [
            asyncio.ensure_future(self._clock.sleep(seconds)),
            asyncio.ensure_future(self._retry.wait()),
        ]
        try:
            await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for wait in waits:
                wait.cancel()

    async def _connection(self, patience: asyncio.Timeout) -> str:
        """One connection from start to end; why it ended."""
        loop = asyncio.get_running_loop()
        patience.reschedule(loop.time() + HANDSHAKE_SECONDS)
        async with session_over(self._connect, self._receive_message) as (session, ending):
            self._trouble.clear()
            self._changed.clear()
            as_trusted = await self._watcher.up(await list_tools(self._name, session))
            patience.reschedule(None)
            self._connected = [session]
            self.tried.set()
            try:
                return await self._watch_session(session, ending, as_trusted)
            finally:
                self._connected = []

    async def _watch_session(
        self, session: ClientSession, ending: PeerExit, as_trusted: bool
    ) -> str:
        """Wait for its end. What once differed stays so: no server goes to and fro unnoticed."""
        while True:
            events = [ending.came, self._trouble, *([self._changed] if as_trusted else [])]
            waits = [asyncio.ensure_future(event.wait()) for event in events]
            try:
                await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
            finally:
                for wait in waits:
                    wait.cancel()
            if ending.came.is_set():
                return ending.words
            if self._trouble.is_set():
                return "it did not answer a call"
            self._changed.clear()
            async with asyncio.timeout(HANDSHAKE_SECONDS):
                as_trusted = await self._watcher.up(await list_tools(self._name, session))

    async def _receive_message(self, message: object) -> None:
        if isinstance(message, ToolListChangedNotification):
            self._changed.set()

    async def call(self, tool: str, args: dict[str, Any], seconds: float) -> McpAnswer:
        """See `McpLink.call`."""
        if not self._connected:
            raise McpCallNotSent(f"The MCP server {self._name!r} is not connected.")
        request = CallToolRequest(params=CallToolRequestParams(name=tool, arguments=args))
        try:
            result = await self._connected[0].send_request(request, CallToolResult, seconds)
        except MCPError as error:
            if error.code not in _NO_ANSWER:
                return McpAnswer(False, f"The server refused the call: {error.message}")
            self._trouble.set()
            raise McpCallInterrupted(_reason(error)) from error
        except Exception as error:  # an answer that is none, a stream that broke
            self._trouble.set()
            raise McpCallInterrupted(_reason(error)) from error
        return answer_of(result)


@asynccontextmanager
async def session_over(
    connect: Connect, heard: MessageHandlerFnT
) -> "AsyncGenerator[tuple[ClientSession, PeerExit]]":
    """An introduced session, and what says when its server went away.

    Raises:
        ToolError: There is no server, or it does not speak the protocol.
    """
    async with connect() as (read, write, ending):
        known_as = Implementation(name="silas", version=version("silas"))
        session = ClientSession(read, write, message_handler=heard, client_info=known_as)
        async with session:
            try:
                await session.initialize()
            except MCPError as error:
                await asyncio.wait(
                    [asyncio.ensure_future(ending.came.wait())], timeout=_WORDS_SECONDS
                )
                raise unusable_server(ending.words or error.message) from error
            yield session, ending


def unusable_server(why: str) -> ToolError:
    """A server that cannot be used, and why."""
    return ToolError(scrub(why).replace("\n", " ")[:_WORDS], code="E_TOOL_MCP")


async def list_tools(server: str, session: ClientSession) -> ServerTools:
    """Everything it offers, page by page; too many pages, or tools, are cut."""
    offered: list[ListedTool] = []
    cursor: str | None = None
    for _ in range(_PAGES):
        page = await session.list_tools(params=PaginatedRequestParams(cursor=cursor))
        offered += [
            ListedTool(tool.name, tool.description or "", dict(tool.input_schema))
            for tool in page.tools
        ]
        cursor = page.next_cursor
        if not cursor or len(offered) > MOST_TOOLS:
            break
    return listing(server, offered)


def _reason(error: BaseException) -> str:
    """One sentence about a failure; groups of errors are what their first one is."""
    while isinstance(error, BaseExceptionGroup):
        error = cast(BaseExceptionGroup[BaseException], error).exceptions[0]
    if isinstance(error, TimeoutError):
        return "it took too long"
    if isinstance(error, SilasError | MCPError):
        return unusable_server(error.message).message
    if isinstance(error, httpx2.TransportError):
        return http_fault(error, _address_of(error))
    return "what it says is not of the protocol"


def _address_of(error: httpx2.TransportError) -> str:
    try:
        return str(error.request.url)
    except RuntimeError:  # it is about no request
        return ""


async def look_at(server: str, connect: Connect) -> ServerTools:
    """Connect once, list the tools, and leave.

    Raises:
        SilasError: It cannot be reached, or does not speak the protocol.
    """

    async def deaf(message: object) -> None:
        del message

    try:
        async with asyncio.timeout(HANDSHAKE_SECONDS):
            async with session_over(connect, deaf) as (session, _):
                return await list_tools(server, session)
    except Exception as error:  # whatever a server does is one sentence
        raise unusable_server(
            f"The MCP server {server!r} cannot be used: {_reason(error)}"
        ) from error
