"""A folder by the clock: a goal of `cycle: tidy` shows cards of batches, and moves what is approved
on them (spec 5.1.5).
"""

import asyncio
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from pydantic_ai.models import Model

from silas.approval.revocation import revoke
from silas.canonical import canonical_bytes, sha256_hex
from silas.cards import Card, PlanCard
from silas.cards.models import BatchReviewCard
from silas.goals.models import GoalState, Outcome
from silas.plans import PlanError, PlanParser, WorkItemStatus
from silas.plans.goals.limits import unable_goal
from silas.stop import Sentinel
from silas.testing import Harness, ScriptedChannel, ScriptedModel, plan_text
from silas.testing.clock import MockClock
from silas.types import Risk
from tests.batches.folders import PDF, PNG, listed, put
from tests.goals.kit import Watched, cycles, until, yes
from tests.stream.kit import entries_of

START = datetime(2026, 11, 24, 8, 10, tzinfo=UTC)  # a Tuesday
GOAL = "goal-tidy"
FRIDAY = timedelta(days=3, hours=8, minutes=50).total_seconds()  # at six in Vienna
WEEK = 7 * 24 * 3600.0
WAITS = 24 * 3600.0


def batches(channel: ScriptedChannel) -> list[BatchReviewCard]:
    """The cards about files."""
    return [card for card in channel.cards if isinstance(card, BatchReviewCard)]


def no_models() -> dict[str, Model[Any]]:
    """Models that answer nothing."""
    model = ScriptedModel([])
    return {"proxy": model, "planner": model, "executor": model}


class Weekly:
    """A Silas whose models answer nothing, and a folder with two files."""

    def __init__(self, base: Path) -> None:
        self.home, self.place = base / "silas", base / "Downloads"
        self.home.mkdir()
        self.place.mkdir()
        self.clock, self.watched = MockClock(START), Watched()
        self.fill()
        self.channel = ScriptedChannel(yes)

    def fill(self) -> None:
        """Two files of yesterday."""
        put(self.place, "a.pdf", PDF, now=self.clock.now())
        put(self.place, "c.png", PNG, now=self.clock.now())

    def plan(self, **changes: Any) -> str:
        fields: dict[str, Any] = {
            "id": GOAL,
            "type": "goal",
            "title": "Tidy Downloads",
            "cycle": "tidy",
            "schedule": "0 18 * * 5",
            "workspace": str(self.place),
            "verify": [],
            "body": "",
        }
        return plan_text(**{**fields, **changes})

    def house(self, answer: Callable[[Card[Any]], Any] = yes) -> Harness:
        self.channel = ScriptedChannel(answer)
        return Harness(
            self.channel,
            models=no_models(),
            clock=self.clock,
            home=self.home,
            beside=self.watched.beside,
        )

    async def after(self, seconds: float, ended: int) -> Any:
        """The last cycle, once so many ended."""
        self.clock.advance(seconds)
        await until(lambda: len(self.cycles()) >= ended)
        return self.cycles()[0]

    def cycles(self) -> list[Any]:
        """Those that ended, the newest first."""
        return cycles(self.watched, GOAL)


@pytest.fixture
def weekly(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Weekly:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / ".config"))
    return Weekly(tmp_path)


async def test_each_time_what_is_approved_on_its_card_is_moved_and_told(weekly: Weekly) -> None:
    async with weekly.house() as h:
        result = await h.silas.run(weekly.plan())
        assert result.status is WorkItemStatus.healthy
        (plan,) = weekly.channel.cards
        assert isinstance(plan, PlanCard)
        assert plan.effect.startswith("Looks at files in `Downloads` by the clock and asks you")
        assert plan.risk is Risk.low
        alone = await h.silas.ask("what may you do without asking?")
        assert "Nothing" in alone.text
        when = next(one for one in plan.details if one.heading.startswith("When it runs"))
        assert "nothing is moved without a yes to its card" in when.lines[0]
        first = await weekly.after(FRIDAY, 1)
        assert (first.outcome, first.words) == (Outcome.done, "2 files were moved.")
        assert set(listed(weekly.place)) == {"Documents/a.pdf", "Pictures/c.png"}
        (card,) = batches(weekly.channel)
        assert card.rationale.startswith("Goal “Tidy Downloads”: ")
        assert (card.kept, card.outlives) == (True, True)
        told = [
            text
            for text in weekly.channel.texts
            if text.startswith("Goal “Tidy Downloads”: Moved 2")
        ]
        assert len(told) == 1
        said = len(weekly.channel.texts)
        quiet = await weekly.after(WEEK, 2)  # nothing to sort
        assert (quiet.outcome, quiet.words) == (Outcome.healthy, "")
        assert (len(weekly.channel.texts), len(batches(weekly.channel))) == (said, 1)
        put(weekly.place, "new.pdf", PDF, now=weekly.clock.now())
        await weekly.after(WEEK, 3)
        assert len(batches(weekly.channel)) == 2
        assert "Documents/new.pdf" in listed(weekly.place)


