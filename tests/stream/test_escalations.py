"""What a block leads to, carried out for real: hand-over, queue, report, draft, retry (5.1.1)."""

from pathlib import Path
from typing import Any

import pytest

from silas.errors import ChannelError
from silas.gates import EscalationAction
from silas.stream.escalate import BLOCKED_WORDS
from silas.testing import Harness, MockClock, ScriptedChannel
from silas.types import OWNER
from tests.stream.kit import direct, entries_of, said, saying_yes, soon
from tests.stream.test_turn_gates import a_house, escalating, gate, on_input


class Desk(ScriptedChannel):
    """A channel on which a person may take over."""

    def __init__(self, takes: bool) -> None:
        super().__init__()
        self._takes = takes
        self.handed: list[tuple[str, str, str]] = []

    async def hand_over(self, connection_id: str, queue: str, words: str) -> bool:
        self.handed.append((connection_id, queue, words))
        return self._takes


async def stopped(
    action: EscalationAction, channel: ScriptedChannel | None = None, **more: EscalationAction
) -> tuple[dict[str, list[dict[str, Any]]], dict[str, str], Harness]:
    """A stranger's message that a gate stops: what is on record, and who was told what."""
    channel = channel or ScriptedChannel()
    harness, _ = a_house(
        [on_input(on_block="own")], channel=channel, ports=escalating({"own": action, **more})
    )
    async with harness as h:
        await soon(h.silas.stream.handle(said(h, "LOUD", "stranger")))
        names = ("handed_over", "queue_transferred", "escalation_reported", "task_drafted")
        record = {name: await entries_of(h, name) for name in names}
    return record, dict(channel.sent), harness


HUMAN = EscalationAction(action="escalate_human", queue="desk", message="hold.")


@pytest.mark.proves("S5.1.1-HANDOVER-FALLBACKS")
async def test_a_person_takes_over_where_the_channel_lets_one() -> None:
    channel = Desk(takes=True)
    record, told, _ = await stopped(HUMAN, channel)
    assert channel.handed == [("stranger", "desk", "hold.")]
    assert [len(found) for found in record.values()] == [1, 0, 0, 0]
    assert told == {"stranger": "hold."}


@pytest.mark.proves("S5.1.1-HANDOVER-FALLBACKS")
@pytest.mark.parametrize("channel", [Desk(takes=False), ScriptedChannel()])
async def test_without_a_person_a_hand_over_becomes_a_queue_that_the_owner_sees(
    channel: ScriptedChannel,
) -> None:
    record, told, _ = await stopped(HUMAN, channel)
    assert [len(found) for found in record.values()] == [0, 1, 0, 0]
    assert record["queue_transferred"][0]["queue"] == "desk"
    assert told["stranger"] == "hold."
    assert "in the queue 'desk'" in told[OWNER]


async def test_who_waits_in_a_queue_waits_over_restarts_until_somebody_saw_to_it(
    tmp_path: Path,
) -> None:
    own = EscalationAction(action="transfer_to_queue", queue="desk", message="hold.")
    clock, seen, ports = MockClock(), list[list[tuple[str, str]]](), escalating({"own": own})

    for who in ("stranger", "guest", "stranger"):
        gates = [on_input(on_block="own")]
        async with a_house(gates, ports=ports, home=tmp_path, clock=clock)[0] as h:
            await soon(h.silas.stream.handle(said(h, "LOUD", who)))
            clock.advance(60)
            people = ports["people"]
            seen.append([(one.connection_id, one.queue) for one in people.waiting()])
            if len(seen) == 3:
                assert await people.mark_seen("stranger") == 1
                assert [one.connection_id for one in people.waiting()] == ["guest"]
                with pytest.raises(ChannelError, match="waits in no queue"):
                    await people.mark_seen("stranger")
                assert len(await entries_of(h, "queue_seen_to")) == 1
    both = [("stranger", "desk"), ("guest", "desk")]
    assert seen == [both[:1], both, both]


