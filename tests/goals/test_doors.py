"""Goals, projects and reminders for a program and an MCP client: read, and made less."""

from pathlib import Path
from typing import Any

import pytest

from silas.cards import ChannelMessage
from silas.errors import ApprovalError
from silas.goals.models import GoalRefused, GoalState
from silas.plans import WorkItemStatus
from silas.plans.projects.document import join_project
from silas.services.mcp_server import Services
from silas.stream.models import Incoming
from silas.testing import Harness, ScriptedChannel, plan_text
from silas.testing.clock import MockClock
from tests.cockpit.house import a_house
from tests.goals.kit import NAME, START, WATCHED, Watched, goal_text, house, yes
from tests.stream.kit import entries_of
from tests.support.command import environment, run, silas


async def ahead(h: Harness, **arguments: Any) -> str:
    """What an MCP client is told."""
    offers = {one.name: one for one in Services(h.silas, h.silas.ahead).offers()}
    return await offers["ahead"].answer(arguments)


async def test_both_are_told_what_comes_and_a_client_no_word_of_a_reminder() -> None:
    channel, clock, watched = ScriptedChannel(yes), MockClock(START), Watched()
    async with house(channel, clock, watched) as h:
        assert (await ahead(h)).startswith("Nothing comes within 7 days.\nNo Silas is running")
        await h.silas.run(goal_text(schedule="0 7 * * *"))
        await h.silas.ask("remind me tomorrow at nine to buy a Zwetschke")
        found = await h.silas.ahead(2)
        assert [one.kind.value for one in found.coming] == ["goal", "reminder"]
        assert found.coming[1].title == "buy a Zwetschke"
        assert [one.id for one in found.alone] == [WATCHED]
        offers = {one.name: one for one in Services(h.silas, h.silas.ahead).offers()}
        lines = (await offers["activity"].answer({})).splitlines()
        assert lines[0] == "Tuesday 24 November 2026, CET"  # the owner's day, and his hours
        assert lines[1].split()[1].startswith("09:1")
        told = await ahead(h, days=2)
        assert f"2026-11-25 07:00 goal {WATCHED} (Watch the state), every day at 07:00" in told
        assert "2026-11-25 09:00 a reminder" in told
        assert "Zwetschke" not in told
        watched.goals.pause(WATCHED)
        assert f"goal {WATCHED} (Watch the state) is paused" in await ahead(h, days=100_000)


async def test_a_client_makes_it_less_and_never_more() -> None:
    channel, clock, watched = ScriptedChannel(yes), MockClock(START), Watched()
    async with house(channel, clock, watched) as h:
        await h.silas.run(goal_text())
        before = await h.store.get(WATCHED)
        offers = {one.name: one for one in Services(h.silas, h.silas.ahead).offers()}
        changing = {"pause_goal", "tighten_approvals"}
        reading = {"ask", "plan_status", "memory_search", "activity", "ahead"}
        assert offers.keys() == changing | reading  # a new door is decided here
        assert "nothing was widened" in await offers["tighten_approvals"].answer({})
        told = await offers["pause_goal"].answer({"id": WATCHED})
        assert f"{NAME} is paused; its owner can resume it" in told
        (paused,) = (await h.silas.ahead(1)).paused
        assert paused.why == "An MCP client paused it."
        (entry,) = await entries_of(h, "goal.paused")
        assert entry["by_owner"] is False
        assert await h.store.get(WATCHED) == before  # nothing was signed
        with pytest.raises(GoalRefused, match="no goal 'goal-none'"):
            await offers["pause_goal"].answer({"id": "goal-none"})


async def test_a_program_pauses_and_takes_back() -> None:
    channel, clock, watched = ScriptedChannel(yes), MockClock(START), Watched()
    async with house(channel, clock, watched) as h:
        await h.silas.run(goal_text())
        assert h.silas.pause(WATCHED).state is GoalState.paused
        (entry,) = await entries_of(h, "goal.paused")
        assert entry["by_owner"] is True
        await h.silas.take_back(WATCHED)
        assert (await h.silas.ahead(1)).alone == ()
        with pytest.raises(ApprovalError, match="no standing approval"):
            await h.silas.take_back(WATCHED)


@pytest.mark.parametrize("said", [f"pause the goal {WATCHED}", f"Pausiere das Ziel {WATCHED}."])
async def test_a_goal_is_paused_in_words_of_its_owner_and_of_nobody_else(said: str) -> None:
    channel, clock, watched = ScriptedChannel(yes), MockClock(START), Watched()
    async with house(channel, clock, watched) as h:
        await h.silas.run(goal_text())
        message = ChannelMessage(
            channel="mail", sender_id="mallory", text=said, timestamp=clock.now()
        )
        await h.silas.stream.handle(Incoming(message, "mail:mallory"))
        assert watched.goals.get(WATCHED).state is GoalState.active
        assert (
            "is paused: nothing of it begins until you resume it" in (await h.silas.ask(said)).text
        )
        assert watched.goals.get(WATCHED).state is GoalState.paused
        assert "is paused already" in (await h.silas.ask(said)).text


