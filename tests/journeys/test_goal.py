"""The health monitor of section 13.4 over five weeks: silence, repairs, an approval that ends."""

from datetime import timedelta
from pathlib import Path

from silas.cards import PlanCard
from silas.goals.models import Outcome
from silas.plans import PlanParser, WorkItemStatus
from silas.plans.goals.schedule import STANDING_DAYS
from silas.sandbox import SandboxResult
from silas.testing import Harness, ScriptedChannel
from silas.testing.clock import MockClock
from silas.testing.tools import SandboxRun, exited
from tests.goals.kit import START, Watched, until, yes
from tests.stream.kit import entries_of

MONITOR = "goal-health-monitor"
PLAN = Path(__file__).parents[2] / "plans" / "health-monitor.md"
ALIVE = "cat state/prediction_bot.heartbeat"


class Bot(Watched):
    """The bot of 13.4, as its three checks see it."""

    def _ran(self, run: SandboxRun) -> SandboxResult:
        command = run.argv[-1]
        if "health" in command:
            self.looks += 1
            return exited(0, "ok")
        if "check_last_trade_age" in command:
            return exited(0, "120" if self.good else "9000")
        if command == ALIVE:
            return exited(0)
        self.repaired += 1
        self.good = True
        return exited(0)


def monitor() -> str:
    """13.4 whose second check looks at what a sandbox can see, with a step for its repair."""
    text = PLAN.read_text(encoding="utf-8").replace("pgrep -f prediction_bot", ALIVE)
    return text.replace("  Investigate and fix.", "  ```sh\n  restart\n  ```\n  Investigate.")


async def test_as_it_is_written_it_is_refused_before_any_card() -> None:
    channel, bot = ScriptedChannel(yes), Bot()
    async with Harness(channel, clock=MockClock(START), sandbox=bot.sandbox) as h:
        result = await h.silas.run(PLAN.read_text(encoding="utf-8"))
    assert result.status is WorkItemStatus.blocked
    assert "'bot_process_alive' asks with pgrep for processes of this machine" in result.summary
    assert channel.cards == []


async def test_five_weeks() -> None:
    channel, clock, bot = ScriptedChannel(yes), MockClock(START), Bot()
    assert PlanParser().parse(monitor()).id == MONITOR
    async with Harness(channel, clock=clock, sandbox=bot.sandbox, beside=bot.beside) as h:
        await h.silas.run(monitor())
        ended = 0
        for day in range(STANDING_DAYS + 5):
            bot.good = day % 7 != 3  # once a week it stalls
            for _ in range(4):  # awake four times a day; what lies between is missed
                ended += 1
                await _ended(bot, clock, ended)
        cycles = bot.goals.store.history(MONITOR, 10_000)
        assert len(cycles) == ended
        repaired = [cycle for cycle in cycles if cycle.outcome is Outcome.fixed]
        assert len(repaired) == bot.repaired == 5
        assert {cycle.outcome for cycle in cycles} == {Outcome.healthy, Outcome.fixed}
        spent = [use for use in await entries_of(h, "approval.used")]
        assert len(spent) == 5
        late = [card for card in channel.cards[1:] if isinstance(card, PlanCard)]
        assert [card.work_item_id for card in late] == [repaired[0].task_id]  # after 30 days
        moments = clock.now() - START
        assert sum(cycle.missed + 1 for cycle in cycles) == moments // timedelta(minutes=30)


async def _ended(bot: Bot, clock: MockClock, ended: int) -> None:
    clock.advance(6 * 3600)

    def over() -> bool:
        found = bot.goals.store.history(MONITOR, 1)
        return bool(found) and found[0].ended_at == clock.now() and bool(bot.goals.coming(MONITOR))

    await until(over)
