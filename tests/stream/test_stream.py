"""The permanent session: turns in order, bounded queues, failures that end one turn only."""

import asyncio
from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest
from pydantic_ai.exceptions import ModelAuthenticationError
from pydantic_ai.messages import ModelMessage, ModelResponse
from pydantic_ai.models import ModelRequestParameters
from pydantic_ai.settings import ModelSettings

from silas.audit.log import AuditLog
from silas.cards import Card, ChannelMessage
from silas.errors import ChannelError
from silas.testing import (
    CallTool,
    FakeTool,
    Harness,
    MockClock,
    ScriptedChannel,
    ScriptedModel,
    plan_text,
)
from silas.tools import RiskLevel, ToolConfig
from silas.types import OWNER
from tests.stream.kit import (
    direct,
    done_sandbox,
    entries_of,
    planned,
    proposing,
    ran,
    recorded,
    said,
    saying_yes,
    soon,
)
from tests.support.waits import SECONDS


class HeldModel(ScriptedModel):
    """Answers in the order it is asked, and only when the test lets it."""

    def __init__(self, turns: int) -> None:
        super().__init__([direct(f"answer {n}") for n in range(turns)])
        self.asked = asyncio.Semaphore(0)
        self.go_on = asyncio.Semaphore(0)

    async def request(
        self,
        messages: list[ModelMessage],
        model_settings: ModelSettings | None,
        model_request_parameters: ModelRequestParameters,
    ) -> ModelResponse:
        response = await super().request(messages, model_settings, model_request_parameters)
        self.asked.release()
        await self.go_on.acquire()
        return response


def words(text: str, connection: str) -> tuple[ChannelMessage, str]:
    """A message as a channel delivers it."""
    now = MockClock().now()
    message = ChannelMessage(channel="cli", sender_id="someone", text=text, timestamp=now)
    return message, connection


@pytest.mark.proves("S5.1-ONE-TURN-PER-CONNECTION")
async def test_turns_of_one_connection_run_one_after_the_other_in_order() -> None:
    model = HeldModel(3)
    async with Harness(models={"proxy": model}) as h:
        handle = h.silas.stream.handle
        turns = [asyncio.create_task(handle(said(h, f"message {n}", "one"))) for n in range(3)]
        for n in range(3):
            await soon(model.asked.acquire())
            assert len(model.requests) == n + 1
            assert f"message {n}" in model.requests[n].text
            model.go_on.release()
        replies = await soon(asyncio.gather(*turns))
    assert [reply.text for reply in replies] == ["answer 0", "answer 1", "answer 2"]


@pytest.mark.proves("S5.1-CONNECTIONS-CONCURRENT")
async def test_turns_of_different_connections_run_side_by_side() -> None:
    model = HeldModel(2)
    async with Harness(models={"proxy": model}) as h:
        handle = h.silas.stream.handle
        turns = [asyncio.create_task(handle(said(h, "hello", name))) for name in ("one", "two")]
        for _ in turns:
            await soon(model.asked.acquire())  # both are being answered before either is
        for _ in turns:
            model.go_on.release()
        replies = await soon(asyncio.gather(*turns))
    assert {reply.outcome for reply in replies} == {"answered"}


@pytest.mark.proves("S18.6-SCOPE-QUEUE")
async def test_a_full_queue_of_one_connection_rejects_its_newest_message_only() -> None:
    model, channel = HeldModel(3), ScriptedChannel()
    settings = {"backpressure": {"max_pending_turns_per_scope": 2}}
    async with Harness(channel, models={"proxy": model}, settings=settings) as h:
        handle = h.silas.stream.handle
        turns = [asyncio.create_task(handle(said(h, "hello", "one"))) for _ in range(2)]
        await soon(model.asked.acquire())
        rejected = await soon(handle(said(h, "hello", "one")))
        turns.append(asyncio.create_task(handle(said(h, "hello", "two"))))
        await soon(model.asked.acquire())
        for _ in turns:
            model.go_on.release()
        replies = await soon(asyncio.gather(*turns))
        busy = await entries_of(h, "turn_rejected_busy")
    assert rejected.outcome == "busy"
    assert "please try again" in rejected.text
    assert channel.sent[0] == ("one", rejected.text)
    assert [reply.outcome for reply in replies] == ["answered"] * 3
    assert [entry["scope_id"] for entry in busy] == ["one"]


