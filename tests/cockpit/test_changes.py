"""A plan that its owner wants changed, over the cockpit's own protocol."""

from pathlib import Path

from silas.agents import PlanActionType
from silas.testing import plan_text
from tests.cockpit.program_page import a_page
from tests.stream.kit import planned, proposing
from tests.web.support.cockpit import Home, a_cockpit

FIRST = plan_text(body="# What to do\n\nWrite the tortoise report.")
SECOND = plan_text(id="task-shorter", body="# What to do\n\nWrite it shorter.")
GOAL = plan_text(type="goal")
_CHANGE = {"type": "approval_response", "verdict": "edit_requested"}
_NO = {"type": "approval_response", "verdict": "declined"}
WORDS = "make it shorter"


async def test_a_change_closes_the_question_and_is_the_owners(tmp_path: Path) -> None:
    models = planned(proposing(FIRST), proposing(SECOND, action=PlanActionType.revise))
    async with (
        a_cockpit(Home(tmp_path), models={**models}) as cockpit,
        a_page(cockpit.origin, await cockpit.link()) as page,
    ):
        proposer = cockpit.running.silas.runs.proposer
        await page.connect()
        await page.say("write the report")
        await page.answer(await page.next("approval_request"), **_CHANGE)
        while "what should be different" not in (await page.next("message"))["text"]:
            pass
        assert [one.item.id for one in await proposer.to_change()] == ["task-example"]
        await page.say(WORDS)
        await page.answer(await page.next("approval_request"), **_NO)
        while "nothing was run" not in (await page.next("message"))["text"]:
            pass
        assert await proposer.waiting() == []
    request = models["planner"].requests[1].text
    assert "taint: owner" in request[: request.rindex(WORDS)].rstrip().splitlines()[-1]


async def test_what_cannot_run_shows_no_card_in_the_cockpit(tmp_path: Path) -> None:
    models = planned(proposing(GOAL), proposing(GOAL))  # it goes back once
    async with (
        a_cockpit(Home(tmp_path), models={**models}) as cockpit,
        a_page(cockpit.origin, await cockpit.link()) as page,
    ):
        await page.connect()
        await page.say("look every morning")
        while "is a goal that never runs" not in (await page.next("message"))["text"]:
            pass
        assert {"plan_proposed", "plan_approved"}.isdisjoint(await cockpit.events())


async def test_a_page_without_a_key_says_it_as_a_known_person_and_changes_no_question(
    tmp_path: Path,
) -> None:
    models = planned(proposing(FIRST), proposing(SECOND, action=PlanActionType.revise))
    async with (
        a_cockpit(Home(tmp_path), models={**models}) as cockpit,
        a_page(cockpit.origin, await cockpit.link(), key=False) as page,
    ):
        proposer = cockpit.running.silas.runs.proposer
        await page.connect()
        await page.say("write the report")
        plan = await page.next("approval_request")
        await page.answer(plan, **_CHANGE)
        assert (await page.next("error"))["code"] == "E_CHANNEL_PROOF"
        assert await proposer.to_change() == []
        await page.answer(plan, **_NO)
        await page.say(WORDS)
        await page.answer(await page.next("approval_request"), **_NO)
    request = models["planner"].requests[1].text
    assert "taint: auth" in request[: request.rindex(WORDS)].rstrip().splitlines()[-1]
