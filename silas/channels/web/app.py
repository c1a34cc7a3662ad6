"""The cockpit's application: the page's files, pairing, the live connection, health (8.1)."""

from base64 import b64encode
from collections.abc import Awaitable, Callable, Iterable, MutableMapping
from hashlib import sha256
from html import escape
from typing import Annotated, Any, Literal, Protocol

from fastapi import APIRouter, FastAPI, Query, Request
from fastapi.responses import JSONResponse
from pydantic import Field
from starlette.responses import RedirectResponse, Response
from starlette.websockets import WebSocket

from silas.channels.web.answers import AnsweringRoute, answer_everywhere
from silas.channels.web.channel import WebChannel
from silas.channels.web.events import Kept
from silas.channels.web.forgotten_content import ForgottenContent
from silas.channels.web.pairing import PairedBrowser, set_cookie
from silas.channels.web.socket import Sockets
from silas.channels.web.static import StaticDirectory
from silas.context.conversation_store import FIRST
from silas.language import tr
from silas.types import Base64Bytes, FrozenModel

_STARTING = b'{"code":"E_CHANNEL_STARTING","message":"Silas is starting; try again in a moment."}'
_AGAIN = "setTimeout(() => location.reload(), 1000)"
"""A refresh in the page's head would only go to the place behind `#`."""
_AGAIN_HASH = b64encode(sha256(_AGAIN.encode()).digest())
_STARTING_PAGE = """<!doctype html>
<html>
<head>
<meta charset="utf-8">
<title>Silas</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<script>{again}</script>
</head>
<body>
<p>{words}</p>
</body>
</html>
"""
_OPEN_WHILE_STARTING = frozenset({"/health", "/healthz", "/readyz"})

ASGI = Callable[[MutableMapping[str, Any], Any, Any], Awaitable[None]]


class PairingPort(Protocol):
    """What pairing needs of the door."""

    @property
    def cookie_name(self) -> str:
        """Under which name a browser keeps its session."""
        ...

    async def pair(
        self,
        token: str,
        name: str,
        public_key: bytes | None,
        signature: bytes | None,
        auth_token: str,
    ) -> PairedBrowser:
        """Begin a session. Raises `ChannelError` where the link does not count."""
        ...


class PairRequest(FrozenModel):
    """What a browser sends to be paired; without a key it is known, but never the owner."""

    token: str = Field(max_length=256)
    name: str = Field(min_length=1, max_length=100)
    public_key: Base64Bytes | None = None
    signature: Base64Bytes | None = None
    auth_token: str = Field(default="", max_length=256)
    """What the configuration wants besides the link, from another machine."""


class PairAnswer(FrozenModel):
    """What a page keeps: the token that opens everything with data."""

    page_token: str
    level: Literal["owner", "auth"]
    device: str


class TranscriptPart(FrozenModel):
    """Older parts of the conversation, oldest first."""

    transcript: tuple[Kept, ...]
    complete: bool


class PressureSource(Protocol):
    """How much waits (18.6)."""

    def __call__(self) -> int:
        """Turns that wait."""
        ...


def create_app(
    door: PairingPort,
    channel: WebChannel,
    files: StaticDirectory,
    rooms: APIRouter,
    pressure: PressureSource,
    withholding: ForgottenContent,
) -> FastAPI:
    """The application inside the guard: everything but the live connections.

    Args:
        door: Pairs browsers.
        channel: The conversation.
        files: The page.
        rooms: Every other endpoint; see `silas.channels.web.routes`.
        pressure: How many turns wait.
        withholding: Keeps back what was forgotten.
    """
    app = FastAPI(
        title="Silas", docs_url=None, redoc_url=None, openapi_url=None, redirect_slashes=False
    )
    answer_everywhere(app)
    for part in (rooms, _conversation(channel, withholding), _pairing(door)):
        app.router.routes.extend(part.routes)
    _health(app, channel, pressure)
    _page(app, files)

    @app.get("/openapi.json", include_in_schema=False)
    async def document() -> JSONResponse:
        return JSONResponse(app.openapi())

    return app


def _conversation(channel: WebChannel, withholding: ForgottenContent) -> APIRouter:
    router = APIRouter(route_class=AnsweringRoute)

    @router.get("/transcript", summary="Older parts of the conversation")
    async def transcript(
        before: Annotated[int, Query(ge=1)],
        last: Annotated[int, Query(ge=1, le=200)] = 50,
        conversation: Annotated[str, Query(max_length=128)] = FIRST,
    ) -> TranscriptPart:
        await withholding.look()
        where = channel.places.conversations.one(conversation).id
        part = channel.transcript.before(before, last, where)
        return TranscriptPart(transcript=part.kept, complete=part.complete)

    return router


