"""A model plans a folder by the clock: it is told how, and what it says in the form is a plan."""

import re
from pathlib import Path
from typing import Any

import pytest

from silas.agents.plan_fields import plan_text as made_of_fields
from silas.agents.prompt import instructions
from silas.cards import PlanCard
from silas.testing import Harness, MockClock, ScriptedChannel
from tests.goals.kit import yes
from tests.goals.test_tidying import START
from tests.stream.kit import planned, proposing, soon


def fields(place: Path) -> dict[str, Any]:
    """What the form asks of every plan, with what such a goal has and no more."""
    return {
        "title": "Tidy Downloads",
        "type": "goal",
        "cycle": "tidy",
        "schedule": "0 18 * * 5",
        "workspace": str(place),
        "writes": [],
        "briefing": "",
        "verify": [],
    }


def test_a_planner_is_told_of_the_kinds_of_cycle_that_a_request_can_mean() -> None:
    """`when` is for who writes a condition."""
    told = re.findall(r"`cycle: (\w+)`", instructions("planner"))
    assert told == ["work", "tidy"]


async def test_what_it_says_of_a_folder_by_the_clock_is_approved(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = tmp_path / "Downloads"
    place.mkdir()
    monkeypatch.setenv("HOME", str(tmp_path))
    channel = ScriptedChannel(yes)
    models = planned(proposing(made_of_fields(fields(place))))
    async with Harness(channel, models=models, clock=MockClock(START)) as h:
        await soon(h.silas.ask("look after what lies around in there on Fridays", workspace=place))
    (card,) = [one for one in channel.cards if isinstance(one, PlanCard)]
    assert card.effect.startswith("Looks at files in `Downloads` by the clock and asks you")
