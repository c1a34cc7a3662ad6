"""The endpoints about work items, over a whole Silas."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from silas.cards import Card, PlanAnswer, PlanCard
from silas.channels.web.wire import Proof, command_bytes
from silas.plans import WorkItemResult
from silas.testing import ScriptedChannel
from silas.workspace.journal import read_journal, write_journal
from tests.cockpit.house import A_SESSION, House, a_house, proof
from tests.support.plans import a_workspace, sh_plan, writing_plan
from tests.support.waits import SECONDS
from tests.work.kit import owner


@asynccontextmanager
async def after_work(tmp_path: Path) -> AsyncGenerator[tuple[House, WorkItemResult, Path]]:
    """A house where one plan was approved, run and verified."""
    workspace = a_workspace(tmp_path / "project")
    async with a_house(owner()) as house:
        result = await house.harness.silas.run(writing_plan(workspace))
        assert result.status == "done", result.summary
        yield house, result, workspace


async def test_the_list_says_what_was_done_and_that_it_can_be_taken_back(tmp_path: Path) -> None:
    async with after_work(tmp_path) as (house, result, _):
        (row,) = await house.get("/work")
    assert row["id"] == result.work_item_id
    assert row["status"] == "done"
    assert row["undoable"] is True
    assert row["summary"] == result.summary


async def test_one_work_item_shows_plan_checks_changes_and_approval(tmp_path: Path) -> None:
    async with after_work(tmp_path) as (house, result, workspace):
        one = await house.get(f"/work/{result.work_item_id}")
    headings = [section["heading"] for section in one["plan"]]
    assert "What it may touch" in headings
    assert any(str(workspace) in line for section in one["plan"] for line in section["lines"])
    assert one["risk"] == "medium"
    assert [(check["name"], check["passed"]) for check in one["checks"]] == [("checked", True)]
    assert "+as it was" in one["diff"]
    assert one["approval"]["hash"] == one["hash"]
    assert (one["approval"]["uses"], one["approval"]["max_executions"]) == (1, 1)
    assert one["attempts"] == 1
    assert one["budget"][3] == {"words": "1 of 5 attempts", "share": 0.2}
    assert one["running"] is False


async def test_undo_takes_back_what_was_changed_and_only_with_a_proof(tmp_path: Path) -> None:
    async with after_work(tmp_path) as (house, result, workspace):
        path = f"/work/{result.work_item_id}/undo"
        refused = await house.client.post(path, json={"proof": proof(b"somebody else's")})
        assert (refused.status_code, refused.json()["code"]) == (403, "E_CHANNEL_PROOF")
        missing = await house.client.post(path, json={})
        assert missing.status_code == 400
        assert (workspace / "result.txt").exists()
        done = await house.signed(path)
        assert done.status_code == 200, done.text
        assert not (workspace / "result.txt").exists()
        again = await house.signed(path)
        assert again.status_code == 409
        (row,) = await house.get("/work")
        assert row["undoable"] is False


async def test_a_proof_is_of_this_command_about_this_work_item(tmp_path: Path) -> None:
    async with after_work(tmp_path) as (house, result, _):
        await house.signed(f"/work/{result.work_item_id}/undo")
        made = Proof.model_validate(proof())
        assert house.door.proved == [command_bytes("undo", result.work_item_id, made)]


async def test_a_session_without_a_key_looks_and_stops_and_takes_nothing_back(
    tmp_path: Path,
) -> None:
    async with after_work(tmp_path) as (house, result, workspace):
        house.guard.session = A_SESSION.model_copy(update={"level": "auth"})
        assert await house.get("/work")
        refused = await house.signed(f"/work/{result.work_item_id}/undo")
        assert (refused.status_code, refused.json()["code"]) == (403, "E_CHANNEL_UNSIGNED")
        assert (workspace / "result.txt").exists()
        assert (await house.post("/stop")).status_code == 200
        assert (await house.signed("/resume")).status_code == 403


async def test_the_emergency_stop_stops_and_only_a_proof_ends_it(tmp_path: Path) -> None:
    async with a_house(owner()) as house:
        stopped = await house.post("/stop")
        assert stopped.status_code == 200, stopped.text
        asked = await house.post("/work/task-x/ask")
        assert (asked.status_code, asked.json()["code"]) == (409, "E_STOPPED_EMERGENCY")
        bad = await house.client.post("/resume", json={"proof": proof(b"no")})
        assert bad.status_code == 403
        assert (house.harness.config.data_dir / "STOPPED").exists()
        resumed = await house.signed("/resume")
        assert resumed.status_code == 200, resumed.text
        assert not (house.harness.config.data_dir / "STOPPED").exists()
        workspace = a_workspace(tmp_path / "project")
        result = await house.harness.silas.run(writing_plan(workspace))
    assert result.status == "done"


async def test_work_that_runs_can_be_stopped_and_is_then_not_applied(tmp_path: Path) -> None:
    workspace = a_workspace(tmp_path / "project")
    plan = sh_plan("echo on > result.txt", "sleep 60", workspace=str(workspace))
    async with a_house(owner()) as house:
        silas = house.harness.silas
        item = silas.parse(plan)
        run = asyncio.create_task(silas.run(plan))
        while not silas.executor.running():
            await asyncio.wait([run], timeout=0.01)
        assert (await house.get(f"/work/{item.id}"))["running"] is True
        cancelled = await house.post(f"/work/{item.id}/cancel")
        assert cancelled.status_code == 200, cancelled.text
        await asyncio.wait_for(asyncio.wait([run]), SECONDS)
        assert not (workspace / "result.txt").exists()
        again = await house.post(f"/work/{item.id}/cancel")
    assert again.status_code == 409


class Later:
    """Says that the owner is asked elsewhere, until he is here."""

    def __init__(self) -> None:
        self.here = False

    def __call__(self, card: Card[Any]) -> Any:
        if isinstance(card, PlanCard):
            return PlanAnswer(verdict="approved" if self.here else "waiting")
        return card.safe


async def test_a_waiting_plan_is_listed_and_goes_on_after_its_card_was_shown_again(
    tmp_path: Path,
) -> None:
    workspace, later = a_workspace(tmp_path / "project"), Later()
    channel = ScriptedChannel(later)
    async with a_house(channel) as house:
        await house.harness.silas.run(writing_plan(workspace))
        (row,) = await house.get("/work")
        assert (row["status"], row["undoable"]) == ("waiting", False)
        one = await house.get(f"/work/{row['id']}")
        assert one["approval"] is None
        assert one["plan"]
        later.here = True
        asked = await house.post(f"/work/{row['id']}/ask")
        assert asked.status_code == 200, asked.text
        await _until_done(house, row["id"])
        assert (workspace / "result.txt").exists()
        again = await house.post(f"/work/{row['id']}/ask")
    assert (again.status_code, again.json()["code"]) == (404, "E_PLAN_NOT_WAITING")


async def _until_done(house: House, item_id: str) -> None:
    async with asyncio.timeout(SECONDS):
        while (await house.get("/work"))[0]["status"] != "done":
            await asyncio.wait([asyncio.create_task(house.harness.silas.wait_for_work())])


@pytest.mark.parametrize("path", ["/work/task-unknown", "/work/..%2f..%2fetc", "/activity/999999"])
async def test_what_is_not_there_is_one_sentence(path: str) -> None:
    async with a_house() as house:
        response = await house.client.get(path)
    assert response.status_code == 404
    assert response.json().keys() == {"code", "message"}


async def test_a_workspace_that_a_crash_left_half_changed_is_named_and_undo_brings_it_back(
    tmp_path: Path,
) -> None:
    async with after_work(tmp_path) as (house, result, workspace):
        place = house.harness.config.data_dir / "undo" / result.work_item_id / "000001"
        write_journal(place, replace(read_journal(place), phase="undoing"))  # killed in an undo
        (row,) = await house.get("/work")
        assert row["undoable"] is True
        assert row["summary"].startswith(f"{workspace} is half-changed")
        done = await house.signed(f"/work/{result.work_item_id}/undo")
        assert done.status_code == 200, done.text
        assert not (workspace / "result.txt").exists()
        (row,) = await house.get("/work")
        assert (row["undoable"], row["summary"]) == (False, result.summary)


async def test_one_work_item_shows_what_it_printed(tmp_path: Path) -> None:
    workspace = a_workspace(tmp_path / "project")
    async with a_house(owner()) as house:
        result = await house.harness.silas.run(sh_plan("ls", workspace=str(workspace)))
        one = await house.get(f"/work/{result.work_item_id}")
    assert one["output"] == "Run ls\n    input.txt"
