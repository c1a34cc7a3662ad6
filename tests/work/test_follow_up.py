"""Work that deepens other work starts with what that produced (spec 5.2.1 step 0.5)."""

from pathlib import Path
from typing import Any

import pytest

from silas.plans import WorkItemResult, WorkItemStatus
from silas.testing import CallTool, a_plan
from tests.work.kit import DONE, Work, at_work, scratch, sh

FOLLOWS = {"id": "task-deeper", "follow_up_of": "task-example"}


async def _prior(work: Work, artifacts: dict[str, str]) -> None:
    """A completed item with these artifacts."""
    await work.silas.store.save(a_plan(status=WorkItemStatus.done))
    await work.silas.store.save_result(
        WorkItemResult(
            work_item_id="task-example",
            status=WorkItemStatus.done,
            summary="Done.",
            artifacts=artifacts,
        )
    )


class TestFollowUps:
    @pytest.mark.proves("S5.2.1-ARTIFACTS-IMPORTED")
    @pytest.mark.parametrize(
        ("wanted", "seen"),
        [
            (["*"], "a.txt b c.txt"),
            (["a.txt"], "a.txt"),
            ([], ""),
            (["*", "a.txt"], "a.txt b c.txt"),
        ],
        ids=str,
    )
    async def test_it_starts_with_the_artifacts_it_asks_for(
        self, wanted: list[str], seen: str
    ) -> None:
        look = sh("echo listed: $(ls -x /artifacts); cat /artifacts/a.txt; touch /artifacts/new")
        check = {"name": "c", "run": "ls /artifacts | wc -l", "expect": {"not_empty": True}}
        async with at_work(look, DONE) as work:
            await _prior(work, {"a.txt": "Zürich\n", "b c.txt": "x"})
            result = await work.run(**FOLLOWS, input_artifacts_from=wanted, verify=[check])
            assert result.status is WorkItemStatus.done
            said = work.briefing(1)
        assert f"listed: {seen}".strip() in said
        assert ("Zürich" in said) == ("a.txt" in seen)
        assert "Read-only" in said

    @pytest.mark.proves("S5.2.1-MISSING-LINK-BLOCKS")
    @pytest.mark.parametrize(
        ("plan", "words"),
        [
            ({"follow_up_of": "task-nowhere"}, "follows up task-nowhere, which is not completed"),
            ({"follow_up_of": "task-stuck"}, "follows up task-stuck, which is not completed work"),
            (
                {"follow_up_of": "task-example", "input_artifacts_from": ["a.txt", "z", "y"]},
                "task-example has no artifact y, z.",
            ),
        ],
        ids=["no such item", "not done", "no such name"],
    )
    async def test_a_missing_link_or_name_blocks_in_words(
        self, plan: dict[str, Any], words: str
    ) -> None:
        async with at_work() as work:
            await _prior(work, {"a.txt": "x"})
            stuck = WorkItemResult(
                work_item_id="task-stuck", status=WorkItemStatus.stuck, summary="Stuck."
            )
            await work.silas.store.save_result(stuck)
            result = await work.run(id="task-deeper", **plan)
            assert result.status is WorkItemStatus.blocked
            assert words in result.summary
            assert (await work.stored("task-deeper")).status is WorkItemStatus.blocked

    @pytest.mark.parametrize(
        "name",
        ["", ".", "..", "../../escape", "/etc/cron.d/x", "a/b", "a\0b", "x" * 256, "ü" * 128],
        ids=repr,
    )
    async def test_a_hostile_artifact_name_blocks_and_writes_nothing(
        self, name: str, tmp_path: Path
    ) -> None:
        async with at_work(home=tmp_path) as work:
            await _prior(work, {"fine": "x", name: "evil"})
            result = await work.run(**FOLLOWS, input_artifacts_from=["*"])
            assert result.status is WorkItemStatus.blocked
            assert "is not a plain file name" in result.summary
            assert (await work.stored("task-deeper")).status is WorkItemStatus.blocked
            assert not scratch(work)
        assert not list(tmp_path.rglob("*escape*"))

    @pytest.mark.parametrize(
        "name", ["-rf", "~", "$(id)", "a\nb", " ", "COM1", ".hidden"], ids=repr
    )
    async def test_an_odd_name_is_only_a_name(self, name: str) -> None:
        async with at_work(CallTool("shell_exec", {"argv": ["ls", "-A", "/artifacts"]}), DONE) as w:
            await _prior(w, {name: "x"})
            check = {"name": "c", "run": "ls -A /artifacts", "expect": {"not_empty": True}}
            result = await w.run(**FOLLOWS, input_artifacts_from=["*"], verify=[check])
            assert result.status is WorkItemStatus.done
