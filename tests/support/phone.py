"""A phone's side of the cockpit: requests over TLS that trust one authority, and bare ones."""

import asyncio
import json
import re
import ssl
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from silas.services.phone.identity import bundle_path
from tests.support.waits import SECONDS
from tests.web.support.cockpit import Cockpit

LOOPBACK: dict[str, Any] = {
    "SILAS_CHANNELS__WEB__PHONE__ADDRESS": "127.0.0.1",
    "SILAS_CHANNELS__WEB__PHONE__PORT": 0,
    "SILAS_CHANNELS__WEB__PHONE__CERTIFICATE_PORT": 0,
}
"""The configuration of a cockpit whose phone is on the same machine."""


class PhoneAnswer(NamedTuple):
    status: int
    headers: dict[str, list[str]]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


def authority_of(data_dir: Path) -> bytes:
    """The authority's certificate that a Silas keeps, PEM."""
    kept = bundle_path(data_dir).read_bytes()
    return re.findall(rb"-----BEGIN CERTIFICATE-----.*?-----END CERTIFICATE-----\n", kept, re.S)[1]


def trusting(cockpit: Cockpit) -> ssl.SSLContext:
    """Trusts the authority that this cockpit offers, and nobody else."""
    return ssl.create_default_context(cadata=authority_of(cockpit.config.data_dir).decode())


async def asked(
    url: str,
    tls: ssl.SSLContext | None,
    method: str = "GET",
    body: object = None,
    **headers: str,
) -> PhoneAnswer:
    """One request as somebody sends it who says what he likes."""
    parts = urlsplit(url)
    content = b"" if body is None else json.dumps(body).encode()
    given = {
        "Host": parts.netloc,
        "Connection": "close",
        "Content-Type": "application/json",
        "Content-Length": str(len(content)),
        **({} if method == "GET" else {"Origin": f"{parts.scheme}://{parts.netloc}"}),
        **{name.replace("_", "-"): value for name, value in headers.items()},
    }
    reader, writer = await asyncio.open_connection(parts.hostname, parts.port, ssl=tls)
    query = f"?{parts.query}" if parts.query else ""
    lines = [f"{method} {parts.path or '/'}{query} HTTP/1.1"]
    lines += [f"{name}: {value}" for name, value in given.items()]
    writer.write("\r\n".join([*lines, "", ""]).encode() + content)
    try:
        received = await asyncio.wait_for(reader.read(), SECONDS)
    finally:
        writer.close()
    head, _, rest = received.partition(b"\r\n\r\n")
    first, *fields = head.decode("latin-1").split("\r\n")
    found: dict[str, list[str]] = {}
    for field in fields:
        name, _, value = field.partition(":")
        found.setdefault(name.strip().lower(), []).append(value.strip())
    return PhoneAnswer(int(first.split()[1]), found, rest)
