"""What an MCP client is told of a project and of a batch that was taken back."""

import os
from pathlib import Path
from typing import Any

from silas.plans import WorkItemStatus
from silas.services.mcp_server import Services
from silas.testing import Harness, ScriptedChannel
from tests.goals.kit import yes
from tests.projects.kit import PROJECT, project_text


async def test_a_project_that_was_taken_back_is_told_as_that_before_what_it_did(
    tmp_path: Path,
) -> None:
    tasks: dict[str, dict[str, Any]] = {}
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        tasks[name] = {
            "workspace": str(tmp_path / name),
            "body": "Do it.\n\n```sh\necho after > file.txt\n```",
            "verify": [{"name": "right", "run": "grep after file.txt", "expect": {"exit_code": 0}}],
        }
    async with Harness(ScriptedChannel(yes)) as h:
        services = Services(h.silas, h.silas.ahead)
        done = await h.silas.run(project_text(tasks))
        assert done.status is WorkItemStatus.done
        told = f"{PROJECT} is done"
        assert await services.plan_status({"id": PROJECT}) == f"{told}: All 2 tasks are done."
        await h.silas.undo("one")
        part = await services.plan_status({"id": PROJECT})
        assert part.startswith(f"{told}. What it changed was taken back in part: one; ")
        await h.silas.undo(PROJECT)
        whole = await services.plan_status({"id": PROJECT})
        assert whole.startswith(f"{PROJECT} is taken back. What it changed was taken back: ")
        assert "Before that: All 2 tasks are done." in whole


async def test_a_batch_is_told_by_how_many_files_went_and_how_many_went_back(
    tmp_path: Path,
) -> None:
    for number in range(3):
        file = tmp_path / f"bill-{number}.pdf"
        file.write_bytes(b"%PDF-1.4 " + str(number).encode())
        os.utime(file, (1, 1))
    async with Harness(ScriptedChannel(yes)) as h:
        services = Services(h.silas, h.silas.ahead)
        (batch,) = (await h.silas.tidy(tmp_path)).batches
        name = {"id": batch.batch_id}
        assert await services.plan_status(name) == f"{batch.batch_id} is done: 3 files moved."
        await h.silas.undo_batch(batch.batch_id, [1])
        assert await services.plan_status(name) == (
            f"{batch.batch_id} was taken back in part: 1 back, 2 files stay moved."
        )
        await h.silas.undo_batch(batch.batch_id)
        assert await services.plan_status(name) == (
            f"{batch.batch_id} was taken back: 3 files back where they were."
        )
        for other in ("batch-", "batch-f", f"{batch.batch_id[:-1]}_"):
            assert "There is no plan" in await services.plan_status({"id": other})
