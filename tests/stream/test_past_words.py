"""What was done on a day is told by code, from the record, whoever answers else (0.5.1)."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from silas.cards import ChannelMessage
from silas.stream.models import MCP_CLIENT, Incoming
from silas.testing import Harness, MockClock, ScriptedChannel, ScriptedModel
from tests.stream.kit import direct, soon
from tests.support.plans import a_workspace, writing_plan
from tests.work.kit import owner

NINE = datetime(2026, 11, 24, 8, 0, tzinfo=UTC)  # nine o'clock in Vienna
DAY = 24 * 3600
NOTHING = "I have done nothing today."


async def _told(h: Harness, asked: str) -> str:
    return (await soon(h.silas.ask(asked))).text


async def test_work_is_told_on_its_day_by_its_title_and_once(tmp_path: Path) -> None:
    workspace = a_workspace(tmp_path / "project")
    async with Harness(owner(), clock=MockClock(NINE)) as h:
        assert await _told(h, "what did you do today?") == NOTHING
        await h.silas.run(writing_plan(workspace, title="Copy the input"))
        today = await _told(h, "What happened today?")
        assert today.startswith("Today:\n- 09:00  The changes of “Copy the input” were applied to ")
        assert len(today.splitlines()) == 2  # and not that it ended, too
        h.clock.advance(DAY)
        assert await _told(h, "what have you done today?") == NOTHING
        for asked in ("what happened yesterday?", "what happened last night?", "What's happened?"):
            assert "Tuesday 24 November:\n- 09:00  The changes of “Copy" in await _told(h, asked)
        h.clock.advance(7 * DAY)
        assert await _told(h, "what happened?") == "I have done nothing in the last 7 days."


async def test_a_reminder_is_told_by_its_words_in_the_owners_language() -> None:
    channel = ScriptedChannel(lambda card: card.actions[0].value)
    settings = {"language": "de"}
    async with Harness(channel, clock=MockClock(NINE), settings=settings) as h:
        await soon(h.silas.ask("erinnere mich morgen um neun an den Zahnarzt"))
        assert await _told(h, "was hast du heute gemacht?") == (
            "Heute:\n- 09:00  Die Erinnerung „den Zahnarzt“ wurde angelegt, für Mittwoch, "
            "25. November 2026, 09:00 CET."
        )
        assert await _told(h, "was ist gestern passiert?") == "Ich habe gestern nichts getan."


async def test_only_the_newest_are_told_and_how_many_there_are_more(tmp_path: Path) -> None:
    workspace = a_workspace(tmp_path / "project")
    async with Harness(owner(), clock=MockClock(NINE)) as h:
        for _ in range(17):  # the first of which changes something
            await h.silas.run(writing_plan(workspace, title="Copy"))
            h.clock.advance(60)
        told = (await _told(h, "what did you do today?")).splitlines()
    ended = [f"- 09:{number:02}  “Copy” ended: done." for number in range(2, 17)]
    assert told == ["Today:", *ended, "2 more before these; Activity shows them."]


async def test_a_language_model_is_asked_where_no_day_is_named() -> None:
    proxy = ScriptedModel([direct("I renamed three files just now.")])
    async with Harness(models={"proxy": proxy, "planner": proxy}, clock=MockClock(NINE)) as h:
        assert await _told(h, "what have you done?") == "I renamed three files just now."
        assert await _told(h, "what have you done today?") == NOTHING


@pytest.mark.parametrize(
    "asked",
    ["what did you do today about the invoices?", "what happened in 1848?", "was ist das passiert"],
)
async def test_other_questions_are_none(asked: str) -> None:
    async with Harness(clock=MockClock(NINE)) as h:
        assert not (await _told(h, asked)).startswith("I have done nothing")


async def test_a_program_is_told_nothing_of_it() -> None:
    async with Harness(clock=MockClock(NINE)) as h:
        asked = ChannelMessage(
            channel=MCP_CLIENT,
            sender_id=MCP_CLIENT,
            text="what did you do today?",
            timestamp=h.clock.now(),
        )
        reply = await soon(h.silas.stream.handle(Incoming(asked, MCP_CLIENT)))
    assert reply.text.startswith("Only Silas's owner can ask what was done.")
