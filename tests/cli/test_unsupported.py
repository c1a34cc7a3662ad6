"""A plan that this version cannot run is refused by the command that reads it, and asks nobody."""

import json
import re
from pathlib import Path

import pytest

from silas.testing import plan_text
from tests.support.command import run, silas

UNSUPPORTED = {
    "goal": plan_text(type="goal"),
    "project": plan_text(type="project", tasks=["task-a"]),
    "provider": plan_text(gates=[{"name": "tone", "on": "on_tool_call", "provider": "llm"}]),
    "gate": plan_text(gates=[{"name": "in", "on": "every_user_message"}]),
}


@pytest.fixture(params=UNSUPPORTED)
def plan(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """A plan as a file."""
    file = tmp_path / "plan.md"
    file.write_text(UNSUPPORTED[request.param], encoding="utf-8")
    return file


@pytest.mark.parametrize("form", [[], ["--json"]])
def test_checking_it_says_so_in_one_sentence(
    plan: Path, form: list[str], set_up: dict[str, str]
) -> None:
    done = run(silas("plan", "check", plan, *form), set_up)
    assert done.code == 2
    assert len(done.err.splitlines()) == 1
    found = re.search(r"[0-9a-f]{64}", done.out)  # it can be read and hashed all the same
    assert found is not None
    assert "[E_PLAN_UNSUPPORTED]" in done.err


def test_the_id_of_another_plan_is_told_by_a_check_and_by_a_run(
    tmp_path: Path, set_up: dict[str, str]
) -> None:
    goal = """---
id: goal-same
type: goal
title: {}
schedule: "0 7 * * *"
on_failure: report
verify: [{{name: there, run: "true", expect: {{exit_code: 0}}}}]
---
"""
    first, second = tmp_path / "first.md", tmp_path / "second.md"
    first.write_text(goal.format("The first"))
    second.write_text(goal.format("The second"))
    approve = run(silas("plan", "check", second), set_up).out.split()[-1]  # its id is free as yet
    kept = run(silas("plan", "check", first), set_up).out.split()[-1]
    assert run(silas("run", first, "--approve", kept), set_up).code == 0
    again = run(silas("plan", "check", first), set_up)
    assert (again.code, again.out.split()[-1]) == (0, kept)
    words = "another plan with the id goal-same exists already, so give this one another id"
    checked = run(silas("plan", "check", second), set_up)
    assert checked.code == 2
    assert checked.err == f"The plan cannot be approved: {words}. [E_PLAN_TAKEN]\n"
    ran = run(silas("run", second, "--approve", approve), set_up)
    assert ran.code == 3
    assert f"{words}; nothing was run." in ran.out + ran.err


@pytest.mark.parametrize("form", [[], ["--json"]])
def test_running_it_shows_no_card_and_keeps_no_question(
    plan: Path, form: list[str], set_up: dict[str, str]
) -> None:
    done = run(silas("run", plan, *form), set_up)
    assert done.code == 3
    assert "Nothing was asked, and nothing was run." in done.out + done.err
    assert "Your choice" not in done.out + done.err
    assert "sha256" not in done.err
    if form:
        assert json.loads(done.out)["status"] == "blocked"
    assert "task-example" not in run(silas("status"), set_up).out
