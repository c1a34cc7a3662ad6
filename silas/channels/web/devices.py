"""What the door needs of the devices' keys. A channel collects what they sign, and holds none."""

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Protocol

VerifyKey = Callable[[str, bytes, bytes], bool]
"""Whether a signature over these bytes is that public key's, given as 64 hex digits."""


class EnrolledDevice(Protocol):
    """A browser or phone of the owner's, as `silas.keys.devices.Device` has it."""

    @property
    def id(self) -> str:
        """Names it."""
        ...

    @property
    def name(self) -> str:
        """What it calls itself."""
        ...

    @property
    def public_key(self) -> str:
        """64 hex digits; empty where it has no key and so signs nothing."""
        ...

    @property
    def paired_at(self) -> datetime:
        """When it came in."""
        ...

    @property
    def revoked_at(self) -> datetime | None:
        """Since when it counts for nothing; None while it counts."""
        ...


class EnrolledDevices(Protocol):
    """The enrolled devices, as `silas.keys.devices.DeviceKeys` keeps them."""

    def add(self, name: str, public_key: bytes | None) -> EnrolledDevice:
        """Enrol one. Raises `ApprovalError` where its key cannot be used."""
        ...

    def get(self, device_id: str) -> EnrolledDevice | None:
        """One of them; None where there is none."""
        ...

    def rename(self, device_id: str, name: str) -> str:
        """Another name; returns the former. Raises `ApprovalError` where there is none."""
        ...

    def revoke(self, device_id: str) -> EnrolledDevice:
        """Let it count for nothing from now on. Raises `ApprovalError` where there is none."""
        ...

    def signed_by(self, device_id: str, data: bytes, signature: bytes) -> bool:
        """Whether this device's key signed, and still counts."""
        ...

    def list(self) -> Sequence[EnrolledDevice]:
        """All of them, in the order in which they came."""
        ...
