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


NOT_BY_THE_CLOCK = {
    'schedule: "2020-01-01T09:00+01:00"': (
        "The moment of goal-late is past; give it a later `schedule`."
    ),
    'schedule: "0 7 * * *"\nstanding: { uses: 999999 }': (
        "One yes to a goal counts 100 uses at most (`autonomy.max_standing_executions`), and the "
        "plan asks for 999999; write `uses: 100` or fewer under `standing`."
    ),
    'schedule: "0 7 * * *"\nstanding: { until: "2020-01-01T09:00+01:00" }': (
        "is past; write a later `until` under `standing`."
    ),
    'schedule: "0 7 * * *"\nstanding: { until: "2100-01-01T09:00+01:00" }': (
        "The plan asks for a yes that lasts longer than 90 days (`autonomy.max_standing_days`)"
    ),
}


def _a_goal(tmp_path: Path, keys: str) -> Path:
    plan = tmp_path / "late.md"
    check = '{ name: there, run: "true", expect: { exit_code: 0 } }'
    plan.write_text(
        f"---\nid: goal-late\ntype: goal\ntitle: Late\ncycle: work\n{keys}\n"
        f"verify: [{check}]\n---\n\nDo it.\n"
    )
    return plan


@pytest.mark.parametrize("keys", NOT_BY_THE_CLOCK)
def test_a_check_says_of_the_clock_what_a_run_says(
    keys: str, tmp_path: Path, set_up: dict[str, str]
) -> None:
    plan, words = _a_goal(tmp_path, keys), NOT_BY_THE_CLOCK[keys]
    checked = run(silas("plan", "check", plan), set_up)
    assert checked.code == 2, checked.err
    assert words in checked.err
    assert len(checked.err.splitlines()) == 1
    ran = run(silas("run", plan), set_up)
    assert ran.code == 3
    assert words in " ".join((ran.out + ran.err).split())


def test_a_check_says_in_german_that_the_moment_is_past(
    tmp_path: Path, set_up: dict[str, str]
) -> None:
    plan = _a_goal(tmp_path, next(iter(NOT_BY_THE_CLOCK)))
    said = run(silas("plan", "check", plan), {**set_up, "SILAS_LANGUAGE": "de"}).err
    assert "Der Zeitpunkt von goal-late ist vorbei; gib ihm einen späteren" in said


def test_a_check_says_that_other_work_is_not_done_as_a_run_does(
    tmp_path: Path, set_up: dict[str, str]
) -> None:
    plan = tmp_path / "second.md"
    plan.write_text("---\nid: task-b\ntype: task\ntitle: B\ndepends_on: [task-a]\n---\n\nDo it.\n")
    checked, ran = (run(silas(*one, plan), set_up) for one in (("plan", "check"), ("run",)))
    assert (checked.code, ran.code) == (2, 3)
    for said in (checked.err, ran.out + ran.err):
        assert "It waits for task-a, which is not done." in said
