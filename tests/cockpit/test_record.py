"""The activity: the audit as a narrative, and what is behind each entry."""

from pathlib import Path
from typing import Any

import pytest

from silas.audit.kinds import KINDS, QUIET, kind_of
from silas.audit.narrate import known_events
from silas.testing import ScriptedChannel
from tests.cockpit.house import House, a_house
from tests.support.plans import a_workspace, writing_plan
from tests.work.kit import owner


def test_kinds_are_of_events_that_there_are_and_of_one_kind_each() -> None:
    named = [event for events in KINDS.values() for event in events]
    assert len(named) == len(set(named))
    assert set(named) | QUIET <= known_events()
    assert kind_of("something new") == "system"


async def _work(house: House, tmp_path: Path) -> str:
    workspace = a_workspace(tmp_path / "project")
    result = await house.harness.silas.run(writing_plan(workspace, title="Copy the input"))
    return result.work_item_id


async def _entry(house: House, event: str) -> dict[str, Any]:
    found = await house.get("/activity", last=200, all=True)
    seq = next(one["seq"] for one in found["entries"] if one["event"] == event)
    return await house.get(f"/activity/{seq}")


async def test_the_activity_tells_what_happened_by_its_title_newest_first(tmp_path: Path) -> None:
    async with a_house(owner()) as house:
        item_id = await _work(house, tmp_path)
        found = await house.get("/activity")
    entries = found["entries"]
    assert [one["seq"] for one in entries] == sorted((one["seq"] for one in entries), reverse=True)
    words = [one["words"] for one in entries if one["work_item_id"] == item_id]
    assert "You approved the plan “Copy the input”." in words
    assert "“Copy the input” ended: done." in words
    assert not any(item_id in said for said in words)
    assert not any(one["quiet"] for one in entries)
    assert found["more"] is False


async def test_kind_item_and_page_choose_entries(tmp_path: Path) -> None:
    async with a_house(owner()) as house:
        item_id = await _work(house, tmp_path)
        approved = await house.get("/activity", kind="approved", item=item_id)
        assert {one["event"] for one in approved["entries"]} == {"plan_approved"}
        nothing = await house.get("/activity", item=item_id[:-1])
        assert nothing["entries"] == []
        everything = (await house.get("/activity", last=200, all=True))["entries"]
        paged: list[Any] = []
        before, more = 0, True
        while more:
            page = await house.get("/activity", last=3, before=before, all=True)
            paged += page["entries"]
            before, more = page["before"], page["more"]
    assert paged == everything
    assert len(everything) == everything[0]["seq"]


async def test_an_entry_shows_what_was_shown_signed_and_run(tmp_path: Path) -> None:
    async with a_house(owner()) as house:
        item_id = await _work(house, tmp_path)
        one = await house.get(f"/work/{item_id}")
        approved = await _entry(house, "plan_approved")
        assert f"  sha256:{one['hash']}" in approved["shown"]
        assert "What it may touch:" in approved["shown"]
        assert approved["signed"]["hash"] == one["hash"]
        assert approved["signed"]["scope"] == "full_plan"
        assert {ran["state"] for ran in approved["ran"]} == {"done"}
        called = await _entry(house, "tool_call.succeeded")
        assert any("shell_exec" in line for line in called["shown"])
        applied = await _entry(house, "workspace_applied")
        assert "+as it was" in applied["diff"]
        started = await _entry(house, "stream_started")
    assert (started["shown"], started["signed"], started["ran"]) == (None, None, None)


async def test_of_a_declined_plan_it_is_said_that_it_was_not_kept(tmp_path: Path) -> None:
    async with a_house(ScriptedChannel()) as house:
        await _work(house, tmp_path)
        proposed = await _entry(house, "plan_proposed")
    assert "has not kept the plan" in proposed["shown"][0]
    assert proposed["signed"] is None


async def test_a_damaged_entry_hides_no_other(tmp_path: Path) -> None:
    async with a_house(owner()) as house:
        await _work(house, tmp_path)
        db = house.parts.db
        with db.write() as tx:
            tx.driver.execute("DROP TRIGGER audit_log_no_update")
            (body,) = tx.driver.execute("SELECT body FROM audit_log WHERE seq = 2").fetchone()
            tx.driver.execute("UPDATE audit_log SET body = 'no JSON' WHERE seq = 2")
        for parameters in ({}, {"all": True}, {"kind": "ran"}):
            assert (await house.get("/activity", last=200, **parameters))["entries"]
        missing = await house.client.get("/activity/2")
        assert missing.status_code == 404
        assert await house.get("/metrics/ux")
        with db.write() as tx:  # a broken chain would not be signed at the end
            tx.driver.execute("UPDATE audit_log SET body = ? WHERE seq = 2", (body,))


@pytest.mark.parametrize(
    ("path", "named"),
    [
        ("/activity?last=0", "last"),
        ("/activity?last=9999", "last"),
        ("/activity?before=-1", "before"),
        ("/activity?kind=<script>", "kind"),
        ("/activity?all=perhaps", "all"),
        ("/activity/first", "seq"),
        ("/activity/0", "seq"),
    ],
)
async def test_what_cannot_be_asked_is_named_in_one_sentence(path: str, named: str) -> None:
    async with a_house() as house:
        response = await house.client.get(path)
    assert response.status_code == 400
    assert response.json()["code"] == "E_CHANNEL_BAD_REQUEST"
    assert response.json()["message"].startswith(f"`{named}` ")
    assert "script" not in response.text
