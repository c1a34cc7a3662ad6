"""Endpoints about the cockpit's address for a phone: to look and to close need no proof."""

from fastapi import APIRouter
from pydantic import Field

from silas.channels.models import PhoneWay
from silas.channels.web.endpoints import Refusing, endpoints
from silas.channels.web.phone_port import Phone, PhoneLink, PhoneView
from silas.channels.web.proofs import Prover, Session, SignedCommand
from silas.channels.web.wire import Proof
from silas.types import FrozenModel


class OpenPhone(FrozenModel):
    """The way and the address; a proof is about both, with a space between."""

    way: PhoneWay
    address: str = Field(default="", max_length=64, pattern=r"^[0-9A-Za-z._-]*$")
    proof: Proof

    @property
    def subject(self) -> str:
        """What a proof of `phone` is about."""
        return f"{self.way} {self.address}".strip()


def phone_routes(phone: Phone, prover: Prover, refused: Refusing) -> APIRouter:
    """`/devices/phone...`: opening widens who reaches Silas, so it needs the owner's signature."""
    router = endpoints("devices", refused)

    @router.get("/devices/phone", summary="Whether a phone can reach the cockpit, and how it could")
    async def state() -> PhoneView:
        return await phone.state()

    @router.post("/devices/phone", summary="Open an address for a phone; needs a proof")
    async def open_phone(body: OpenPhone, session: Session) -> PhoneView:
        await prover.require(session, "phone", body.subject, body.proof)
        return await phone.open(body.way, body.address)

    @router.post("/devices/phone/link", summary="A pairing link for the phone; needs a proof")
    async def link(body: SignedCommand, session: Session) -> PhoneLink:
        await prover.require(session, "link", "phone", body.proof)
        return await phone.link()

    @router.post("/devices/phone/close", summary="Close the phone's address")
    async def close_phone() -> PhoneView:
        return await phone.close()

    return router
