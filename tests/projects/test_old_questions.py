"""What ended work asked is forgotten with old conversations; what may go on keeps it."""

import asyncio
from datetime import timedelta

from silas.plans import WorkItemStatus
from silas.plans.projects.questions import prune_questions
from silas.testing import Harness, MockClock
from tests.goals.kit import until
from tests.projects.kit import project_text
from tests.projects.test_questions import ASKS, BLUE, SHORT, TASKS, WORKS, Asleep, house
from tests.stream.kit import soon
from tests.work.kit import DONE

DAY = 24 * 3600.0


def _kept(h: Harness) -> int:
    with h.db.read() as tx:
        return int(tx.driver.execute("SELECT count(*) FROM work_questions").fetchone()[0])


async def test_what_ended_work_asked_is_forgotten_with_old_conversations() -> None:
    clock, channel = MockClock(), Asleep()
    async with house(channel, ASKS, DONE, WORKS, DONE, clock=clock) as h:
        running = asyncio.create_task(h.silas.run(project_text({**TASKS}, **SHORT)))
        await soon(channel.asked.wait())
        channel.answer.set_result(BLUE)
        assert (await soon(running)).status is WorkItemStatus.done
        assert _kept(h) == 1
        clock.advance(80 * DAY)
        await asyncio.sleep(0)
        assert _kept(h) == 1
        for _ in range(12):
            clock.advance(DAY)
            await asyncio.sleep(0)
        await until(lambda: _kept(h) == 0)


async def test_what_work_that_may_go_on_asked_is_kept_however_old_it_is() -> None:
    clock, channel = MockClock(), Asleep()
    async with house(channel, ASKS, DONE, WORKS, DONE, clock=clock) as h:
        running = asyncio.create_task(h.silas.run(project_text({**TASKS}, **SHORT)))
        await soon(channel.asked.wait())
        channel.answer.set_result(BLUE)
        await soon(running)
        for status in ("running", "paused", "blocked", "pending"):
            item = await h.store.get("paint")
            assert item is not None
            await h.store.update_status("paint", WorkItemStatus(status), item.budget_used)
            prune_questions(h.db, clock.now() + timedelta(days=1000))
            assert _kept(h) == 1
        await h.store.update_status("paint", WorkItemStatus.done, item.budget_used)
        prune_questions(h.db, clock.now() - timedelta(days=1))
        assert _kept(h) == 1
        prune_questions(h.db, clock.now() + timedelta(days=1))
        assert _kept(h) == 0
