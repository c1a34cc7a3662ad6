"""What a request to the sandbox's proxy must be like, decided without touching a socket.

One request per connection, in the only two forms a proxy knows: `CONNECT host:port` for a tunnel
that carries TLS, and `GET http://host/path` (any method). Whatever two programs could read
differently is refused, so that nobody behind the proxy sees another request than was judged.
"""

import re
from collections.abc import Collection
from typing import NamedTuple

from silas.sandbox.network.names import EgressRefused, Endpoint, Reason, endpoint

MAX_HEAD = 32_768
"""Bytes of a request's head, and of a TLS ClientHello."""

_MAX_HEADERS = 100
_REQUEST = re.compile(rb"([A-Z]{3,20}) ([\x21-\x7e]+) HTTP/1\.([01])")
_HEADER = re.compile(rb"([!#$%&'*+.^_`|~0-9A-Za-z-]+):[ \t]*([^\x00-\x08\x0a-\x1f\x7f]*)")
_LENGTH = re.compile(rb"[0-9]{1,15}")
_HTTP, _HTTPS = 80, 443

_OF_THIS_HOP = frozenset(
    {
        b"connection",
        b"host",
        b"keep-alive",
        b"proxy-authenticate",
        b"proxy-authorization",
        b"proxy-connection",
        b"te",
        b"trailer",
        b"upgrade",
    }
)
"""Headers between client and proxy; they are not passed on. Host is written anew."""

_Headers = list[tuple[bytes, bytes]]


class ProxyRequest(NamedTuple):
    """A request that may leave.

    Attributes:
        endpoint: Where to.
        tunnel: Whether bytes are passed through unread after the TLS ClientHello.
        head: What the server is sent first; empty for a tunnel.
        body: How many bytes of the client follow the head.
    """

    endpoint: Endpoint
    tunnel: bool
    head: bytes
    body: int


def read_request(head: bytes, allowed: Collection[Endpoint]) -> ProxyRequest:
    """Judge the head of a request, its final empty line included.

    Raises:
        Refused: It may not leave; the reason says which rule it breaks.
    """
    first, *lines = head.removesuffix(b"\r\n\r\n").split(b"\r\n")
    asked = _REQUEST.fullmatch(first)
    if asked is None or len(lines) > _MAX_HEADERS:
        raise EgressRefused(Reason.malformed)
    headers = [_header(line) for line in lines]
    method, target, minor = asked.groups()
    if method == b"CONNECT":
        return _tunnel(target.decode("ascii"), headers, minor == b"0", allowed)
    return _fetch(method, target, headers, minor, allowed)


def _header(line: bytes) -> tuple[bytes, bytes]:
    """One header. A folded line, a bare line break or a space before the colon match nothing."""
    found = _HEADER.fullmatch(line)
    if found is None:
        raise EgressRefused(Reason.malformed)
    return found[1].lower(), found[2].rstrip(b" \t")


def _tunnel(
    authority: str, headers: _Headers, old: bool, allowed: Collection[Endpoint]
) -> ProxyRequest:
    there = endpoint(authority, None)
    _same_host(headers, there, _HTTPS, optional=old)
    if any(name in (b"content-length", b"transfer-encoding") for name, _ in headers):
        raise EgressRefused(Reason.framing, str(there))
    return ProxyRequest(_require_listed(there, allowed), tunnel=True, head=b"", body=0)


def _fetch(
    method: bytes, target: bytes, headers: _Headers, minor: bytes, allowed: Collection[Endpoint]
) -> ProxyRequest:
    scheme, found, rest = target.decode("ascii").partition("://")
    if not found or scheme.lower() != "http":
        raise EgressRefused(Reason.scheme if found else Reason.malformed)
    authority, path = _split(rest)
    there = endpoint(authority, _HTTP)
    _same_host(headers, there, _HTTP, optional=minor == b"0")
    body = _length(headers, there)
    host = there.host if there.port == _HTTP else str(there)
    lines = [b"%s %s HTTP/1.%s" % (method, path.encode(), minor), b"Host: " + host.encode()]
    lines += [b"%s: %s" % header for header in headers if header[0] not in _OF_THIS_HOP]
    lines += [b"Connection: close", b"", b""]
    return ProxyRequest(
        _require_listed(there, allowed), tunnel=False, head=b"\r\n".join(lines), body=body
    )


def _split(rest: str) -> tuple[str, str]:
    """Authority and path; the path begins with `/`, and a fragment is nobody's business."""
    end = next((at for at, sign in enumerate(rest) if sign in "/?#\\"), len(rest))
    path = rest[end:].partition("#")[0]
    if "\\" in rest[: end + 1]:  # some programs read it as a slash
        raise EgressRefused(Reason.malformed)
    return rest[:end], path if path.startswith("/") else "/" + path


def _same_host(headers: _Headers, there: Endpoint, port: int, *, optional: bool) -> None:
    """Exactly one Host, the same as in the request line; HTTP/1.0 may do without."""
    hosts = [value for name, value in headers if name == b"host"]
    if len(hosts) > 1 or (not hosts and not optional):
        raise EgressRefused(Reason.mismatch, str(there))
    if hosts and _authority(hosts[0], port) != there:
        raise EgressRefused(Reason.mismatch, str(there))


def _authority(value: bytes, port: int) -> Endpoint | None:
    try:
        return endpoint(value.decode("latin-1"), port)
    except EgressRefused:
        return None


def _length(headers: _Headers, there: Endpoint) -> int:
    lengths = [value for name, value in headers if name == b"content-length"]
    chunked = any(name == b"transfer-encoding" for name, _ in headers)
    if chunked or len(lengths) > 1 or not all(map(_LENGTH.fullmatch, lengths)):
        raise EgressRefused(Reason.framing, str(there))
    return int(lengths[0]) if lengths else 0


def _require_listed(there: Endpoint, allowed: Collection[Endpoint]) -> Endpoint:
    if there in allowed:
        return there
    known = any(there.host == other.host for other in allowed)
    raise EgressRefused(Reason.port_not_listed if known else Reason.not_listed, str(there))
