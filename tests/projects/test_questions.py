"""A task of a project asks its owner, who answers in the morning (spec 5.2.2)."""

import asyncio
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from silas.cards import Card, PlanCard
from silas.cards.models import DecisionAnswer, DecisionCard
from silas.language import speak
from silas.plans import WorkItemStatus
from silas.services.mcp_server import Services
from silas.services.projects import project_shown, state_words
from silas.testing import CallTool, FakeSandbox, Harness, MockClock, ScriptedChannel, ScriptedModel
from silas.testing.tools import exit_result
from tests.projects.kit import PROJECT, project_text
from tests.stream.kit import saying_yes, soon
from tests.support.command import environment, run, silas
from tests.work.kit import DONE

PIPES = shutil.ignore_patterns("*.pipe")  # of a process that runs; nothing is kept in them
ASKS = CallTool("ask_owner", {"question": "Which colour?", "options": ["red", "blue"]})
WORKS = CallTool("shell_exec", {"argv": ["true"]})
NIGHT = 9 * 3600.0
TASKS: Mapping[str, dict[str, Any]] = {
    "paint": {"title": "Paint it", "verify": None, "budget": {"max_attempts": 1}},
    "hang": {"title": "Hang it", "verify": None, "depends_on": ["paint"]},
}
SHORT = {"budget": {"max_wall_time_seconds": 600}}
BLUE = DecisionAnswer(selected_value="blue", approved=True)
RED = DecisionAnswer(selected_value="red", approved=True)
Ran = Callable[[Any], Any]


class Asleep(ScriptedChannel):
    """An owner who approves a plan, and reads a question only when he is woken."""

    def __init__(self) -> None:
        super().__init__(saying_yes)
        self.asked, self.answer = asyncio.Event(), asyncio.get_running_loop().create_future()

    async def ask(self, to: str, card: Card[Any]) -> Any:
        if isinstance(card, PlanCard):
            return await super().ask(to, card)
        self.cards.append(card)
        self.asked.set()
        return await self.answer

    async def asked_or(self, ending: asyncio.Task[Any]) -> None:
        """Until there is a question, or work ended without one."""
        asking = asyncio.create_task(self.asked.wait())
        await soon(asyncio.wait({asking, ending}, return_when=asyncio.FIRST_COMPLETED))
        asking.cancel()


def succeeds(_: Any) -> Any:
    """What each command does that nothing else is said of."""
    return exit_result()


def house(channel: ScriptedChannel, *steps: Any, ran: Ran = succeeds, **more: Any) -> Harness:
    model = ScriptedModel([*steps])
    sandbox = FakeSandbox(ran)
    return Harness(channel, models={"executor": model}, sandbox=sandbox, **more)


def answering_in_turn(*given: DecisionAnswer) -> ScriptedChannel:
    """An owner who approves plans, and gives these answers to what he is asked."""
    answers = iter(given)

    def answer(card: Card[Any]) -> Any:
        return next(answers) if isinstance(card, DecisionCard) else saying_yes(card)

    return ScriptedChannel(answer)


def leave(home: Path, left: Path) -> None:
    """What a process that is killed now leaves, at the first call."""
    if not left.exists():
        shutil.copytree(home, left, ignore=PIPES)


async def shown(h: Harness) -> list[str]:
    """How the tasks stand, as `silas ahead`, the page Ahead and the cockpit say it."""
    project = await h.store.get(PROJECT)
    assert project is not None
    project.children = await h.store.list_by_parent(PROJECT)
    found = await project_shown(project, h.store, h.silas.undoing.changes, ())
    return [state_words(task, found.waits) for step in found.steps for task in step]


async def plan_status(h: Harness, name: str) -> str:
    return await Services(h.silas, h.silas.ahead).plan_status({"id": name})


