"""A plan that its owner wants changed waits for its change, in whichever process that comes."""

from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from silas.agents import PlanActionType
from silas.cards import Card, ChannelMessage, PlanCard
from silas.language import ENGLISH, speak
from silas.plans import PlanParser, WorkItemStatus
from silas.services.mcp_server import Services
from silas.testing import Harness, MockClock, ScriptedChannel, plan_text
from silas.types import OWNER
from tests.stream.kit import answering, done_sandbox, planned, proposing, soon

CLOCK = MockClock()
FIRST = plan_text(body="# What to do\n\nWrite the tortoise report.")
SAME = plan_text(body="# What to do\n\nWrite it shorter.")
OTHER = plan_text(id="task-shorter", body="# What to do\n\nWrite it shorter.")
GOAL = plan_text(type="goal")
PROPOSE, REVISE = PlanActionType.propose, PlanActionType.revise
WORDS = "make it shorter"


def house(home: Path, verdict: str, *steps: Any, channel: ScriptedChannel | None = None) -> Harness:
    """One process of a Silas in this home, whose owner gives this answer to every plan."""
    return Harness(
        channel or ScriptedChannel(answering(verdict)),
        models=planned(*steps),
        sandbox=done_sandbox(),
        home=home,
        clock=CLOCK,
    )


async def _ask(h: Harness) -> None:
    await h.silas.ask("write the report")


async def _run(h: Harness) -> None:
    result = await h.silas.run(FIRST)
    assert result.status is WorkItemStatus.blocked
    assert "Change the plan and run it again" in result.summary


async def _approve(h: Harness) -> None:
    await h.silas.runs.proposer.keep(PlanParser().parse(FIRST), "why")
    result = await h.silas.answer("task-example")
    assert "It waits" in result.summary


ASKED: dict[str, Callable[[Harness], Awaitable[None]]] = {
    "ask": _ask,
    "run": _run,
    "approve": _approve,
}
"""Where the owner answers "Ask for changes"."""


async def waiting(h: Harness) -> list[str]:
    """The titles and first words of the plans whose question is open."""
    return [item.body.splitlines()[-1] for item in await h.silas.runs.proposer.waiting()]


@pytest.mark.parametrize("door", ASKED)
@pytest.mark.parametrize(("action", "plan"), [(PROPOSE, SAME), (REVISE, OTHER)])
async def test_a_change_in_a_later_process_takes_the_place_of_the_question(
    door: str, action: PlanActionType, plan: str, tmp_path: Path
) -> None:
    async with house(tmp_path, "edit_requested", proposing(FIRST)) as h:
        await soon(ASKED[door](h))
        assert await waiting(h) == ["Write the tortoise report."]
    async with house(tmp_path, "declined", proposing(plan, action=action)) as h:
        assert await waiting(h) == ["Write the tortoise report."]
        await soon(h.silas.ask(WORDS))
        assert await waiting(h) == []


async def test_the_planner_sees_in_a_later_process_what_shall_be_changed(tmp_path: Path) -> None:
    async with house(tmp_path, "edit_requested", proposing(FIRST)) as h:
        await soon(h.silas.ask("write the report"))
    models = planned(proposing(SAME))
    channel = ScriptedChannel(answering("declined"))
    later = Harness(channel, models=models, sandbox=done_sandbox(), home=tmp_path, clock=CLOCK)
    async with later as h:
        await soon(h.silas.ask(WORDS))
    assert "Write the tortoise report." in models["planner"].requests[0].text
    for asked in ("proxy", "planner"):
        assert "\ncame_back_for_changes: task-example\n" in models[asked].requests[0].text


async def test_who_wants_nothing_changed_is_told_of_no_plan_that_came_back(tmp_path: Path) -> None:
    models = planned(proposing(FIRST), proposing(OTHER))
    channel = ScriptedChannel(answering("declined"))
    async with Harness(channel, models=models, sandbox=done_sandbox(), home=tmp_path) as h:
        await soon(h.silas.ask("write the report"))
        await soon(h.silas.ask("write another one"))
    assert "came_back_for_changes" not in models["planner"].requests[1].text


async def test_a_file_that_was_changed_takes_the_place_of_what_was_run_before(
    tmp_path: Path,
) -> None:
    async with house(tmp_path, "edit_requested") as h:
        await soon(h.silas.run(FIRST))
    ask_again = ScriptedChannel(answering("edit_requested"))
    async with house(tmp_path, "", channel=ask_again) as h:
        await soon(h.silas.run(SAME))
        assert await waiting(h) == ["Write it shorter."]
        await soon(h.silas.run(OTHER))  # another id is another plan
        assert len(await waiting(h)) == 2