@pytest.mark.parametrize(
    ("said", "where"),
    [
        (f"take back the approval of {WATCHED}", "`silas approvals` narrows"),
        (f"narrow the approval of {WATCHED} to 1", "`silas approvals` narrows"),
        (f"resume {WATCHED}", "`silas goals` pauses and resumes"),
        (f"pause the goal {WATCHED}", "does with `pause_goal`"),
        ("remind me tomorrow at nine to call", "with `silas remind`"),
        ("what reminders do I have?", "with `silas remind`"),
        ("tidy up /tmp", "with `silas batch`"),
    ],
)
async def test_a_client_that_says_what_only_the_owner_may_is_told_so(said: str, where: str) -> None:
    channel, clock, watched = ScriptedChannel(yes), MockClock(START), Watched()
    async with house(channel, clock, watched) as h:
        await h.silas.run(goal_text())
        cards = len(channel.cards)
        offers = {one.name: one for one in Services(h.silas, h.silas.ahead).offers()}
        told = await offers["ask"].answer({"text": said})
        found = await h.silas.ahead(2)
        assert told.startswith("Only Silas's owner can ")
        assert where in told
        assert "Nothing was changed." in told
        assert len(channel.cards) == cards
        assert watched.goals.get(WATCHED).state is GoalState.active
        assert [one.id for one in found.alone] == [WATCHED]
        assert {one.kind.value for one in found.coming} == {"goal"}


@pytest.mark.parametrize("said", [f"resume {WATCHED}", f"Setze das Ziel {WATCHED} fort."])
async def test_words_resume_no_goal_and_say_what_does(said: str) -> None:
    channel, clock, watched = ScriptedChannel(yes), MockClock(START), Watched()
    async with house(channel, clock, watched) as h:
        await h.silas.run(goal_text())
        watched.goals.pause(WATCHED)
        told = (await h.silas.ask(said)).text
        assert f"so {NAME} stays as it is; “Resume” on the page Ahead" in told
        assert watched.goals.get(WATCHED).state is GoalState.paused


_ZERO = {"exit_code": 0}
BLIND = goal_text(verify=[{"name": "alive", "run": "pgrep -f bot", "expect": {"exit_code": 0}}])
"""A goal whose check asks for what no sandbox shows."""


def refused(words: str) -> bool:
    """Whether somebody is told why, in one sentence."""
    return "'alive' asks with pgrep for processes of this machine" in " ".join(words.split())


@pytest.mark.parametrize(
    "of", ["goal", "project"], ids=["a goal of its own", "a task of a project is judged likewise"]
)
async def test_a_check_that_sees_nothing_is_told_before_any_card_to_a_program(of: str) -> None:
    channel = ScriptedChannel(yes)
    async with Harness(channel) as h:
        result = await h.silas.run(BLIND if of == "goal" else _watching_project())
    assert result.status is WorkItemStatus.blocked
    assert refused(result.summary)
    assert channel.cards == []


def _watching_project() -> str:
    task = plan_text(id="a", verify=[{"name": "alive", "run": "pgrep -f bot", "expect": _ZERO}])
    return join_project(plan_text(id="p", type="project", tasks=["a"], title="Two"), [("a", task)])


async def test_and_in_a_conversation_of_the_terminal_and_of_the_cockpit(tmp_path: Path) -> None:
    plans = tmp_path / "plans"
    plans.mkdir()
    text = BLIND.replace("---\n", "---\nrunbook: {phrases: [watch the bot]}\n", 1)
    (plans / "watch.md").write_text(text)
    channel = ScriptedChannel(yes)
    async with a_house(channel, settings={"plans_dirs": [str(plans)]}) as cockpit:
        reply = await cockpit.harness.silas.ask("watch the bot")
    assert refused(reply.text)
    assert channel.cards == []


@pytest.mark.parametrize("command", [["plan", "check"], ["run"]])
def test_and_on_the_command_line(command: list[str], tmp_path: Path) -> None:
    env = environment(tmp_path / "home")
    assert run(silas("init"), env).code == 0
    plan = tmp_path / "goal.md"
    plan.write_text(BLIND)
    done = run(silas(*command, plan), env)
    assert done.code != 0
    assert refused(done.err + done.out)
    assert "Your choice" not in done.out
