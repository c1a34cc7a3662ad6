"""What every answer carries: nothing from elsewhere runs in the page, and nobody frames it."""

from collections.abc import Iterable

Header = tuple[bytes, bytes]

_NO_POWERS = ", ".join(
    f"{power}=()"
    for power in (
        "accelerometer",
        "autoplay",
        "camera",
        "display-capture",
        "encrypted-media",
        "fullscreen",
        "geolocation",
        "gyroscope",
        "hid",
        "magnetometer",
        "microphone",
        "midi",
        "payment",
        "picture-in-picture",
        "screen-wake-lock",
        "serial",
        "usb",
        "xr-spatial-tracking",
    )
)

_POWERS = f"{_NO_POWERS}, publickey-credentials-get=(self), publickey-credentials-create=(self)"
"""No power but the device's own lock, for the gesture of what cannot be undone."""

_ALWAYS: tuple[Header, ...] = (
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"x-frame-options", b"DENY"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"cross-origin-embedder-policy", b"require-corp"),
    (b"origin-agent-cluster", b"?1"),
    (b"x-dns-prefetch-control", b"off"),
    (b"permissions-policy", _POWERS.encode()),
)

_OURS = frozenset(
    {name for name, _ in _ALWAYS}
    | {b"content-security-policy", b"content-security-policy-report-only", b"server"}
)
"""What only the guard says."""

NO_STORE = b"no-store"
REVALIDATE = b"no-cache"


def policy(host: str) -> bytes:
    """The content security policy of a page under this `Host`, which was checked before.

    A picture that was attached comes with the page's token, so it has an address of the page's own.
    Some browsers do not take `'self'` for the WebSocket of the same host, so it is named.
    """
    return (
        "default-src 'self'; script-src 'self'; style-src 'self'; img-src 'self' blob:; "
        "font-src 'self'; "
        f"connect-src 'self' ws://{host} wss://{host}; worker-src 'self'; manifest-src 'self'; "
        "object-src 'none'; frame-src 'none'; frame-ancestors 'none'; base-uri 'none'; "
        "form-action 'self'"
    ).encode("latin-1")


def harden_headers(headers: Iterable[Header], host: str, *, data: bool) -> list[Header]:
    """An answer's headers with ours in them, whatever it said itself.

    Args:
        headers: The answer's own.
        host: The checked `Host`; empty where it was refused.
        data: Whether nothing of the answer may be kept anywhere.
    """
    kept = [
        (name, value)
        for name, value in ((name.lower(), value) for name, value in headers)
        if name not in _OURS
        and not name.startswith(b"access-control-")  # nobody else's page reads us
        and not (data and name == b"cache-control")
    ]
    if data or not any(name == b"cache-control" for name, _ in kept):
        kept.append((b"cache-control", NO_STORE if data else REVALIDATE))
    return [*kept, *_ALWAYS, (b"content-security-policy", policy(host or "localhost"))]
