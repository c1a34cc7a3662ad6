"""Forgetting conversations that are older than configured."""

from silas.audit import Audit
from silas.context.chronicle import SqlChronicleStore
from silas.errors import SilasError


async def prune_chronicle(chronicle: SqlChronicleStore, audit: Audit) -> None:
    """Forget what is over; a failure is recorded, and the next time tries again."""
    try:
        await chronicle.prune()
    except SilasError as error:
        await audit.log("chronicle_not_pruned", code=error.code)
