"""Endpoints about settings: to look and to see what a change means needs no proof; to save does."""

from typing import Annotated

from fastapi import APIRouter
from pydantic import Field, StrictBool, StrictInt, StrictStr

from silas.canonical import canonical_json
from silas.channels.web.choices_port import SettingsRoom
from silas.channels.web.endpoints import Refusing, endpoints
from silas.channels.web.proofs import Prover, Session
from silas.channels.web.views_settings import SettingRows, SettingsSaved, SettingsView
from silas.channels.web.wire import Proof
from silas.types import FrozenModel

SettingName = Annotated[str, Field(min_length=1, max_length=100)]
Value = Annotated[StrictStr, Field(max_length=100)] | StrictBool | StrictInt | None


class WantedSettings(FrozenModel):
    """Settings by their dotted names, with the values that they are to have."""

    changes: dict[SettingName, Value] = Field(min_length=1, max_length=32)


class SaveSettings(WantedSettings):
    """The same with the proof that is about them."""

    proof: Proof


def settings_routes(room: SettingsRoom, prover: Prover, refused: Refusing) -> APIRouter:
    """`/settings/...` beside `GET /settings`."""
    router = endpoints("settings", refused)

    @router.get("/settings/saved", summary="The settings that can be changed here")
    async def rows() -> SettingRows:
        return await room.rows()

    @router.post("/settings/shown", summary="What a change means; saves nothing")
    async def show(body: WantedSettings) -> SettingsView:
        return await room.show(body.changes)

    @router.post("/settings/saved", summary="Save settings, or ask about them; needs a proof")
    async def save(body: SaveSettings, session: Session) -> SettingsSaved:
        await prover.require(session, "settings", canonical_json(body.changes), body.proof)
        return await room.save(body.changes)

    return router
