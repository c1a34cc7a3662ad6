"""A page that is a program: pairs, signs with a key of its own, speaks the protocol."""

import asyncio
import base64
import json
from collections import deque
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from datetime import datetime
from typing import Any, cast

import httpx
from websockets.asyncio.client import ClientConnection, connect
from websockets.typing import Origin

from silas.canonical import canonical_bytes
from silas.cards import ChannelMessage, message_bytes
from silas.channels.web.wire import Proof, Response, command_bytes, decision_bytes, inbound
from silas.clock import Clock, SystemClock
from silas.keys.signer import Ed25519Signer
from silas.types import new_nonce
from tests.support.waits import SECONDS

_SYSTEM = SystemClock()


class ProgramPage:
    """One paired page. A page without a key pairs as `auth`; `clock` is that of its machine."""

    def __init__(self, address: str, key: Ed25519Signer | None, clock: Clock = _SYSTEM) -> None:
        self.address = address
        self._clock = clock
        self._key = key
        self._http = httpx.AsyncClient(
            base_url=address, headers={"Origin": address}, timeout=SECONDS
        )
        self._live: ClientConnection | None = None
        self._token = ""
        self._got: deque[dict[str, Any]] = deque()
        self.seq = 0

    async def pair(self, link: str) -> dict[str, Any]:
        """Redeem a link. Raises `httpx.HTTPStatusError` where it is refused."""
        token = link.partition("#")[2]
        body: dict[str, Any] = {"token": token, "name": "a program"}
        if self._key is not None:
            signature = self._key.sign(b"silas/enrol/v1\n" + token.encode())
            body["public_key"] = base64.b64encode(bytes.fromhex(self._key.public_key)).decode()
            body["signature"] = base64.b64encode(signature).decode()
        answer = await self._http.post("/pair", json=body)
        answer.raise_for_status()
        self._token = answer.json()["page_token"]
        return answer.json()

    async def connect(self, after: int = 0) -> dict[str, Any]:
        """Open the live connection; returns the state it begins with."""
        cookie = "; ".join(f"{name}={value}" for name, value in self._http.cookies.items())
        self._live = await connect(
            self.address.replace("http", "ws") + "/ws",
            origin=Origin(self.address),
            additional_headers={"Cookie": cookie},
            proxy=None,
        )
        await self._live.send(json.dumps({"type": "auth", "token": self._token, "after": after}))
        return await self.next("stream_state")

    async def next(self, kind: str) -> dict[str, Any]:
        """The next event of a kind; those before it are passed over."""
        async with asyncio.timeout(SECONDS):
            while True:
                while self._got:
                    event = self._got.popleft()
                    self.seq = max(self.seq, event.get("seq", 0))
                    if event["type"] == kind:
                        return event
                assert self._live is not None
                read: Any = json.loads(await self._live.recv())
                self._got.extend(cast(list[Any], read) if isinstance(read, list) else [read])

    async def say(self, text: str, name: str = "") -> str:
        """Say something, signed if there is a key; returns the message's id."""
        now, nonce = self._clock.now(), new_nonce()
        frame: dict[str, Any] = {"type": "message", "id": name or new_nonce(), "text": text}
        if self._key is not None:
            said = ChannelMessage(channel="web", sender_id="owner", text=text, timestamp=now)
            signature = self._key.sign(message_bytes(said, nonce))
            frame["proof"] = _proof(now, nonce, signature)
        await self._send(frame)
        return frame["id"]

    async def answer(self, event: dict[str, Any], **fields: Any) -> None:
        """Answer a card, signed if there is a key."""
        response: Any = inbound.validate_python({"request_id": event["request_id"], **fields})
        if self._key is not None:
            signed: Response = response.model_copy(update={"proof": self._empty()})
            signature = self._key.sign(decision_bytes(signed, event["digest"]))
            proof = signed.proof
            assert proof is not None
            proof = proof.model_copy(update={"signature": signature})
            response = response.model_copy(update={"proof": proof})
        await self._send(response.model_dump(mode="json"))

    async def command(self, path: str, command: str, subject: str, **body: str) -> httpx.Response:
        """Post a command with its proof, and whatever else its body has."""
        assert self._key is not None
        empty = self._empty()
        signature = self._key.sign(command_bytes(command, subject, empty))
        proof = _proof(empty.timestamp, empty.nonce, signature)
        return await self._http.post(path, json={**body, "proof": proof}, headers=self._page)

    async def get(self, path: str) -> httpx.Response:
        """Ask for data."""
        return await self._http.get(path, headers=self._page)

    async def post(self, path: str) -> httpx.Response:
        """Ask for something that takes no signature."""
        return await self._http.post(path, headers=self._page)

    @property
    def _page(self) -> dict[str, str]:
        return {"X-Silas-Page": self._token}

    def _empty(self) -> Proof:
        return Proof(timestamp=self._clock.now(), nonce=new_nonce(), signature=b"")

    async def _send(self, frame: dict[str, Any]) -> None:
        assert self._live is not None
        await self._live.send(canonical_bytes(frame).decode())

    async def closed(self) -> int:
        """The code with which Silas closes the connection."""
        assert self._live is not None
        async with asyncio.timeout(SECONDS):
            await self._live.wait_closed()
        return self._live.close_code or 0

    async def gone(self) -> None:
        """Lose the connection; what was paired stays."""
        if self._live is not None:
            await self._live.close()

    async def end(self) -> None:
        """Close everything."""
        await self.gone()
        await self._http.aclose()


def _proof(at: datetime, nonce: str, signature: bytes) -> dict[str, str]:
    encoded = base64.b64encode(signature).decode()
    return {"timestamp": at.isoformat(), "nonce": nonce, "signature": encoded}


@asynccontextmanager
async def a_page(
    address: str, link: str, *, key: bool = True, clock: Clock = _SYSTEM
) -> AsyncGenerator[ProgramPage]:
    """A page that is paired."""
    page = ProgramPage(address, Ed25519Signer.from_seed(b"p" * 32) if key else None, clock)
    try:
        await page.pair(link)
        yield page
    finally:
        await page.end()
