"""Endpoints about attached files: announced with a proof, sent as they are, listed, removed."""

from collections.abc import AsyncGenerator
from typing import Annotated

from fastapi import APIRouter, Path, Request
from pydantic import Field
from starlette.requests import ClientDisconnect
from starlette.responses import Response, StreamingResponse

from silas.canonical import canonical_json
from silas.channels.web.conversations_port import AttachmentRoom
from silas.channels.web.endpoints import Refusing, endpoints
from silas.channels.web.proofs import Prover, Session, SignedCommand
from silas.channels.web.routes_conversations import ConversationId
from silas.channels.web.wire import Proof
from silas.context.attachments import AttachmentRow
from silas.errors import ChannelError
from silas.language import tr_later
from silas.types import FrozenModel

AttachmentId = Annotated[str, Path(min_length=1, max_length=128)]

_BYTES = "application/octet-stream"


class FileAnnounced(FrozenModel):
    """A file that comes; the proof is about its conversation, digest, name and size."""

    name: str = Field(min_length=1, max_length=1000)
    size: int = Field(ge=0, le=10**15)
    digest: str = Field(pattern=r"^[0-9a-f]{64}$")
    proof: Proof


class AttachmentView(FrozenModel):
    """An attached file; `name` is what it is called here."""

    id: str
    name: str
    size: int
    digest: str
    at: str
    removed: bool


class AttachmentRows(FrozenModel):
    """The files of a conversation, the first attached first."""

    attachments: tuple[AttachmentView, ...]


def picture_answer(made: bytes) -> Response:
    """A picture that was made anew: a JPEG, else a PNG."""
    kind = "image/jpeg" if made.startswith(b"\xff\xd8") else "image/png"
    return Response(made, media_type=kind)


def shown_attachment(row: AttachmentRow) -> AttachmentView:
    """One of them."""
    return AttachmentView(
        id=row.id,
        name=row.name,
        size=row.size,
        digest=row.digest,
        at=row.attached_at,
        removed=row.state == "removed",
    )


def attachment_routes(attached: AttachmentRoom, prover: Prover, refused: Refusing) -> APIRouter:
    """`/conversations/{id}/attachments` and `/attachments...`."""
    router = endpoints("attachments", refused)

    @router.get("/conversations/{conversation_id}/attachments", summary="What is attached to it")
    async def rows(conversation_id: ConversationId) -> AttachmentRows:
        found = attached.of(conversation_id)
        return AttachmentRows(attachments=tuple(map(shown_attachment, found)))

    @router.post(
        "/conversations/{conversation_id}/attachments",
        summary="Say which file you attach; needs a proof",
    )
    async def announce(
        conversation_id: ConversationId, body: FileAnnounced, session: Session
    ) -> AttachmentView:
        subject = canonical_json(
            {
                "conversation": conversation_id,
                "digest": body.digest,
                "name": body.name,
                "size": body.size,
            }
        )
        await prover.require(session, "attach", subject, body.proof)
        row = await attached.announce(conversation_id, body.name, body.size, body.digest)
        return shown_attachment(row)

    @router.post("/attachments/{attachment_id}/content", summary="The bytes of what you announced")
    async def receive(
        attachment_id: AttachmentId, request: Request, session: Session
    ) -> AttachmentView:
        row = await attached.receive(attachment_id, _pieces(request), session.device)
        return shown_attachment(row)

    @router.get("/attachments/{attachment_id}/content", summary="An attached file, as it was sent")
    async def content(attachment_id: AttachmentId) -> StreamingResponse:
        saved = {"Content-Disposition": "attachment"}
        return StreamingResponse(attached.content(attachment_id), media_type=_BYTES, headers=saved)

    @router.get(
        "/attachments/{attachment_id}/picture", summary="A picture, made anew in the sandbox"
    )
    async def picture(attachment_id: AttachmentId) -> Response:
        return picture_answer(await attached.picture(attachment_id))

    @router.post("/attachments/{attachment_id}/remove", summary="Delete one; needs a proof")
    async def remove(
        attachment_id: AttachmentId, body: SignedCommand, session: Session
    ) -> AttachmentView:
        await prover.require(session, "remove_attachment", attachment_id, body.proof)
        return shown_attachment(await attached.remove(attachment_id))

    return router


async def _pieces(request: Request) -> AsyncGenerator[bytes]:
    """What comes, as it comes. Raises `ChannelError` where it breaks off."""
    try:
        async for piece in request.stream():
            yield piece
    except ClientDisconnect as error:
        raise ChannelError(
            tr_later("The file broke off before all of it had come; attach it once more."),
            code="E_CHANNEL_GONE",
        ) from error
