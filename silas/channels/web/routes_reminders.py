"""Endpoints about reminders: what is said is shown to the minute before it counts."""

from typing import Annotated

from fastapi import APIRouter, Path
from pydantic import Field

from silas.channels.web.endpoints import Refusing, endpoints
from silas.channels.web.port import ReminderRoom
from silas.channels.web.proofs import Prover, Session, SignedCommand
from silas.channels.web.views import Done
from silas.channels.web.views_kept import ReminderRows, ReminderView
from silas.types import FrozenModel

ReminderId = Annotated[str, Path(min_length=1, max_length=128)]
Said = Annotated[str, Field(min_length=1, max_length=500)]


class SaidReminder(FrozenModel):
    """What to be reminded of and when, in one sentence; for a move, when alone."""

    text: Said


def reminder_routes(reminders: ReminderRoom, prover: Prover, refused: Refusing) -> APIRouter:
    """`/reminders...`: to look and to read a sentence needs no proof, every change does."""
    router = endpoints("reminders", refused)

    @router.get("/reminders", summary="What you are to be reminded of, the first to come first")
    async def rows() -> ReminderRows:
        return await reminders.rows()

    @router.post("/reminders/read", summary="What a sentence would make; makes nothing")
    async def read(body: SaidReminder) -> ReminderView:
        return await reminders.read(body.text)

    @router.post("/reminders/{reminder_id}/read", summary="Where a move would lead; moves nothing")
    async def read_move(reminder_id: ReminderId, body: SaidReminder) -> ReminderView:
        return await reminders.read_move(reminder_id, body.text)

    @router.post("/reminders/shown/{shown_id}", summary="Let what was shown count; needs a proof")
    async def confirm(shown_id: ReminderId, body: SignedCommand, session: Session) -> Done:
        await prover.require(session, "remind", shown_id, body.proof)
        return await reminders.confirm(shown_id)

    @router.post("/reminders/{reminder_id}/cancel", summary="Cancel a reminder; needs a proof")
    async def cancel(reminder_id: ReminderId, body: SignedCommand, session: Session) -> Done:
        await prover.require(session, "cancel_reminder", reminder_id, body.proof)
        return await reminders.cancel(reminder_id)

    return router
