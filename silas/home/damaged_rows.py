"""What was set aside because it cannot be read, as the owner is told of it."""

from collections.abc import Awaitable, Callable

from silas.audit import Audit
from silas.autonomy.store import SqlAutonomyStore
from silas.channels.web.transcript import check_newest
from silas.clock import SystemClock
from silas.context.conversation_store import ConversationStore
from silas.damage import DamagedRow, damaged_rows, delete_kept_texts, mark_told
from silas.db import Database, at_once
from silas.home.row_forms import check_forms
from silas.memory.store import SqlMemoryStore
from silas.plans.store import SqlWorkItemStore
from silas.plans.waiting_plans import SqlWaitingPlans
from silas.stream.inbox import SqlInbox
from silas.stream.person_queue import waiting_in
from silas.tools.outcomes import SqlOutcomeStore
from silas.types import OWNER

_LOOKED_AT = 1000  # rows of what ended
_NAMED = 5  # rows that one message names


def all_damaged(db: Database) -> list[DamagedRow]:
    """What was set aside, after a look at what nobody may have read yet."""
    clock = SystemClock()
    store = SqlWorkItemStore(db, clock)
    at_once(store.every())
    at_once(store.check_results())
    at_once(SqlWaitingPlans(db, clock).all())
    SqlInbox(db, clock, ConversationStore(db, clock).note_words).list_left()
    SqlOutcomeStore(db, clock).check()
    SqlAutonomyStore(db).waiting(OWNER)
    SqlAutonomyStore(db).open_proposals(OWNER)
    waiting_in(db)
    SqlMemoryStore(db, clock).check()
    _look_at_the_clocks_own(db)
    check_newest(db)
    check_forms(db)
    return damaged_rows(db)


def _look_at_the_clocks_own(db: Database) -> None:
    from silas.goals.store import SqlGoalStore  # noqa: PLC0415 - few commands need it
    from silas.jobs.store import SqlJobStore  # noqa: PLC0415 - as above
    from silas.reminders.store import SqlReminderStore  # noqa: PLC0415 - as above

    jobs, goals = SqlJobStore(db), SqlGoalStore(db)
    jobs.list_open("", "")
    jobs.list_ended("", "", _LOOKED_AT)
    SqlReminderStore(db).waiting()
    for goal in goals.all():
        goals.history(goal.id, _LOOKED_AT)


async def tell_damaged(db: Database, audit: Audit, tell: Callable[[str], Awaitable[None]]) -> None:
    """Tell the owner once of every row that was set aside, on record."""
    delete_kept_texts(db)
    fresh = [damaged for damaged in damaged_rows(db) if not damaged.told]
    if not fresh:
        return
    for damaged in fresh:
        await audit.log("row_set_aside", place=damaged.place, key=damaged.key)
    await tell(words_for(fresh))
    for damaged in fresh:
        mark_told(db, damaged)


def words_for(damaged: list[DamagedRow]) -> str:
    """What is set aside, a line each; `silas doctor` has all of them."""
    lines = [one.words for one in damaged[:_NAMED]]
    if len(damaged) > _NAMED:
        lines.append(f"And {len(damaged) - _NAMED} more: `silas doctor` names them.")
    return "\n".join(lines)
