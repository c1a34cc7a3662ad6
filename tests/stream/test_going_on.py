"""The owner goes on talking while a plan waits for him, and stops one answer and nothing else."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, TypeVar

import pytest
from pydantic_ai.messages import ModelMessage, ModelResponse
from pydantic_ai.models import ModelRequestParameters
from pydantic_ai.settings import ModelSettings

from silas.cards import Card, ChannelMessage, GateCard, PlanAnswer, PlanCard
from silas.cards.models import DecisionAnswer, DecisionCard
from silas.errors import PlanFamilyError
from silas.stream.stop_answer import STOPPED_WORDS
from silas.testing import (
    CallTool,
    Harness,
    MockClock,
    ScriptedChannel,
    ScriptedModel,
    plan_text,
)
from silas.types import OWNER
from tests.stream.kit import direct, done_sandbox, entries_of, proposing, ran, to_planner
from tests.support.waits import SECONDS

Answer = TypeVar("Answer")
CLOCK = MockClock()
PLAN = plan_text()


class Beside(ScriptedChannel):
    """Cards wait beside the conversation until the test answers them; messages have names."""

    def __init__(self, *, asks_beside: bool = True) -> None:
        super().__init__()
        self.asks_beside = asks_beside
        self.heard: list[tuple[str, str | None]] = []
        self.answers: list[asyncio.Future[Any]] = []
        self._said: asyncio.Queue[tuple[ChannelMessage, str] | None] = asyncio.Queue()
        self._news = asyncio.Event()

    def say(self, name: str, text: str, connection: str = OWNER) -> None:
        message = ChannelMessage(
            channel="cli", sender_id=OWNER, text=text, timestamp=CLOCK.now(), id=name
        )
        self._said.put_nowait((message, connection))

    def end(self) -> None:
        self._said.put_nowait(None)

    async def listen(self) -> AsyncIterator[tuple[ChannelMessage, str]]:
        while (said := await self._said.get()) is not None:
            yield said

    async def send(self, recipient_id: str, text: str, reply_to: str | None = None) -> None:
        await super().send(recipient_id, text, reply_to)
        self.heard.append((text, reply_to))
        self._news.set()

    async def ask(self, to: str, card: Card[Answer]) -> Answer:
        answer: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self.cards.append(card)
        self.answers.append(answer)
        self._news.set()
        return await answer

    def decides(self, number: int, verdict: str) -> None:
        self.answers[number].set_result(PlanAnswer.model_validate({"verdict": verdict}))

    async def until(self, texts: int, cards: int = 0) -> None:
        async with asyncio.timeout(SECONDS):
            while len(self.heard) < texts or len(self.cards) < cards:
                self._news.clear()
                await self._news.wait()


def models(*proxy: Any, planner: Any = ()) -> dict[str, ScriptedModel]:
    return {
        "proxy": ScriptedModel(proxy),
        "planner": ScriptedModel(planner),
        "executor": ScriptedModel([ran()]),
    }


@asynccontextmanager
async def talking(
    channel: Beside, given: dict[str, ScriptedModel], **settings: Any
) -> AsyncGenerator[Harness]:
    async with Harness(channel, models=given, sandbox=done_sandbox(), clock=CLOCK, **settings) as h:
        listening = asyncio.create_task(h.silas.listen())
        yield h
        channel.end()
        await asyncio.wait_for(listening, SECONDS)


@asynccontextmanager
async def two_plans_wait() -> AsyncGenerator[tuple[Beside, Harness]]:
    """Of the messages m1 and m2; the second plan is `task-other`."""
    channel = Beside()
    other = plan_text(id="task-other", title="Another")
    given = models(to_planner(), to_planner(), planner=[proposing(PLAN), proposing(other)])
    async with talking(channel, given) as h:
        channel.say("m1", "one")
        await channel.until(1, cards=1)
        channel.say("m2", "two")
        await channel.until(2, cards=2)
        yield channel, h


async def test_the_owner_goes_on_talking_while_a_plan_waits() -> None:
    channel = Beside()
    given = models(to_planner(), direct("It is nine."), planner=[proposing(PLAN)])
    async with talking(channel, given):
        channel.say("m1", "write the report")
        await channel.until(1, cards=1)
        assert channel.heard == [("I propose this.", "m1")]
        channel.say("m2", "what time is it?")
        await channel.until(2)
        assert channel.heard[1] == ("It is nine.", "m2")
        assert not channel.answers[0].done()
        channel.decides(0, "declined")
        await channel.until(3)
    assert channel.heard[2] == ("The plan was not approved; nothing was run.", "m1")
    assert len(channel.heard) == 3


async def test_two_plans_wait_at_once_and_each_answer_stands_under_its_message() -> None:
    async with two_plans_wait() as (channel, h):
        channel.decides(1, "declined")
        await channel.until(3)
        channel.decides(0, "waiting")
        await channel.until(4)
        assert [one.id for one in await h.silas.runs.proposer.waiting()] == ["task-example"]
    assert [to for _, to in channel.heard] == ["m1", "m2", "m2", "m1"]


async def test_where_cards_stand_in_the_conversation_it_waits_for_the_answer() -> None:
    channel = Beside(asks_beside=False)
    given = models(to_planner(), direct("It is nine."), planner=[proposing(PLAN)])
    async with talking(channel, given):
        channel.say("m1", "write the report")
        await channel.until(0, cards=1)
        channel.say("m2", "what time is it?")
        channel.decides(0, "declined")
        await channel.until(2)
    assert [to for _, to in channel.heard] == ["m1", "m2"]


async def test_somebody_else_has_one_question_open_at_a_time() -> None:
    channel = Beside()
    other = plan_text(id="task-other", title="Another")
    given = models(to_planner(), to_planner(), planner=[proposing(PLAN), proposing(other)])
    async with talking(channel, given):
        channel.say("m1", "one", "someone")
        channel.say("m2", "two", "someone")
        await channel.until(0, cards=1)
        assert channel.heard == []
        channel.decides(0, "declined")
        await channel.until(1, cards=2)
        channel.decides(1, "declined")
        await channel.until(2)
    assert [to for _, to in channel.heard] == ["m1", "m2"]


class Held(ScriptedModel):
    """Answers its first request at once, and each later one when the test lets it."""

    def __init__(self, steps: list[Any]) -> None:
        super().__init__(steps)
        self.asked, self.go_on = asyncio.Event(), asyncio.Event()

    async def request(
        self,
        messages: list[ModelMessage],
        model_settings: ModelSettings | None,
        model_request_parameters: ModelRequestParameters,
    ) -> ModelResponse:
        if self.requests:
            self.asked.set()
            await self.go_on.wait()
        return await super().request(messages, model_settings, model_request_parameters)


async def test_a_plan_that_is_being_changed_is_not_shown_before_the_answer_is_there() -> None:
    channel, planner = Beside(), Held([proposing(PLAN), proposing(PLAN)])
    given = {"proxy": ScriptedModel([to_planner(), to_planner(), direct("Nine.")])}
    async with talking(channel, {**given, "planner": planner}) as h:
        channel.say("m1", "one")
        await channel.until(0, cards=1)
        channel.decides(0, "edit_requested")
        await channel.until(2)
        channel.say("m2", "shorter")
        async with asyncio.timeout(SECONDS):
            await planner.asked.wait()
        with pytest.raises(PlanFamilyError, match="wait for it, or stop it") as refused:
            await h.silas.ask_again("task-example")
        assert refused.value.code == "E_PLAN_BEING_CHANGED"
        assert len(channel.cards) == 1
        assert h.silas.stop_answer("m2")
        await channel.until(3)
        assert await h.silas.ask_again("task-example")  # no new plan came of it
        await channel.until(3, cards=2)
        channel.decides(1, "declined")
        await channel.until(4)


async def test_stopping_one_answer_withdraws_what_it_asked_and_ends_nothing_else() -> None:
    async with two_plans_wait() as (channel, h):
        assert h.silas.stop_answer("m1")
        await channel.until(3)
        assert channel.heard[2] == (STOPPED_WORDS, "m1")
        assert channel.answers[0].cancelled()
        assert not channel.answers[1].done()
        assert [one.id for one in await h.silas.runs.proposer.waiting()] == ["task-other"]
        assert not h.silas.stop_answer("m1")
        assert not h.silas.stop_answer("unknown")
        channel.decides(1, "declined")
        await channel.until(4)
        assert len(await entries_of(h, "answer_stopped")) == 1
    assert isinstance(channel.cards[0], PlanCard)


@pytest.mark.parametrize("first", ["declined", "waiting"])
async def test_each_turn_ends_once_in_the_order_of_the_answers(first: str) -> None:
    channel = Beside()
    given = models(
        to_planner(), direct("It is nine."), direct("It is ten."), planner=[proposing(PLAN)]
    )
    async with talking(channel, given) as h:
        channel.say("m1", "one")
        await channel.until(1, cards=1)
        channel.say("m2", "two")
        await channel.until(2)
        channel.decides(0, first)
        await channel.until(3)
        channel.say("m3", "three")
        await channel.until(4)
        finished = await entries_of(h, "turn_finished")
    assert [one["outcome"] for one in finished] == [
        "answered", "declined" if first == "declined" else "waiting", "answered",
    ]  # fmt: skip


LOOK = CallTool("workspace_list", {})
YES = DecisionAnswer(selected_value="yes", approved=True)
ASKS = {
    "name": "careful",
    "on": "every_user_message",
    "type": "string_match",
    "allowed_values": ["what time is it?"],
    "approval_values": ["tidy up"],
}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "notes.txt").write_text("milk\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


async def test_two_cards_of_one_turn_let_the_owner_talk_on_and_each_turn_keeps_its_number(
    folder: Path,
) -> None:
    channel = Beside()
    proxy = (LOOK, direct("It is nine."), to_planner(), direct("It is ten."))
    async with talking(channel, models(*proxy, planner=[proposing(PLAN)])) as h:
        channel.say("m1", "tidy up")
        await channel.until(0, cards=1)
        channel.say("m2", "what time is it?")
        await channel.until(1)
        channel.answers[0].set_result(YES)
        await channel.until(2, cards=2)
        channel.say("m3", "and now?")
        await channel.until(3)
        channel.decides(1, "declined")
        await channel.until(4)
        said = [one for one in h.context.in_view(OWNER) if one.kind == "message"]
    assert [type(card) for card in channel.cards] == [DecisionCard, PlanCard]
    assert channel.heard == [
        ("It is nine.", "m2"),
        ("I propose this.", "m1"),
        ("It is ten.", "m3"),
        ("The plan was not approved; nothing was run.", "m1"),
    ]
    assert [(one.turn_number, one.content.partition(": ")[2]) for one in said] == [
        (0, "tidy up"),
        (1, "what time is it?"),
        (1, "It is nine."),
        (0, "I propose this."),
        (2, "and now?"),
        (2, "It is ten."),
        (0, "The plan was not approved; nothing was run."),
    ]


async def test_three_cards_of_one_turn_of_three_kinds_never_hold_the_conversation(
    folder: Path,
) -> None:
    channel = Beside()
    nine = direct("It is nine.")
    given = models(nine, LOOK, nine, to_planner(), nine, planner=[proposing(PLAN)])
    async with talking(channel, given, settings={"gates": {"system": [ASKS]}}):
        channel.say("m1", "tidy up")
        for number, (answer, told) in enumerate([("approve", 1), (YES, 2), (None, 4)]):
            await channel.until(0, cards=number + 1)
            channel.say(f"t{number}", "what time is it?")
            await channel.until(told)
            assert channel.heard[-1] == ("It is nine.", f"t{number}")
            decision = answer or PlanAnswer(verdict="declined")
            channel.answers[number].set_result(decision)
        await channel.until(5)
    assert [type(card) for card in channel.cards] == [GateCard, DecisionCard, PlanCard]
    assert [to for _, to in channel.heard] == ["t0", "t1", "m1", "t2", "m1"]


async def test_a_second_turn_that_asks_the_same_waits_beside_the_conversation_too(
    folder: Path,
) -> None:
    channel = Beside()
    proxy = (LOOK, LOOK, direct("It is nine."), direct("One."), direct("Two."))
    async with talking(channel, models(*proxy)):
        channel.say("m1", "what is here?")
        await channel.until(0, cards=1)
        channel.say("m2", "and what else?")
        channel.say("m3", "what time is it?")
        await channel.until(1)
        assert channel.heard == [("It is nine.", "m3")]
        channel.answers[0].set_result(YES)
        await channel.until(3)
    assert len(channel.cards) == 1  # one yes is for both
    assert channel.heard[1:] == [("One.", "m1"), ("Two.", "m2")]


async def test_a_turn_that_waits_is_stopped_alone_at_any_of_its_cards(folder: Path) -> None:
    channel = Beside()
    async with talking(channel, models(LOOK, direct("It is nine."))) as h:
        channel.say("m1", "what is here?")
        await channel.until(0, cards=1)
        assert h.silas.stop_answer("m1")
        await channel.until(1)
        channel.say("m2", "what time is it?")
        await channel.until(2)
    assert channel.answers[0].cancelled()
    assert channel.heard == [(STOPPED_WORDS, "m1"), ("It is nine.", "m2")]


async def test_what_a_turn_was_shown_is_known_though_others_moved_it_out_of_view(
    folder: Path,
) -> None:
    channel = Beside()
    given = models(LOOK, direct("It is nine."), direct("There are notes."))
    async with talking(channel, given) as h:
        channel.say("m1", "what is here?")
        await channel.until(0, cards=1)
        shown = {name for way in h.context.ways(OWNER) for name in way}
        channel.say("m2", "what time is it?")
        await channel.until(1)
        for item in list(h.context.in_view(OWNER)):
            h.context.drop(OWNER, item.ctx_id)
        channel.answers[0].set_result(YES)
        await channel.until(2)
        (told,) = [one for one in h.context.in_view(OWNER) if "There are notes." in one.content]
    assert shown <= {told.source, *told.sources}
