"""Endpoints about work items, and the emergency stop."""

from typing import Annotated

from fastapi import APIRouter, Path

from silas.channels.web.endpoints import Refusing, endpoints
from silas.channels.web.port import Work
from silas.channels.web.proofs import Prover, Session, SignedCommand
from silas.channels.web.views import Done, WorkDetail, WorkRow

ItemId = Annotated[str, Path(min_length=1, max_length=128)]

EVERYTHING = "silas"
"""The subject of a command that is about no single thing."""


def work_routes(work: Work, prover: Prover, refused: Refusing) -> APIRouter:
    """Work, answers, the emergency stop. To stop needs no proof; to undo and to go on does."""
    router = endpoints("work", refused)

    @router.get("/work", summary="Every work item, the newest first")
    async def rows() -> tuple[WorkRow, ...]:
        return await work.rows()

    @router.get("/work/{work_item_id}", summary="One work item: plan, checks, changes, approval")
    async def one(work_item_id: ItemId) -> WorkDetail:
        return await work.one(work_item_id)

    @router.post("/work/{work_item_id}/cancel", summary="Stop this work; nothing of it is applied")
    async def cancel(work_item_id: ItemId) -> Done:
        return await work.cancel(work_item_id)

    @router.post("/work/{work_item_id}/ask", summary="Show the card of a waiting plan again")
    async def ask(work_item_id: ItemId) -> Done:
        return await work.ask(work_item_id)

    @router.post(
        "/work/{work_item_id}/rest", summary="Ask about the rest of a project as a new one"
    )
    async def rest(work_item_id: ItemId) -> Done:
        return await work.rest(work_item_id)

    @router.post("/work/{work_item_id}/undo", summary="Take back what it changed; needs a proof")
    async def undo(work_item_id: ItemId, body: SignedCommand, session: Session) -> Done:
        await prover.require(session, "undo", work_item_id, body.proof)
        return await work.undo(work_item_id)

    @router.post("/answers/{message_id}/stop", summary="Stop the answer to one message")
    async def stop_answer(message_id: ItemId) -> Done:
        return await work.stop_answer(message_id)

    @router.post("/stop", summary="Emergency stop: kill what runs, void every approval")
    async def stop() -> Done:
        return await work.stop()

    @router.post("/resume", summary="End the emergency stop; needs a proof")
    async def resume(body: SignedCommand, session: Session) -> Done:
        await prover.require(session, "resume", EVERYTHING, body.proof)
        return await work.resume()

    return router
