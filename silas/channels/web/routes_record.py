"""Endpoints about what happened: the activity, one entry of it, and the measures of spec 0.5.6."""

from typing import Annotated

from fastapi import APIRouter, Path, Query

from silas.audit.kinds import Kind
from silas.channels.web.endpoints import Refusing, endpoints
from silas.channels.web.port import ActivityRecord
from silas.channels.web.views import Activity, EntryDetail, Metric

_NEWEST = 2**53 - 1  # the largest whole number that a page can hold

BeforeSeq = Annotated[
    int, Query(ge=0, le=_NEWEST, description="Only older ones; 0 for the newest.")
]
Last = Annotated[int, Query(ge=1, le=200, description="How many at most.")]


def record_routes(record: ActivityRecord, refused: Refusing) -> APIRouter:
    """`/activity`, `/activity/{seq}`, `/metrics/ux`."""
    router = endpoints("activity", refused)

    @router.get("/activity", summary="What happened, the newest first")
    async def activity(
        before: BeforeSeq = 0,
        last: Last = 50,
        kind: Annotated[Kind | None, Query(description="Only this kind.")] = None,
        item: Annotated[str, Query(max_length=128, description="Only this work item.")] = "",
        everything: Annotated[
            bool, Query(alias="all", description="With the steps in between.")
        ] = False,
    ) -> Activity:
        return await record.activity(
            before=before, last=last, kind=kind, item=item, everything=everything
        )

    @router.get("/activity/{seq}", summary="One entry: what was shown, signed and run")
    async def entry(seq: Annotated[int, Path(ge=1, le=_NEWEST)]) -> EntryDetail:
        return await record.entry(seq)

    @router.get("/metrics/ux", summary="How well the cockpit does")
    async def ux_metrics() -> tuple[Metric, ...]:
        return await record.ux_metrics()

    return router