@pytest.mark.proves("S18.6-GLOBAL-QUEUE")
async def test_a_full_house_rejects_strangers_and_never_the_owner() -> None:
    model = HeldModel(3)
    settings = {"backpressure": {"max_pending_turns_total": 2}}
    async with Harness(models={"proxy": model}, settings=settings) as h:
        handle = h.silas.stream.handle
        turns = [asyncio.create_task(handle(said(h, "hello", name))) for name in ("one", "two")]
        for _ in turns:
            await soon(model.asked.acquire())
        stranger = await soon(handle(said(h, "hello", "three")))
        turns.append(asyncio.create_task(h.silas.ask("hello")))
        await soon(model.asked.acquire())
        for _ in turns:
            model.go_on.release()
        replies = await soon(asyncio.gather(*turns))
    assert stranger.outcome == "busy"
    assert [reply.outcome for reply in replies] == ["answered"] * 3


async def test_a_place_in_the_queue_is_given_back_whatever_becomes_of_the_turn() -> None:
    steps = [RuntimeError("a bug"), direct("first"), direct("second")]
    settings = {"backpressure": {"max_pending_turns_per_scope": 1}}
    async with Harness(models={"proxy": ScriptedModel(steps)}, settings=settings) as h:
        with pytest.raises(RuntimeError, match="a bug"):
            await soon(h.silas.ask("hello"))
        replies = [await soon(h.silas.ask("hello")) for _ in range(2)]
    assert [reply.text for reply in replies] == ["first", "second"]


async def test_listening_goes_on_after_a_turn_that_failed_and_the_sender_is_told() -> None:
    channel = ScriptedChannel(messages=[words(f"message {n}", "one") for n in range(3)])
    model = ScriptedModel([direct("first"), RuntimeError("a bug"), direct("third")])
    async with Harness(channel, models={"proxy": model}) as h:
        await soon(h.silas.listen())
        (failed,) = await entries_of(h, "turn_failed")
    assert channel.texts[0] == "first"
    assert "Something in Silas itself failed" in channel.texts[1]
    assert "a bug" not in channel.texts[1]
    assert channel.texts[2] == "third"
    assert (failed["code"], failed["kind"], failed["scope_id"]) == (
        "E_SILAS_UNEXPECTED",
        "RuntimeError",
        "one",
    )


async def test_a_channel_that_cannot_deliver_stops_neither_turn_nor_work() -> None:
    class Deaf(ScriptedChannel):
        async def send(self, recipient_id: str, text: str, reply_to: str | None = None) -> None:
            raise ChannelError("The connection closed.")

    models = planned(proposing(plan_text()))
    async with Harness(Deaf(saying_yes), models=models, sandbox=done_sandbox()) as h:
        reply = await soon(h.silas.ask("do it"))
        result = await soon(h.silas.wait("task-example"))
        assert await entries_of(h, "send_failed")
    assert reply.outcome == "dispatched"
    assert result is not None
    assert result.status.value == "done"


UNREACHABLE = ModelAuthenticationError("scripted", "bad key sk-verysecret")


@pytest.mark.parametrize("where", ["proxy", "planner"])
async def test_without_a_model_the_turn_says_so_honestly_and_ends(where: str) -> None:
    models = planned(answer_or(where))
    if where == "proxy":
        models["proxy"] = ScriptedModel([UNREACHABLE])
    channel = ScriptedChannel()
    async with Harness(channel, models=models) as h:
        reply = await soon(h.silas.ask("hello"))
        (degraded,) = await entries_of(h, "turn_degraded")
        (finished,) = await entries_of(h, "turn_finished")
        log = str(await recorded(h))
    assert reply.outcome == finished["outcome"] == "failed"
    assert reply.text.endswith("Nothing was run.")
    assert channel.texts == [reply.text]
    assert str(degraded["code"]).startswith("E_LLM_")
    assert "sk-verysecret" not in log + reply.text


def answer_or(where: str) -> Any:
    """What the planner plays: the failure, or a plan that is never asked for."""
    return UNREACHABLE if where == "planner" else proposing(plan_text())


@pytest.mark.proves("S5.1-6-TOOLSET")
@pytest.mark.parametrize(
    ("connection", "level", "offered"),
    [(OWNER, "(owner)", ["memory_search", "context_inspection", "look"]), ("desk-7", "public", [])],
)
async def test_only_the_owners_connection_has_tools_and_a_strangers_begins_with_none(
    connection: str, level: str, offered: list[str]
) -> None:
    model, look = ScriptedModel([direct()]), FakeTool("look", capabilities=("proxy",))
    async with Harness(models={"proxy": model}) as h:
        h.silas.registry.register(look, ToolConfig(connector_id="x", risk_default=RiskLevel.low))
        await soon(h.silas.stream.handle(said(h, "hello", connection)))
    (asked,) = model.requests
    assert f"--- access_level ---\n{level}\n" in asked.text
    assert [tool.name for tool in asked.parameters.function_tools] == offered


