"""Work of no project asks its owner, who answers in the morning (spec 5.2.1)."""

import asyncio
import json
import os
import shutil
import signal
from pathlib import Path
from typing import Any

import pytest

from silas.cards.models import DecisionAnswer, DecisionCard
from silas.plans import WorkItemStatus
from silas.testing import (
    CallTool,
    FakeSandbox,
    Harness,
    MockClock,
    ScriptedModel,
    plan_text,
)
from silas.testing.tools import exit_result
from tests.agents.openai_server import openai_server
from tests.cockpit.house import a_house
from tests.projects.test_question_survives import Model, a_home, answered, approved
from tests.projects.test_questions import (
    ASKS,
    BLUE,
    NIGHT,
    PIPES,
    RED,
    WORKS,
    Asleep,
    answering_in_turn,
    house,
    leave,
    plan_status,
)
from tests.stream.kit import soon
from tests.support.command import person, run, silas
from tests.support.plans import check
from tests.work.kit import DONE

NAME = "paint"
A_DAY = {"approval": {"default_ttl_minutes": 24 * 60}}
"""The owner lets his yes to a plan hold for a day; by itself it holds for half an hour."""

FIELDS: dict[str, Any] = {"id": NAME, "title": "Paint it", "body": "Paint it.", "verify": None}
PLAN = plan_text(**FIELDS)
WAITS = {
    "en": "The work waits for your answer to its question.",
    "de": "Die Arbeit wartet auf deine Antwort auf ihre Frage.",
}


async def test_an_answer_in_the_morning_counts_and_the_night_uses_no_time() -> None:
    channel, clock = Asleep(), MockClock()
    async with house(channel, ASKS, DONE, clock=clock, settings=A_DAY) as h:
        running = asyncio.create_task(h.silas.run(PLAN))
        await soon(channel.asked.wait())
        card = channel.cards[-1]
        assert isinstance(card, DecisionCard)
        assert card.kept  # where no page is open, it waits for one
        item = await h.store.get(NAME)
        assert item is not None
        assert card.timeout_seconds == 24 * 3600 - item.budget.max_wall_time_seconds
        told = await plan_status(h, NAME)
        assert told == f"{NAME} is running and waits for its owner's answer to a question"
        clock.advance(NIGHT)
        await asyncio.sleep(0)
        channel.answer.set_result(BLUE)
        result = await soon(running)
        assert result.status is WorkItemStatus.done, result
        assert result.budget_used.wall_time_seconds < 1


@pytest.mark.parametrize("ends", ["in order", "killed"])
async def test_a_question_is_asked_again_however_silas_ended(ends: str, tmp_path: Path) -> None:
    home, left, clock, channel = tmp_path / "home", tmp_path / "left", MockClock(), Asleep()
    home.mkdir()
    async with house(channel, ASKS, home=home, clock=clock, settings=A_DAY) as h:
        running = asyncio.create_task(h.silas.run(PLAN))
        await soon(channel.asked.wait())
        assert h.silas.executor.asked_later() == (NAME,)
        shutil.copytree(home, left, ignore=PIPES)  # what a process that is killed now leaves
    await asyncio.wait([running])
    clock.advance(NIGHT)
    after, home = Asleep(), left if ends == "killed" else home
    async with house(after, ASKS, DONE, home=home, clock=clock, settings=A_DAY) as h:
        ending = asyncio.create_task(h.silas.wait(NAME))
        await after.asked_or(ending)
        assert after.asked.is_set(), ending.result()
        assert after.cards[-1].kept
        after.answer.set_result(BLUE)
        result = await soon(ending)
        assert result is not None
        assert result.status is WorkItemStatus.done, result
    assert [type(card) for card in after.cards] == [DecisionCard]


async def test_a_question_waits_no_longer_than_its_approval_lets_the_work_end() -> None:
    channel, clock = Asleep(), MockClock()
    plan = plan_text(**FIELDS, budget={"max_wall_time_seconds": 600})
    async with house(channel, ASKS, DONE, clock=clock) as h:
        running = asyncio.create_task(h.silas.run(plan))
        await soon(channel.asked.wait())
        assert channel.cards[-1].timeout_seconds == 30 * 60 - 600
        channel.answer.set_result(BLUE)
        await soon(running)


def waits(env: dict[str, str]) -> bool:
    (row,) = json.loads(run(silas("status", "--json"), env).out)
    assert row["status"] == "running", row
    return row["asks"]


def say(env: dict[str, str], language: str) -> list[str]:
    """What `silas status` and `silas show` say of it."""
    env = {**env, "SILAS_LANGUAGE": language}
    told = [run(silas(*command), env).out for command in (["status"], ["show", NAME])]
    return [" ".join(text.split()) for text in told]


