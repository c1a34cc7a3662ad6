"""Goals, projects and reminders for a program and an MCP client: read, and changed by neither."""

from typing import Any

from silas.services.mcp_server import Services
from silas.testing import Harness, ScriptedChannel
from silas.testing.clock import MockClock
from tests.goals.kit import START, WATCHED, Watched, goal_text, house, yes


async def ahead(h: Harness, **arguments: Any) -> str:
    """What an MCP client is told."""
    offers = {one.name: one for one in Services(h.silas, h.silas.ahead).offers()}
    return await offers["ahead"].answer(arguments)


async def test_both_are_told_what_comes_and_a_client_no_word_of_a_reminder() -> None:
    channel, clock, watched = ScriptedChannel(yes), MockClock(START), Watched()
    async with house(channel, clock, watched) as h:
        assert (await ahead(h)).startswith("Nothing comes within 7 days.")
        await h.silas.run(goal_text(schedule="0 7 * * *"))
        await h.silas.ask("remind me tomorrow at nine to buy a Zwetschke")
        found = await h.silas.ahead(2)
        assert [one.kind.value for one in found.coming] == ["goal", "reminder"]
        assert found.coming[1].title == "buy a Zwetschke"
        assert [one.id for one in found.alone] == [WATCHED]
        told = await ahead(h, days=2)
        assert f"2026-11-25 07:00 goal {WATCHED} (Watch the state), every day at 07:00" in told
        assert "2026-11-25 09:00 a reminder" in told
        assert "Zwetschke" not in told
        watched.goals.pause(WATCHED)
        assert f"goal {WATCHED} (Watch the state) is paused" in await ahead(h, days=100_000)
