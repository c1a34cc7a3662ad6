"""Endpoints about what there is: tools, workers, memories, settings, health, and the persona."""

from collections.abc import Mapping
from typing import Annotated

from fastapi import APIRouter, Depends, Query
from pydantic import Field

from silas.channels.web.answers import AnsweringRoute
from silas.channels.web.port import House, PersonaRoom
from silas.channels.web.proofs import session_of
from silas.channels.web.views import Doctor, Memories, Settings, ToolRow, WorkerRow
from silas.types import Frozen

Word = Annotated[str, Field(min_length=1, max_length=64)]


class Preset(Frozen):
    """A preset of the personality by its name."""

    preset: Word


class Feedback(Frozen):
    """How the owner was spoken to: `too_harsh`, `too_soft`, `too_wordy`, `too_brief`, ..."""

    type: Word


class Tune(Frozen):
    """Axes and how far to move each; `persist_to_baseline` keeps it beyond this conversation."""

    delta: dict[Word, Annotated[float, Field(ge=-1.0, le=1.0)]] = Field(max_length=16)
    persist_to_baseline: bool = False


def house_routes(house: House) -> APIRouter:
    """`/tools`, `/workers`, `/memory`, `/settings`, `/doctor`: they only look."""
    router = APIRouter(
        tags=["house"], route_class=AnsweringRoute, dependencies=[Depends(session_of)]
    )

    @router.get("/tools", summary="Every tool and how it fares")
    async def tools() -> tuple[ToolRow, ...]:
        return await house.tools()

    @router.get("/workers", summary="Your workers")
    async def workers() -> tuple[WorkerRow, ...]:
        return await house.workers()

    @router.get("/memory", summary="What Silas remembers")
    async def memory(q: Annotated[str, Query(max_length=500)] = "") -> Memories:
        return await house.memory(q)

    @router.get("/settings", summary="The settings that matter, as they are in force")
    async def settings() -> Settings:
        return await house.settings()

    @router.get("/doctor", summary="Every part that Silas needs, and whether it is well")
    async def doctor() -> Doctor:
        return await house.doctor()

    return router


def persona_routes(persona: PersonaRoom) -> APIRouter:
    """`/persona/...` of spec 8.1."""
    router = APIRouter(
        tags=["persona"], route_class=AnsweringRoute, dependencies=[Depends(session_of)]
    )

    @router.get("/persona/state", summary="How Silas speaks now")
    async def state() -> Mapping[str, object]:
        return await persona.state()

    @router.post("/persona/preset", summary="Take another preset")
    async def preset(body: Preset) -> Mapping[str, object]:
        return await persona.preset(body.preset)

    @router.post("/persona/feedback", summary="Say how you were spoken to")
    async def feedback(body: Feedback) -> Mapping[str, object]:
        return await persona.feedback(body.type)

    @router.post("/persona/tune", summary="Move single axes")
    async def tune(body: Tune) -> Mapping[str, object]:
        return await persona.tune(body.delta, body.persist_to_baseline)

    return router
