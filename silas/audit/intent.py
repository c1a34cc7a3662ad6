"""A change of something outside the record: what is wanted, and then what became of it."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any, NamedTuple

from silas.audit.models import Audit
from silas.errors import DatabaseError, SilasError, reason


class ChangeEvents(NamedTuple):
    """The names of the three entries about one change.

    Attributes:
        wanted: Before anything is written; after a kill it is the last one.
        done: Once it is written.
        failed: Where it was not; has the facts of the others, and `why`.
    """

    wanted: str
    done: str
    failed: str


class UnrecordedChange(DatabaseError):
    """A change was made, and what became of it could not be recorded; the sentence says both."""


@asynccontextmanager
async def record_change(
    audit: Audit, events: ChangeEvents, **facts: Any
) -> AsyncGenerator[dict[str, Any]]:
    """Record what is wanted before the block, and after it what happened.

    What the block puts into the dict it is given is in the entry about what was done, too.

    A change that cannot be recorded is not begun.

    Raises:
        DatabaseError: What became of it could not be recorded; of a change that failed, too, the
            sentence has both, and the cause is why the change failed. `UnrecordedChange` where it
            was made.
    """
    await audit.log(events.wanted, **facts)
    found: dict[str, Any] = {}
    try:
        yield found
    except Exception as error:
        why = error.message if isinstance(error, SilasError) else type(error).__name__
        try:
            await audit.log(events.failed, **facts, why=why)
        except DatabaseError as unrecorded:
            first = f"{reason(error) or why}."
            why = unrecorded.message
            raise DatabaseError(
                f"{first} That it failed could not be recorded: {why}", code=unrecorded.code
            ) from error
        raise
    try:
        await audit.log(events.done, **facts, **found)
    except DatabaseError as unrecorded:
        why = unrecorded.message
        raise UnrecordedChange(
            f"It is done, and that could not be recorded: {why}", code=unrecorded.code
        ) from unrecorded
