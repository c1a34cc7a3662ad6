"""Who may come in, and what counts as the owner's: pairing, sessions, proofs (B6, B7)."""

import hmac
import re
import unicodedata
from collections.abc import Callable
from datetime import timedelta
from typing import NoReturn

from pydantic import AwareDatetime

from silas.approval.port import NonceStore
from silas.audit import Audit
from silas.audit.refusals import RefusalRecord
from silas.channels.web.devices import EnrolledDevice, EnrolledDevices, VerifyKey
from silas.channels.web.hosts import WebHosts
from silas.channels.web.paths import PAIR
from silas.channels.web.refusal import STALE
from silas.channels.web.session import Level, WebSession
from silas.channels.web.sessions import SESSION_LIFE, LinkState, WebSessions, token_hash
from silas.channels.web.wire import Proof
from silas.clock import Clock
from silas.errors import ApprovalError, ChannelError, Stopped
from silas.language import tr_later
from silas.types import FrozenModel

ENROL_DOMAIN = b"silas/enrol/v1\n"
"""Stands before a pairing token where a device signs it; nothing else that is signed begins so."""

FRESHNESS = timedelta(minutes=5)
"""How old or how far ahead a proof's timestamp may be, as for a signed message (spec 5.1)."""

_NO_LINK = tr_later(
    "This pairing link does not work (any more); “Devices” under “More” on a paired browser makes "
    "a fresh one, as does `silas devices link` in a terminal."
)
_NO_TOKEN = tr_later("Type the auth_token of Silas's configuration to pair from another machine.")
_BAD_KEY = tr_later("This device's key could not be checked; reload the page to make a new one.")
_LONGEST_NAME = 64
_LOOK_AGAIN = 1.0  # seconds
_NONCE = re.compile(r"[0-9a-f]{32,128}")  # 128 bits or more, as hex


class PairedBrowser(FrozenModel):
    """What a browser gets when it is let in, once: the two secrets are kept nowhere here.

    Attributes:
        session: Who it is from now on.
        cookie: The value of the session's cookie; `set_cookie` writes it.
        page_token: What the page keeps for itself.
    """

    session: WebSession
    cookie: str
    page_token: str


class DeviceFacts(FrozenModel):
    """A device, for people.

    Attributes:
        id: Names it.
        name: What it calls itself.
        level: `owner` where it has a key to sign with, else `auth`.
        public_key: 64 hex digits; empty where it has none.
        paired_at, seen_at: When it came in, and when it was last here, to the hour.
        revoked: Whether it counts for nothing any more.
    """

    id: str
    name: str
    level: Level
    public_key: str
    paired_at: AwareDatetime
    seen_at: AwareDatetime | None
    revoked: bool


