"""Pairing links and sessions in the database; of every token only its hash (decision B6)."""

from collections.abc import Generator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from typing import Literal, LiteralString, NamedTuple

from silas.canonical import sha256_hex
from silas.clock import Clock, is_moment
from silas.db import Database
from silas.types import new_id, new_nonce

LINK_LIFE = timedelta(minutes=10)
"""How long a pairing link works: the way from a terminal to a browser or a phone."""

SESSION_LIFE = timedelta(days=90)
"""How long a paired browser stays paired; then it needs a fresh link."""

SESSION_IDLE = timedelta(days=30)
"""How long a browser that is not used stays paired: one that was given away does not for ever."""

_TOUCH = timedelta(hours=1)  # how exact `seen_at` is, so that a request seldom writes
_LONGEST = 256  # characters of any token that is looked at; ours have 64

_ADD_LINK = "INSERT INTO pairing_links (token_hash, expires_at) VALUES (:token_hash, :expires_at)"
_LINK = "SELECT expires_at, used_at, used_by FROM pairing_links WHERE token_hash = :token_hash"
_USE_LINK = """
UPDATE pairing_links SET used_at = :used_at, used_by = :used_by
WHERE token_hash = :token_hash AND used_at IS NULL AND expires_at > :used_at
  AND expires_at <= :upto
"""
_FORGET_LINKS = "DELETE FROM pairing_links WHERE expires_at <= :upto"
_FORGET_SESSIONS = "DELETE FROM web_sessions WHERE began_at <= :upto"
_OPEN = """
INSERT INTO web_sessions (id, device_id, cookie_hash, page_hash, began_at, seen_at)
VALUES (:id, :device_id, :cookie_hash, :page_hash, :now, :now)
"""
_ROW = "SELECT id, device_id, page_hash, seen_at FROM web_sessions WHERE ended_at IS NULL"
_STILL = """
AND began_at > :began_after AND began_at <= :upto AND seen_at > :seen_after AND seen_at <= :upto
"""
_BY_COOKIE = f"{_ROW} AND cookie_hash = :key {_STILL}"
_BY_ID = f"{_ROW} AND id = :key {_STILL}"
_STANDING = f"{_ROW} {_STILL}"
_SEEN = "UPDATE web_sessions SET seen_at = :seen_at WHERE id = :id"
_OF_DEVICE = "SELECT id FROM web_sessions WHERE device_id = :device_id AND ended_at IS NULL"
_END = """
UPDATE web_sessions SET ended_at = :ended_at WHERE device_id = :device_id AND ended_at IS NULL
"""
_LAST_SEEN = "SELECT max(seen_at) FROM web_sessions WHERE device_id = :device_id"


class NewSession(NamedTuple):
    """A session that has just begun, with its two secrets, which are kept nowhere here."""

    id: str
    cookie: str
    page_token: str


class SessionRow(NamedTuple):
    """A session that has not ended."""

    id: str
    device_id: str
    page_hash: str


class LinkState(NamedTuple):
    """What a pairing token is good for, and which device used it where one did."""

    state: Literal["good", "used", "expired", "unknown"]
    used_by: str = ""


