"""A never about showing a directory to models holds at every door; a command takes it back."""

import asyncio
import json
from collections.abc import Awaitable
from pathlib import Path
from typing import Any

import pytest

from silas.agents import AgentResponse, RouteDecision
from silas.agents.models import PlanAction, PlanActionType
from silas.cards import PlanCard
from silas.errors import ApprovalError
from silas.goals.models import Outcome
from silas.plans import WorkItemStatus
from silas.stream.look_answers import LookAnswers
from silas.testing import Harness, ScriptedChannel, ScriptedModel, plan_text
from silas.testing.clock import MockClock
from silas.types import InteractionMode, InteractionRegister
from tests.agents.openai_server import openai_server
from tests.goals.kit import START, Watched, after, goal_text
from tests.projects.kit import project_text
from tests.stop.test_in_the_house import events
from tests.support.command import environment, person, run, silas
from tests.support.models import ROLES, answer
from tests.support.waits import SECONDS
from tests.work.test_shown_to import a_sandbox, worked, yes

THEM = "python:harness:executor"
NEVER = f"may be shown to {THEM}"


async def soon(what: Awaitable[Any]) -> Any:
    async with asyncio.timeout(SECONDS):
        return await what


@pytest.fixture
def place(tmp_path: Path) -> Path:
    place = tmp_path / "rosters"
    (place / "sub").mkdir(parents=True)
    return place


def never(h: Harness, place: Path) -> None:
    LookAnswers(h.db, h.clock).keep(str(place), THEM, allowed=False)


READS = {
    "the directory": {"workspace": "{place}"},
    "one below it": {"workspace": "{place}/sub"},
    "one above it": {"workspace": "{place}/.."},
    "one that it reads beside its own": {"workspace": "{other}", "read": ["{place}"]},
    "a link to it": {"workspace": "{link}"},
}


@pytest.mark.parametrize("which", READS)
async def test_no_way_to_the_directory_is_shown_by_work(
    which: str, place: Path, tmp_path: Path
) -> None:
    (tmp_path / "other").mkdir()
    (tmp_path / "link").symlink_to(place)
    names = {"place": place, "other": tmp_path / "other", "link": tmp_path / "link"}
    fields = json.loads(json.dumps(READS[which]).replace("{place}/..", str(tmp_path)))
    text = json.dumps(fields)
    for name, path in names.items():
        text = text.replace(f"{{{name}}}", str(path))
    channel, asked = ScriptedChannel(yes), ScriptedModel(worked())
    async with Harness(channel, models={"executor": asked}, sandbox=a_sandbox()) as h:
        never(h, place)
        result = await soon(h.silas.run(plan_text(verify=None, **json.loads(text))))
    assert result.status is not WorkItemStatus.done
    assert NEVER in result.summary
    assert "silas approvals ask-again" in result.summary
    assert (channel.cards, asked.requests) == ([], [])


async def test_a_project_with_one_task_there_is_refused(place: Path) -> None:
    channel, asked = ScriptedChannel(yes), ScriptedModel(worked())
    tasks: dict[str, dict[str, Any]] = {
        "first": {"verify": []},
        "second": {"verify": [], "workspace": str(place)},
    }
    async with Harness(channel, models={"executor": asked}, sandbox=a_sandbox()) as h:
        never(h, place)
        result = await soon(h.silas.run(project_text(tasks)))
    assert NEVER in result.summary
    assert (channel.cards, asked.requests) == ([], [])


async def test_a_goal_ends_its_cycle_once_the_owner_said_never(place: Path) -> None:
    channel, clock, watched = ScriptedChannel(yes), MockClock(START), Watched()
    asked = ScriptedModel(worked())
    fields = {"cycle": "work", "schedule": "0 10 * * *", "on_failure": "report"}
    text = goal_text(
        **fields, failure_context=None, body="Look after it.", workspace=str(place), verify=[]
    )
    async with Harness(
        channel,
        clock=clock,
        models={"executor": asked},
        sandbox=watched.sandbox,
        beside=watched.beside,
    ) as h:
        await soon(h.silas.run(text))
        assert any(
            f"shows what it reads to: {THEM}" in line
            for card in channel.cards
            if isinstance(card, PlanCard)
            for detail in card.details
            for line in detail.lines
        )
        never(h, place)
        (cycle,) = await soon(after(watched, clock, 50 * 60, 1))
    assert cycle.outcome is Outcome.not_done, cycle
    assert asked.requests == []
    assert NEVER in "\n".join(channel.texts)