class WebDoor:
    """Lets browsers in by link, knows them by cookie and page token, and checks what they sign.

    Everything is asked of the database each time, so that what another process revoked is
    revoked here at once.
    """

    def __init__(
        self,
        sessions: WebSessions,
        devices: EnrolledDevices,
        verify_key: VerifyKey,
        nonces: NonceStore,
        clock: Clock,
        audit: Audit,
        hosts: WebHosts,
    ) -> None:
        self._sessions = sessions
        self._devices = devices
        self._verify_key = verify_key
        self._nonces = nonces
        self._audit = audit
        self._hosts = hosts
        self._listeners: list[Callable[[str], None]] = []
        self._greeters: list[Callable[[WebSession], None]] = []
        self.clock = clock
        self.refusals = RefusalRecord(audit, clock)
        self._require_whole = audit.require_whole
        self._standing = frozenset[str]()
        self._looked = -_LOOK_AGAIN

    def hold_to(self, require_whole: Callable[[], None]) -> None:
        """From now on nobody is let in, and offered no link, while this raises `Stopped`."""
        self._require_whole = require_whole

    @property
    def base(self) -> str:
        """The address at which the configuration has the cockpit."""
        return self._hosts.base

    @property
    def cookie_name(self) -> str:
        """Under which name a browser keeps its session."""
        return self._hosts.cookie

    async def pair(
        self,
        token: str,
        name: str,
        public_key: bytes | None,
        signature: bytes | None,
        auth_token: str = "",
    ) -> PairedBrowser:
        """Let a browser in, and enrol its key. A refused try uses nothing up.

        Args:
            token: The pairing link's.
            name: What the device calls itself; control characters are dropped.
            public_key: 32 bytes; None for a browser that can make no key, which stays `auth`.
            signature: The key's over `ENROL_DOMAIN` and the token: whoever pairs holds the key.
            auth_token: What the configuration wants besides the link; empty on loopback.

        Raises:
            ChannelError: `E_CHANNEL_PAIRING_*`: the link is not good (any more), `auth_token` is
                missing or wrong, the key is unusable or revoked, or there are too many devices.
            Stopped: The link is good, and the record was changed outside Silas.
        """
        await self._require_auth_token(auth_token)
        await self._require_key(token, public_key, signature)
        link = self._sessions.link(token)
        try:
            if link.state == "good":
                await self._refuse_where_changed()
                return self._let_in(token, _plain(name), public_key)
        except ApprovalError as error:
            kind = "FULL" if error.code == "E_APPROVAL_DEVICES" else "KEY"
            await self._refuse(kind.lower(), _pairing(kind, error.message))
        except _Late:
            link = self._sessions.link(token)
        raise await self._bad_link(link)

    def session(self, cookie: str | None) -> WebSession | None:
        """Whose cookie this is; None where it is nobody's, or ended, or of a revoked device."""
        row = self._sessions.by_cookie(cookie) if cookie else None
        device = self._devices.get(row.device_id) if row else None
        if row is None or device is None or device.revoked_at is not None:
            return None
        return _session(row.id, device)

    def alive(self, session: WebSession) -> bool:
        """Whether a session that began before still stands."""
        device = self._devices.get(session.device_id)
        stands = device is not None and device.revoked_at is None
        return stands and self._sessions.by_id(session.id) is not None

    def standing(self, session: WebSession) -> bool:
        """As `alive`, by a look that may be a second old: for what goes out to many at once."""
        now = self.clock.monotonic()
        if now - self._looked >= _LOOK_AGAIN:
            self._looked, counts = now, {d.id for d in self._devices.list() if not d.revoked_at}
            rows = self._sessions.standing()
            self._standing = frozenset(row.id for row in rows if row.device_id in counts)
        return session.id in self._standing or self.alive(session)

    def page_ok(self, session: WebSession, token: str) -> bool:
        """Whether this is the session's page token; takes the same time for every wrong one."""
        row = self._sessions.by_id(session.id)
        return row is not None and hmac.compare_digest(row.page_hash, token_hash(token))

    async def prove(self, session: WebSession, data: bytes, proof: Proof) -> str:
        """Whether a proof counts as its owner's hand; then it is used up.

        1 the session stands and its device has a key; 2 the proof is fresh; 3 what was signed
        holds this proof's nonce and timestamp; 4 the signature is this device's over exactly
        `data`; 5 the nonce is new. Nothing is used up unless all of them hold.

        Args:
            session: Who asks. The key of another device of the owner's does not count here.
            data: `decision_bytes` or `command_bytes`, made from what is about to happen.
            proof: As it came.

        Returns:
            Nothing, or why it does not count.

        Raises:
            DatabaseError: The nonce could not be recorded; it does not count.
        """
        reason = self._why_unproven(session, data, proof)
        if not reason and not await self._nonces.remembers(proof.timestamp):
            reason = STALE
        if not reason:
            try:
                await self._nonces.record("proof", f"{session.device_id}:{proof.nonce}")
            except ApprovalError:
                reason = "it was used before"
        if reason:
            await self.refusals.note("proof.refused", reason, session.device)
        return reason

    async def link(self, base: str) -> str:
        """A fresh pairing link below this address; its token stays out of every request line.

        Raises:
            DatabaseError: It could not be recorded; there is no link.
            Stopped: The record was changed outside Silas.
        """
        self._require_whole()
        await self._audit.log("pairing.offered")
        return f"{base.rstrip('/')}{PAIR}#{self._sessions.add_link()}"

    def devices(self) -> list[DeviceFacts]:
        """Every device, the revoked ones too, in the order in which they were paired."""
        return [
            DeviceFacts(
                id=device.id,
                name=device.name,
                level=_level(device),
                public_key=device.public_key,
                paired_at=device.paired_at,
                seen_at=self._sessions.seen_at(device.id),
                revoked=device.revoked_at is not None,
            )
            for device in self._devices.list()
        ]

    async def rename(self, device_id: str, name: str) -> str:
        """Give a device another name, on record; returns it as it is kept.

        Raises:
            ChannelError: There is no such device, or nothing of the name can be seen.
            DatabaseError: It could not be recorded; nothing was changed.
        """
        plain = _visible(name)
        if not plain:
            raise ChannelError(
                tr_later("Give the device a name that can be seen."), code="E_CHANNEL_BAD_REQUEST"
            )
        with self._sessions.atomic():
            try:
                was = self._devices.rename(device_id, plain)
            except ApprovalError as error:
                raise ChannelError(error.message, code="E_CHANNEL_DEVICE") from error
            self._audit.log_now("device.renamed", was=was, device=plain, device_id=device_id)
        return plain

    async def revoke(self, device_id: str) -> None:
        """End a device's sessions; nothing that it signs counts any more. Twice is once.

        Raises:
            ChannelError: There is no such device.
            DatabaseError: It could not be recorded; nothing was changed.
        """
        with self._sessions.atomic():
            try:
                before = self._devices.get(device_id)
                device = self._devices.revoke(device_id)
            except ApprovalError as error:
                raise ChannelError(error.message, code="E_CHANNEL_DEVICE") from error
            ended = self._sessions.end_of(device_id)
            if before is not None and before.revoked_at is None:
                self._audit.log_now("device.revoked", device=device.name, device_id=device.id)
        self._tell(ended)

    def on_ended(self, tell: Callable[[str], None]) -> None:
        """Call this with the id of each session that is ended here, for sockets that are open."""
        self._listeners.append(tell)

    def on_paired(self, tell: Callable[[WebSession], None]) -> None:
        """Call this with each browser that comes in here, for the others to know."""
        self._greeters.append(tell)

    def _let_in(self, token: str, name: str, public_key: bytes | None) -> PairedBrowser:
        with self._sessions.atomic():
            device = self._devices.add(name, public_key)
            if not self._sessions.use_link(token, device.id):
                raise _Late
            ended = self._sessions.end_of(device.id)  # the same browser, paired anew
            opened = self._sessions.open(device.id)
            self._audit.log_now(
                "device.paired", device=name, device_id=device.id, level=_level(device)
            )
        self._tell(ended)
        session = _session(opened.id, device)
        for tell in self._greeters:
            tell(session)
        return PairedBrowser(session=session, cookie=opened.cookie, page_token=opened.page_token)

    async def _require_auth_token(self, given: str) -> None:
        wanted = self._hosts.auth_token
        if wanted and not hmac.compare_digest(token_hash(wanted), token_hash(given)):
            reason = "wrong auth_token" if given else "no auth_token"
            await self._refuse(reason, _pairing("AUTH", _NO_TOKEN))

    async def _require_key(self, token: str, key: bytes | None, signature: bytes | None) -> None:
        if key is None and signature is None:
            return
        signed = ENROL_DOMAIN + token.encode("utf-8", "surrogatepass")
        if key is None or signature is None or not self._verify_key(key.hex(), signed, signature):
            await self._refuse("key", _pairing("KEY", _BAD_KEY))

    async def _refuse_where_changed(self) -> None:
        try:
            self._require_whole()
        except Stopped:
            await self.refusals.note("pairing.refused", "changed record", "")
            raise

    async def _refuse(self, reason: str, error: ChannelError) -> NoReturn:
        await self.refusals.note("pairing.refused", reason, "")
        raise error

    async def _bad_link(self, link: LinkState) -> ChannelError:
        if link.state != "used":
            await self.refusals.note("pairing.refused", f"{link.state} link", "")
            return _pairing("LINK", _NO_LINK)
        name = device.name if (device := self._devices.get(link.used_by)) else "a device"
        await self.refusals.note("pairing.refused", "used link", "", device=name)
        return _pairing(
            "USED",
            f"This pairing link was used already, by {name}; “Devices” under “More” on a paired "
            "browser makes a fresh one, and ends that pairing if it was not you. In a terminal: "
            f"`silas devices link` and `silas devices revoke {link.used_by}`.",
        )

    def _why_unproven(self, session: WebSession, data: bytes, proof: Proof) -> str:
        if not self.alive(session):
            return "the session has ended"
        if session.level != "owner":
            return "this device has no key"
        if abs(self.clock.now() - proof.timestamp) > FRESHNESS:
            return STALE
        bound = (f'"nonce":"{proof.nonce}"', f'"timestamp":"{proof.timestamp.isoformat()}"')
        if not _NONCE.fullmatch(proof.nonce) or not all(b.encode() in data for b in bound):
            return "it is not about its own nonce"
        if not self._devices.signed_by(session.device_id, data, proof.signature):
            return "the signature is not this device's over this"
        return ""

    def _tell(self, ended: tuple[str, ...]) -> None:
        self._standing -= frozenset(ended)
        for session_id in ended:
            for tell in self._listeners:
                tell(session_id)


class _Late(Exception):
    """The link was used up between looking and using."""


def set_cookie(name: str, cookie: str, *, secure: bool) -> str:
    """The `Set-Cookie` header of a session that has just begun.

    Args:
        name: The door's `cookie_name`.
        cookie: `PairedBrowser.cookie`.
        secure: Whether the browser came over https; its `Origin` says so.
    """
    age = int(SESSION_LIFE.total_seconds())
    words = f"{name}={cookie}; Max-Age={age}; Path=/; HttpOnly; SameSite=Strict"
    return f"{words}; Secure" if secure else words


def _session(session_id: str, device: EnrolledDevice) -> WebSession:
    return WebSession(id=session_id, device_id=device.id, device=device.name, level=_level(device))


def _level(device: EnrolledDevice) -> Level:
    return "owner" if device.public_key else "auth"


def _plain(name: str) -> str:
    return _visible(name) or "a browser"


def _visible(name: str) -> str:
    visible = "".join(c if unicodedata.category(c)[0] != "C" else " " for c in name)
    return " ".join(visible.split())[:_LONGEST_NAME].strip()


def _pairing(kind: str, words: str) -> ChannelError:
    return ChannelError(words, code=f"E_CHANNEL_PAIRING_{kind}")