@pytest.mark.proves("S5.1.5-APPROVED-BATCHES-ONLY", "S5.1.5-OUTSIDE-SCOPE-WAITS")
async def test_the_yes_to_the_goal_moves_nothing_and_spends_nothing(weekly: Weekly) -> None:
    def only_the_goal(card: Card[Any]) -> Any:
        return yes(card) if isinstance(card, PlanCard) else card.safe

    before = listed(weekly.place)
    async with weekly.house(only_the_goal) as h:
        await h.silas.run(weekly.plan())
        last = await weekly.after(FRIDAY, 1)
        assert (last.outcome, last.words) == (Outcome.done, "Nothing was moved.")
        assert listed(weekly.place) == before
        assert await entries_of(h, "approval.used") == []
        assert len(await entries_of(h, "batch_reviewed")) == 1


async def test_an_approval_of_a_batch_binds_the_goal_that_asked(weekly: Weekly) -> None:
    async with weekly.house() as h:
        await h.silas.run(weekly.plan())
        await weekly.after(FRIDAY, 1)
        (card,) = batches(weekly.channel)
        bound = {
            "goal_id": GOAL,
            "action": "move",
            "item_ids": list(card.item_ids),
            "count": len(card.item_ids),
        }
        (used,) = await entries_of(h, "approval.used")
        assert used["digest"] == sha256_hex(canonical_bytes(bound))


class Waiting(ScriptedChannel):
    """A channel whose batch cards wait until they are let go, or for their time."""

    def __init__(self, clock: MockClock) -> None:
        super().__init__(yes)
        self.clock, self.open, self.answered = clock, 0, asyncio.Event()

    async def ask(self, to: str, card: Card[Any]) -> Any:
        if not isinstance(card, BatchReviewCard):
            return await super().ask(to, card)
        self.cards.append(card)
        timer = asyncio.ensure_future(self.clock.sleep(card.timeout_seconds))
        said = asyncio.ensure_future(self.answered.wait())
        await asyncio.sleep(0)  # from here on its time passes
        self.open += 1
        try:
            done, _ = await asyncio.wait({timer, said}, return_when=asyncio.FIRST_COMPLETED)
            timer.cancel()
            return yes(card) if said in done else card.safe
        finally:
            self.open -= 1


def waiting_house(weekly: Weekly) -> tuple[Harness, Waiting]:
    channel = Waiting(weekly.clock)
    weekly.channel = channel
    house = Harness(
        channel,
        models=no_models(),
        clock=weekly.clock,
        home=weekly.home,
        beside=weekly.watched.beside,
        settings={"scheduler": {"jobs_at_once": 1}, "batch_review": {"default_size": 1}},
    )
    return house, channel


async def test_a_card_that_lapses_decides_nothing_and_the_next_cycle_shows_it_again(
    weekly: Weekly,
) -> None:
    before = listed(weekly.place)
    house, channel = waiting_house(weekly)
    async with house as h:
        await h.silas.run(weekly.plan())
        weekly.clock.advance(FRIDAY)
        await until(lambda: channel.open == 1)
        last = await weekly.after(WAITS, 1)
        assert last.words == (
            "Nothing was moved. A card got no answer in its time; the next cycle shows it again."
        )
        assert len(batches(channel)) == 1  # of two: nobody is there
        assert await entries_of(h, "batch_reviewed") == []
        assert len(await entries_of(h, "card_timed_out")) == 1
        assert weekly.watched.goals.get(GOAL).failing == 0
        weekly.clock.advance(WEEK)
        await until(lambda: channel.open == 1)
        again, first = batches(channel)[-1], batches(channel)[0]
        assert again.item_ids == first.item_ids
    assert listed(weekly.place) == before


async def test_while_a_card_waits_there_is_no_second_one_and_other_goals_run(
    weekly: Weekly,
) -> None:
    house, channel = waiting_house(weekly)
    other = "goal-other"
    async with house as h:
        await h.silas.run(weekly.plan(schedule="0 * * * *"))
        await h.silas.run(weekly.plan(id=other, schedule="30 10 * * *"))
        weekly.clock.advance(50 * 60)
        await until(lambda: channel.open == 1)
        weekly.clock.advance(3600)
        await until(lambda: bool(cycles(weekly.watched, other)))
        (skipped,) = cycles(weekly.watched, other)
        assert skipped.outcome is Outcome.healthy
        assert skipped.words == "Its files are being asked about already."
        assert len(batches(channel)) == 1
        weekly.clock.advance(2 * 3600)
        channel.answered.set()
        await until(lambda: bool(weekly.cycles()))
        (last,) = weekly.cycles()
        assert (last.words, last.missed) == ("2 files were moved.", 3)
        assert len(batches(channel)) == 2  # the batches of one file each


