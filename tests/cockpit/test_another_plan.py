"""A plan in the place of one that its work could not do: its card on a page and on a terminal."""

import asyncio
from pathlib import Path

import pytest

from silas.testing import Harness, ScriptedModel
from silas.testing.models import Step
from tests.channels.test_cli import Terminal
from tests.cockpit.program_page import a_page
from tests.stream.kit import done_sandbox, proposing, ran, soon, to_planner
from tests.stream.test_revising import FIRST, MOVED, WORK, revising
from tests.web.support.cockpit import Home, a_cockpit
from tests.work.kit import sh

_YES = {"type": "approval_response", "verdict": "approved"}
_NO = {"type": "approval_response", "verdict": "declined"}


def models(*executor: Step) -> dict[str, ScriptedModel]:
    """The planner proposes, and another way when the first has ended."""
    return {
        "proxy": ScriptedModel([to_planner()]),
        "planner": ScriptedModel([proposing(FIRST), revising()]),
        "executor": ScriptedModel([WORK, MOVED, *executor]),
    }


@pytest.mark.parametrize("yes", [True, False])
async def test_the_page_gets_a_card_of_its_own_and_nothing_runs_before_its_answer(
    tmp_path: Path, *, yes: bool
) -> None:
    home, playing = Home(tmp_path), models(sh("echo done > result.txt"), ran())
    async with (
        a_cockpit(home, models=playing) as cockpit,
        a_page(cockpit.origin, await cockpit.link()) as page,
    ):
        await page.connect()
        await page.say("do it")
        first = await page.next("approval_request")
        await page.answer(first, **_YES)
        ended = await page.next("post_execution")
        assert ended["status"] == "stuck"
        assert "\nA revised plan is on its card; “Review” shows it, too." in ended["summary"]
        second = await page.next("approval_request")
        assert (second["work_item_id"], second["card"]["intent"]) == ("task-other", "Another way")
        assert "takes the place of task-first" in second["card"]["rationale"]
        assert second["digest"] != first["digest"]
        assert len(playing["executor"].requests) == 2
        await page.answer(second, **(_YES if yes else _NO))
        if yes:
            ended = await page.next("post_execution")
            assert (ended["work_item_id"], ended["status"]) == ("task-other", "done")
        else:
            while "was not approved" not in (await page.next("message"))["text"]:
                pass
            assert len(playing["executor"].requests) == 2
        assert (await cockpit.events()).count("plan_approved") == 1 + yes


async def test_a_terminal_shows_the_second_card_when_the_first_work_has_ended() -> None:
    terminal = Terminal()
    sandbox = done_sandbox()
    try:
        async with Harness(terminal.channel, models=models(WORK, ran()), sandbox=sandbox) as h:
            asking = asyncio.ensure_future(h.silas.ask("do it"))
            await soon(terminal.screen.shows("Your choice"))
            terminal.keyboard.type("1")
            await soon(asking)
            await soon(terminal.screen.shows("Your choice", 2))
            shown = terminal.screen.getvalue()
            assert shown.index("stuck: ") < shown.index("This plan takes the place of task-first")
            assert "working: asking the planner for another plan" in shown
            assert len(sandbox.runs) == 1
            terminal.keyboard.type("1")
            assert await soon(h.silas.wait_for_revision("task-first")) == "task-other"
            result = await soon(h.silas.wait("task-other"))
            assert result is not None
            assert result.status == "done"
    finally:
        terminal.keyboard.end()
