"""What "stop" does that is typed while work runs: it ends the work, at once, and nothing else."""

from typing import Any

import pytest

from silas.cards import Card, ChannelMessage, PlanAnswer, PlanCard
from silas.plans import WorkItemStatus
from silas.testing import Harness, MockClock, ScriptedChannel, a_plan
from silas.types import OWNER
from tests.stream.kit import soon
from tests.work.kit import DONE, argv, at_work
from tests.work.test_executor import HangingSandbox


def approving(card: Card[Any]) -> Any:
    return PlanAnswer(verdict="approved") if isinstance(card, PlanCard) else card.safe


def typed(text: str, sender: str = OWNER) -> tuple[ChannelMessage, str]:
    now = MockClock().now()
    return ChannelMessage(channel="cli", sender_id=sender, text=text, timestamp=now), OWNER


async def after(message: tuple[ChannelMessage, str]) -> tuple[list[str], bool, ScriptedChannel]:
    """What was said, whether the work still runs, and the channel, after one message."""
    sandbox, channel = HangingSandbox(), ScriptedChannel(approving, [message])
    async with at_work(argv("true"), DONE, sandbox=sandbox, channel=channel) as work:
        item = await work.approve(a_plan())
        work.silas.executor.dispatch(item, work.notify)
        await soon(sandbox.begun.wait())
        await soon(work.silas.listen())
        runs = work.silas.executor.running() == (item.id,)
        if not runs:
            stored = await work.silas.store.get(item.id)
            assert stored is not None
            assert stored.status is WorkItemStatus.paused
            assert sandbox.killed == 1
        return channel.texts, runs, channel


@pytest.mark.parametrize("text", ["stop", "Stop!", "please stop it", "cancel that", "Stopp, bitte"])
async def test_stop_ends_the_work_that_runs(text: str) -> None:
    texts, runs, _ = await after(typed(text))
    assert not runs
    assert [one for one in texts if one.startswith("Stopped: ")] != []


@pytest.mark.parametrize(
    "message",
    [
        typed("don't stop"),
        typed("stop words are words such as 'the'"),
        typed("stop the server in main.py"),
        typed("stop", "somebody else"),
    ],
    ids=lambda one: f"{one[0].sender_id}: {one[0].text}",
)
async def test_other_words_and_other_senders_stop_nothing(
    message: tuple[ChannelMessage, str],
) -> None:
    texts, runs, _ = await after(message)
    assert runs
    assert [one for one in texts if one.startswith("Stopped: ")] == []


async def test_where_nothing_runs_stop_is_a_message_like_any_other() -> None:
    channel = ScriptedChannel(messages=[typed("stop")])
    async with Harness(channel) as h:
        await soon(h.silas.listen())
    assert ["`silas stop --now`" in one for one in channel.texts] == [True]