@pytest.mark.proves("S5.1.1-HANDOVER-FALLBACKS")
async def test_without_a_queue_either_it_is_a_report() -> None:
    record, told, _ = await stopped(EscalationAction(action="escalate_human"))
    assert [len(found) for found in record.values()] == [0, 0, 1, 0]
    assert told["stranger"] == BLOCKED_WORDS
    assert "silas audit show" in told[OWNER]


async def test_a_suppressed_text_is_answered_with_words_and_its_fallback_is_carried_out() -> None:
    first = EscalationAction(action="suppress_and_escalate", message="wait.", fallback="next")
    record, told, _ = await stopped(first, next=HUMAN)
    assert [len(found) for found in record.values()] == [0, 1, 0, 0]
    assert told["stranger"] == "wait."


async def test_fallbacks_that_lead_in_a_circle_end_in_a_report() -> None:
    one = EscalationAction(action="retry", max_retries=0, fallback="two")
    two = EscalationAction(action="suppress_and_escalate", fallback="own")
    record, told, _ = await stopped(one, two=two)
    assert [len(found) for found in record.values()] == [0, 0, 1, 0]
    assert told["stranger"] == BLOCKED_WORDS


@pytest.mark.proves("S5.1.1-SPAWN-TASK")
@pytest.mark.parametrize("mine", [True, False])
async def test_a_task_made_of_a_failure_waits_for_the_owner_and_nothing_runs(mine: bool) -> None:
    channel = ScriptedChannel(saying_yes)
    draft = EscalationAction(action="spawn_task", message="noted.")
    harness, _ = a_house(
        [on_input(on_block="own")], channel=channel, ports=escalating({"own": draft})
    )
    async with harness as h:
        if mine:
            reply = await soon(h.silas.ask("LOUD"))
        else:
            reply = await soon(h.silas.stream.handle(said(h, "LOUD", "stranger")))
        (waiting,) = await h.silas.runs.proposer.waiting()
        assert await h.store.get(waiting.id) is None
        assert h.silas.executor.running() == ()
    told = reply.text if mine else dict(channel.sent)[OWNER]
    assert f"`silas approve {waiting.id}`" in told
    assert (waiting.id in reply.text) is mine  # nobody else hears of the owner's tasks
    assert "rule 'lower'" in waiting.title
    assert waiting.failure_context
    assert "LOUD" not in waiting.body
    assert channel.cards == []


@pytest.mark.proves("S5.1.1-RETRIES-THEN-FALLBACK")
@pytest.mark.parametrize(
    ("answers", "words", "asked"),
    [
        (["LOUD", "quiet"], "quiet", 2),
        (["LOUD", "LOUD", "quiet"], "quiet", 3),
        (["LOUD", "LOUD", "LOUD", "quiet"], "enough.", 3),
    ],
)
async def test_a_retry_asks_again_as_often_as_allowed_and_then_falls_back(
    answers: list[str], words: str, asked: int
) -> None:
    own = {
        "own": EscalationAction(action="retry", max_retries=2, fallback="end"),
        "end": EscalationAction(action="respond", message="enough."),
    }
    harness, model = a_house([gate(on_block="own")], *answers, ports=escalating(own))
    async with harness as h:
        reply = await soon(h.silas.ask("hello"))
    assert reply.text == words
    assert len(model.requests) == asked
    assert "rephrase" not in model.requests[-1].text


async def test_what_was_suppressed_is_in_no_memory_and_in_no_view() -> None:
    harness, _ = a_house([gate(on_block="polite_redirect")], direct("LOUD"))
    async with harness as h:
        await soon(h.silas.ask("hello"))
        items = [item.content for item in h.context.in_view(OWNER) if item.kind == "message"]
        assert await h.memory.search_raw("LOUD", 5) == []
    assert items == [
        "[owner] owner: hello",
        "Silas: I can't help with that. How else can I assist you?",
    ]