@pytest.mark.parametrize(
    ("action", "plan"), [(PROPOSE, OTHER), (REVISE, GOAL), (PROPOSE, GOAL)], ids=str
)
async def test_what_is_no_change_or_cannot_run_leaves_the_question(
    action: PlanActionType, plan: str, tmp_path: Path
) -> None:
    async with house(tmp_path, "edit_requested", proposing(FIRST)) as h:
        await soon(h.silas.ask("write the report"))
    step = proposing(plan, action=action)
    async with house(tmp_path, "declined", step, step) as h:
        await soon(h.silas.ask("something else"))
        assert await waiting(h) == ["Write the tortoise report."]


async def test_nobody_else_changes_what_the_owner_was_asked(tmp_path: Path) -> None:
    async with house(tmp_path, "edit_requested", proposing(FIRST)) as h:
        await soon(h.silas.ask("write the report"))
    async with house(tmp_path, "declined", proposing(OTHER, action=REVISE)) as h:
        await soon(Services(h.silas, h.silas.ahead).ask({"text": WORDS}))
        assert await waiting(h) == ["Write the tortoise report."]


async def test_what_was_answered_is_not_asked_again_at_the_next_start(tmp_path: Path) -> None:
    async with house(tmp_path, "edit_requested", proposing(FIRST)) as h:
        await soon(h.silas.ask("write the report"))
    channel = ScriptedChannel(answering("approved"))
    async with house(tmp_path, "", channel=channel) as h:
        await soon(h.silas.listen())
        assert await waiting(h) == ["Write the tortoise report."]
    assert channel.cards == []


def _typed(*words: str) -> ScriptedChannel:
    """A chat of the owner, who wants each plan changed."""
    said = [
        ChannelMessage(channel="cli", sender_id=OWNER, text=text, timestamp=CLOCK.now())
        for text in words
    ]
    return ScriptedChannel(answering("edit_requested"), [(one, OWNER) for one in said])


async def _by_ask(h: Harness) -> None:
    await h.silas.ask("write the report")
    await h.silas.ask(WORDS)


async def _by_chat(h: Harness) -> None:
    await h.silas.listen()


async def _by_client(h: Harness) -> None:
    await Services(h.silas, h.silas.ahead).ask({"text": "write the report"})
    await Services(h.silas, h.silas.ahead).ask({"text": WORDS})


@pytest.mark.parametrize(
    ("door", "told"),
    [(_by_ask, "| taint: owner"), (_by_chat, "| taint: owner"), (_by_client, "external")],
    ids=["ask", "chat", "an MCP client"],
)
async def test_the_words_of_a_change_are_the_owners_where_he_signs_them(
    door: Callable[[Harness], Awaitable[None]], told: str, tmp_path: Path
) -> None:
    models = planned(proposing(FIRST), proposing(SAME))
    channel = _typed("write the report", WORDS)
    async with Harness(channel, models=models, sandbox=done_sandbox(), clock=CLOCK) as h:
        await soon(door(h))
    request = models["planner"].requests[1].text
    header = request[: request.rindex(WORDS)].rstrip().splitlines()[-1]
    assert "message" in header
    assert told in header


def _verdicts(*verdicts: str) -> Callable[[Card[Any]], Any]:
    left: Iterator[str] = iter(verdicts)
    return lambda card: answering(next(left))(card) if isinstance(card, PlanCard) else card.safe


_MODES = {
    ("en", "act_and_report"): "The plan asks to act at once and report afterwards; its risk is "
    "high, so Silas confirms when required.",
    ("en", "default_and_offer"): "The plan asks to take the usual way and offer others; its risk "
    "is high, so Silas confirms when required.",
    ("de", "act_and_report"): "Der Plan möchte sofort handeln und danach berichten; sein Risiko "
    "ist hoch, also fragt Silas nach, wo es nötig ist.",
    ("de", "default_and_offer"): "Der Plan möchte den üblichen Weg nehmen und andere anbieten; "
    "sein Risiko ist hoch, also fragt Silas nach, wo es nötig ist.",
}


@pytest.fixture
def english_afterwards() -> Iterator[None]:
    yield
    speak(ENGLISH)


@pytest.mark.usefixtures("english_afterwards")
@pytest.mark.parametrize(("language", "mode"), _MODES)
async def test_a_plan_of_high_risk_says_why_it_does_not_proceed_as_it_asks(
    language: str, mode: str, tmp_path: Path
) -> None:
    risky = plan_text(interaction_mode=mode, workspace=str(tmp_path), network=["pypi.org"])
    plain = plan_text(id="task-plain", interaction_mode=mode)
    channel = ScriptedChannel(_verdicts("declined", "declined", "declined"))
    models = planned(proposing(risky), proposing(plain))
    settings = {"language": language}
    async with Harness(channel, models=models, sandbox=done_sandbox(), settings=settings) as h:
        await soon(h.silas.ask("do it"))
        await soon(h.silas.ask("do it"))
        await soon(h.silas.run(risky))
    words = _MODES[language, mode]
    assert [words in f"{card.rationale}{card.details}" for card in channel.cards] == [
        True, False, True,
    ]  # fmt: skip
