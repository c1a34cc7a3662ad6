"""The rest of a project belongs to the conversation in which the project was asked for (5.2.2)."""

from typing import Any, TypeVar

from silas.cards import Card, PlanCard
from silas.plans import WorkItemStatus
from silas.testing import CallTool, Harness, ScriptedChannel
from silas.types import OWNER, address_of
from tests.projects.kit import PROJECT, Ran, chain, project_text
from tests.stream.kit import planned, proposing, ran, saying_yes, soon

REST = f"{PROJECT}-rest"
AnswerT = TypeVar("AnswerT")


class _Places(ScriptedChannel):
    """Notes where the card of each plan is shown."""

    def __init__(self, answer: Any = saying_yes) -> None:
        super().__init__(answer)
        self.places: dict[str, str] = {}

    async def ask(self, to: str, card: Card[AnswerT]) -> AnswerT:
        shown: Card[Any] = card
        if isinstance(shown, PlanCard):
            self.places[shown.work_item_id] = to
        return await super().ask(to, card)


def _at_work(channel: ScriptedChannel, sandbox: Ran) -> Harness:
    tried = [CallTool("shell_exec", {"argv": ["do-a"]}), ran()]
    models = planned(proposing(project_text(chain("a"))), executor=tried * 2)
    sandbox.failing.add("check-a")
    return Harness(channel, models=models, sandbox=sandbox.sandbox)


async def _stuck(h: Harness) -> str:
    """The conversation in which a project was asked for that came to nothing."""
    name = h.silas.messages.conversations.begin().id
    await soon(h.silas.ask("deploy it", conversation=name))
    result = await soon(h.silas.wait(PROJECT))
    assert result is not None
    assert result.status is WorkItemStatus.failed, result
    return name


async def test_the_card_of_a_rest_is_shown_where_the_project_was_asked_for() -> None:
    channel, sandbox = _Places(), Ran()
    async with _at_work(channel, sandbox) as h:
        name = await _stuck(h)
        assert await h.silas.ask_for_rest(PROJECT) == REST
        await soon(h.silas.runs.stream.questions.wait_for_answer(REST))
        assert channel.places == dict.fromkeys((PROJECT, REST), address_of(OWNER, name))


async def test_what_a_rest_did_stands_where_the_project_was_asked_for() -> None:
    sandbox = Ran()
    async with _at_work(_Places(), sandbox) as h:
        name = await _stuck(h)
        await soon(h.silas.run(await h.silas.rest_of(PROJECT)))  # in a terminal
        for one in (REST, "a-rest"):
            assert h.silas.runs.work.asked_by(one).conversation == name, one
