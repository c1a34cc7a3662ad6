"""Endpoints about who answers: to look needs no proof; to look around, choose and check does."""

from typing import Annotated, Literal

from fastapi import APIRouter
from pydantic import Field

from silas.canonical import canonical_json
from silas.channels.web.choices_port import AnsweringRoom
from silas.channels.web.endpoints import Refusing, endpoints
from silas.channels.web.proofs import Prover, Session, SignedCommand
from silas.channels.web.views import Done, SecretAsked
from silas.channels.web.views_models import AnsweringView, ChosenModels, OfferView
from silas.channels.web.wire import Proof
from silas.types import FrozenModel

ModelLine = Annotated[str, Field(max_length=200)]


class ChooseModels(FrozenModel):
    """Who is to answer; name and server for one of the owner's own servers."""

    provider: Literal["openrouter", "local", "runbook"]
    name: ModelLine = ""
    server: ModelLine = ""
    proof: Proof


def model_routes(room: AnsweringRoom, prover: Prover, refused: Refusing) -> APIRouter:
    """`/models...`."""
    router = endpoints("models", refused)

    @router.get("/models", summary="Who answers now")
    async def look() -> AnsweringView:
        return await room.look()

    @router.post("/models", summary="Try who is to answer, and ask about it; needs a proof")
    async def choose(body: ChooseModels, session: Session) -> ChosenModels:
        chosen = {"provider": body.provider, "name": body.name, "server": body.server}
        await prover.require(session, "models", canonical_json(chosen), body.proof)
        return await room.choose(body.provider, body.name, body.server)

    @router.post("/models/find", summary="The models of this machine's servers; needs a proof")
    async def find(body: SignedCommand, session: Session) -> tuple[OfferView, ...]:
        await prover.require(session, "find_models", "models", body.proof)
        return await room.find()

    @router.post("/models/key", summary="Ask for the provider's key, or a new one; needs a proof")
    async def ask_key(body: SignedCommand, session: Session) -> SecretAsked:
        await prover.require(session, "provider_key", "openrouter", body.proof)
        return await room.ask_key()

    @router.post("/models/key/check", summary="Ask the provider about its key; needs a proof")
    async def check_key(body: SignedCommand, session: Session) -> Done:
        await prover.require(session, "check_key", "openrouter", body.proof)
        return await room.check_key()

    return router
