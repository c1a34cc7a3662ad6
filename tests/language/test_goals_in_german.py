"""What a goal tells by itself, to who reads German."""

import pytest

from silas.goals.models import Outcome
from silas.testing import ScriptedChannel
from silas.testing.clock import MockClock
from tests.goals.kit import (
    HALF_AN_HOUR,
    START,
    TITLE,
    WATCHED,
    Watched,
    after,
    cycles,
    goal_text,
    house,
    yes,
)

pytestmark = pytest.mark.usefixtures("german")

FAILS = "Diese Prüfungen schlagen fehl: state."
SANDBOX = (
    "Prüfungen laufen in einer Sandbox, die keine Prozesse, Dienste oder Verbindungen dieses "
    "Rechners zeigt: Eine Prüfung, die danach fragt, besteht nie."
)


class _Cockpit(ScriptedChannel):
    channel_name = "web"


def _told(channel: ScriptedChannel) -> list[str]:
    """What was said of the goal unasked."""
    return [text for text in channel.texts if text.startswith(f"Ziel „{TITLE}“: ")]


async def test_a_check_that_fails_is_told_in_german() -> None:
    channel, clock, watched = ScriptedChannel(yes), MockClock(START), Watched()
    async with house(channel, clock, watched, language="de") as h:
        await h.silas.run(goal_text(on_failure="report", failure_context=None))
        watched.good = False
        (cycle,) = await after(watched, clock, 20 * 60, 1)
    assert (cycle.outcome, cycle.words) == (Outcome.failed, FAILS)
    assert _told(channel) == [f"Ziel „{TITLE}“: {FAILS} {SANDBOX}"]


async def test_an_approval_that_was_taken_back_is_told_in_german() -> None:
    channel, clock, watched = ScriptedChannel(yes), MockClock(START), Watched()
    async with house(channel, clock, watched, language="de") as h:
        await h.silas.run(goal_text())
        await h.silas.take_back(WATCHED)
        (cycle,) = await after(watched, clock, 20 * 60, 1)
    assert cycle.outcome is Outcome.refused
    assert _told(channel) == [
        f"Ziel „{TITLE}“: Es ist pausiert. Du hast diese Genehmigung widerrufen; starte seinen "
        "Plan noch einmal, um ihn zu erlauben, wie er jetzt ist."
    ]


async def test_what_never_mends_is_told_in_german_with_the_page_in_the_cockpit() -> None:
    channel, clock, watched = _Cockpit(yes), MockClock(START), Watched()
    watched.repairs = False
    async with house(channel, clock, watched, language="de") as h:
        await h.silas.run(goal_text())
        watched.good = False
        for number in range(1, 6):
            await after(watched, clock, 26 * 3600, number)
        last = cycles(watched)[0]
    assert last.words == f"{last.task_id} ist festgefahren."
    assert _told(channel) == [
        f"Ziel „{TITLE}“: {SANDBOX}",
        f"Ziel „{TITLE}“: Es ist pausiert: 5 Durchgänge nacheinander fanden eine Prüfung, die "
        "fehlschlägt. Weiter geht es mit: „Bevorstehend“ unter „Mehr“.",
    ]


async def test_the_card_after_an_approval_that_ended_says_why_in_german() -> None:
    channel, clock, watched = ScriptedChannel(yes), MockClock(START), Watched()
    async with house(channel, clock, watched, language="de") as h:
        await h.silas.run(goal_text())
        clock.advance(31 * 24 * 3600)
        await after(watched, clock, HALF_AN_HOUR, 1)
        watched.good = False
        await after(watched, clock, HALF_AN_HOUR, 2)
    (_, card) = channel.cards
    assert card.rationale == (
        f"{FAILS} „{TITLE}“ fragt danach, weil seine Genehmigung abgelaufen ist."
    )
