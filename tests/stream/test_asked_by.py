"""Which message asked for work: the place of its result, whatever was said meanwhile."""

from silas.plans import NO_MESSAGE, AskedBy
from silas.services.work import scope_work
from silas.testing import Harness
from silas.types import OWNER
from tests.stream.kit import proposing, to_planner
from tests.stream.test_going_on import CLOCK, PLAN, Beside, models, talking, two_plans_wait

NAME = "task-example"


def _asked_by(h: Harness, name: str = NAME) -> AskedBy:
    return scope_work(h.db, CLOCK).asked_by(name)


async def test_work_knows_the_message_that_asked_for_it() -> None:
    async with two_plans_wait() as (channel, h):
        assert _asked_by(h) == AskedBy("", "m1")  # also while it waits: it may be asked again later
        channel.decides(0, "approved")
        await channel.until(3)
        assert _asked_by(h) == AskedBy("", "m1")
        channel.decides(1, "declined")
        await channel.until(4)
        assert _asked_by(h, "task-other") == NO_MESSAGE


async def test_of_a_plan_that_was_changed_the_message_that_asked_last_counts() -> None:
    channel = Beside()
    given = models(to_planner(), to_planner(), planner=[proposing(PLAN), proposing(PLAN)])
    async with talking(channel, given) as h:
        channel.say("m1", "write the report")
        await channel.until(1, cards=1)
        channel.decides(0, "edit_requested")
        await channel.until(2)
        channel.say("m2", "shorter")
        await channel.until(3, cards=2)
        channel.decides(1, "approved")
        await channel.until(4)
        assert _asked_by(h) == AskedBy("", "m2")


async def test_a_message_of_another_conversation_or_of_somebody_else_is_none() -> None:
    async with Harness(Beside(), models=models(), clock=CLOCK) as h:
        work = scope_work(h.db, CLOCK)
        work.claim("task-1", f"{OWNER}/c1", (), "m1")
        work.claim("task-1", OWNER, (), "m2")
        assert work.asked_by("task-1") == AskedBy("c1", "m1")
        work.claim("task-2", "someone", (), "m3")
        assert work.asked_by("task-2") == NO_MESSAGE
        assert work.asked_by("task-3") == NO_MESSAGE