@pytest.mark.parametrize(
    ("language", "words"), [("en", "waits for your answer"), ("de", "wartet auf deine Antwort")]
)
async def test_a_task_that_asks_says_everywhere_that_it_waits(
    language: str, words: str, tmp_path: Path
) -> None:
    channel = Asleep()
    model_says = (ASKS, DONE, WORKS, DONE)
    try:
        async with house(channel, *model_says, settings={"language": language}, home=tmp_path) as h:
            running = asyncio.create_task(h.silas.run(project_text({**TASKS}, **SHORT)))
            await soon(channel.asked.wait())
            assert (await shown(h))[0] == words
            asks = " and waits for its owner's answer to a question"
            assert await plan_status(h, "paint") == f"paint is running{asks}"
            assert await plan_status(h, PROJECT) == f"{PROJECT} is running{asks} of paint"
            env = environment(tmp_path, SILAS_LANGUAGE=language)
            for command in (["list"], ["show", PROJECT]):
                told = await asyncio.to_thread(run, silas("projects", *command), env)
                assert words in told.out, told
            channel.answer.set_result(BLUE)
            result = await soon(running)
            assert result.status is WorkItemStatus.done
            assert "Which colour?" not in " ".join(await shown(h))
            assert await plan_status(h, "paint") != f"paint is running{asks}"
    finally:
        speak("en")


async def test_the_card_names_the_project_and_the_task() -> None:
    channel = Asleep()
    async with house(channel, ASKS, DONE, WORKS, DONE) as h:
        running = asyncio.create_task(h.silas.run(project_text({**TASKS}, **SHORT)))
        await soon(channel.asked.wait())
        card = channel.cards[-1]
        assert isinstance(card, DecisionCard)
        assert card.intent == (
            f"A question from the task 'Paint it' (paint) of the project 'Deploy it' ({PROJECT}); "
            "your choice approves nothing"
        )
        assert card.kept
        channel.answer.set_result(BLUE)
        await soon(running)


async def test_an_answer_in_the_morning_counts_and_the_night_uses_no_time() -> None:
    channel, clock = Asleep(), MockClock()
    async with house(channel, ASKS, DONE, WORKS, DONE, clock=clock) as h:
        running = asyncio.create_task(h.silas.run(project_text({**TASKS}, **SHORT)))
        await soon(channel.asked.wait())
        assert channel.cards[-1].timeout_seconds == 24 * 3600 - 600
        clock.advance(NIGHT)
        await asyncio.sleep(0)
        channel.answer.set_result(BLUE)
        result = await soon(running)
        assert result.status is WorkItemStatus.done, result
        assert result.budget_used.wall_time_seconds < 1


OVER = (
    f"The approval of {PROJECT} holds for a day and expired before its task paint came to its end, "
    f"so nothing of that task was applied.\n`silas projects rest {PROJECT}` asks about what is not "
    "done as a new project, with a budget and an approval of its own; what is done stays.\n"
)


@pytest.mark.parametrize("hours", [25, 72])
async def test_an_answer_after_the_approvals_day_says_what_to_do_and_the_rest_is_asked_anew(
    hours: int,
) -> None:
    channel, clock = Asleep(), MockClock()
    model_says = (ASKS, DONE, *(ASKS, DONE), WORKS, DONE)
    async with house(channel, *model_says, clock=clock) as h:
        running = asyncio.create_task(h.silas.run(project_text({**TASKS}, **SHORT)))
        await soon(channel.asked.wait())
        clock.advance(hours * 3600)
        channel.answer.set_result(BLUE)
        result = await soon(running)
        assert result.summary == f"{OVER}Not begun: “Hang it”."
        again = await soon(h.silas.run(await h.silas.rest_of(PROJECT)))
        assert again.status is WorkItemStatus.done, again
    asked = [type(card) for card in channel.cards]
    assert asked == [
        PlanCard,
        DecisionCard,
        PlanCard,
        DecisionCard,
    ]  # the old answer does not count


async def test_a_question_over_a_weekend_without_silas_says_the_same(tmp_path: Path) -> None:
    channel, clock = Asleep(), MockClock()
    async with house(channel, ASKS, home=tmp_path, clock=clock) as h:
        running = asyncio.create_task(h.silas.run(project_text({**TASKS}, **SHORT)))
        await soon(channel.asked.wait())
    await asyncio.wait([running])
    clock.advance(3 * 24 * 3600)
    after = Asleep()
    async with house(after, home=tmp_path, clock=clock) as h:
        result = await soon(h.silas.wait(PROJECT))
        assert result is not None
        assert result.summary == f"{OVER}Not begun: “Paint it”, “Hang it”."
        assert any(OVER in text for text in after.texts)
        assert "=== task: paint-rest ===" in await h.silas.rest_of(PROJECT)
    assert after.cards == []


