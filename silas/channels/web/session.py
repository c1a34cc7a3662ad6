"""Who is on the other end of a request: what the door found out, and nothing that was claimed."""

from typing import Literal

from silas.types import FrozenModel

Level = Literal["owner", "auth"]
"""How far a session is trusted before it signs anything."""


class WebSession(FrozenModel):
    """A paired browser.

    Attributes:
        id: The session's, never its secret.
        device_id: The enrolled device; empty where the browser has no key.
        device: Its name, for people.
        level: `owner` where the device has a key, else `auth`.
    """

    id: str
    device_id: str
    device: str
    level: Level
