"""The owner's keys in their order: the one in force, and those before it, each vouched for.

The old key signs who follows it, so nobody else can say so; the new one signs the same bytes, so
a thief of the record cannot slip in a former key. Each statement names the one before it.
"""

import hashlib
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any, NamedTuple

from silas.canonical import canonical_json, read_json, sha256_hex
from silas.errors import ApprovalError, ConfigError
from silas.keys.key_lock import KeyLock, NoKeyLock
from silas.keys.port import FormerKey, Signer
from silas.keys.signer import import_public_key, verify_with

SUCCESSION_DOMAIN = b"silas.keys.succession.v1\n"
"""Stands before a succession's body where it is signed.

No approval token, message or checkpoint begins with it, so a signature over one is never one over
another.
"""

_FACTS = frozenset(
    {"at", "entry_hash", "new_key", "old_key", "owner", "previous", "running", "seq"}
)
_GROUP = 4  # hex digits between spaces, for people who compare two fingerprints


class Handover(NamedTuple):
    """Where the time of a key ended.

    Attributes:
        at: The moment, with a timezone.
        seq, entry_hash: The audit log's head.
        running: Ids of the approvals under which work is under way and stays so.
    """

    at: datetime
    seq: int
    entry_hash: str
    running: tuple[str, ...]


class Succession(NamedTuple):
    """One key's statement that another one follows it, and the other's that this is so.

    Both sign the same bytes: the old key, so that nobody else can name its successor, the new one,
    so that nobody can slip a key of his own in among the former ones. `body` is canonical JSON
    exactly as signed behind `SUCCESSION_DOMAIN`, and holds the digest of the succession before it,
    so that the newest one vouches for all of them.
    """

    body: str
    old_signature: str
    new_signature: str


def succeed(
    owner: str, old: Signer, new: Signer, handover: Handover, before: Sequence[Succession]
) -> Succession:
    """The statement that `new` follows `old`, signed by both."""
    body = canonical_json(
        {
            "at": handover.at.astimezone(UTC).isoformat(),
            "entry_hash": handover.entry_hash,
            "new_key": new.public_key,
            "old_key": old.public_key,
            "owner": owner,
            "previous": digest_of(before[-1]) if before else "",
            "running": sorted(handover.running),
            "seq": handover.seq,
        }
    )
    signed = SUCCESSION_DOMAIN + body.encode()
    return Succession(body, old.sign(signed).hex(), new.sign(signed).hex())


def digest_of(succession: Succession) -> str:
    """What the next succession names this one by."""
    return sha256_hex(SUCCESSION_DOMAIN + succession.body.encode())


def fingerprint(public_key: str) -> str:
    """The first half of SHA-256 over the key's 32 bytes, in groups, for people to compare."""
    digits = hashlib.sha256(bytes.fromhex(public_key)).hexdigest()[:32]
    return " ".join(digits[n : n + _GROUP] for n in range(0, len(digits), _GROUP))


class KeyRing:
    """One owner's public keys. Holds nothing secret; signs nothing."""

    __slots__ = ("_hold", "current", "former", "successions")

    def __init__(
        self, owner: str, current: str, successions: Sequence[Succession], hold: KeyLock | NoKeyLock
    ) -> None:
        """Check every statement.

        Args:
            owner: Whose keys.
            current: The public key in force.
            successions: How it came into force, oldest first.
            hold: Keeps the ring as it is while somebody relies on it.

        Raises:
            ConfigError: A statement is forged, missing or out of order (`E_CFG_KEY_RING`).
        """
        self.current = current
        self.successions = tuple(successions)
        self.former = _still_vouched_for(_check_successions(owner, current, self.successions))
        self._hold = hold

    @classmethod
    def alone(cls, public_key: str) -> "KeyRing":
        """The ring of a key that never replaced another."""
        return cls("", public_key, (), NoKeyLock())

    def release(self) -> None:
        """Rely on the ring no more: from now on the key may be replaced."""
        self._hold.release()

    @property
    def public_keys(self) -> tuple[str, ...]:
        """Every key, oldest first, as `python -I -m silas.audit.verify` takes them."""
        return (*(key.public_key for key in self.former), self.current)

    def signed_by(self, data: bytes, signature: bytes) -> FormerKey | None:
        """The former key whose signature over exactly `data` this is, or None."""
        return next(
            (key for key in self.former if verify_with(key.public_key, data, signature)), None
        )


