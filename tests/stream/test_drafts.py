"""An answer is shown while it comes where nothing could forbid it, and only as far as is safe."""

import asyncio
import json
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from typing import Any

import pytest

from silas.agents import PlanAction, PlanActionType
from silas.cards import Card, ChannelMessage
from silas.errors import SilasError
from silas.gates.settings import GatesConfig
from silas.stream.drafts import LONGEST, SECONDS_BETWEEN
from silas.stream.models import Incoming
from silas.stream.session import Session
from silas.testing import Harness, ScriptedChannel
from silas.testing.channels import decline_everything
from silas.types import OWNER
from silas.wiring.build import alone
from silas.wiring.parts import Parts
from tests.support.speaking import Speaker, direct, pieces, planned, to_planner
from tests.support.waits import SECONDS, pass_seconds

SECRET = "Xk9-hunter2-pq"
FORBIDS = {
    "name": "no_phoenix",
    "on": "every_agent_response",
    "type": "regex",
    "config": {"pattern": r"\A(?!.*phoenix).*\Z"},
    "on_block": "polite_redirect",
}


class DraftChannel(ScriptedChannel):
    """Shows drafts, and remembers all that was ever seen.

    Attributes:
        shows: What each turn's draft shows now.
        seen: Everything that anybody could have read, in order.
        answered: Texts that took the place of a draft.
    """

    def __init__(self, answer: Callable[[Card[Any]], Any] = decline_everything) -> None:
        super().__init__(answer)
        self.shows: dict[str, str] = {}
        self.seen: list[str] = []
        self.frames = 0
        self.answered: list[str] = []
        self.grew = asyncio.Event()

    def shows_drafts_to(self, recipient_id: str) -> bool:
        return recipient_id == OWNER

    def draft(self, recipient_id: str, turn_id: str, text: str, *, begins: bool) -> None:
        assert recipient_id == OWNER
        self.frames += 1
        self.shows[turn_id] = ("" if begins else self.shows[turn_id]) + text
        self.seen.append(self.shows[turn_id])
        self.grew.set()

    async def answer(
        self, recipient_id: str, text: str, turn_id: str, reply_to: str | None = None
    ) -> None:
        del self.shows[turn_id]
        self.answered.append(text)
        await self.send(recipient_id, text)

    async def until(self, text: str) -> None:
        """Until a draft shows what begins with this."""
        while not any(shown.startswith(text) for shown in self.shows.values()):
            self.grew.clear()
            await asyncio.wait_for(self.grew.wait(), SECONDS)


def a_house(
    channel: DraftChannel, parts: list[Parts] | None = None, *, gates: Any = (), **roles: Speaker
) -> Harness:
    def beside(found: Parts, session: Session) -> AbstractAsyncContextManager[object]:
        if parts is not None:
            parts.append(found)
        return alone(found, session)

    return Harness(
        channel,
        models={role: speaker.model for role, speaker in roles.items()},
        settings={"gates": {"system": list(gates)}},
        beside=beside,
    )


async def ask(house: Harness) -> Any:
    return await asyncio.wait_for(house.silas.ask("hello"), SECONDS)


async def test_an_answer_grows_while_it_comes_and_the_whole_takes_its_place() -> None:
    channel = DraftChannel()
    speaker = Speaker(pieces(direct("Good morning. It is nine."), 3), paced=True)
    async with a_house(channel, proxy=speaker) as house:
        asking = asyncio.create_task(ask(house))
        speaker.release(30)
        await channel.until("Go")
        assert (channel.texts, asking.done()) == ([], False)
        speaker.release(300)
        reply = await asking
    assert reply.text == "Good morning. It is nine."
    assert channel.answered == channel.texts == [reply.text]
    assert all(reply.text.startswith(seen) for seen in channel.seen)
    assert channel.shows == {}


@pytest.mark.parametrize("lane", [{}, {"provider": "llm"}, {"provider": "script"}])
async def test_where_any_gate_looks_at_answers_nothing_is_shown_before_it_has(lane: Any) -> None:
    channel = DraftChannel()
    speaker = Speaker(pieces(direct("Project phoenix is late.")))
    async with a_house(channel, proxy=speaker, gates=[{**FORBIDS, **lane}]) as house:
        await ask(house)
    assert (channel.seen, speaker.asked, speaker.streams) == ([], 1, 0)
    assert not any("phoenix" in text for text in channel.texts)


async def test_what_a_gate_takes_out_of_answers_is_in_no_piece_of_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    channel = DraftChannel()
    key = "sk-" + "a1B2" * 6
    gates = GatesConfig().model_dump(mode="json")["system"]
    speaker = Speaker(pieces(direct(f"Your key is {key} and no other."), 4), paced=True)
    async with a_house(channel, proxy=speaker, gates=gates) as house:
        asking = asyncio.create_task(ask(house))
        for _ in range(speaker.pieces_through("and no")):
            speaker.release()
            await speaker.taken()
            pass_seconds(monkeypatch, SECONDS_BETWEEN / 4)
        await channel.until("Your key is [API key removed] and")
        speaker.release(300)
        reply = await asking
    assert any("is [API key removed] and" in seen for seen in channel.seen)
    assert not any("sk-" in seen for seen in channel.seen)
    assert all(reply.text.startswith(seen) for seen in channel.seen)


async def test_gates_over_messages_and_tools_hold_no_answer_back() -> None:
    channel = DraftChannel()
    gates = [{**FORBIDS, "name": name, "on": name} for name in ("every_user_message",)]
    async with a_house(channel, proxy=Speaker(pieces(direct("Hello."))), gates=gates) as house:
        await ask(house)
    assert channel.seen


