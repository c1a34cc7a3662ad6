"""What a phone gets over plain HTTP: the authority's certificate, its fingerprint, and the steps.

Nothing else is here: no session, no pairing link, no page of the cockpit. Whoever stands between
can change what is read, so the fingerprint counts where Silas itself shows it, not here.
"""

import base64
import hashlib
import html
from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import NamedTuple, Protocol
from zoneinfo import ZoneInfo

from silas.channels.web.asgi import Receive, Scope, Send
from silas.channels.web.guard import MOST_HEADER_BYTES, MOST_HEADERS
from silas.language import spoken_language, tr

CERTIFICATE = "/silas-authority.crt"
"""Where the certificate is: DER, as both Android and iOS install it."""

_STYLE = (
    "body{font:1.1rem/1.5 system-ui,sans-serif;margin:0 auto;max-width:36rem;padding:1rem;"
    "color:#1c1c1a;background:#fff}h1{font-size:1.4rem}h2{font-size:1.15rem;margin-top:2rem}"
    "a.get{display:block;padding:.9rem;border-radius:.6rem;background:#1f5f4a;color:#fff;"
    "text-align:center;text-decoration:none;font-weight:600}li{margin:.5rem 0}"
    "code{font-size:.95rem;overflow-wrap:anywhere}"
)
_STYLE_HASH = base64.b64encode(hashlib.sha256(_STYLE.encode()).digest()).decode()

_PAGE = """<!doctype html>
<html lang="{language}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>{style}</style>
</head>
<body>
{body}
</body>
</html>
"""


def _steps(identity: "TrustedIdentity", origin: str, zone: ZoneInfo) -> str:
    """What to do, in the owner's language; only names and times are values of it."""

    def day(moment: datetime) -> str:
        return f"{moment.astimezone(zone):%Y-%m-%d %H:%M}"

    names = html.escape(", ".join((*identity.names, *identity.addresses)))
    subject, address = f"<b>{names}</b>", f"<b>{html.escape(origin)}</b>"
    limit = tr(
        "Your computer made an authority of its own. It is limited to {subject}, and its key was "
        "deleted after it signed once, so nobody can use it for another site. Do this once.",
        subject=subject,
    )
    download = tr("Download the certificate")
    android = (
        tr(
            "Open <b>Settings</b> and search for <b>CA certificate</b> (under Security, Encryption "
            "&amp; credentials, Install a certificate)."
        ),
        tr(
            "Tap <b>Install anyway</b>, unlock, and choose {file}.",
            file="<b>silas-authority.crt</b>",
        ),
        tr("Compare: Settings, Trusted credentials, User, and tap Silas."),
    )
    apple = (
        tr("Use Safari for the download, and tap <b>Allow</b>."),
        tr(
            "Open <b>Settings</b>, <b>Profile Downloaded</b>, then <b>More Details</b>, and "
            "compare. Tap <b>Install</b>."
        ),
        tr("Settings, General, About, <b>Certificate Trust Settings</b>: switch Silas on."),
    )
    compare = tr(
        "The SHA-256 fingerprint that the phone shows must be the one on your <b>computer's</b> "
        "screen, in the terminal or under Devices. This page comes over plain HTTP: somebody in "
        "your Wi-Fi could have changed it, and the fingerprint below with it. If they differ, "
        "remove the certificate."
    )
    then = tr(
        "Scan the second code on your computer: it opens {origin} and pairs this phone.",
        origin=address,
    )
    clock = tr(
        "Look at its clock first: Settings, Date &amp; time, <b>set automatically</b>. This "
        "certificate counts from {begins} to {ends} ({zone}). After that, start Silas again; it "
        "makes a new one.",
        begins=day(identity.begins),
        ends=day(identity.ends),
        zone=zone.key,
    )
    trust = tr("Let this phone trust Silas")
    refused = tr("If the phone says that the certificate is not valid yet, or has expired")
    return "\n".join(
        (
            f"<h1>{trust}</h1>\n<p>{limit}</p>",
            f'<p><a class="get" href="{CERTIFICATE}">1. {download}</a></p>',
            _part("Android", _list(android)),
            _part(tr("iPhone and iPad"), _list(apple)),
            _part(tr("Compare before you trust it"), f"<p>{compare}</p>"),
            f"<p><code>{identity.fingerprint}</code></p>",
            _part(tr("Then"), f"<p>{then}</p>"),
            _part(refused, f"<p>{clock}</p>"),
        )
    )


