"""Forgetting conversations that are older than configured."""

from silas.audit import Audit
from silas.clock import Clock
from silas.context.chronicle import SqlChronicleStore
from silas.errors import SilasError

_HOUR = 3600.0


async def prune_regularly(chronicle: SqlChronicleStore, clock: Clock, audit: Audit) -> None:
    """Prune now and every hour for as long as this runs; cancel it to stop."""
    while True:
        try:
            await chronicle.prune()
        except SilasError as error:  # the next hour tries again
            await audit.log("chronicle_not_pruned", code=error.code)
        await clock.sleep(_HOUR)