class WebSessions:
    """The tables behind the door. Statements are tiny and run inline (decision A23)."""

    def __init__(self, db: Database, clock: Clock) -> None:
        self._db = db
        self._clock = clock

    @contextmanager
    def atomic(self) -> Generator[None]:
        """All or nothing of what is written inside; never await inside."""
        with self._db.write(durable=True):
            yield

    def add_link(self) -> str:
        """A fresh pairing token of 256 bits; forgets what has long ended."""
        token, now = new_nonce(), self._clock.now()
        with self._db.write() as tx:
            tx.run(_FORGET_LINKS, upto=_stamp(now - SESSION_LIFE))
            tx.run(_FORGET_SESSIONS, upto=_stamp(now - SESSION_LIFE))
            tx.run(_ADD_LINK, token_hash=token_hash(token), expires_at=_stamp(now + LINK_LIFE))
        return token

    def link(self, token: str) -> LinkState:
        """What this token is good for now."""
        with self._db.read() as tx:
            row = tx.run(_LINK, token_hash=token_hash(token)).fetchone()
        if row is None:
            return LinkState("unknown")
        expires_at, used_at, used_by = row
        if used_at is not None:
            return LinkState("used", str(used_by))
        now = self._clock.now()
        good = is_moment(expires_at) and _stamp(now) < expires_at <= _stamp(now + LINK_LIFE)
        return LinkState("good" if good else "expired")

    def use_link(self, token: str, device_id: str) -> bool:
        """Use the token up; of two at the same moment one succeeds."""
        now = self._clock.now()
        with self._db.write() as tx:
            return (
                tx.run(
                    _USE_LINK,
                    used_at=_stamp(now),
                    upto=_stamp(now + LINK_LIFE),
                    used_by=device_id,
                    token_hash=token_hash(token),
                ).rowcount
                == 1
            )

    def open(self, device_id: str) -> NewSession:
        """A new session; nothing that a browser brought along is part of it."""
        opened, now = (
            NewSession(new_id("session"), new_nonce(), new_nonce()),
            _stamp(self._clock.now()),
        )
        with self._db.write() as tx:
            tx.run(
                _OPEN,
                id=opened.id,
                device_id=device_id,
                cookie_hash=token_hash(opened.cookie),
                page_hash=token_hash(opened.page_token),
                now=now,
            )
        return opened

    def by_cookie(self, cookie: str) -> SessionRow | None:
        """The session of this cookie, unless it has ended; notes about hourly that it is used."""
        return self._find(_BY_COOKIE, token_hash(cookie))

    def by_id(self, session_id: str) -> SessionRow | None:
        """The session, unless it has ended; notes as `by_cookie` does that it is used."""
        return self._find(_BY_ID, session_id)

    def standing(self) -> list[SessionRow]:
        """Every session that has not ended."""
        with self._db.read() as tx:
            rows = tx.run(_STANDING, **self._bounds())
            return [SessionRow(str(row[0]), str(row[1]), str(row[2])) for row in rows]

    def end_of(self, device_id: str) -> tuple[str, ...]:
        """End every session of a device; their ids."""
        with self._db.write() as tx:
            ended = tuple(str(row[0]) for row in tx.run(_OF_DEVICE, device_id=device_id))
            tx.run(_END, ended_at=_stamp(self._clock.now()), device_id=device_id)
        return ended

    def seen_at(self, device_id: str) -> datetime | None:
        """When the device was last here, to the hour; None where it never was."""
        with self._db.read() as tx:
            (seen,) = tx.run(_LAST_SEEN, device_id=device_id).fetchone()
        return datetime.fromisoformat(seen) if is_moment(seen) else None

    def _find(self, statement: LiteralString, key: str) -> SessionRow | None:
        now = self._clock.now()
        with self._db.read() as tx:
            row = tx.run(statement, key=key, **self._bounds()).fetchone()
        if row is None:
            return None
        session_id, device_id, page_hash, seen_at = map(str, row)
        if seen_at <= _stamp(now - _TOUCH):
            with self._db.write() as tx:
                tx.run(_SEEN, seen_at=_stamp(now), id=session_id)
        return SessionRow(session_id, device_id, page_hash)

    def _bounds(self) -> dict[str, str]:
        """A session must have begun and been seen within these; a damaged moment is in none."""
        now = self._clock.now()
        return {
            "began_after": _stamp(now - SESSION_LIFE),
            "seen_after": _stamp(now - SESSION_IDLE),
            "upto": _stamp(now + SESSION_LIFE),
        }


def token_hash(token: str) -> str:
    """What is kept of a token: hex SHA-256."""
    # a slow hash would protect words that people choose; these have 256 random bits
    return sha256_hex(token[:_LONGEST].encode("utf-8", "surrogatepass"))


def _stamp(moment: datetime) -> str:
    """UTC text of one fixed width, so that text order is time order."""
    return moment.astimezone(UTC).isoformat(timespec="microseconds")
