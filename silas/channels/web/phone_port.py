"""What routes need to open and close the cockpit for a phone, and what they answer."""

from typing import Protocol

from pydantic import AwareDatetime

from silas.channels.models import PhoneWay
from silas.types import FrozenModel


class PhoneWayView(FrozenModel):
    """One way to reach the cockpit from a phone.

    Attributes:
        words: What it gives, and what it does not.
        why_not: Why it cannot be chosen here; empty where it can.
    """

    value: PhoneWay
    label: str
    words: str
    why_not: str = ""


class PhoneAddressView(FrozenModel):
    """An address of this machine that a phone at home may reach."""

    address: str
    interface: str


class PhoneView(FrozenModel):
    """Whether the cockpit is open for a phone, where, and what else could be chosen.

    Attributes:
        way: By which way it is open; null where it is not.
        origin: Where the phone finds it; empty where it is not open.
        steps: Address of the plain page with the certificate; empty where there is none.
        steps_code: The same as a QR code: rows of `1` (dark) and `0`.
        fingerprint: SHA-256 of the authority that the phone is to trust; empty where there is none.
        until: When the certificate ends; null where it is not Silas's to know.
        words: What happened just now, such as that a new certificate was made.
    """

    way: PhoneWay | None
    origin: str
    steps: str
    steps_code: tuple[str, ...]
    fingerprint: str
    until: AwareDatetime | None
    words: str
    ways: tuple[PhoneWayView, ...]
    addresses: tuple[PhoneAddressView, ...]


class PhoneLink(FrozenModel):
    """A pairing link for the phone, and the same as a QR code."""

    link: str
    code: tuple[str, ...]


class Phone(Protocol):
    """The cockpit's address for a phone."""

    async def state(self) -> PhoneView:
        """How it stands."""
        ...

    async def open(self, way: PhoneWay | None, address: str) -> PhoneView:
        """Listen for a phone, until `close` or until Silas ends.

        Args:
            way: None for what the configuration says.
            address: An address or interface of this machine; empty for what it says.

        Raises:
            SilasError: It cannot be opened this way; nothing is reached that was not before.
        """
        ...

    async def link(self) -> PhoneLink:
        """A fresh pairing link to it. Raises `ChannelError` where it is not open."""
        ...

    async def close(self) -> PhoneView:
        """Listen no more, at once. Twice is once."""
        ...