async def test_a_planners_answer_is_shown_after_a_proxy_that_sent_the_turn_on() -> None:
    channel = DraftChannel()
    answer = planned("I can do that, later.")
    async with a_house(
        channel, proxy=Speaker(pieces(to_planner())), planner=Speaker(pieces(answer))
    ) as house:
        reply = await ask(house)
    assert channel.seen
    assert channel.answered == [reply.text] == ["I can do that, later."]


async def test_what_the_turn_says_instead_replaces_what_was_shown() -> None:
    channel = DraftChannel()
    action = PlanAction(action=PlanActionType.propose, plan_markdown="no plan at all")
    speaker = Speaker(pieces(direct("Here is the plan.", plan_action=action)))
    async with a_house(channel, proxy=speaker) as house:
        reply = await ask(house)
    assert reply.outcome == "blocked"
    assert channel.answered == [reply.text]
    assert channel.shows == {}


async def test_an_answer_out_of_form_is_withdrawn() -> None:
    channel = DraftChannel()
    wrong = [direct("Wrong.")[:-1], "]"]
    async with a_house(channel, proxy=Speaker(wrong, pieces(direct("Right.")))) as house:
        await ask(house)
    assert channel.seen[:2] == ["Wrong.", ""]
    assert "Wrong.Right." not in channel.seen
    assert channel.texts == ["Right."]


async def test_a_secret_that_comes_in_pieces_is_shown_in_none(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    channel = DraftChannel()
    body = direct(f"The password is {SECRET}, and the rest is said.")
    at = body.index(SECRET)
    cuts = [body[: at + 4], body[at + 4 : at + 9], body[at + 9 : -40], body[-40:]]
    assert "said" not in cuts[3]
    speaker = Speaker([part for cut in cuts for part in (cut, "", "")], paced=True)
    known: list[Parts] = []
    async with a_house(channel, known, proxy=speaker) as house:
        known[0].secrecy.learn({"door": SECRET})
        asking = asyncio.create_task(ask(house))
        for _ in range(9):
            speaker.release()
            await speaker.taken()
            pass_seconds(monkeypatch, SECONDS_BETWEEN * 1.5)
        await channel.until("The password is [secret door], and the rest is said.")
        speaker.release(3)
        await asking
    assert any("[secret door]" in seen for seen in channel.seen)
    for seen in channel.seen:
        assert "The password is X" not in seen
        assert SECRET[4:8] not in seen


async def test_ten_thousand_tiny_pieces_become_a_few_frames(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("silas.stream.drafts.SECONDS_BETWEEN", 3600.0)
    channel = DraftChannel()
    text = "word " * 2000
    async with a_house(channel, proxy=Speaker(pieces(direct(text), 1))) as house:
        reply = await ask(house)
    assert reply.text == text
    assert channel.frames == 1


async def test_a_very_long_answer_is_shown_so_far_and_said_whole() -> None:
    channel = DraftChannel()
    text = "word " * LONGEST
    async with a_house(channel, proxy=Speaker(pieces(direct(text), 1000))) as house:
        reply = await ask(house)
    assert reply.text == text
    assert max(map(len, channel.seen)) <= LONGEST


async def test_a_turn_that_is_stopped_leaves_no_draft(monkeypatch: pytest.MonkeyPatch) -> None:
    channel = DraftChannel()
    speaker = Speaker(pieces(direct("Good morning.")), paced=True)
    async with a_house(channel, proxy=speaker) as house:
        asking = asyncio.create_task(ask(house))
        speaker.release(30)
        while not channel.seen:
            await asyncio.wait_for(channel.grew.wait(), SECONDS)
        house.silas.runs.halt.ring()
        with pytest.raises(SilasError):
            await asking
        assert list(channel.shows.values()) == [""]
        seen = len(channel.seen)
        pass_seconds(monkeypatch, SECONDS_BETWEEN * 2)
        for _ in range(3):
            await asyncio.sleep(0)  # what is due goes first
        assert len(channel.seen) == seen
    assert (channel.answered, channel.texts) == ([], [])


async def test_a_stranger_is_shown_no_draft() -> None:
    channel = DraftChannel()
    speaker = Speaker(pieces(direct("Hello.")))
    async with a_house(channel, proxy=speaker) as house:
        message = ChannelMessage(
            channel="cli", sender_id="stranger", text="hello", timestamp=house.clock.now()
        )
        await asyncio.wait_for(house.silas.stream.handle(Incoming(message, "stranger")), SECONDS)
    assert (channel.seen, speaker.streams) == ([], 0)
    assert channel.sent == [("stranger", "Hello.")]


async def test_a_channel_without_drafts_gets_the_answer_as_before() -> None:
    channel, speaker = ScriptedChannel(), Speaker(pieces(direct("Hello.")))
    async with Harness(channel, models={"proxy": speaker.model}) as house:
        await ask(house)
    assert (channel.texts, speaker.streams) == (["Hello."], 0)


async def test_a_draft_is_withdrawn_before_the_card_of_a_reminder_is_shown() -> None:
    shown = list[dict[str, str]]()

    def answer(card: Card[Any]) -> Any:
        shown.append({name: text for name, text in channel.shows.items() if text})
        return card.actions[0].value

    channel = DraftChannel(answer)
    wish = "Please see to it that I call Anna tomorrow at nine."
    said = json.loads(direct("Of course. I will remind you of the"))
    said["reminder"] = "remind me tomorrow at nine to call Anna"
    speaker = Speaker(pieces(json.dumps(said), 3))
    async with a_house(channel, proxy=speaker) as house:
        reply = await asyncio.wait_for(house.silas.ask(wish), SECONDS)
    first, *_ = channel.seen  # what follows within a moment comes together, too late for the card
    assert first
    assert "Of course. I will remind you of the".startswith(first)
    assert shown == [{}]
    assert reply.text.startswith("I will remind you: call Anna.")