async def test_a_question_that_a_kill_cut_off_is_asked_again_and_its_answer_goes_on(
    tmp_path: Path,
) -> None:
    home, left, clock = tmp_path / "home", tmp_path / "left", MockClock()
    home.mkdir()
    channel = Asleep()
    async with house(channel, ASKS, home=home, clock=clock) as h:
        running = asyncio.create_task(h.silas.run(project_text({**TASKS}, **SHORT)))
        await soon(channel.asked.wait())
        shutil.copytree(home, left, ignore=PIPES)  # what a process that is killed now leaves
        running.cancel()
        await asyncio.wait([running])
    clock.advance(NIGHT)
    after = Asleep()
    async with house(after, ASKS, DONE, WORKS, DONE, home=left, clock=clock) as h:
        ending = asyncio.create_task(h.silas.wait(PROJECT))
        await after.asked_or(ending)
        assert after.asked.is_set(), ending.result()  # its only attempt had not failed
        assert (await shown(h))[0] == "waits for your answer"
        after.answer.set_result(BLUE)
        result = await soon(ending)
        assert result is not None
        assert result.status is WorkItemStatus.done, result


async def test_a_question_that_an_orderly_end_cut_off_is_asked_again_under_the_same_yes(
    tmp_path: Path,
) -> None:
    channel, clock = Asleep(), MockClock()
    async with house(channel, ASKS, home=tmp_path, clock=clock) as h:
        running = asyncio.create_task(h.silas.run(project_text({**TASKS}, **SHORT)))
        await soon(channel.asked.wait())
    await asyncio.wait([running])
    clock.advance(NIGHT)
    after = Asleep()
    async with house(after, ASKS, DONE, WORKS, DONE, home=tmp_path, clock=clock) as h:
        assert "paused" not in await shown(h)
        await soon(after.asked.wait())  # its only attempt had not failed
        assert (await shown(h))[0] == "waits for your answer"
        after.answer.set_result(BLUE)
        result = await soon(h.silas.wait(PROJECT))
        assert result is not None
        assert result.status is WorkItemStatus.done, result
    assert [type(card) for card in after.cards] == [DecisionCard]


class Busy(FakeSandbox):
    """Its programs run until they are ended."""

    def __init__(self) -> None:
        super().__init__(lambda _: exit_result())
        self.runs_one = asyncio.Event()

    async def run(self, argv: Any, limits: Any, files: Any) -> Any:
        self.runs_one.set()
        await asyncio.get_running_loop().create_future()
        return await super().run(argv, limits, files)


async def test_an_orderly_end_stops_a_question_beside_work_that_runs(tmp_path: Path) -> None:
    channel, busy, home = Asleep(), Busy(), tmp_path / "home"
    home.mkdir()
    places = [tmp_path / name for name in ("paint", "hang")]
    for place in places:
        place.mkdir()
    some = {"budget": {"max_tokens": 1000, "max_cost_usd": 0.1, "max_wall_time_seconds": 60}}
    two: dict[str, dict[str, Any]] = {
        place.name: {**TASKS[place.name], "depends_on": [], "workspace": str(place), **some}
        for place in places
    }
    model = ScriptedModel([ASKS, WORKS])
    async with Harness(channel, models={"executor": model}, sandbox=busy, home=home) as h:
        running = asyncio.create_task(h.silas.run(project_text(two, **SHORT)))
        await soon(channel.asked.wait())
        await soon(busy.runs_one.wait())
    await asyncio.wait([running])
    after = Asleep()
    async with house(after, home=home) as h:
        await h.silas.wait_for_work()
        project = await h.store.get(PROJECT)
        assert project is not None
        assert project.status is WorkItemStatus.paused
        assert (await shown(h))[0] == "paused"
    assert after.cards == []


