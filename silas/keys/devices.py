"""The owner's devices and their public keys: what they sign counts as the owner's (decision B7).

A device's row is never deleted and a revocation never taken back; a revoked key cannot be paired
again. Everything is asked of the database each time.
"""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import NamedTuple

from silas.clock import Clock, is_moment
from silas.db import Database
from silas.errors import ApprovalError
from silas.keys.signer import import_public_key, verify_with
from silas.keys.sqlite_statements import DEVICES_AS_PAIRED
from silas.types import new_id

MOST_DEVICES = 32
"""Devices at a time; every one more is one more key that every signature is tried with."""

_ADD = """
INSERT INTO devices (id, name, public_key, paired_at) VALUES (:id, :name, :public_key, :paired_at)
"""
_RENAME = "UPDATE devices SET name = :name WHERE id = :id"
_ROWS = "SELECT id, name, coalesce(public_key, ''), paired_at, revoked_at FROM devices"
_GET = f"{_ROWS} WHERE id = :id"
_OF_KEY = f"{_ROWS} WHERE public_key = :public_key"
_REVOKE = "UPDATE devices SET revoked_at = :revoked_at WHERE id = :id AND revoked_at IS NULL"
_KEYS = "SELECT public_key FROM devices WHERE revoked_at IS NULL AND public_key IS NOT NULL"
_KEY = f"{_KEYS} AND id = :id"
_COUNT = "SELECT count(*) FROM devices WHERE revoked_at IS NULL"


class Device(NamedTuple):
    """A browser or phone of the owner's.

    Attributes:
        id: Names it.
        name: What it calls itself.
        public_key: 64 hex digits; empty where it has no key and so signs nothing.
        paired_at: When it came in.
        revoked_at: Since when it counts for nothing; None while it counts.
    """

    id: str
    name: str
    public_key: str
    paired_at: datetime
    revoked_at: datetime | None


class DeviceKeys:
    """Devices in the database, so that another process can revoke one and it counts at once."""

    def __init__(self, db: Database, clock: Clock) -> None:
        self._db = db
        self._clock = clock

    def add(self, name: str, public_key: bytes | None) -> Device:
        """Enrol a device; one that comes again with the same key stays the device it was.

        Args:
            name: For people.
            public_key: The 32 bytes of an Ed25519 key whose private half the device has shown to
                hold; None where it has none.

        Raises:
            ApprovalError: The key is no usable one (malformed, of small order) or was revoked, or
                there are too many devices; nothing was enrolled.
        """
        key = None if public_key is None else import_public_key(public_key.hex())
        with self._db.write() as tx:
            known = None if key is None else tx.run(_OF_KEY, public_key=key).fetchone()
            if known is not None:
                device = _device(known)
                if device.revoked_at is not None:
                    raise ApprovalError(
                        "This device's key was revoked; it needs a new one.",
                        code="E_APPROVAL_DEVICE_REVOKED",
                    )
                tx.run(_RENAME, name=name, id=device.id)
                return device._replace(name=name)
            if tx.run(_COUNT).fetchone()[0] >= MOST_DEVICES:
                raise ApprovalError(
                    f"There are {MOST_DEVICES} devices already; revoke one with "
                    "`silas devices revoke`.",
                    code="E_APPROVAL_DEVICES",
                )
            now = self._clock.now().astimezone(UTC)
            device = Device(new_id("device"), name, key or "", now, None)
            tx.run(_ADD, id=device.id, name=name, public_key=key, paired_at=now.isoformat())
        return device

    def get(self, device_id: str) -> Device | None:
        """The device, revoked or not; None where there is none of this id."""
        with self._db.read() as tx:
            row = tx.run(_GET, id=device_id).fetchone()
        return None if row is None else _device(row)

    def rename(self, device_id: str, name: str) -> str:
        """Give a device another name; returns the one it had.

        Raises:
            ApprovalError: There is no such device.
        """
        with self._db.write() as tx:
            device = self.get(device_id)
            if device is None:
                raise _unknown_error()
            tx.run(_RENAME, name=name, id=device_id)
        return device.name

    def revoke(self, device_id: str) -> Device:
        """From now on nothing of the device counts; a second time changes nothing.

        Raises:
            ApprovalError: There is no such device.
        """
        now = self._clock.now().astimezone(UTC).isoformat()
        with self._db.write(durable=True) as tx:
            tx.run(_REVOKE, revoked_at=now, id=device_id)
            device = self.get(device_id)
        if device is None:
            raise _unknown_error()
        return device

    def verify(self, data: bytes, signature: bytes) -> bool:
        """Whether the signature over exactly `data` is of any device that counts."""
        with self._db.read() as tx:
            keys = [str(key) for (key,) in tx.run(_KEYS)]
        return any(verify_with(key, data, signature) for key in keys)

    def signed_by(self, device_id: str, data: bytes, signature: bytes) -> bool:
        """Whether the signature over exactly `data` is this device's, and it counts."""
        with self._db.read() as tx:
            row = tx.run(_KEY, id=device_id).fetchone()
        return row is not None and verify_with(str(row[0]), data, signature)

    def list(self) -> Sequence[Device]:
        """Every device, the revoked ones too, in the order in which they were paired."""
        with self._db.read() as tx:
            return [_device(row) for row in tx.run(DEVICES_AS_PAIRED)]


def _unknown_error() -> ApprovalError:
    return ApprovalError(
        "There is no such device; see `silas devices list`.", code="E_APPROVAL_DEVICE"
    )


def _device(row: Sequence[str | None]) -> Device:
    device_id, name, key, paired_at, revoked_at = row
    revoked = None if revoked_at is None else _moment(revoked_at)  # damaged: revoked, as SQL says
    return Device(str(device_id), str(name), str(key), _moment(paired_at), revoked)


def _moment(text: object) -> datetime:
    """A moment as it was kept; of a damaged one nobody knows, and no other device waits for it."""
    return datetime.fromisoformat(str(text)) if is_moment(text) else _UNKNOWN


_UNKNOWN = datetime.fromtimestamp(0, UTC)
