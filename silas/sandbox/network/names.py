"""Hosts that a plan may name: exact ASCII names with their ports, nothing else (decision B1)."""

import re
from enum import StrEnum
from typing import NamedTuple

from silas.errors import SandboxError

DEFAULT_PORTS = (443, 80)
"""What a name without a port stands for: HTTPS and HTTP."""

_LABEL = re.compile(r"[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?")
_TOP_LABEL = re.compile(r"[a-z]{2,63}")
_NUMBER = re.compile(r"0x[0-9a-f]*|[0-9]+")  # what programs read as the end of an IPv4 address
_PORT = re.compile(r"[1-9][0-9]{0,4}")
_LONGEST_NAME = 253
_LAST_PORT = 65535

_URL = re.compile(r"\b(https?)://([^\s/?#'\"`;|&<>()\\]+)")
_SCHEME_PORTS = {"https": 443, "http": 80}


class Reason(StrEnum):
    """Why something on its way out was refused; the value is the word in the audit."""

    not_a_name = "not_a_name"
    literal = "ip_literal"
    dot = "trailing_dot"
    encoded = "punycode"
    user = "userinfo"
    port = "bad_port"
    not_listed = "host_not_listed"
    port_not_listed = "port_not_listed"
    malformed = "malformed"
    too_large = "too_large"
    slow = "too_slow"
    framing = "framing"
    scheme = "scheme"
    mismatch = "host_mismatch"
    not_tls = "not_tls"
    server_name = "server_name"
    unresolved = "unresolved"
    not_public = "address_not_public"
    unreachable = "unreachable"
    too_many = "too_many_connections"
    too_much = "too_many_bytes"
    unrecorded = "unrecorded"


WORDS: dict[Reason, str] = {
    Reason.not_a_name: "must be a full host name like pypi.org, without scheme, path or wildcard",
    Reason.literal: "must be a host name, not an IP address",
    Reason.dot: "must not end with a dot",
    Reason.encoded: "must be plain ASCII; punycode and other alphabets look like what they are not",
    Reason.user: "must not carry a user name",
    Reason.port: "must have a port from 1 to 65535, written plainly",
    Reason.not_listed: "is not among the hosts that the approved plan names",
    Reason.port_not_listed: "is named by the approved plan, but not with this port",
    Reason.malformed: "the request is not plain HTTP/1.1 to a proxy",
    Reason.too_large: "the head of the request is too large",
    Reason.slow: "the request did not arrive in time",
    Reason.framing: "the length of the request must be told once, by Content-Length",
    Reason.scheme: "only http:// is fetched by the proxy; everything else goes through CONNECT",
    Reason.mismatch: "the Host header names another host than the request",
    Reason.not_tls: "a tunnel carries TLS, and this is not a TLS ClientHello",
    Reason.server_name: "the TLS server name is not the host of the tunnel",
    Reason.unresolved: "the name does not resolve",
    Reason.not_public: "the name leads to an address that is not public",
    Reason.unreachable: "the host cannot be reached",
    Reason.too_many: "too many connections",
    Reason.too_much: "too many bytes",
    Reason.unrecorded: "the connection could not be recorded",
}


class EgressRefused(SandboxError):
    """Something may not leave the sandbox; `reason` says why, `what` is the text it is about."""

    def __init__(self, reason: Reason, what: str = "") -> None:
        self.reason = reason
        self.what = "".join(sign if " " <= sign <= "~" else "?" for sign in what)[:_LONGEST_NAME]
        super().__init__(f"{self.what or 'This'}: {WORDS[reason]}.", code="E_SANDBOX_NETWORK")


class Endpoint(NamedTuple):
    """One host and one port that a run may reach. The host is lower case ASCII."""

    host: str
    port: int

    def __str__(self) -> str:
        return f"{self.host}:{self.port}"


def host_name(text: str) -> str:
    """The name in lower case.

    Raises:
        Refused: It is an address, ends with a dot, is punycode, or is no full host name.
    """
    host = text.lower()
    labels = host.split(".")
    if not host.isascii() or any(label[2:4] == "--" for label in labels):
        raise EgressRefused(Reason.encoded, text)
    if host.startswith("[") or ":" in host or _NUMBER.fullmatch(labels[-1]):
        raise EgressRefused(Reason.literal, text)
    if host.endswith("."):
        raise EgressRefused(Reason.dot, text)
    plain = len(labels) > 1 and all(map(_LABEL.fullmatch, labels)) and len(host) <= _LONGEST_NAME
    if not plain or not _TOP_LABEL.fullmatch(labels[-1]):
        raise EgressRefused(Reason.not_a_name, text)
    return host


def endpoint(authority: str, default_port: int | None) -> Endpoint:
    """`host[:port]` as an endpoint; without a default the port must be there.

    Raises:
        Refused: The host or the port is not plain.
    """
    if "@" in authority:
        raise EgressRefused(Reason.user, authority.rpartition("@")[2])
    host, colon, port = authority.rpartition(":")
    if not colon:
        host, port = authority, "" if default_port is None else str(default_port)
    name = host_name(host)
    if not _PORT.fullmatch(port) or int(port) > _LAST_PORT:
        raise EgressRefused(Reason.port, authority)
    return Endpoint(name, int(port))


def endpoints(entry: str) -> tuple[Endpoint, ...]:
    """What one entry of `network:` allows: `host` on the default ports, or `host:port`.

    Raises:
        Refused: The entry is no plain host name, or its port is none.
    """
    first = endpoint(entry, DEFAULT_PORTS[0])
    if ":" in entry:
        return (first,)
    return tuple(Endpoint(first.host, port) for port in DEFAULT_PORTS)


def endpoints_in(command: str) -> tuple[Endpoint, ...]:
    """The hosts of the `http://` and `https://` addresses written in a command, each once.

    Anything that is not a plain name stands for nothing: an address with a variable in its host,
    a user name, or an IP address opens no way out.
    """
    found: dict[Endpoint, None] = {}
    for scheme, authority in _URL.findall(command):
        try:
            found[endpoint(authority, _SCHEME_PORTS[scheme])] = None
        except EgressRefused:
            continue
    return tuple(found)