async def test_a_new_attempt_that_does_not_ask_runs_and_an_orderly_end_pauses_it(
    tmp_path: Path,
) -> None:
    home, left, channel = tmp_path / "home", tmp_path / "left", Asleep()
    home.mkdir()
    async with house(channel, ASKS, home=home) as h:
        running = asyncio.create_task(h.silas.run(project_text({**TASKS}, **SHORT)))
        await soon(channel.asked.wait())
        shutil.copytree(home, left, ignore=PIPES)  # what a process that is killed now leaves
    await asyncio.wait([running])
    busy, model = Busy(), ScriptedModel([WORKS])
    async with Harness(Asleep(), models={"executor": model}, sandbox=busy, home=left) as h:
        await soon(busy.runs_one.wait())
        assert (await shown(h))[0] != "waits for your answer"
        assert h.silas.executor.asked_later() == ()
    async with house(Asleep(), home=left) as h:
        await h.silas.wait_for_work()
        project = await h.store.get(PROJECT)
        assert project is not None
        assert project.status is WorkItemStatus.paused


async def test_an_emergency_stop_ends_a_question_and_the_yes(tmp_path: Path) -> None:
    channel = Asleep()
    async with house(channel, ASKS, home=tmp_path) as h:
        running = asyncio.create_task(h.silas.run(project_text({**TASKS}, **SHORT)))
        await soon(channel.asked.wait())
        told = await asyncio.to_thread(run, silas("stop", "--now"), environment(tmp_path))
        assert told.code == 0, told
        await soon(asyncio.wait([running]))
        project = await h.store.get(PROJECT)
        assert project is not None
        assert project.status is WorkItemStatus.paused
        assert (await shown(h))[0] == "paused"


async def test_what_was_answered_is_not_asked_again_after_a_kill(tmp_path: Path) -> None:
    home, left, clock = tmp_path / "home", tmp_path / "left", MockClock()
    home.mkdir()
    channel = Asleep()
    tasks = {**TASKS, "paint": {**TASKS["paint"], "budget": {"max_attempts": 2}}}
    steps = (ASKS, CallTool("shell_exec", {"argv": ["sh", "-c", "true"]}))

    def ran(_: Any) -> Any:
        leave(home, left)
        return exit_result()

    async with house(channel, *steps, DONE, WORKS, DONE, ran=ran, home=home, clock=clock) as h:
        running = asyncio.create_task(h.silas.run(project_text(tasks, **SHORT)))
        await soon(channel.asked.wait())
        channel.answer.set_result(BLUE)
        await soon(running)
    assert left.exists()
    after = Asleep()
    model = ScriptedModel([ASKS, DONE, WORKS, DONE])
    async with Harness(
        after,
        models={"executor": model},
        sandbox=FakeSandbox(lambda _: exit_result()),
        home=left,
        clock=clock,
    ) as h:
        ending = asyncio.create_task(h.silas.wait(PROJECT))
        await after.asked_or(ending)
        assert after.cards == []
        result = ending.result()
        assert result is not None
        assert result.status is WorkItemStatus.done, result
    assert "The owner chose 2: blue" in str(model.requests)


async def test_the_same_question_once_more_is_asked_once_more(tmp_path: Path) -> None:
    channel = answering_in_turn(BLUE, DecisionAnswer())
    async with house(channel, ASKS, ASKS, DONE, WORKS, DONE, home=tmp_path) as h:
        result = await soon(h.silas.run(project_text({**TASKS}, **SHORT)))
        assert result.status is WorkItemStatus.done, result
    assert [isinstance(card, DecisionCard) for card in channel.cards].count(True) == 2


async def test_the_answer_to_the_second_of_two_is_not_that_of_the_first_after_a_kill(
    tmp_path: Path,
) -> None:
    home, left, clock = tmp_path / "home", tmp_path / "left", MockClock()
    home.mkdir()

    def ran(_: Any) -> Any:
        leave(home, left)
        return exit_result()

    tasks = {**TASKS, "paint": {**TASKS["paint"], "budget": {"max_attempts": 2}}}
    runs = CallTool("shell_exec", {"argv": ["sh", "-c", "true"]})
    steps, channel = (ASKS, ASKS, runs, DONE, WORKS, DONE), answering_in_turn(RED, BLUE)
    async with house(channel, *steps, ran=ran, home=home, clock=clock) as h:
        await soon(h.silas.run(project_text(tasks, **SHORT)))
    after = Asleep()
    async with house(after, ASKS, DONE, WORKS, DONE, home=left, clock=clock) as h:
        ending = asyncio.create_task(h.silas.wait(PROJECT))
        await after.asked_or(ending)
        assert len(after.cards) == 1  # "red" was said of the first, and "blue" of another
        after.answer.set_result(BLUE)
        await soon(ending)
