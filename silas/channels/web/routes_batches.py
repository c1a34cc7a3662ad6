"""Endpoints about files that were moved in batches (spec 5.2.4)."""

from typing import Annotated

from fastapi import APIRouter, Path
from pydantic import Field
from starlette.responses import Response

from silas.canonical import canonical_json
from silas.channels.web.conversations_port import BatchRoom
from silas.channels.web.endpoints import Refusing, endpoints
from silas.channels.web.proofs import Prover, Session, SignedCommand
from silas.channels.web.routes_attachments import picture_answer
from silas.channels.web.views import Done
from silas.channels.web.views_kept import MovedBatchRow

BatchId = Annotated[str, Path(min_length=1, max_length=128)]
FileNumber = Annotated[int, Path(ge=1, le=1000)]


class UndoWanted(SignedCommand):
    """Which files go back, by their numbers; all of them where none is named."""

    numbers: tuple[Annotated[int, Field(ge=1)], ...] = Field(default=(), max_length=1000)


def batch_routes(batches: BatchRoom, prover: Prover, refused: Refusing) -> APIRouter:
    """`/batches...`: to take files back needs a proof."""
    router = endpoints("batches", refused)

    @router.get("/batches", summary="Files that were moved in batches, the newest first")
    async def rows() -> tuple[MovedBatchRow, ...]:
        return await batches.rows()

    @router.get(
        "/batches/{batch_id}/files/{number}/picture",
        summary="A small picture of a file on an open card, made in the sandbox",
    )
    async def picture(batch_id: BatchId, number: FileNumber) -> Response:
        return picture_answer(await batches.picture(batch_id, number))

    @router.post("/batches/{batch_id}/undo", summary="Put its files back; needs a proof")
    async def undo(batch_id: BatchId, body: UndoWanted, session: Session) -> Done:
        subject = canonical_json({"batch": batch_id, "numbers": list(body.numbers)})
        await prover.require(session, "undo_batch", subject, body.proof)
        return await batches.undo(batch_id, body.numbers)

    return router
