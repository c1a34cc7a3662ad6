"""Endpoints about connections: to look needs no proof; what is done with a server does."""

from typing import Annotated

from fastapi import APIRouter, Path

from silas.channels.web.choices_port import ConnectionRoom
from silas.channels.web.endpoints import Refusing, endpoints
from silas.channels.web.proofs import Proven, Prover, Session
from silas.channels.web.views import Done
from silas.channels.web.views_connections import ConnectionRows

Name = Annotated[str, Path(max_length=64)]


def connection_routes(room: ConnectionRoom, prover: Prover, refused: Refusing) -> APIRouter:
    """`/connections...`. Nothing here lets a server do more than it may already."""
    router = endpoints("connections", refused)

    @router.get("/connections", summary="Servers of tools and channels, and how they fare")
    async def look() -> ConnectionRows:
        return await room.look()

    @router.post("/connections/{name}/retry", summary="Try a server now; needs a proof")
    async def retry(name: Name, body: Proven, session: Session) -> Done:
        await prover.require(session, "retry_server", name, body.proof)
        return await room.retry(name)

    @router.post("/connections/{name}/distrust", summary="Trust a server no more; needs a proof")
    async def distrust(name: Name, body: Proven, session: Session) -> Done:
        await prover.require(session, "distrust_server", name, body.proof)
        return await room.distrust(name)

    return router