def _part(heading: str, below: str) -> str:
    return f"<h2>{heading}</h2>\n{below}"


def _list(steps: Iterable[str]) -> str:
    """Steps that go on after the download, which is the first."""
    return '<ol start="2">' + "".join(f"\n<li>{step}</li>" for step in steps) + "\n</ol>"


class TrustedIdentity(Protocol):
    """What a phone is to trust: an authority's certificate, and what it vouches for."""

    @property
    def authority(self) -> bytes:
        """The certificate, DER."""
        ...

    @property
    def fingerprint(self) -> str:
        """Its SHA-256, as phones show it."""
        ...

    @property
    def names(self) -> tuple[str, ...]:
        """DNS names that it vouches for."""
        ...

    @property
    def addresses(self) -> tuple[str, ...]:
        """Addresses that it vouches for."""
        ...

    @property
    def begins(self) -> datetime:
        """From when on it counts, UTC."""
        ...

    @property
    def ends(self) -> datetime:
        """Until when."""
        ...


class _Answer(NamedTuple):
    kind: str
    body: bytes
    extra: tuple[tuple[bytes, bytes], ...] = ()


class CertificatePage:
    """The ASGI application of the plain port.

    Args:
        identity: What the phone is to trust.
        origin: Where the cockpit is for the phone.
        host: What `Host` must say, without the port: nobody else's name leads here.
        zone: The owner's, in which its days are told.
    """

    def __init__(self, identity: TrustedIdentity, origin: str, host: str, zone: ZoneInfo) -> None:
        self._host = host
        page = _PAGE.format(
            language=spoken_language(),
            title=tr("Silas: trust this computer"),
            style=_STYLE,
            body=_steps(identity, origin, zone),
        )
        file = b'attachment; filename="silas-authority.crt"'
        self._answers: Mapping[str, _Answer] = {
            "/": _Answer("text/html; charset=utf-8", page.encode()),
            CERTIFICATE: _Answer(
                "application/x-x509-ca-cert",
                identity.authority,
                ((b"content-disposition", file),),
            ),
            "/fingerprint": _Answer(
                "text/plain; charset=utf-8", f"{identity.fingerprint}\n".encode()
            ),
        }

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request; a live connection is refused."""
        if scope["type"] == "websocket":
            await receive()
            await send({"type": "websocket.close", "code": 1008})
        elif scope["type"] == "http":
            status, answer = self._answer_request(scope)
            headers = [
                (b"content-type", answer.kind.encode()),
                (b"content-length", str(len(answer.body)).encode()),
                (b"connection", b"close"),
                *answer.extra,
                *_HEADERS,
            ]
            body = b"" if scope["method"] == "HEAD" else answer.body
            await send({"type": "http.response.start", "status": status, "headers": headers})
            await send({"type": "http.response.body", "body": body})

    def _answer_request(self, scope: Scope) -> tuple[int, _Answer]:
        headers = scope["headers"]
        size = sum(len(name) + len(value) for name, value in headers)
        hosts = [value for name, value in headers if name.lower() == b"host"]
        if len(headers) > MOST_HEADERS or size > MOST_HEADER_BYTES:
            return 431, _NOTHING
        if len(hosts) != 1 or hosts[0].decode("latin-1").partition(":")[0] != self._host:
            return 421, _NOTHING
        if scope["method"] not in ("GET", "HEAD"):
            return 405, _NOTHING
        found = None if scope.get("query_string") else self._answers.get(scope["path"])
        return (404, _NOTHING) if found is None else (200, found)


_NOTHING = _Answer("text/plain; charset=utf-8", b"There is nothing here.\n")

_HEADERS = (
    (b"cache-control", b"no-store"),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"x-frame-options", b"DENY"),
    (
        b"content-security-policy",
        f"default-src 'none'; style-src 'sha256-{_STYLE_HASH}'; frame-ancestors 'none'; "
        "base-uri 'none'; form-action 'none'".encode(),
    ),
)
