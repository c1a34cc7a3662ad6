"""Work whose question got no answer says how it is asked about anew, and is (spec 5.2.1)."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from silas.agents.models import ExecutorAgentOutput
from silas.cards import Card, PlanCard
from silas.cards.models import DecisionAnswer, DecisionCard
from silas.plans import WorkItemStatus
from silas.testing import FakeSandbox, MockClock, ScriptedChannel, ScriptedModel, plan_text
from silas.testing.tools import exit_result
from tests.agents.openai_server import Answer, Tool, openai_server
from tests.cockpit.house import a_house
from tests.projects.kit import PROJECT, project_text
from tests.projects.test_question_survives import Model, a_home, approved
from tests.projects.test_questions import ASKS, BLUE, SHORT, TASKS, house, plan_status
from tests.stream.kit import saying_yes, soon
from tests.support.command import person, run, silas
from tests.work.kit import DONE

NAME = "paint"
PLAN = plan_text(id=NAME, title="Paint it", body="Paint it.", verify=None)
BLOCKED = ExecutorAgentOutput(summary="No colour was named.", status="blocked")
WORDS = (
    f"Its question got no answer in time. `silas approve {NAME}` shows its plan again; after a new "
    "yes it begins anew."
)
GERMAN = (
    f"Seine Frage wurde nicht rechtzeitig beantwortet. `silas approve {NAME}` zeigt seinen Plan "
    "noch einmal; nach einem neuen Ja beginnt er von vorn."
)
ON_A_PAGE = WORDS.replace(f"`silas approve {NAME}`", "“Work” under “More”")


class Silent(ScriptedChannel):
    """An owner who approves plans, and answers a question only once it was asked anew."""

    def __init__(self, clock: MockClock) -> None:
        super().__init__(self.reply)
        self.clock = clock

    def reply(self, card: Card[Any]) -> Any:
        if isinstance(card, PlanCard):
            return saying_yes(card)
        if sum(isinstance(one, PlanCard) for one in self.cards) > 1:
            return BLUE
        self.clock.advance(card.timeout_seconds)
        return card.safe


async def test_it_says_how_to_ask_anew_and_that_works() -> None:
    clock = MockClock()
    channel = Silent(clock)
    async with house(channel, ASKS, BLOCKED, ASKS, DONE, clock=clock) as h:
        ended = await soon(h.silas.run(PLAN))
        assert ended.status is WorkItemStatus.blocked
        assert ended.summary.endswith(WORDS), ended.summary
        assert WORDS in await plan_status(h, NAME)
        again = await soon(h.silas.answer(NAME))
        assert again.status is WorkItemStatus.done, again
    asked = [type(card) for card in channel.cards]
    assert asked == [PlanCard, DecisionCard, PlanCard, DecisionCard]
    first, second = (card for card in channel.cards if isinstance(card, PlanCard))
    assert first.plan_hash == second.plan_hash


class GivesUp(Model):
    """Without an answer it cannot go on."""

    def then(self, body: Any) -> Answer:
        if "did not answer" in str(body["messages"][-1]):
            return Tool.call("report_work", summary="No colour was named.", status="blocked")
        return super().then(body)


def walk(env: dict[str, str], plan: Path) -> None:
    assert run(approved(env, plan), env).code == 3  # there is no terminal to answer on
    for language, words in (("en", WORDS), ("de", GERMAN)):
        told = run(silas("status"), {**env, "SILAS_LANGUAGE": language})
        assert words in " ".join(told.out.split()), told
    told = run(silas("show", NAME), env)  # how it ended stays in the words of then
    assert WORDS in " ".join(told.out.replace("\\", " ").split()), told
    (row,) = json.loads(run(silas("status", "--json"), env).out)
    assert row["unanswered"]
    with person(silas("approve", NAME), env) as owner:
        owner.waits_for("Your choice")
        owner.types("1\r")
        owner.waits_for("Which colour?")
        owner.waits_for("Your choice, 1 to 3")
        owner.types("2\r")
        owner.waits_for("Done.")
        assert owner.leaves() == 0
    assert WORDS not in " ".join(run(silas("status"), env).out.split())


async def test_in_a_terminal_status_and_show_say_how_and_that_works(tmp_path: Path) -> None:
    plan, model = tmp_path / "plan.md", GivesUp()
    text = plan_text(id=NAME, title="Paint it", body="This is about a.", verify=None)
    plan.write_text(text, encoding="utf-8")
    async with openai_server([model.then] * 9) as server:
        env = await a_home(tmp_path, server.base_url)
        await asyncio.to_thread(walk, env, plan)


async def test_what_was_answered_says_nothing_of_it() -> None:
    def answer(card: Card[Any]) -> Any:
        return BLUE if isinstance(card, DecisionCard) else saying_yes(card)

    async with house(ScriptedChannel(answer), ASKS, BLOCKED) as h:
        ended = await soon(h.silas.run(PLAN))
        assert ended.status is WorkItemStatus.blocked
        assert "question" not in ended.summary
        with pytest.raises(Exception, match="No plan 'paint' waits"):
            await h.silas.answer(NAME)


async def test_a_question_that_was_asked_twice_and_got_no_answer_says_so() -> None:
    def answer(card: Card[Any]) -> Any:
        return DecisionAnswer() if isinstance(card, DecisionCard) else saying_yes(card)

    async with house(ScriptedChannel(answer), ASKS, ASKS, BLOCKED) as h:
        assert (await soon(h.silas.run(PLAN))).summary.endswith(WORDS)


async def test_a_task_of_a_project_names_the_rest_of_the_project() -> None:
    clock = MockClock()
    async with house(Silent(clock), ASKS, BLOCKED, clock=clock) as h:
        ended = await soon(h.silas.run(project_text({**TASKS}, **SHORT)))
        assert f"`silas projects rest {PROJECT}` asks about what is not done" in ended.summary
        assert "silas approve paint" not in ended.summary


async def test_the_cockpit_has_a_button_that_asks_about_it_again() -> None:
    clock = MockClock()
    channel = Silent(clock)
    model = ScriptedModel([ASKS, BLOCKED, ASKS, DONE])
    sandbox = FakeSandbox(lambda _: exit_result())
    async with a_house(channel, models={"executor": model}, sandbox=sandbox, clock=clock) as house_:
        await soon(house_.harness.silas.run(PLAN))
        one = await house_.get(f"/work/{NAME}")
        assert one["again"]
        assert one["summary"].endswith(ON_A_PAGE)
        done = await house_.client.post(f"/work/{NAME}/ask")
        assert done.json()["words"] == "Its card is shown again."
        ended = None
        while ended is None or ended.status is not WorkItemStatus.done:
            await asyncio.sleep(0)
            ended = await house_.harness.silas.wait(NAME)
        assert not (await house_.get(f"/work/{NAME}"))["again"]
