"""The cockpit's real endpoints over a whole Silas, behind a door that admits whom the test says."""

import base64
import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

import httpx
from fastapi import FastAPI
from starlette.types import ASGIApp, Receive, Scope, Send

from silas.channels.web.answers import answer_everywhere
from silas.channels.web.pairing import DeviceFacts
from silas.channels.web.routes import cockpit_routes
from silas.channels.web.session import WebSession
from silas.channels.web.wire import Proof
from silas.config.place import ConfigPlace
from silas.errors import ChannelError
from silas.services.cockpit.rooms import Rooms
from silas.stream.session import Session
from silas.testing import Harness
from silas.wiring.cockpit import cockpit_of
from silas.wiring.parts import Parts

GOOD = b"a signature that counts"
AT = "2026-11-22T07:40:59+00:00"


def proof(signature: bytes = GOOD, nonce: str = "0" * 32) -> dict[str, str]:
    """A proof as a page sends it."""
    signed = base64.b64encode(signature).decode()
    return {"timestamp": AT, "nonce": nonce, "signature": signed}


A_SESSION = WebSession(id="session-1", device_id="device-1", device="a phone", level="owner")
"""What the guard found."""


@dataclass
class ADoor:
    """Takes one signature for good, and remembers what it was asked about."""

    proved: list[bytes] = field(default_factory=list[bytes])
    revoked: list[str] = field(default_factory=list[str])
    renamed: dict[str, str] = field(default_factory=dict[str, str])

    async def prove(self, session: WebSession, data: bytes, proof: Proof) -> str:
        """Good for one signature only."""
        del session
        if proof.signature != GOOD:
            return "it is another key's"
        self.proved.append(data)
        return ""

    async def link(self, base: str) -> str:
        """A link."""
        return f"{base.rstrip('/')}/pair#a-fresh-token"

    def devices(self) -> list[DeviceFacts]:
        """Two of them."""
        return [_device(number) for number in (1, 2)]

    async def rename(self, device_id: str, name: str) -> str:
        """Known devices only; what it was called is remembered."""
        if device_id not in ("device-1", "device-2"):
            raise ChannelError("There is no such device.", code="E_CHANNEL_DEVICE")
        self.renamed[device_id] = name
        return name

    async def revoke(self, device_id: str) -> None:
        """Known devices only."""
        if device_id not in ("device-1", "device-2"):
            raise ChannelError("There is no such device.", code="E_CHANNEL_DEVICE")
        self.revoked.append(device_id)


def _device(number: int) -> DeviceFacts:
    return DeviceFacts(
        id=f"device-{number}",
        name=f"number {number}",
        level="owner",
        public_key="0" * 64,
        paired_at=datetime.fromisoformat(AT),
        seen_at=datetime.fromisoformat(AT),
        revoked=False,
    )


class Admitting:
    """Stands where the guard does: puts the session into the request."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app
        self.session: WebSession | None = A_SESSION

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """As the guard, without a question."""
        if scope["type"] == "http" and self.session is not None:
            scope.setdefault("state", {})["session"] = self.session
        await self.app(scope, receive, send)


@dataclass
class House:
    """A whole Silas with its endpoints."""

    harness: Harness
    parts: Parts
    session: Session
    rooms: Rooms
    door: ADoor
    guard: Admitting
    app: FastAPI
    client: httpx.AsyncClient

    async def get(self, path: str, **params: Any) -> Any:
        """What an endpoint answers with."""
        response = await self.client.get(path, params=params)
        assert response.status_code == 200, response.text
        return response.json()

    async def said(self) -> list[dict[str, Any]]:
        """Every entry of the record."""
        entries = await self.parts.audit.entries(limit=1000)
        return [json.loads(entry.body) for entry in entries]

    async def post(self, path: str, **body: Any) -> httpx.Response:
        """What an endpoint makes of a JSON object."""
        return await self.client.post(path, json=body)

    async def signed(self, path: str, **body: Any) -> httpx.Response:
        """The same with a proof that counts."""
        return await self.client.post(path, json={**body, "proof": proof()})


@asynccontextmanager
async def a_house(*given: Any, **settings: Any) -> AsyncGenerator[House]:
    """Everything wired, through `Silas.open`."""
    found: list[tuple[Parts, Session, Rooms]] = []

    @asynccontextmanager
    async def beside(parts: Parts, session: Session) -> AsyncGenerator[None]:
        place = ConfigPlace(made.home / "config.yaml", {"SILAS_HOME": str(made.home)})
        rooms = cockpit_of(parts, session, place, {})
        found.append((parts, session, rooms))
        yield
        await rooms.close()

    made = Harness(*given, **settings, beside=beside)
    async with made as harness:
        door, app = ADoor(), FastAPI(docs_url=None, redoc_url=None)
        (parts, session, rooms), *_ = found
        app.router.routes.extend(cockpit_routes(rooms, door, parts.audit).routes)
        answer_everywhere(app)
        guard = Admitting(app)
        transport = httpx.ASGITransport(app=guard)
        base = "http://127.0.0.1:8420"
        async with httpx.AsyncClient(transport=transport, base_url=base) as client:
            yield House(harness, parts, session, rooms, door, guard, app, client)
