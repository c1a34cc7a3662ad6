"""Forgetting what a project was made from hides the results of its rest, too."""

from pathlib import Path
from typing import Any

import pytest

from silas.stream.scope_work import NOT_SHOWN
from silas.testing import Harness, ScriptedChannel
from tests.projects.kit import PROJECT, Ran, chain, project_text
from tests.projects.rest_doors import (
    REST,
    Door,
    fails,
    planning,
    press_button,
    run_rest,
    say_words,
)
from tests.projects.test_rest_marks import failed
from tests.stream.kit import saying_yes, soon
from tests.stream.test_forgetting import forget

MADE_FROM = "channel:cli"


def _models() -> dict[str, Any]:
    return planning(project_text(chain("a", "b", "c")))


async def _first(h: Harness, ran: Ran) -> None:
    """The project that the owner asked for; its second task failed."""
    ran.failing.add("check-b")
    await soon(h.silas.ask("Deploy it."))
    await fails(h, ran)


async def hidden(h: Harness, *names: str) -> list[bool]:
    found = [await h.silas.wait(name) for name in names]
    assert all(found)
    return [one is not None and one.summary == NOT_SHOWN for one in found]


@pytest.mark.parametrize("door", [run_rest, press_button, say_words])
async def test_forgetting_what_a_project_was_made_from_hides_the_results_of_its_rest(
    tmp_path: Path, door: Door
) -> None:
    ran = Ran()
    channel = ScriptedChannel(saying_yes)
    async with Harness(channel, sandbox=ran.sandbox, models=_models(), home=tmp_path) as h:
        await _first(h, ran)
        await door(h)
        assert ran.done == ["a", "b", "b", "c"]
        assert await hidden(h, REST, "b-rest", "c-rest") == [False] * 3
        await soon(forget(h, MADE_FROM))
        assert await hidden(h, PROJECT, REST, "b-rest", "c-rest") == [True] * 4


async def test_what_was_forgotten_before_its_owner_approved_the_rest_hides_nothing_of_it(
    tmp_path: Path,
) -> None:
    ran = Ran()
    channel = ScriptedChannel(saying_yes)
    async with Harness(channel, sandbox=ran.sandbox, models=_models(), home=tmp_path) as h:
        await _first(h, ran)
        await soon(forget(h, MADE_FROM))
        await run_rest(h)
        assert await hidden(h, PROJECT, REST, "b-rest") == [True, False, False]


async def test_forgetting_what_a_client_said_hides_the_rest_that_the_owner_asked_for(
    tmp_path: Path,
) -> None:
    async with failed(tmp_path, Ran(), ScriptedChannel(saying_yes)) as h:
        await run_rest(h)
        assert await hidden(h, PROJECT, REST, "b-rest") == [False] * 3
        await soon(forget(h, "channel:mcp", "mcp"))
        assert await hidden(h, PROJECT, REST, "b-rest") == [True] * 3