async def test_a_plan_of_a_conversation_is_refused_before_its_card(place: Path) -> None:
    route = RouteDecision(
        route="planner",
        reason="it works",
        response=None,
        interaction_register=InteractionRegister.execution,
        interaction_mode=InteractionMode.act_and_report,
        context_profile="conversation",
    )
    plan = plan_text(verify=None, workspace=str(place))
    action = PlanAction(action=PlanActionType.propose, plan_markdown=plan)
    planner = ScriptedModel([AgentResponse(message="I would.", plan_action=action)] * 3)
    channel, asked = ScriptedChannel(yes), ScriptedModel(worked())
    models = {"proxy": ScriptedModel([route]), "planner": planner, "executor": asked}
    async with Harness(channel, models=models, sandbox=a_sandbox()) as h:
        never(h, place)
        reply = await soon(h.silas.ask("tidy it"))
    assert "may be shown to" in reply.text
    assert [card for card in channel.cards if isinstance(card, PlanCard)] == []
    assert asked.requests == []


async def test_a_program_takes_a_never_back_and_the_card_asks_again(place: Path) -> None:
    channel, asked = ScriptedChannel(yes), ScriptedModel(worked())
    async with Harness(channel, models={"executor": asked}, sandbox=a_sandbox()) as h:
        never(h, place)
        (one,) = h.silas.showing()
        assert (one.workspace, one.shown_to, one.allowed) == (str(place), THEM, False)
        assert h.silas.forget_showing(place) == [one]
        assert h.silas.showing() == []
        with pytest.raises(ApprovalError, match="You were not asked"):
            h.silas.forget_showing(place)
        result = await soon(h.silas.run(plan_text(verify=None, workspace=str(place))))
        assert "workspace_look_taken_back" in await events(h)
    assert NEVER not in result.summary
    (card,) = [one for one in channel.cards if isinstance(one, PlanCard)]
    assert any(f"shows what it reads to: {THEM}" in d.lines for d in card.details)


def test_an_answer_that_cannot_be_read_refuses_work(place: Path, tmp_path: Path) -> None:
    async def damaged() -> None:
        async with Harness(home=tmp_path / "home") as h:
            answers = LookAnswers(h.db, h.clock)
            answers.keep(str(place), "a.example", allowed=True)
            assert answers.names_refused(str(place)) == set()
            with h.db.write() as tx:
                tx.driver.execute("UPDATE look_answers SET allowed = 'yes'")
            assert answers.names_refused(str(place)) == {"a.example"}
            assert answers.of(str(place), "a.example") is None

    (tmp_path / "home").mkdir()
    asyncio.run(damaged())


async def test_in_the_terminal_a_never_is_kept_listed_and_taken_back(
    place: Path, tmp_path: Path
) -> None:
    """`silas ask` asks, `approvals showing` lists, `approvals ask-again` takes back; recorded."""
    home = tmp_path / "home"
    home.mkdir()
    look = answer("workspace_list", "tool", {"depth": 1})
    said = answer(
        "route",
        "tool",
        {
            "route": "direct",
            "reason": "r",
            "response": {"message": "That is all."},
            "interaction_register": "status",
            "interaction_mode": "act_and_report",
            "context_profile": "conversation",
        },
    )
    async with openai_server([look, said, said, look, said]) as server:
        role = {"name": "scripted", "base_url": server.base_url, "output": "tool"}
        cloud = {**role, "name": "some-cloud"}  # as Ollama names what it passes on
        config = {"silas": {"models": {**dict.fromkeys(ROLES, role), "proxy": cloud}}}
        (home / "config.yaml").write_text(json.dumps(config))
        env = environment(home)
        await asyncio.to_thread(_in_the_terminal, env, place)


def _in_the_terminal(env: dict[str, str], place: Path) -> None:
    assert run(silas("init"), env).code == 0
    words = silas("ask", "what is in this folder?", "--workspace", place)
    with person(words, {**env, "NO_COLOR": "1"}) as owner:
        owner.waits_for("Never show it this directory")
        owner.waits_for("Your choice")
        owner.types("2\r")
        assert owner.leaves() == 0, owner.seen
    listed = json.loads(run(silas("approvals", "showing", "--json"), env).out)
    assert [(row["workspace"], row["answer"]) for row in listed] == [(str(place), "never")]
    assert "never" in run(silas("approvals", "showing"), env).out
    with person(words, {**env, "NO_COLOR": "1"}) as owner:  # not asked again
        owner.leaves()
        assert "Never show it" not in owner.seen
    taken = run(silas("approvals", "ask-again", place), env)
    assert (taken.code, taken.out.startswith(f"Taken back: {place}.")) == (0, True), taken.err
    assert run(silas("approvals", "ask-again", place), env).code == 2
    assert json.loads(run(silas("approvals", "showing", "--json"), env).out) == []
    assert "You took back whether models may be shown" in run(silas("audit", "show"), env).out
    with person(words, {**env, "NO_COLOR": "1"}) as owner:
        owner.waits_for("Never show it this directory")
        owner.waits_for("Your choice")
        owner.types("3\r")
        owner.leaves()
    assert run(silas("audit", "verify"), env).code == 0
