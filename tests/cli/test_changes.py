"""A plan file whose owner wants it changed: he changes it, and runs it again."""

import json
import re
from pathlib import Path

from tests.support.command import person, run, silas
from tests.support.plans import a_workspace, writing_plan

CHOICE = "Your choice, 1 to 3:"


def test_a_file_that_was_changed_and_run_again_leaves_no_question(
    set_up: dict[str, str], tmp_path: Path
) -> None:
    work, file, name = a_workspace(tmp_path / "work"), tmp_path / "plan.md", "task-changed-file"
    for title, typed, code, asked in (
        ("First", "2\r", 3, 1),
        ("Second", "2\r", 3, 1),
        ("Third", "1\r", 0, 0),
    ):
        file.write_text(writing_plan(work, id=name, title=title), encoding="utf-8")
        with person(silas("run", file), set_up) as owner:
            owner.waits_for(CHOICE)
            owner.types(typed)
            assert owner.leaves() == code
        if code:
            seen = re.sub(r"\s+", " ", owner.seen)
            assert "Change the plan and run it again" in seen
        rows = json.loads(run(silas("status", "--json"), set_up).out)
        open_ones = [row["title"] for row in rows if (row["id"], row["status"]) == (name, "asked")]
        assert open_ones == ([title] if asked else [])
    assert (work / "result.txt").exists()
