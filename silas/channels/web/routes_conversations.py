"""Endpoints about the owner's conversations: to begin, rename, put away, bring back and delete."""

from typing import Annotated, Literal

from fastapi import APIRouter, Path, Query
from pydantic import Field

from silas.channels.web.conversations import show_conversation, shown_conversations
from silas.channels.web.conversations_port import ConversationRoom
from silas.channels.web.endpoints import Refusing, endpoints
from silas.channels.web.events import ConversationView
from silas.channels.web.proofs import Prover, Session, SignedCommand
from silas.channels.web.views import Done
from silas.language import tr
from silas.types import FrozenModel

ConversationId = Annotated[str, Path(min_length=1, max_length=128)]


class TitleWanted(FrozenModel):
    """A title."""

    title: str = Field(max_length=1000)


class ConversationRows(FrozenModel):
    """The conversations, the one that was last said something in first."""

    conversations: tuple[ConversationView, ...]


class SearchHitView(FrozenModel):
    """A message that fits a search; its conversation is `first` for the main one."""

    conversation: str
    title: str
    archived: bool
    at: str
    who: str
    external: bool
    excerpt: str


class FoundRows(FrozenModel):
    """What a search found, the best first."""

    found: tuple[SearchHitView, ...]


def _found_view(one: object) -> SearchHitView:
    return SearchHitView.model_validate(one, from_attributes=True)


class ConversationExportView(FrozenModel):
    """An export: a name for its file, and what it holds."""

    name: str
    document: str


def conversation_routes(room: ConversationRoom, prover: Prover, refused: Refusing) -> APIRouter:
    """`/conversations...`: only to delete what was said needs a proof."""
    conversations = room.store
    router = endpoints("conversations", refused)

    @router.get("/conversations", summary="Your conversations, the newest first")
    async def rows() -> ConversationRows:
        return ConversationRows(conversations=shown_conversations(conversations))

    @router.get("/conversations/search", summary="What was said in all of them and fits")
    async def search(q: Annotated[str, Query(max_length=1000)] = "") -> FoundRows:
        found = await room.find(q)
        return FoundRows(found=tuple(map(_found_view, found)))

    @router.post("/conversations", summary="Begin one, or the one that nothing was said in yet")
    async def begin() -> ConversationView:
        return show_conversation(conversations.begin())

    @router.post("/conversations/{conversation_id}/rename", summary="Give it another title")
    async def rename(conversation_id: ConversationId, body: TitleWanted) -> ConversationView:
        return show_conversation(conversations.rename(conversation_id, body.title))

    @router.post(
        "/conversations/{conversation_id}/archive", summary="Put it away; nothing is deleted"
    )
    async def archive(conversation_id: ConversationId) -> ConversationView:
        return show_conversation(await room.archive(conversation_id))

    @router.post("/conversations/{conversation_id}/restore", summary="Bring it back")
    async def restore(conversation_id: ConversationId) -> ConversationView:
        return show_conversation(await room.restore(conversation_id))

    @router.get("/conversations/{conversation_id}/deletion", summary="What would go with it")
    async def deletion(conversation_id: ConversationId) -> Done:
        counts = room.deletion.counts(conversation_id)
        return Done(words=counts.words(conversations.one(conversation_id).called))

    @router.post("/conversations/{conversation_id}/delete", summary="For good; needs a proof")
    async def delete(
        conversation_id: ConversationId, body: SignedCommand, session: Session
    ) -> Done:
        await prover.require(session, "delete_conversation", conversation_id, body.proof)
        row, _ = await room.deletion.delete(conversation_id)
        return Done(words=tr("“{called}” is deleted.", called=row.called))

    @router.get("/conversations/{conversation_id}/export", summary="One as a document of its own")
    async def export(
        conversation_id: ConversationId,
        form: Annotated[Literal["markdown", "json"], Query(alias="format")] = "markdown",
    ) -> ConversationExportView:
        ending = "md" if form == "markdown" else "json"
        document = await room.export(conversation_id, form)
        return ConversationExportView(name=f"{conversation_id}.{ending}", document=document)

    return router
