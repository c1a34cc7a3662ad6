"""A model elsewhere is shown what work reads only as the owner's yes says, at every door."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from silas.agents import ExecutorAgentOutput
from silas.cards import Card, PlanAnswer, PlanCard
from silas.plans import PlanParser, WorkItemStatus
from silas.plans.binding import READS
from silas.services.tools.look_tools import shown_by_work
from silas.services.workers import worker_library
from silas.stream.look_answers import LookAnswers
from silas.testing import CallTool, FakeSandbox, Harness, ScriptedChannel, ScriptedModel, plan_text
from silas.testing.tools import exit_result
from silas.types import OWNER
from silas.work.models import ProgressEvent
from tests.support.command import environment, run, silas
from tests.support.waits import SECONDS

WORKER = "---\nname: helper\ndescription: Helps.\nmodel: python:harness:helper\n---\n\nHelp.\n"


def yes(card: Card[Any]) -> Any:
    if isinstance(card, PlanCard):
        return PlanAnswer(verdict="approved")
    return card.safe


async def unheard(event: ProgressEvent) -> None:
    """Nobody listens."""


def worked() -> list[Any]:
    return [CallTool("shell_exec", {"argv": ["ls"]}), ExecutorAgentOutput(summary="worked")]


def a_sandbox() -> FakeSandbox:
    return FakeSandbox(lambda run: exit_result(0, "done"))


def touched(card: PlanCard) -> tuple[str, ...]:
    return next(one.lines for one in card.details if one.heading == "What it may touch")


@pytest.fixture
def place(tmp_path: Path) -> Path:
    place = tmp_path / "rosters"
    place.mkdir()
    return place


async def test_the_card_says_who_is_shown_what_the_work_reads(place: Path) -> None:
    channel = ScriptedChannel(yes)
    models = {"executor": ScriptedModel(worked())}
    async with Harness(channel, models=models, sandbox=a_sandbox()) as h, asyncio.timeout(SECONDS):
        await h.silas.run(plan_text(verify=None, workspace=str(place)))
    (card,) = [one for one in channel.cards if isinstance(one, PlanCard)]
    assert "shows what it reads to: python:harness:executor" in touched(card)


async def test_models_on_this_machine_are_not_on_the_card(place: Path) -> None:
    channel = ScriptedChannel(yes)
    async with Harness(channel, sandbox=a_sandbox()) as h, asyncio.timeout(SECONDS):
        await h.silas.run(plan_text(verify=None, workspace=str(place)))
    (card,) = [one for one in channel.cards if isinstance(one, PlanCard)]
    assert not [line for line in touched(card) if line.startswith("shows")]


async def test_the_models_of_a_worker_are_named_too(place: Path) -> None:
    async with Harness(models={"helper": ScriptedModel([])}, sandbox=a_sandbox()) as h:
        config = h.config
        config.worker_files.mkdir(parents=True, exist_ok=True)
        (config.worker_files / "helper.worker").write_text(WORKER)
        shown = shown_by_work(lambda: config.models, worker_library(config), tuple)
        plain = PlanParser().parse(plan_text(workspace=str(place)))
        with_worker = PlanParser().parse(plan_text(workspace=str(place), worker="helper"))
        assert shown(plain) == {}
        assert shown(with_worker) == {"python:harness:helper": READS}


async def test_work_approved_for_models_here_does_not_run_with_others(
    place: Path, tmp_path: Path
) -> None:
    """A yes from before the configuration changed is none to show it to more."""
    home, asked = tmp_path / "home", ScriptedModel(worked())
    home.mkdir()
    item = PlanParser().parse(plan_text(verify=None, workspace=str(place)))
    channel, sandbox = ScriptedChannel(yes), a_sandbox()
    async with asyncio.timeout(SECONDS):
        async with Harness(channel, sandbox=sandbox, home=home) as h:
            proposal = await h.silas.runs.proposer.propose(item, channel, OWNER, "why")
            assert proposal.verdict == "approved"
        models = {"executor": asked}
        async with Harness(channel, models=models, sandbox=sandbox, home=home, resume=False) as h:
            result = await h.silas.executor.execute(item, unheard)
    assert result.status is WorkItemStatus.blocked
    assert "Who is shown what the work reads changed" in result.summary
    assert asked.requests == []


async def test_who_was_told_never_is_shown_nothing_by_work_either(place: Path) -> None:
    channel, asked = ScriptedChannel(yes), ScriptedModel(worked())
    async with Harness(channel, models={"executor": asked}, sandbox=a_sandbox()) as h:
        LookAnswers(h.db, h.clock).keep(str(place), "python:harness:executor", allowed=False)
        async with asyncio.timeout(SECONDS):
            result = await h.silas.run(plan_text(verify=None, workspace=str(place)))
    assert result.status is not WorkItemStatus.done
    assert "may be shown to python:harness:executor" in result.summary
    assert channel.cards == []
    assert asked.requests == []


def test_a_plan_that_is_only_looked_at_says_who_is_shown_what_its_work_reads(
    place: Path, tmp_path: Path
) -> None:
    env = environment(tmp_path / "home")
    (tmp_path / "home").mkdir()
    server = {"name": "some", "base_url": "https://models.example/v1", "output": "tool"}
    text = json.dumps({"silas": {"models": {"executor": server}}})
    (tmp_path / "home" / "config.yaml").write_text(text)
    assert run(silas("init"), env).code == 0
    plan = tmp_path / "plan.md"
    plan.write_text(plan_text(verify=None, workspace=str(place)))
    checked = run(silas("plan", "check", plan), env)
    assert checked.code == 0, checked.err
    assert "shows what it reads to: models.example" in checked.out
    plan.write_text(plan_text(verify=None))
    assert "shows what it reads" not in run(silas("plan", "check", plan), env).out
