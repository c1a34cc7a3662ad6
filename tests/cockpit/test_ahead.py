"""What is ahead, over HTTP: listed, and goals paused, resumed, run and taken back with a proof."""

import pytest

from silas.testing import ScriptedChannel
from tests.cockpit.house import House, a_house, proof
from tests.goals.kit import WATCHED, goal_text, yes


async def _with_a_goal(house: House) -> None:
    await house.harness.silas.run(goal_text(schedule="0 7 * * *"))


async def _ids(house: House, part: str) -> list[str]:
    return [one["id"] for one in (await house.get("/ahead"))[part]]


async def test_a_goal_is_listed_paused_resumed_run_and_taken_back() -> None:
    async with a_house(ScriptedChannel(yes)) as house:
        assert await _ids(house, "coming") == []
        await _with_a_goal(house)
        (row,) = (await house.get("/ahead"))["coming"]
        assert (row["kind"], row["title"], row["time"]) == ("goal", "Watch the state", "07:00")
        assert row["day"] in ("Today", "Tomorrow")
        (alone,) = (await house.get("/ahead"))["alone"]
        assert alone["left"].startswith("used 0 of 20, until ")
        paused = await house.signed(f"/goals/{WATCHED}/pause")
        assert (paused.json()["words"], await _ids(house, "paused")) == ("It is paused.", [WATCHED])
        again = await house.signed(f"/goals/{WATCHED}/pause")
        assert (again.status_code, again.json()["code"]) == (409, "E_GOAL_STATE")
        assert (await house.signed(f"/goals/{WATCHED}/resume")).status_code == 200
        assert await _ids(house, "coming") == [WATCHED]
        assert (await house.signed(f"/goals/{WATCHED}/take-back")).status_code == 200
        assert await _ids(house, "alone") == []
        over = await house.signed(f"/goals/{WATCHED}/take-back")
        assert (over.status_code, over.json()["code"]) == (409, "E_APPROVAL_OVER")
        events = [one["event"] for one in await house.said()]
    assert {"goal.paused", "goal.resumed", "approval.revoked"} <= set(events)


@pytest.mark.parametrize("act", ["pause", "resume", "run", "take-back"])
async def test_each_change_needs_a_proof_and_a_goal(act: str) -> None:
    async with a_house(ScriptedChannel(yes)) as house:
        await _with_a_goal(house)
        path = f"/goals/{WATCHED}/{act}"
        assert (await house.post(path)).status_code == 400
        forged = await house.post(path, proof=proof(b"another's"))
        unknown = await house.signed(f"/goals/goal-none/{act}")
        assert (await _ids(house, "alone"), await _ids(house, "paused")) == ([WATCHED], [])
    assert forged.status_code == 403
    assert unknown.status_code in (404, 409)
    assert "goal-none" in unknown.json()["message"]


@pytest.mark.parametrize("days", ["0", "367", "a"])
async def test_a_wrong_number_of_days_is_refused(days: str) -> None:
    async with a_house() as house:
        refused = await house.client.get("/ahead", params={"days": days})
    assert (refused.status_code, refused.json()["code"]) == (400, "E_CHANNEL_BAD_REQUEST")
