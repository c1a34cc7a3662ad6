"""The door of the cockpit: one ASGI middleware that everything passes (decision B6).

Loopback is no boundary: any page in the owner's browser and any user of this machine can send
requests here. What it does not protect against: a program that runs as the owner and reads what the
browser keeps, and a browser that runs somebody else's code inside our page.
"""

import json
import re
from collections.abc import Mapping
from typing import Any, NamedTuple

from silas.channels.web.asgi import App, Message, Receive, Scope, Send, wait_within
from silas.channels.web.connections import CONNECTION, ClientConnection
from silas.channels.web.handshake import NOT_PAIRED, Handshake
from silas.channels.web.headers import harden_headers
from silas.channels.web.hosts import WebHosts
from silas.channels.web.limits import WebLimits, address_of
from silas.channels.web.pairing import WebDoor
from silas.channels.web.paths import PAIR, SOCKET, Credential, PathRule, is_odd, rule_for
from silas.channels.web.refusal import HttpRefusal
from silas.channels.web.request_body import (
    BODY_SECONDS,
    as_it_comes,
    read_whole,
    replay_body,
)
from silas.channels.web.session import WebSession
from silas.channels.web.unpaired_page import unpaired_page
from silas.language import speaking_as_asked, tr, tr_later

MOST_HEADERS, MOST_HEADER_BYTES, MOST_QUERY_BYTES = 64, 16 * 1024, 2048
"""Of one request: browsers send about twenty headers and two kilobytes."""

_ONCE = frozenset(
    {
        "content-length",
        "content-type",
        "host",
        "origin",
        "sec-fetch-dest",
        "sec-fetch-mode",
        "sec-fetch-site",
        "transfer-encoding",
        "x-silas-page",
    }
)
"""Headers that mean two things where they come twice."""

_COOKIES = re.compile(rb"^cookie:([^\r\n]*)", re.IGNORECASE | re.MULTILINE)
_MOST_COOKIES = 8  # of our name: other ports may set some, and hide ours behind theirs


class GuardedRequest(NamedTuple):
    """A request, as far as the door looks at it.

    Attributes:
        socket: Whether it wants a WebSocket.
        method: `GET` for a WebSocket.
        path: As the routes will read it.
        raw: As it came.
        headers: By lower-case name; of several of one name the last.
        twice: The names of `_ONCE` that came more than once.
        size: How many headers, and how many bytes of them.
        query: Bytes of the query.
        address: For limits.
    """

    socket: bool
    method: str
    path: str
    raw: bytes
    headers: Mapping[str, str]
    twice: frozenset[str]
    size: tuple[int, int]
    query: int
    address: str

    @property
    def host(self) -> str:
        """The `Host` header; empty where there is none."""
        return self.headers.get("host", "")

    @property
    def looks(self) -> bool:
        """Whether it changes nothing."""
        return self.method in ("GET", "HEAD") and not self.socket

    @property
    def opens_a_page(self) -> bool:
        """Whether somebody follows a link or types an address, in a window of its own."""
        mode, dest = self.headers.get("sec-fetch-mode"), self.headers.get("sec-fetch-dest")
        return self.looks and mode == "navigate" and dest == "document"


