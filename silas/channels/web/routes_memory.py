"""Endpoints about what is remembered: to look needs no proof; to add, correct and forget does."""

from typing import Annotated

from fastapi import APIRouter, Path, Query
from pydantic import Field

from silas.canonical import canonical_json
from silas.channels.web.endpoints import Refusing, endpoints
from silas.channels.web.port import MemoryRoom
from silas.channels.web.proofs import Prover, Session, SignedCommand
from silas.channels.web.views import Done, Memories
from silas.channels.web.wire import Proof
from silas.memory.owners_words import LONGEST_WORDS
from silas.types import FrozenModel

MemoryId = Annotated[str, Path(min_length=1, max_length=128)]


class OwnersWords(FrozenModel):
    """Words of the owner's that are to be remembered as his; the proof is about them."""

    text: str = Field(min_length=1, max_length=LONGEST_WORDS)
    proof: Proof


def memory_routes(memory: MemoryRoom, prover: Prover, refused: Refusing) -> APIRouter:
    """`/memory...`."""
    router = endpoints("memory", refused)

    @router.get("/memory", summary="What Silas remembers")
    async def look(q: Annotated[str, Query(max_length=500)] = "") -> Memories:
        return await memory.look(q)

    @router.post("/memory", summary="Remember words of yours; needs a proof")
    async def add(body: OwnersWords, session: Session) -> Done:
        await prover.require(session, "remember", body.text, body.proof)
        return await memory.add(body.text)

    @router.post("/memory/{memory_id}", summary="Put your words in its place; needs a proof")
    async def correct(memory_id: MemoryId, body: OwnersWords, session: Session) -> Done:
        subject = canonical_json({"id": memory_id, "text": body.text})
        await prover.require(session, "correct", subject, body.proof)
        return await memory.correct(memory_id, body.text)

    @router.post("/memory/{memory_id}/forget", summary="Forget one memory; needs a proof")
    async def forget(memory_id: MemoryId, body: SignedCommand, session: Session) -> Done:
        await prover.require(session, "forget", memory_id, body.proof)
        return await memory.forget(memory_id)

    return router