def walk(
    env: dict[str, str],
    plan: Path,
    model: Model,
    loop: asyncio.AbstractEventLoop,
    number: signal.Signals,
) -> None:
    with person(approved(env, plan), env) as owner:
        asyncio.run_coroutine_threadsafe(model.asked.wait(), loop).result()
        os.kill(owner.pid, signal.SIGKILL)
        owner.leaves()
    assert not waits(env)
    with person(silas("start", "--port", "0"), env) as cockpit:  # no page is open
        cockpit.waits_for("Ctrl-C ends it")
        while not waits(env):  # each look is a process: nothing is asked in between
            pass
        os.kill(cockpit.pid, number)
        cockpit.leaves()
    for language, words in WAITS.items():
        for said in say(env, language):
            assert words in said
    with person(silas("chat"), env) as owner:
        owner.waits_for("Which colour?")
        owner.waits_for("Your choice, 1 to 3")
        owner.types("2\r")
        owner.waits_for("Done.")
        owner.types("\x04")
        assert owner.leaves() == 0
    for said in say(env, "en"):
        assert WAITS["en"] not in said


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
async def test_where_no_page_is_open_it_waits_and_says_so_and_its_answer_counts(
    number: signal.Signals, tmp_path: Path
) -> None:
    plan, model = tmp_path / "plan.md", Model()
    plan.write_text(plan_text(**{**FIELDS, "body": "This is about a."}), encoding="utf-8")
    async with openai_server([model.first, *[model.then] * 9]) as server:
        env = await a_home(tmp_path, server.base_url)
        await asyncio.to_thread(walk, env, plan, model, asyncio.get_running_loop(), number)
    (told,) = answered(server)
    assert "The owner chose 2: blue" in told


async def test_without_a_terminal_nobody_is_waited_for(tmp_path: Path) -> None:
    plan, model = tmp_path / "plan.md", Model()
    plan.write_text(plan_text(**{**FIELDS, "body": "This is about a."}), encoding="utf-8")
    async with openai_server([model.then] * 9) as server:
        env = await a_home(tmp_path, server.base_url)
        ended = await asyncio.to_thread(lambda: run(approved(env, plan), env))
    assert ended.code == 0, ended
    assert "There is no terminal to answer on" in ended.out
    assert "The owner did not answer" in json.dumps(server.bodies)


async def test_the_cockpit_says_that_it_waits() -> None:
    channel = Asleep()
    model, sandbox = ScriptedModel([ASKS, DONE]), FakeSandbox(lambda _: exit_result())
    async with a_house(channel, models={"executor": model}, sandbox=sandbox) as house:
        running = asyncio.create_task(house.harness.silas.run(PLAN))
        await soon(channel.asked.wait())
        (row,) = await house.get("/work")
        assert row["summary"] == WAITS["en"]
        assert (await house.get(f"/work/{NAME}"))["summary"] == WAITS["en"]
        channel.answer.set_result(BLUE)
        await soon(running)
        (row,) = await house.get("/work")
        assert row["summary"] != WAITS["en"]


async def test_a_stop_ends_a_question_with_one_sentence(tmp_path: Path) -> None:
    channel = Asleep()
    async with house(channel, ASKS, home=tmp_path) as h:
        running = asyncio.create_task(h.silas.run(PLAN))
        await soon(channel.asked.wait())
        assert await h.silas.executor.cancel(NAME)
        result = await soon(running)
        assert result.status is WorkItemStatus.paused
        assert result.summary == "Stopped; nothing of it was applied."
        assert h.store.asking() == frozenset()


@pytest.mark.parametrize("cut", ["before it asks", "after its answer"])
async def test_what_is_answered_in_one_attempt_is_no_answer_in_the_next(
    cut: str, tmp_path: Path
) -> None:
    home, left, clock = tmp_path / "home", tmp_path / "left", MockClock()
    home.mkdir()

    def ran(spec: Any) -> Any:
        if "right" in str(spec.argv):
            return exit_result(1)
        leave(home, left)
        return exit_result()

    fields = {**FIELDS, "verify": check("test right = wrong"), "budget": {"max_attempts": 4}}
    second = [WORKS, ASKS] if cut == "before it asks" else [ASKS, WORKS]
    steps = [ASKS, DONE, *second, CallTool("report_work", {"status": "blocked", "summary": "x"})]
    channel = answering_in_turn(RED, BLUE)
    async with house(channel, *steps, ran=ran, home=home, clock=clock, settings=A_DAY) as h:
        await soon(h.silas.run(plan_text(**fields)))
    after, model = Asleep(), ScriptedModel([ASKS, DONE])
    after.answer.set_result(BLUE)
    async with Harness(
        after,
        models={"executor": model},
        sandbox=FakeSandbox(lambda _: exit_result()),
        home=left,
        clock=clock,
        settings=A_DAY,
    ) as h:
        result = await soon(h.silas.wait(NAME))
        assert result is not None
        assert result.status is WorkItemStatus.done, result
    assert len(after.cards) == (1 if cut == "before it asks" else 0)
    assert "The owner chose 2: blue" in str(model.requests)
    assert "The owner chose 1: red" not in str(model.requests)


@pytest.mark.parametrize("before", [(WORKS,), ()], ids=["after a run", "before any run"])
async def test_a_secret_in_an_answer_is_on_no_disk(before: tuple[Any, ...], tmp_path: Path) -> None:
    value, channel, home = "correct-horse-battery", Asleep(), tmp_path / "home"
    home.mkdir()
    async with house(channel, *before, ASKS, DONE, home=home, settings=A_DAY) as h:
        h.secrets.add("TOKEN", value, MockClock().now())
        running = asyncio.create_task(h.silas.run(PLAN))
        await soon(channel.asked.wait())
        channel.answer.set_result(DecisionAnswer(freetext=f"blue, and it is {value}"))
        result = await soon(running)
        assert result.status is WorkItemStatus.done, result
    files = [path for path in home.rglob("*") if path.is_file()]
    assert [path for path in files if value.encode() in path.read_bytes()] == []