async def test_an_idle_silas_asks_no_model() -> None:
    models = {role: ScriptedModel([]) for role in ("proxy", "planner", "executor")}
    async with Harness(models=models) as h:
        for _ in range(3):
            h.clock.advance(24 * 3600)
            await asyncio.sleep(0)
        await soon(h.silas.listen())
    assert [len(model.requests) for model in models.values()] == [0, 0, 0]


class OpenChannel(ScriptedChannel):
    """Delivers what the test puts in, and never answers a card by itself."""

    def __init__(self) -> None:
        super().__init__()
        self.inbox: asyncio.Queue[tuple[ChannelMessage, str]] = asyncio.Queue()
        self.asked, self.end = asyncio.Event(), asyncio.Event()

    async def listen(self) -> AsyncIterator[tuple[ChannelMessage, str]]:
        while True:
            yield await self.inbox.get()

    async def ask(self, to: str, card: Card[Any]) -> Any:
        self.asked.set()
        await self.end.wait()
        return card.safe


def never_for_ever(let_go: Callable[[], object]) -> None:
    """Let go after a while, so that a Stream that cannot stop fails a test and does not hold it."""
    asyncio.get_running_loop().call_later(SECONDS, let_go)


async def test_stopping_answers_open_questions_safely_and_lets_the_turn_end() -> None:
    channel, sandbox = OpenChannel(), done_sandbox()
    models = planned(proposing(plan_text()))
    never_for_ever(channel.end.set)
    async with Harness(channel, models=models, sandbox=sandbox) as h:
        listening = asyncio.create_task(h.silas.listen())
        channel.inbox.put_nowait(words("do it", OWNER))
        await soon(channel.asked.wait())
        listening.cancel()
        await soon(h.silas.stream.stop())
        finished = await entries_of(h, "turn_finished")
        events = [event for event, _ in await recorded(h)]
    assert not channel.end.is_set()
    assert [entry["outcome"] for entry in finished] == ["declined"]
    assert events.index("turn_finished") < events.index("stream_stopped")
    assert channel.texts == ["The plan was not approved; nothing was run."]
    assert sandbox.runs == []


@pytest.mark.proves("S18.2-GRACE")
async def test_stopping_cancels_turns_that_outlive_the_grace_period() -> None:
    channel, model = OpenChannel(), HeldModel(1)
    settings = {"backpressure": {"shutdown_grace_seconds": 30}}
    never_for_ever(model.go_on.release)
    async with Harness(channel, models={"proxy": model}, settings=settings) as h:
        listening = asyncio.create_task(h.silas.listen())
        channel.inbox.put_nowait(words("hello", "one"))
        await soon(model.asked.acquire())
        listening.cancel()
        stopping = asyncio.create_task(h.silas.stream.stop())
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        assert not stopping.done()
        h.clock.advance(30)
        await soon(stopping)
        (cancelled,) = await entries_of(h, "turns_cancelled")
    assert cancelled["count"] == 1
    assert channel.texts == []


@pytest.mark.proves("S5.1-START-REHYDRATES")
async def test_start_and_stop_are_on_record_with_a_checkpoint() -> None:
    harness = Harness()
    async with harness as h:
        events = [event for event, _ in await recorded(h)]
        assert events == ["record.kept", "stream_started"]
        await soon(h.silas.stream.stop())
        assert isinstance(h.audit, AuditLog)
        # valid, and nothing is left to check behind the checkpoint
        assert await h.audit.verify_from_checkpoint() == (True, 0, "")
        events = [event for event, _ in await recorded(h)]
    assert events == ["record.kept", "stream_started", "stream_stopped"]


async def test_every_turn_leaves_its_end_on_record_however_it_ends() -> None:
    call = CallTool("shell_exec", {"argv": ["true"]})
    nonsense = proposing("nonsense")
    models = planned(proposing(plan_text()), nonsense, nonsense, executor=[call, ran()])
    channel = ScriptedChannel(saying_yes)
    async with Harness(channel, models=models, sandbox=done_sandbox()) as h:
        replies = [await soon(h.silas.ask("do it")) for _ in range(2)]
        await soon(h.silas.wait("task-example"))
        finished = await entries_of(h, "turn_finished")
    assert [(e["turn_id"], e["outcome"]) for e in finished] == [
        (reply.turn_id, reply.outcome) for reply in replies
    ]
    assert [reply.outcome for reply in replies] == ["dispatched", "blocked"]
