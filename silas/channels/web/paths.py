"""Which path needs what: the one table. What it does not name needs everything (decision B6)."""

import re
from enum import StrEnum
from typing import NamedTuple

from silas.context.attachments import LARGEST


class Credential(StrEnum):
    """What a request must bring."""

    nothing = "nothing"
    """Anybody on this machine may have it."""
    session = "session"
    """A paired browser's cookie. Ports of one host share cookies, so this opens only pages."""
    page = "page"
    """The cookie, and the token that only the page itself knows."""


class PathRule(NamedTuple):
    """A row of the table.

    Attributes:
        methods: Every other method is refused.
        path: Of the whole path.
        need: What it takes.
        most: Bytes of the longest body.
        streams: Whether the body is bytes that are handed on as they come, instead of JSON that is
            read whole first.
    """

    methods: frozenset[str]
    path: re.Pattern[str]
    need: Credential
    most: int = 0
    streams: bool = False


_LOOK = frozenset({"GET", "HEAD"})
_SEND = frozenset({"POST"})
_KILOBYTE = 1024

_FILE = r"[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)*"
"""A name that leads nowhere else: no separator, no dot at its beginning, no two dots."""

_RULES = (
    PathRule(_LOOK, re.compile(r"/pair"), Credential.nothing),
    PathRule(_SEND, re.compile(r"/pair"), Credential.nothing, 4 * _KILOBYTE),
    PathRule(_LOOK, re.compile(r"/health|/healthz|/readyz"), Credential.nothing),
    # The page's own code and pictures: the same for everybody, and the pairing page needs them.
    PathRule(_LOOK, re.compile(rf"/static/{_FILE}(/{_FILE})?"), Credential.nothing),
    # Fetched without cookies, or before anybody is paired.
    PathRule(
        _LOOK, re.compile(r"/manifest\.json|/favicon\.ico|/offline\.html"), Credential.nothing
    ),
    PathRule(_LOOK, re.compile(r"/|/sw\.js|/docs"), Credential.session),
    # An attached file, which was announced with a proof.
    PathRule(
        _SEND, re.compile(r"/attachments/[^/]+/content"), Credential.page, LARGEST, streams=True
    ),
    # A draft, a secret, an answer with its proof; the longest message goes over the WebSocket.
    PathRule(_SEND, re.compile(r"/.*"), Credential.page, 256 * _KILOBYTE),
    PathRule(_LOOK, re.compile(r"/.*"), Credential.page),
)
"""The first row whose method and path fit counts."""

_ODD = re.compile(r"[\x00-\x20\x7f\\]|//|/\.{1,2}(/|$)")
"""What two readers of a path may read differently."""

_HIDDEN = re.compile(rb"%(2f|5c|00|25)", re.IGNORECASE)
"""A separator, a zero or a percent sign in disguise."""

SOCKET = "/ws"
"""The only path that speaks WebSocket."""

PAIR = "/pair"
"""Where a pairing link leads, and where it is redeemed."""


def rule_for(method: str, path: str) -> PathRule | None:
    """What this request needs; None where no path answers to the method."""
    return next((r for r in _RULES if method in r.methods and r.path.fullmatch(path)), None)


def is_odd(path: str, raw: bytes) -> bool:
    """Whether the path could be read in two ways, by a guard and by what it guards."""
    return not path.startswith("/") or bool(_ODD.search(path) or _HIDDEN.search(raw))
