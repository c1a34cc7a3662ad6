"""Endpoints about what the owner answered: may models elsewhere be shown a directory."""

from fastapi import APIRouter
from pydantic import Field

from silas.channels.web.choices_port import ShowingRoom
from silas.channels.web.endpoints import Refusing, endpoints
from silas.channels.web.proofs import Prover, Session, SignedCommand
from silas.channels.web.views import Done
from silas.channels.web.views_kept import ShowingRows

LONGEST_PATH = 4096
"""Characters of a directory."""


class AskAgain(SignedCommand):
    """The directory about which the owner wants to be asked again."""

    workspace: str = Field(min_length=1, max_length=LONGEST_PATH)


def showing_routes(room: ShowingRoom, prover: Prover, refused: Refusing) -> APIRouter:
    """`/showing/...`: to look needs no proof; to be asked again does, as it ends a never."""
    router = endpoints("showing", refused)

    @router.get("/showing", summary="Which directories models elsewhere may be shown")
    async def look() -> ShowingRows:
        return await room.look()

    @router.post("/showing/ask-again", summary="Ask about a directory again; needs a proof")
    async def ask_again(body: AskAgain, session: Session) -> Done:
        await prover.require(session, "ask_again", body.workspace, body.proof)
        return await room.ask_again(body.workspace)

    return router
