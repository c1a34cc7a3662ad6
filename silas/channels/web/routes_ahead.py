"""Endpoints about what is to come, and about goals."""

from typing import Annotated

from fastapi import APIRouter, Path, Query
from pydantic import Field

from silas.channels.web.endpoints import Refusing, endpoints
from silas.channels.web.port import AheadRoom
from silas.channels.web.proofs import Prover, Session, SignedCommand
from silas.channels.web.views import Done
from silas.channels.web.views_ahead import AheadView

GoalId = Annotated[str, Path(min_length=1, max_length=128)]
Days = Annotated[int, Query(ge=1, le=366)]


class NarrowGoalCommand(SignedCommand):
    """How often more a goal may start work without asking."""

    uses: int = Field(ge=1)


def ahead_routes(ahead: AheadRoom, prover: Prover, refused: Refusing) -> APIRouter:
    """`/ahead` and `/goals/...`: to look needs no proof, every change does."""
    router = endpoints("ahead", refused)

    @router.get("/ahead", summary="What is to come, and what may run without asking")
    async def look(days: Days = 7) -> AheadView:
        return await ahead.look(days)

    @router.post("/goals/{goal_id}/pause", summary="Pause a goal; needs a proof")
    async def pause(goal_id: GoalId, body: SignedCommand, session: Session) -> Done:
        await prover.require(session, "pause_goal", goal_id, body.proof)
        return await ahead.pause(goal_id)

    @router.post("/goals/{goal_id}/resume", summary="Run a paused goal again; needs a proof")
    async def resume(goal_id: GoalId, body: SignedCommand, session: Session) -> Done:
        await prover.require(session, "resume_goal", goal_id, body.proof)
        return await ahead.resume(goal_id)

    @router.post("/goals/{goal_id}/run", summary="One cycle of a goal now; needs a proof")
    async def run(goal_id: GoalId, body: SignedCommand, session: Session) -> Done:
        await prover.require(session, "run_goal", goal_id, body.proof)
        return await ahead.run(goal_id)

    @router.post("/goals/{goal_id}/take-back", summary="Take its approval back; needs a proof")
    async def take_back(goal_id: GoalId, body: SignedCommand, session: Session) -> Done:
        await prover.require(session, "take_back", goal_id, body.proof)
        return await ahead.take_back(goal_id)

    @router.post("/goals/{goal_id}/narrow", summary="Leave its approval fewer uses; needs a proof")
    async def narrow(goal_id: GoalId, body: NarrowGoalCommand, session: Session) -> Done:
        await prover.require(session, "narrow", f"{goal_id} {body.uses}", body.proof)
        return await ahead.narrow(goal_id, body.uses)

    @router.post("/approvals/tighten", summary="Ask as often as configured; needs a proof")
    async def tighten(body: SignedCommand, session: Session) -> Done:
        await prover.require(session, "tighten", "approvals", body.proof)
        return await ahead.tighten()

    return router