class RequestGuard:
    """Lets through what the table of paths allows, and makes every answer strict.

    The session of a request is in `scope["state"]["session"]`; None where none was needed.

    Args:
        app: What is guarded.
        door: Who knows sessions.
        hosts: Under which addresses we are.
        limits: How much may come in.
    """

    def __init__(self, app: App, door: WebDoor, hosts: WebHosts, limits: WebLimits) -> None:
        self._app = app
        self._door = door
        self._hosts = hosts
        self._limits = limits

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One connection or request."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
        elif scope["type"] == "http":
            await self._request(scope, receive, send)
        elif scope["type"] == "websocket":
            await self._socket(scope, receive, send)

    def knows(self, head: bytes) -> bool:
        """Whether the head of a request carries a session's cookie; looks at nothing else."""
        cookies = b";".join(_COOKIES.findall(head)).decode("latin-1")
        values = _cookies(cookies, self._door.cookie_name)
        return any(self._door.session(value) is not None for value in values)

    async def _request(self, scope: Scope, receive: Receive, send: Send) -> None:
        asked = _parse_request(scope)
        rule = None if scope.get("root_path") else rule_for(asked.method, asked.path)
        no = self._form(asked) or self._check_origin(asked, rule)
        session = None if no else self._session(asked, scope)
        no = no or self._check_rate(asked, session)
        if rule is None or no is not None:
            await self._refuse(asked, no or _METHOD, send, session)
            return
        no = self._check_session(asked, rule, session) or self._how_often(asked, session)
        if no is not None:
            await self._refuse(asked, no, send, session)
            return
        body = await self._body(asked, rule, receive)
        if isinstance(body, HttpRefusal):
            await self._refuse(asked, body, send, session)
            return
        await self._app(
            _add_session(scope, session if rule.need is not Credential.nothing else None),
            body,
            _strict(send, asked.host, data=rule.need is Credential.page or not asked.looks),
        )

    async def _socket(self, scope: Scope, receive: Receive, send: Send) -> None:
        asked = _parse_request(scope)
        no = self._form(asked) or self._check_origin(asked, None)
        if no is None and (asked.path != SOCKET or scope.get("root_path")):
            no = _PATH
        session = None if no else self._session(asked, scope)
        no = no or self._check_rate(asked, session)
        if session is None or no is not None:
            await self._note(asked, no or _SESSION)
            await receive()  # the wish to connect
            await send({"type": "websocket.close", "code": NOT_PAIRED})
            return
        wrapped = Handshake(session, self._door, self._limits, asked.address, receive, send)
        await self._app(_add_session(scope, session), wrapped.receive, wrapped.send)

    def _form(self, asked: GuardedRequest) -> HttpRefusal | None:
        count, length = asked.size
        if count > MOST_HEADERS or length > MOST_HEADER_BYTES or asked.query > MOST_QUERY_BYTES:
            return _HEADERS
        if asked.twice:
            return _TWICE
        return _PATH if is_odd(asked.path, asked.raw) else None

    def _check_origin(self, asked: GuardedRequest, rule: PathRule | None) -> HttpRefusal | None:
        """Under which name we were found, and which page sends this."""
        if not self._hosts.knows(asked.host):
            return _HOST
        origin = asked.headers.get("origin")
        if origin is None:
            if not asked.looks:
                return _ORIGIN
        elif not self._hosts.same(origin, asked.host):
            return _ORIGIN
        site = asked.headers.get("sec-fetch-site", "same-origin")
        if site == "same-origin" or (site == "none" and asked.looks):
            return None
        page = rule is not None and rule.need is not Credential.page
        return None if page and asked.opens_a_page else _ORIGIN

    def _check_rate(self, asked: GuardedRequest, session: WebSession | None) -> HttpRefusal | None:
        over = (
            self._limits.request(asked.address)
            if session is None
            else self._limits.session_request(session.id)
        )
        if not over and asked.path == PAIR and not asked.looks:
            over = self._limits.pairing(asked.address)
        return _limit_refusal(over) if over else None

    def _how_often(self, asked: GuardedRequest, session: WebSession | None) -> HttpRefusal | None:
        if asked.looks or session is None:
            return None
        over = self._limits.message(session.id, asked.address)
        return _limit_refusal(over) if over else None

    def _session(self, asked: GuardedRequest, scope: Scope) -> WebSession | None:
        """Whose cookie came; then its connection has one of the places for paired browsers."""
        values = _cookies(asked.headers.get("cookie", ""), self._door.cookie_name)
        found = (self._door.session(value) for value in values)
        session = next((session for session in found if session is not None), None)
        connection = scope.get("state", {}).get(CONNECTION)
        if session is not None and isinstance(connection, ClientConnection):
            connection.recognise()
        return session

    def _check_session(
        self, asked: GuardedRequest, rule: PathRule, session: WebSession | None
    ) -> HttpRefusal | None:
        if rule.need is Credential.nothing:
            return None
        if session is None:
            return _SESSION
        if rule.need is Credential.session:
            return None
        token = asked.headers.get("x-silas-page", "")
        return None if self._door.page_ok(session, token) else _PAGE

    async def _body(
        self, asked: GuardedRequest, rule: PathRule, receive: Receive
    ) -> Receive | HttpRefusal:
        """What the routes read, or why not; never reads on when it is too much."""
        said = asked.headers.get("content-length", "0")
        if not (said.isascii() and said.isdecimal()) or len(said) > 15 or int(said) > rule.most:
            return _BODY
        if asked.headers.get("content-encoding", "identity") != "identity":
            return _TYPE
        kind = asked.headers.get("content-type", "").partition(";")[0].strip().lower()
        if rule.streams:
            as_comes = as_it_comes(receive, rule.most, self._door.clock)
            return as_comes if kind == _BYTES else _TYPE
        body = await wait_within(self._door.clock, BODY_SECONDS, read_whole(receive, rule.most))
        if body is None:
            return _SLOW
        if isinstance(body, HttpRefusal):
            return body
        if len(body) > rule.most:
            return _BODY
        return _TYPE if body and kind != "application/json" else replay_body(body, receive)

    async def _refuse(
        self, asked: GuardedRequest, no: HttpRefusal, send: Send, session: WebSession | None
    ) -> None:
        await self._note(asked, no)
        known = self._hosts.knows(asked.host)
        rule = rule_for(asked.method, asked.path)
        page = no is _SESSION and rule is not None and rule.need is Credential.session
        kind = b"text/html; charset=utf-8" if page else b"application/json"
        with speaking_as_asked("" if session else asked.headers.get("accept-language", "")):
            words = {"code": no.code, "message": tr(no.message)}
            body = _closed_page(asked) if page else json.dumps(words).encode()
        headers = [(b"content-type", kind), (b"content-length", str(len(body)).encode())]
        if no.status == _TOO_MANY:
            headers.append((b"retry-after", b"60"))
        if not asked.looks or no.status == _TOO_MANY:
            headers.append((b"connection", b"close"))  # whatever is still to come
        headers = harden_headers(headers, asked.host if known else "", data=True)
        await send({"type": "http.response.start", "status": no.status, "headers": headers})
        body = b"" if asked.method == "HEAD" else body
        await send({"type": "http.response.body", "body": body})

    async def _note(self, asked: GuardedRequest, no: HttpRefusal) -> None:
        if no.reason:
            event = "web.limited" if no.status == _TOO_MANY else "web.refused"
            await self._door.refusals.note(event, no.reason, asked.address)


