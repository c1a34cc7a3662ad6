"""Endpoints about what there is: tools, workers, settings, health, and the persona."""

from collections.abc import Mapping
from typing import Annotated

from fastapi import APIRouter
from pydantic import Field

from silas.canonical import canonical_json
from silas.channels.web.endpoints import Refusing, endpoints
from silas.channels.web.port import Overview, PersonaRoom
from silas.channels.web.proofs import Prover, Session, SignedCommand
from silas.channels.web.views import Doctor, Settings, SignedEntry, ToolRow, WorkerRow
from silas.channels.web.wire import Proof
from silas.errors import ChannelError
from silas.language import tr_later
from silas.types import FrozenModel

RECORD = "record"
"""The subject of a command about the record."""

Word = Annotated[str, Field(min_length=1, max_length=64)]


class Preset(FrozenModel):
    """A preset of the personality by its name."""

    preset: Word


class Feedback(FrozenModel):
    """How the owner was spoken to: `too_harsh`, `too_soft`, `too_wordy`, `too_brief`, ...

    With a proof it moves the baseline; without one it fades within hours.
    """

    type: Word
    proof: Proof | None = None


class PersonaTuning(FrozenModel):
    """Axes and how far to move each; `persist_to_baseline` keeps it for good and needs a proof."""

    delta: dict[Word, Annotated[float, Field(ge=-1.0, le=1.0)]] = Field(max_length=16)
    persist_to_baseline: bool = False
    proof: Proof | None = None

    @property
    def subject(self) -> str:
        """What a proof of it is about: the very numbers."""
        return canonical_json(self.delta)


def overview_routes(overview: Overview, prover: Prover, refused: Refusing) -> APIRouter:
    """`/tools`, `/workers`, `/settings`, `/doctor` only look; signing the record needs a proof."""
    router = endpoints("overview", refused)

    @router.get("/tools", summary="Every tool and how it fares")
    async def tools() -> tuple[ToolRow, ...]:
        return await overview.tools()

    @router.get("/workers", summary="Your workers")
    async def workers() -> tuple[WorkerRow, ...]:
        return await overview.workers()

    @router.get("/settings", summary="The settings that matter, as they are in force")
    async def settings() -> Settings:
        return await overview.settings()

    @router.get("/doctor", summary="Every part that Silas needs, and whether it is well")
    async def doctor() -> Doctor:
        return await overview.doctor()

    @router.post("/record/witness", summary="Sign the record's newest entry, tell its witnesses")
    async def witness(body: SignedCommand, session: Session) -> SignedEntry:
        await prover.require(session, "witness", RECORD, body.proof)
        return await overview.witness()

    return router


def persona_routes(persona: PersonaRoom, prover: Prover, refused: Refusing) -> APIRouter:
    """`/persona/...` of spec 8.1. What lasts needs a proof; what fades needs none."""
    router = endpoints("persona", refused)

    @router.get("/persona/state", summary="How Silas speaks now")
    async def state() -> Mapping[str, object]:
        return await persona.state()

    @router.post("/persona/preset", summary="Take another preset")
    async def preset(body: Preset) -> Mapping[str, object]:
        return await persona.preset(body.preset)

    @router.post("/persona/feedback", summary="Say how you were spoken to; with a proof it lasts")
    async def feedback(body: Feedback, session: Session) -> Mapping[str, object]:
        if body.proof is not None:
            await prover.require(session, "feedback", body.type, body.proof)
        return await persona.feedback(body.type, signed=body.proof is not None)

    @router.post("/persona/tune", summary="Move single axes; what is to last needs a proof")
    async def tune(body: PersonaTuning, session: Session) -> Mapping[str, object]:
        if body.persist_to_baseline:
            await prover.require(session, "tune", body.subject, _require_proof(body.proof))
        return await persona.tune(body.delta, signed=body.persist_to_baseline)

    return router


def _require_proof(proof: Proof | None) -> Proof:
    if proof is None:
        raise ChannelError(
            tr_later("Only a signature of your device moves the baseline; nothing was changed."),
            code="E_CHANNEL_UNSIGNED",
        )
    return proof
