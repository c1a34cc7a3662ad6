"""Endpoints about connections: to look needs no proof; what is done with a server does."""

from typing import Annotated

from fastapi import APIRouter, Path
from pydantic import Field

from silas.canonical import canonical_json
from silas.channels.web.choices_port import ConnectionRoom
from silas.channels.web.endpoints import Refusing, endpoints
from silas.channels.web.proofs import Prover, Session, SignedCommand
from silas.channels.web.views import Done
from silas.channels.web.views_connections import ConnectionRows, NewServer, ServerChange
from silas.channels.web.wire import Proof
from silas.types import FrozenModel

ConnectionName = Annotated[str, Path(max_length=64)]
Line = Annotated[str, Field(max_length=1_000)]
Lines = Annotated[tuple[Line, ...], Field(max_length=64)]


class AddFromSecret(FrozenModel):
    """A variable or header, and the name of the secret that it holds; never a value."""

    name: Annotated[str, Field(max_length=128)]
    scheme: Annotated[str, Field(max_length=32)] = ""
    secret: Annotated[str, Field(max_length=128)]


FromSecrets = Annotated[tuple[AddFromSecret, ...], Field(max_length=64)]


class AddServer(FrozenModel):
    """A server: a program with its arguments and its reach, or an address."""

    name: Line
    command: Line = ""
    args: Lines = ()
    url: Line = ""
    hosts: Lines = ()
    read: Lines = ()
    write: Lines = ()
    env: FromSecrets = ()
    headers: FromSecrets = ()
    proof: Proof

    @property
    def wanted(self) -> NewServer:
        """The same without its proof."""
        return NewServer.model_validate(self.model_dump(exclude={"proof"}))


class ChangeServer(AddServer):
    """A server that is there, whole, as it is to be."""

    kept: Lines = ()
    seen: Line

    @property
    def change(self) -> ServerChange:
        """The same without its proof."""
        return ServerChange.model_validate(self.model_dump(exclude={"proof"}))


def connection_routes(room: ConnectionRoom, prover: Prover, refused: Refusing) -> APIRouter:
    """`/connections...`. What lets a server do more is asked about on a card."""
    router = endpoints("connections", refused)

    @router.get("/connections", summary="Servers of tools and channels, and how they fare")
    async def look() -> ConnectionRows:
        return await room.look()

    @router.post("/connections", summary="Ask about a new server; needs a proof")
    async def add(body: AddServer, session: Session) -> Done:
        about = canonical_json(body.wanted.model_dump(mode="json"))
        await prover.require(session, "add_server", about, body.proof)
        return await room.add(body.wanted)

    @router.post("/connections/{name}/change", summary="Ask about a changed server; needs a proof")
    async def change(name: ConnectionName, body: ChangeServer, session: Session) -> Done:
        wanted = body.change.model_copy(update={"name": name})  # the path says which one it is
        about = canonical_json(wanted.model_dump(mode="json"))
        await prover.require(session, "change_server", about, body.proof)
        return await room.change(wanted)

    @router.post("/connections/{name}/trust", summary="Look at a server's tools; needs a proof")
    async def trust(name: ConnectionName, body: SignedCommand, session: Session) -> Done:
        await prover.require(session, "trust_server", name, body.proof)
        return await room.trust(name)

    @router.post("/connections/{name}/remove", summary="End and remove a server; needs a proof")
    async def remove(name: ConnectionName, body: SignedCommand, session: Session) -> Done:
        await prover.require(session, "remove_server", name, body.proof)
        return await room.remove(name)

    @router.post("/connections/{name}/retry", summary="Try a server now; needs a proof")
    async def retry(name: ConnectionName, body: SignedCommand, session: Session) -> Done:
        await prover.require(session, "retry_server", name, body.proof)
        return await room.retry(name)

    @router.post("/connections/{name}/distrust", summary="Trust a server no more; needs a proof")
    async def distrust(name: ConnectionName, body: SignedCommand, session: Session) -> Done:
        await prover.require(session, "distrust_server", name, body.proof)
        return await room.distrust(name)

    return router