async def test_killed_while_a_card_waits_it_is_shown_again_and_nothing_is_moved_twice(
    weekly: Weekly,
) -> None:
    house, channel = waiting_house(weekly)
    async with house as h:
        await h.silas.run(weekly.plan())
        weekly.clock.advance(FRIDAY)
        await until(lambda: channel.open == 1)
        channel.answered.set()  # the first file is moved, and the second asked about
        await until(lambda: channel.open == 0)
        channel.answered.clear()
        await until(lambda: len(batches(channel)) == 2 and channel.open == 1)
    assert len(listed(weekly.place)) == 2
    moved = {name for name in listed(weekly.place) if "/" in name}
    assert len(moved) == 1
    async with weekly.house() as h:
        await until(lambda: bool(weekly.cycles()))
        (last,) = weekly.cycles()
        assert (last.outcome, last.words) == (Outcome.done, "1 file was moved.")
        assert len(batches(weekly.channel)) == 1
        assert len(await entries_of(h, "batch_moving")) == 2
    assert set(listed(weekly.place)) == {"Documents/a.pdf", "Pictures/c.png"}


async def test_missed_times_are_one_and_one_can_be_run_at_once(weekly: Weekly) -> None:
    async with weekly.house() as h:
        await h.silas.run(weekly.plan())
        weekly.watched.goals.run_now(GOAL)
        await until(lambda: bool(weekly.cycles()))
        put(weekly.place, "new.pdf", PDF, now=weekly.clock.now())
        last = await weekly.after(FRIDAY + 3 * WEEK, 2)
        assert (last.missed, last.words) == (3, "1 file was moved.")
        weekly.watched.goals.pause(GOAL)
        put(weekly.place, "late.pdf", PDF, now=weekly.clock.now())
        weekly.clock.advance(WEEK)
        weekly.watched.goals.resume(GOAL)
        assert len(batches(weekly.channel)) == 2
        await weekly.after(WEEK, 3)
        assert "Documents/late.pdf" in listed(weekly.place)


async def test_a_yes_that_is_taken_back_and_a_stop_show_no_card(weekly: Weekly) -> None:
    async with weekly.house() as h:
        await h.silas.run(weekly.plan())
        goal = await h.store.get(GOAL)
        assert goal is not None
        assert goal.approval_token is not None
        Sentinel(h.config.data_dir).place()
        weekly.clock.advance(FRIDAY)
        for _ in range(50):
            await asyncio.sleep(0)
        assert (weekly.cycles(), batches(weekly.channel)) == ([], [])
        assert await revoke(goal.approval_token, weekly.watched.parts.nonces, h.audit)
        Sentinel(h.config.data_dir).remove()
        last = await weekly.after(120, 1)
        assert last.outcome is Outcome.refused
        assert weekly.watched.goals.get(GOAL).state is GoalState.paused
        assert batches(weekly.channel) == []


async def test_after_the_standing_time_it_asks_on(weekly: Weekly) -> None:
    async with weekly.house() as h:
        await h.silas.run(weekly.plan())
        last = await weekly.after(FRIDAY + 9 * WEEK, 1)
        assert (last.outcome, last.words) == (Outcome.done, "2 files were moved.")
        assert len(await entries_of(h, "approval.used")) == 1  # that of the batch


async def test_a_folder_that_cannot_be_tidied_is_told_each_time_and_waits_longer(
    weekly: Weekly,
) -> None:
    async with weekly.house() as h:
        await h.silas.run(weekly.plan(schedule="*/10 * * * *"))
        (weekly.place / ".git").mkdir()
        for ended in range(1, 6):
            (coming,) = weekly.watched.goals.coming(GOAL)
            last = await weekly.after((coming - weekly.clock.now()).total_seconds(), ended)
            assert last.outcome is Outcome.not_done
            assert "is a project or holds what programs start from" in last.words
        told = [text for text in weekly.channel.texts if text.startswith("Goal “Tidy Downloads”: ")]
        assert len(told) == 5
        assert weekly.watched.goals.get(GOAL).state is GoalState.paused
        assert weekly.cycles()[0].due - weekly.cycles()[-1].due >= timedelta(minutes=15 * 7)
        assert batches(weekly.channel) == []


