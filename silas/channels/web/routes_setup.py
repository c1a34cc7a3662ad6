"""Endpoints about devices, the first run, and secrets on a path outside the agent (spec 0.5)."""

import json
from typing import Annotated, Any, Literal, cast

from fastapi import APIRouter, Path, Request
from pydantic import Field

from silas.canonical import canonical_bytes, canonical_json, sha256_hex
from silas.channels.web.endpoints import Refusing, endpoints
from silas.channels.web.port import Door, Setup
from silas.channels.web.proofs import Prover, Session, SignedCommand
from silas.channels.web.views import (
    DeviceView,
    Done,
    Onboarding,
    PairingLinkView,
    SecretAsked,
    StoredSecretView,
)
from silas.channels.web.views_kept import SecretRows
from silas.channels.web.wire import Proof
from silas.errors import ChannelError
from silas.language import tr, tr_later
from silas.types import FrozenModel

SetupLine = Annotated[str, Field(max_length=200)]

MOST_SECRET_BYTES = 65_536
"""Of a body with a secret: more than any that is kept, so that its refusal is a sentence."""

_THIS_MACHINE = frozenset({"127.0.0.1", "localhost", "::1"})

_SECRET_BODY: dict[str, Any] = {
    "requestBody": {
        "required": True,
        "content": {
            "application/json": {
                "schema": {
                    "type": "object",
                    "properties": {"value": {"type": "string", "format": "password"}},
                    "required": ["value"],
                    "additionalProperties": False,
                }
            }
        },
    }
}


class Onboard(FrozenModel):
    """The choices of the first run. What is signed is the hash of all but the proof."""

    provider: Literal["openrouter", "local", "runbook"]
    name: SetupLine = ""
    email: SetupLine = ""
    phone: SetupLine = ""
    proof: Proof


class NameDevice(FrozenModel):
    """The name that a device is to have."""

    name: str = Field(min_length=1, max_length=200)
    proof: Proof


class AskSecret(FrozenModel):
    """The name that a new secret is to have."""

    label: str = Field(min_length=1, max_length=64)
    proof: Proof


def onboarding_subject(provider: str, name: str, email: str, phone: str) -> str:
    """What a proof of onboarding is about: hex SHA-256 of the canonical JSON of the choices."""
    chosen = {"provider": provider, "name": name, "email": email, "phone": phone}
    return sha256_hex(canonical_bytes(chosen))


def device_routes(door: Door, prover: Prover, refused: Refusing) -> APIRouter:
    """`/devices...`: to look needs no proof, to revoke and to let another in does."""
    router = endpoints("devices", refused)

    @router.get("/devices", summary="Every paired browser")
    async def devices(session: Session) -> tuple[DeviceView, ...]:
        return tuple(
            DeviceView(
                id=one.id,
                name=one.name,
                level=one.level,
                paired_at=one.paired_at,
                seen_at=one.seen_at,
                revoked=one.revoked,
                this=one.id == session.device_id,
            )
            for one in door.devices()
        )

    @router.post("/devices/link", summary="A fresh pairing link; needs a proof")
    async def link(body: SignedCommand, session: Session, request: Request) -> PairingLinkView:
        await prover.require(session, "link", "devices", body.proof)
        # behind a proxy only the browser knows the scheme; the guard has checked what it says
        origin = request.headers.get("origin", str(request.base_url))
        return PairingLinkView(link=await door.link(origin))

    @router.post("/devices/{device_id}/name", summary="Call a device otherwise; needs a proof")
    async def rename(
        device_id: Annotated[str, Path(min_length=1, max_length=128)],
        body: NameDevice,
        session: Session,
    ) -> Done:
        subject = canonical_json({"id": device_id, "name": body.name})
        await prover.require(session, "name", subject, body.proof)
        name = await door.rename(device_id, body.name)
        return Done(words=tr("It is called {name}.", name=name))

    @router.post("/devices/{device_id}/revoke", summary="End a pairing; needs a proof")
    async def revoke(
        device_id: Annotated[str, Path(min_length=1, max_length=128)],
        body: SignedCommand,
        session: Session,
    ) -> Done:
        await prover.require(session, "revoke", device_id, body.proof)
        await door.revoke(device_id)
        return Done(words=tr("This device is no longer paired; its key counts no more."))

    return router


def setup_routes(setup: Setup, prover: Prover, refused: Refusing) -> APIRouter:
    """`/onboarding` and `/secrets...`."""
    router = endpoints("setup", refused)

    @router.get("/onboarding", summary="Where the first run stands")
    async def onboarding() -> Onboarding:
        return await setup.onboarding()

    @router.post("/onboarding", summary="Choose who answers, and say who you are; needs a proof")
    async def onboard(body: Onboard, session: Session) -> Onboarding:
        chosen = (body.provider, body.name, body.email, body.phone)
        await prover.require(session, "onboarding", onboarding_subject(*chosen), body.proof)
        return await setup.onboard(*chosen)

    @router.post("/secrets", summary="Ask for a secret by its name; needs a proof")
    async def ask_secret(body: AskSecret, session: Session) -> SecretAsked:
        await prover.require(session, "secret", body.label, body.proof)
        return await setup.ask_secret(body.label)

    @router.get("/secrets", summary="Every secret by its name")
    async def secrets() -> SecretRows:
        return await setup.secrets()

    @router.post("/secrets/{ref_id}/remove", summary="Forget a secret; needs a proof")
    async def remove_secret(
        ref_id: Annotated[str, Path(min_length=1, max_length=128)],
        body: SignedCommand,
        session: Session,
    ) -> Done:
        await prover.require(session, "remove_secret", ref_id, body.proof)
        return await setup.remove_secret(ref_id)

    # Read by hand: what reads a body by its model keeps it, and quotes it where it does not fit.
    @router.post(
        "/secrets/{ref_id}",
        summary="The value of a secret that is asked for",
        openapi_extra=_SECRET_BODY,
    )
    async def store_secret(
        ref_id: Annotated[str, Path(min_length=1, max_length=128)], request: Request
    ) -> StoredSecretView:
        _require_unread_by_others(request)
        await setup.store_secret(ref_id, await _secret_in(request))
        return StoredSecretView()

    return router


def _require_unread_by_others(request: Request) -> None:
    """A secret is taken on this machine, or over HTTPS (spec 8.1); the guard knows host and origin.

    Raises:
        ChannelError: `E_CHANNEL_PLAIN`: whoever is in between could read it.
    """
    https = request.url.scheme == "https" or request.headers.get("origin", "").startswith("https:")
    if not (https or request.url.hostname in _THIS_MACHINE):
        raise ChannelError(
            tr_later("Secrets are taken over HTTPS or on Silas's own machine; nothing was stored."),
            code="E_CHANNEL_PLAIN",
        )


async def _secret_in(request: Request) -> str:
    """The value in a body; its error says nothing of what was sent."""
    body = bytearray()
    async for chunk in request.stream():
        body += chunk
        if len(body) > MOST_SECRET_BYTES:
            raise _no_secret()
    try:
        sent: object = json.loads(body)
    except (ValueError, RecursionError):
        raise _no_secret() from None
    members = cast(dict[str, object], sent) if isinstance(sent, dict) else {}
    value = members.get("value")
    if members.keys() != {"value"} or not isinstance(value, str):
        raise _no_secret()
    return value


def _no_secret() -> ChannelError:
    return ChannelError(
        'Nothing was stored: send one JSON object, {"value": "..."}, with the secret as text.',
        code="E_CHANNEL_BAD_REQUEST",
    )