def _pairing(door: PairingPort) -> APIRouter:
    router = APIRouter(route_class=AnsweringRoute)

    @router.post("/pair", summary="Pair this browser, with a link that works once")
    async def pair(wanted: PairRequest, request: Request) -> Response:
        paired = await door.pair(
            wanted.token, wanted.name, wanted.public_key, wanted.signature, wanted.auth_token
        )
        session = paired.session
        answer = PairAnswer(
            page_token=paired.page_token, level=session.level, device=session.device
        )
        secure = request.headers.get("origin", "").startswith("https:")
        return Response(
            answer.model_dump_json(),
            media_type="application/json",
            headers={"Set-Cookie": set_cookie(door.cookie_name, paired.cookie, secure=secure)},
        )

    return router


def _health(app: FastAPI, channel: WebChannel, pressure: PressureSource) -> None:
    @app.get("/health", summary="Whether Silas is well, and how much waits")
    async def health() -> JSONResponse:
        return JSONResponse(
            {"status": "ok", "connections": len(channel.pages), "queue": pressure()}
        )

    @app.get("/healthz", summary="Whether the process answers")
    async def alive() -> JSONResponse:
        return JSONResponse({"status": "ok"})

    @app.get("/readyz", summary="Whether Silas takes requests")
    async def ready() -> JSONResponse:
        return JSONResponse({"status": "ready"})


def _page(app: FastAPI, files: StaticDirectory) -> None:
    def serve(path: str, name: str) -> None:
        @app.get(path, include_in_schema=False)
        async def one(request: Request) -> Response:
            return files.answer(name, request)

    serve("/", "index.html")
    serve("/pair", "pair.html")
    serve("/manifest.json", "manifest.json")
    serve("/sw.js", "sw.js")

    @app.get("/static/{name:path}", include_in_schema=False)
    async def static(name: str, request: Request) -> Response:
        return files.answer(name, request)

    @app.get("/favicon.ico", include_in_schema=False)
    async def icon() -> Response:
        return RedirectResponse("/static/icon.svg", 308)


class SocketSplit:
    """Live connections go straight to the sockets, requests to the application.

    What a framework puts around a route would be around each frame of a thousand pages, too.
    """

    def __init__(self, app: ASGI, sockets: Sockets) -> None:
        self._app = app
        self._sockets = sockets

    async def __call__(self, scope: MutableMapping[str, Any], receive: Any, send: Any) -> None:
        """One request or connection; the guard has seen to it that its path is the right one."""
        if scope["type"] == "websocket":
            await self._sockets.serve(WebSocket(scope, receive, send))
        else:
            await self._app(scope, receive, send)


class GuardedApp(Protocol):
    """The application behind its guard."""

    async def __call__(self, scope: MutableMapping[str, Any], receive: Any, send: Any) -> None:
        """One request or connection."""
        ...

    def knows(self, head: bytes) -> bool:
        """Whether the head of a request carries a paired browser's session."""
        ...


class StartingApp:
    """Answers from the first moment: that Silas is starting, and then what Silas says (A25)."""

    def __init__(self) -> None:
        self._app: GuardedApp | None = None

    def open(self, app: GuardedApp) -> None:
        """From now on the application answers."""
        self._app = app

    def close(self) -> None:
        """Silas ends; nothing is answered any more but that."""
        self._app = None

    def knows(self, head: bytes) -> bool:
        """What the application says; nobody is known before it answers."""
        return self._app is not None and self._app.knows(head)

    async def __call__(self, scope: MutableMapping[str, Any], receive: Any, send: Any) -> None:
        """One request or connection."""
        if self._app is not None:
            await self._app(scope, receive, send)
        elif scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": 1013})
        elif scope["type"] == "http":
            shown = scope["method"] == "GET" and _wants_page(scope["headers"])
            if shown and scope["path"] not in _OPEN_WHILE_STARTING:
                await _starting_page(send)
            else:
                await _starting(scope["path"], send)


def _wants_page(headers: Iterable[tuple[bytes, bytes]]) -> bool:
    """Whether somebody looks at the answer: only a tab asks for HTML by name."""
    return any(name == b"accept" and b"text/html" in value for name, value in headers)


async def _starting_page(send: Any) -> None:
    """A page that loads again what its tab asks for, until Silas answers."""
    words = tr("Silas is starting. This page opens by itself in a moment.")
    body = _STARTING_PAGE.format(words=escape(words), again=_AGAIN).encode()
    headers = [
        (b"content-type", b"text/html; charset=utf-8"),
        (
            b"content-security-policy",
            b"default-src 'none'; frame-ancestors 'none'; script-src 'sha256-%b'" % _AGAIN_HASH,
        ),
        (b"x-content-type-options", b"nosniff"),
        (b"cache-control", b"no-store"),
        (b"retry-after", b"1"),
    ]
    await send({"type": "http.response.start", "status": 503, "headers": headers})
    await send({"type": "http.response.body", "body": body})


async def _starting(path: str, send: Any) -> None:
    known = path in _OPEN_WHILE_STARTING and path != "/readyz"
    body = b'{"status":"starting","connections":0}' if known else _STARTING
    headers = [(b"content-type", b"application/json"), (b"cache-control", b"no-store")]
    if not known:
        headers.append((b"retry-after", b"1"))
    status = 200 if known else 503
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