@pytest.mark.parametrize("how", ["gone", "another", "link"])
async def test_a_folder_that_is_not_the_one_of_the_yes_pauses_the_goal(
    weekly: Weekly, how: str
) -> None:
    async with weekly.house() as h:
        await h.silas.run(weekly.plan())
        aside = weekly.place.rename(weekly.place.with_name("aside"))
        if how == "another":
            weekly.place.mkdir()
            weekly.fill()
        elif how == "link":
            weekly.place.symlink_to(aside)
        last = await weekly.after(FRIDAY, 1)
        assert last.outcome is Outcome.refused
        assert batches(weekly.channel) == []
        (told,) = [
            text for text in weekly.channel.texts if text.startswith("Goal “Tidy Downloads”: ")
        ]
        assert "It is paused. " in told


@pytest.mark.parametrize(
    ("place", "says"),
    [
        ("nowhere", "There is no folder"),
        ("linked", "leads by a link to"),
        (".hidden", "is hidden"),
        (".", "holds folders that programs look for"),
        ("silas", "holds Silas's own data"),
        ("file", "is a file and no folder"),
    ],
)
async def test_a_folder_that_cannot_be_tidied_is_told_before_a_card(
    weekly: Weekly, place: str, says: str
) -> None:
    base = weekly.place.parent
    (base / "linked").symlink_to(weekly.place)
    (base / ".hidden").mkdir()
    (base / "file").touch()
    async with weekly.house() as h:
        result = await h.silas.run(weekly.plan(workspace=str(base / place)))
        assert says in (result.last_error or result.summary)
        assert weekly.channel.cards == []


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"body": "Delete it."}, "take its briefing out of it"),
        ({"workspace": None}, "no folder"),
        ({"schedule": "always_on", "agent": "ephemeral"}, "ask without a pause"),
        ({"writes": ["*"]}, "take `writes` out of it"),
        ({"network": ["example.org"]}, "take `network` out of it"),
        ({"on_failure": "spawn_task", "failure_context": "x"}, "take `on_failure` out of it"),
        ({"verify": [{"name": "n", "run": "true", "expect": {"exit_code": 0}}]}, "take `verify`"),
    ],
)
def test_what_it_does_not_do_is_refused_before_a_card(
    weekly: Weekly, changes: dict[str, Any], says: str
) -> None:
    assert says in unable_goal(PlanParser().parse(weekly.plan(**changes)))


def test_its_yes_has_no_uses(weekly: Weekly) -> None:
    with pytest.raises(PlanError, match="this goal asks each time"):
        PlanParser().parse(weekly.plan(standing={"uses": 3}))


@pytest.mark.parametrize(
    ("said", "schedule"),
    [
        ("tidy my Downloads every Friday", "0 9 * * 5"),
        ("tidy my Downloads every Friday at six pm", "0 18 * * 5"),
        ("every Friday at 18:00 please tidy my Downloads", "0 18 * * 5"),
        ("räum jeden Freitag meine Downloads auf", "0 9 * * 5"),
        ("räum jeden Freitag um 18 Uhr meine Downloads auf", "0 18 * * 5"),
        ("jeden Freitag um 18 Uhr meine Downloads aufräumen", "0 18 * * 5"),
        ("tidy {place} every Friday", "0 9 * * 5"),
    ],
)
async def test_words_of_the_owners_make_such_a_goal(
    weekly: Weekly, said: str, schedule: str
) -> None:
    channel = ScriptedChannel(yes)
    async with Harness(channel, clock=weekly.clock, home=weekly.home) as h:
        reply = await h.silas.ask(said.format(place=weekly.place))
        assert reply.plan is not None, reply.text
        made = reply.plan
        assert (made.cycle, made.schedule, made.workspace) == ("tidy", schedule, str(weekly.place))
        (card,) = channel.cards
        assert isinstance(card, PlanCard)
    assert set(listed(weekly.place)) == {"a.pdf", "c.png"}


@pytest.mark.parametrize(
    "said",
    [
        "tidy my Downloads every Friday until December",
        "every Friday tidy my Downloads, but only if something changed",
        "every Friday tidy the folder",
    ],
)
async def test_what_such_a_goal_cannot_keep_is_told(weekly: Weekly, said: str) -> None:
    channel = ScriptedChannel(yes)
    async with Harness(channel, clock=weekly.clock, home=weekly.home) as h:
        reply = await h.silas.ask(said)
        assert "A folder is tidied by the clock where you name it alone" in reply.text
        assert channel.cards == []


async def test_what_silas_may_do_on_its_own_names_the_folder_that_it_looks_at(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / "Downloads").mkdir()
    async with Harness(ScriptedChannel(yes), clock=MockClock(START)) as h:
        await h.silas.ask("tidy my Downloads every Friday at six pm", workspace=tmp_path)
        said = (await h.silas.ask("what may you do on your own?")).text
    assert said.splitlines() == [
        "Nothing. Each piece of work asks you first.",
        "- “Tidy Downloads”: Looks at files in `Downloads` by the clock and asks you batch by "
        "batch, without a network; nothing to undo.",
    ]