def successions_of(document: dict[str, Any]) -> tuple[Succession, ...]:
    """The successions in a key's record, as they stand there; `KeyRing` checks them.

    Raises:
        ConfigError: They have not the form of successions.
    """
    rows: Any = document.get("former", [])
    try:
        return tuple(Succession(**{name: str(row[name]) for name in row}) for row in rows)
    except (TypeError, AttributeError) as error:
        raise _ring_error("it cannot be read") from error


def _check_successions(
    owner: str, current: str, successions: Sequence[Succession]
) -> list[FormerKey]:
    """The former keys, oldest first, each statement checked against the one before it."""
    former: list[FormerKey] = []
    previous, in_force = "", ""
    for each in successions:
        facts = _facts_of(each)
        old, new = _key(facts["old_key"]), _key(facts["new_key"])
        signed = SUCCESSION_DOMAIN + each.body.encode()
        for key, signature in ((old, each.old_signature), (new, each.new_signature)):
            if not verify_with(key, signed, _bytes(signature)):
                raise _ring_error("a signature on it is not the key's")
        if facts["owner"] != owner or facts["previous"] != previous:
            raise _ring_error("it belongs elsewhere, or one before it is missing")
        if (in_force and old != in_force) or new in {old, *(key.public_key for key in former)}:
            raise _ring_error("the keys do not follow one another")
        key = FormerKey(
            old, _moment(facts["at"]), facts["seq"], facts["entry_hash"], facts["running"]
        )
        if former and key.seq <= former[-1].seq:
            raise _ring_error("it is older than the one before it")
        former.append(key)
        previous, in_force = digest_of(each), new
    if successions and in_force != current:
        raise _ring_error("it does not lead to the key in force")
    return former


def _still_vouched_for(former: Sequence[FormerKey]) -> tuple[FormerKey, ...]:
    """Work goes on only where every key since then said so; the last word is the newest key's."""
    known: list[FormerKey] = []
    for key in reversed(former):
        running = key.running & known[-1].running if known else key.running
        known.append(key._replace(running=running))
    return tuple(reversed(known))


def _facts_of(succession: Succession) -> dict[str, Any]:
    try:
        facts = read_json(succession.body)
    except ValueError as error:
        raise _ring_error("it cannot be read") from error
    if not isinstance(facts, dict) or facts.keys() != _FACTS:
        raise _ring_error("it does not say what it must")
    known: dict[str, Any] = dict(facts)  # pyright: ignore[reportUnknownArgumentType] - JSON
    running = known["running"]
    texts = all(isinstance(known[name], str) for name in _FACTS - {"running", "seq"})
    if not texts or type(known["seq"]) is not int or not isinstance(running, list):
        raise _ring_error("it does not say what it must")
    return {**known, "running": frozenset(map(str, running))}  # pyright: ignore[reportUnknownArgumentType] - JSON


def _key(text: str) -> str:
    try:
        return import_public_key(text)
    except ApprovalError as error:
        raise _ring_error("it names an unusable key") from error


def _moment(text: str) -> datetime:
    try:
        moment = datetime.fromisoformat(text)
    except ValueError as error:
        raise _ring_error("its time cannot be read") from error
    if moment.tzinfo is None:
        raise _ring_error("its time cannot be read")
    return moment


def _bytes(text: str) -> bytes:
    try:
        return bytes.fromhex(text)
    except ValueError:
        return b""


def _ring_error(why: str) -> ConfigError:
    return ConfigError(
        f"The record of the owner's former keys does not hold: {why}; restore the key's record "
        "from a backup.",
        code="E_CFG_KEY_RING",
    )