_TOO_MANY = 429


def _no(status: int, kind: str, message: str, reason: str) -> HttpRefusal:
    return HttpRefusal(status, f"E_CHANNEL_{kind}", message, reason)


_HOST = _no(
    421,
    "HOST",
    tr_later(
        "Silas is not known under this name; use the address of the pairing link, or add the name "
        "to channels.web.allowed_hosts."
    ),
    "a host that is not ours",
)
_ORIGIN = _no(
    403, "ORIGIN", tr_later("Only Silas's own page may do this."), "another page's origin"
)
_METHOD = _no(405, "METHOD", tr_later("This method is not spoken here."), "an unknown method")
_PATH = _no(400, "PATH", tr_later("There is no such path."), "a path that can be read in two ways")
_TWICE = _no(400, "HEADERS", tr_later("A header came twice."), "a header that came twice")
_HEADERS = _no(431, "HEADERS", tr_later("The headers are too long."), "headers that are too long")
_SESSION = _no(
    401,
    "SESSION",
    tr_later(
        "This browser is not paired; open the link of `silas start`, or a fresh one from “Devices” "
        "under “More” on a paired browser."
    ),
    "no session",
)
_PAGE = _no(
    401,
    "PAGE",
    tr_later(
        "This page is not paired; open the link of `silas start`, or a fresh one from “Devices” "
        "under “More” on a paired browser."
    ),
    "a cookie without its page token",
)
_BODY = _no(413, "BODY", tr_later("That is too long."), "a body that is too long")
_SLOW = _no(
    408,
    "SLOW",
    tr_later("That took too long to arrive; try again."),
    "a body that came too slowly",
)
_TYPE = _no(
    415,
    "TYPE",
    tr_later("Only plain application/json is read here, and application/octet-stream as a file."),
    "a body that is no JSON",
)
_BYTES = "application/octet-stream"


def _closed_page(asked: GuardedRequest) -> bytes:
    # A browser keeps our cookie back where a link elsewhere leads here, and not where we lead here.
    away = asked.opens_a_page and asked.headers.get("sec-fetch-site") in ("cross-site", "same-site")
    return unpaired_page(again=away)


def _limit_refusal(what: str) -> HttpRefusal:
    words = tr_later("That was too much in one minute; wait a moment and try again.")
    return _no(_TOO_MANY, "LIMIT", words, what)


def _parse_request(scope: Scope) -> GuardedRequest:
    pairs = [(n.decode("latin-1").lower(), v.decode("latin-1")) for n, v in scope["headers"]]
    names = [name for name, _ in pairs]
    headers = dict(pairs)
    headers["cookie"] = "; ".join(value for name, value in pairs if name == "cookie")
    path = str(scope["path"])
    return GuardedRequest(
        socket=scope["type"] == "websocket",
        method=str(scope.get("method", "GET")).upper(),
        path=path,
        raw=scope.get("raw_path") or path.encode("utf-8", "surrogatepass"),
        headers=headers,
        twice=frozenset(name for name in _ONCE if names.count(name) > 1),
        size=(len(pairs), sum(len(name) + len(value) for name, value in pairs)),
        query=len(scope.get("query_string", b"")),
        address=address_of(scope.get("client")),
    )


def _cookies(header: str, ours: str) -> list[str]:
    """Every value that came under our name, in the order in which they came."""
    found = (pair.partition("=") for pair in header.split(";"))
    return [value.strip() for name, _, value in found if name.strip() == ours][:_MOST_COOKIES]


def _add_session(scope: Scope, session: WebSession | None) -> Scope:
    state: dict[str, Any] = {**scope.get("state", {}), "session": session}
    return {**scope, "state": state}


def _strict(send: Send, host: str, *, data: bool) -> Send:
    async def send_hardened(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = harden_headers(message.get("headers", ()), host, data=data)
            message = {**message, "headers": headers}
        await send(message)

    return send_hardened
