"""`silas show ID`, and what work printed in every other answer of the command line."""

import json
import re
from pathlib import Path

import pytest

from tests.support.command import Ended, environment, person, run, silas
from tests.support.plans import a_workspace, check, sh_plan


def ran(tmp_path: Path, env: dict[str, str], *extra: str) -> Ended:
    """A plan that lists a workspace and leaves caches beside what it writes."""
    work = a_workspace(tmp_path / "work")
    plan = tmp_path / "plan.md"
    text = sh_plan(
        "ls",
        "mkdir -p __pycache__ src/.pytest_cache .benchmarks",
        "touch __pycache__/a.pyc src/.pytest_cache/README.md made.txt",
        id="task-show",
        workspace=str(work),
        verify=check("echo from the check; test -e made.txt"),
    )
    plan.write_text(text, encoding="utf-8")
    digest = run(silas("plan", "check", plan), env).out.splitlines()[-1]
    return run(silas("run", plan, "--approve", digest, *extra), env)


def test_what_work_printed_is_shown_when_it_ends_and_by_show(
    tmp_path: Path, set_up: dict[str, str]
) -> None:
    done = ran(tmp_path, set_up)
    assert done.code == 0, done.err
    lines = done.out.split("\n")
    assert lines[lines.index("Run ls") + 1] == "    input.txt"
    assert lines.index("What it printed (not Silas's words):") < lines.index("Run ls")

    shown = run(silas("show", "task-show"), set_up)
    assert shown.code == 0, shown.err
    for words in (
        "done  task-show",
        "Hash:",
        "Run ls",
        "    input.txt",
        "    Done and verified: checked.",
        "ok  checked",
        "    from the check",
        "made.txt: nothing -> file of 0 bytes, mode 0644",
    ):
        assert words in shown.out, words


def test_json_has_what_was_printed(tmp_path: Path) -> None:
    env = environment(tmp_path / "home")
    assert run(silas("init"), env).code == 0
    result = json.loads(ran(tmp_path, env, "--json").out)
    assert result["output"] == "Run ls\n    input.txt"

    shown = json.loads(run(silas("show", "task-show", "--json"), env).out)
    assert shown["output"] == result["output"]
    assert shown["result"] == {name: result[name] for name in shown["result"]}
    assert (shown["status"], shown["plan_hash"]) == ("done", result["plan_hash"])
    assert shown["plan"]["workspace"] == str(tmp_path / "work")
    assert [(one["name"], one["passed"]) for one in shown["checks"]] == [("checked", True)]
    assert "made.txt" in shown["diff"]


def test_caches_that_a_run_leaves_are_not_delivered(tmp_path: Path) -> None:
    env = environment(tmp_path / "home")
    assert run(silas("init"), env).code == 0
    assert ran(tmp_path, env).code == 0
    found = sorted(str(p.relative_to(tmp_path / "work")) for p in (tmp_path / "work").rglob("*"))
    assert found == ["input.txt", "made.txt", "src"]


@pytest.mark.parametrize("words", [[], ["--json"]])
def test_an_unknown_id_is_a_usage_error(set_up: dict[str, str], words: list[str]) -> None:
    done = run(silas("show", "nothing-of-this-name", *words), set_up)
    assert (done.code, bool(done.out)) == (2, bool(words))
    assert done.err.startswith("There is no work item nothing-of-this-name; `silas status` lists")


@pytest.mark.parametrize("command", ["ask", "chat"])
def test_list_the_files_shows_the_files(tmp_path: Path, command: str) -> None:
    env = environment(tmp_path / "home")
    assert run(silas("init"), env).code == 0
    work = a_workspace(tmp_path / "work")
    request = f"list the files of {work}"
    words = [request] if command == "ask" else []
    with person(silas(command, *words), env) as owner:
        if command == "chat":
            owner.waits_for("end with Ctrl-D.")
            owner.types(f"{request}\r")
        owner.waits_for("Your choice, 1 to 3:")
        owner.types("1\r")
        owner.waits_for("What it printed (not Silas's words):")
        owner.waits_for(" input.txt")
        owner.waits_for("done: Done and verified")
        owner.waits_for("`silas show " if command == "chat" else "To see all of it: silas show ")
        if command == "chat":
            owner.types("\x04")
        assert owner.leaves() == 0
    (name,) = re.findall(r"silas show (task-[^`\s]+)", owner.seen)
    assert "input.txt" in run(silas("show", name), env).out


def test_tests_that_fail_are_a_result_and_no_work_that_is_stuck(
    tmp_path: Path, set_up: dict[str, str]
) -> None:
    place = tmp_path / "project"
    place.mkdir()
    (place / "test_sum.py").write_text(
        "import unittest\n\n\nclass Sum(unittest.TestCase):\n"
        "    def test_sum(self):\n        self.assertEqual(1 + 1, 3)\n",
        encoding="utf-8",
    )
    with person(silas("ask", "run the tests", "--workspace", place), set_up) as owner:
        owner.waits_for("Your choice, 1 to 3")
        owner.types("1\r")
        assert owner.leaves() == 1, owner.seen
    said = owner.seen
    assert "attempt 2" not in said
    assert said.count("AssertionError: 2 != 3") == 1
    assert "not yet right" not in said
    assert "stuck" not in said.partition("Approved:")[2]
    words = "failed: It ran to its end, and what it looked at is not in order: `tests_pass` failed"
    assert words in " ".join(said.split())
    item = next(
        one["id"]
        for one in json.loads(run(silas("status", "--json"), set_up).out)
        if one["title"] == "Run the project's tests and report"
    )
    shown = json.loads(run(silas("show", item, "--json"), set_up).out)
    assert (shown["status"], len(shown["checks"])) == ("failed", 1)
    assert "AssertionError: 2 != 3" in shown["output"]
    assert "<U+000A>" not in run(silas("show", item), set_up).out


def test_a_result_of_several_lines_is_shown_as_such(tmp_path: Path, set_up: dict[str, str]) -> None:
    work = a_workspace(tmp_path / "work")
    plan = tmp_path / "plan.md"
    text = sh_plan(
        "ls",
        id="task-lines",
        workspace=str(work),
        verify=check("echo seen; false"),
        budget={"max_attempts": 1},
    )
    plan.write_text(text, encoding="utf-8")
    digest = run(silas("plan", "check", plan), set_up).out.splitlines()[-1]
    assert run(silas("run", plan, "--approve", digest), set_up).code == 1
    shown = run(silas("show", "task-lines"), set_up).out
    assert "<U+000A>" not in shown
    assert "    The check “checked” failed with exit code 1.\n" in shown


def test_benchmarks_that_a_run_keeps_are_delivered(tmp_path: Path, set_up: dict[str, str]) -> None:
    work = a_workspace(tmp_path / "work")
    plan = tmp_path / "plan.md"
    text = sh_plan(
        "mkdir .benchmarks",
        "cp input.txt .benchmarks/0001.json",
        id="task-benchmarks",
        workspace=str(work),
        verify=check("test -e .benchmarks/0001.json"),
    )
    plan.write_text(text, encoding="utf-8")
    digest = run(silas("plan", "check", plan), set_up).out.splitlines()[-1]
    assert run(silas("run", plan, "--approve", digest), set_up).code == 0
    assert (work / ".benchmarks/0001.json").is_file()


def test_what_was_taken_back_says_so_wherever_it_is_shown(tmp_path: Path) -> None:
    env, back = environment(tmp_path / "home"), "What it changed was taken back: "
    assert run(silas("init"), env).code == 0
    assert ran(tmp_path, env).code == 0
    asked = (("show", "task-show"), ("status",), ("diff", "task-show"))
    for words in asked:
        ended = run(silas(*words), env)
        assert back not in ended.out + ended.err, words
    assert run(silas("undo", "task-show"), env).code == 0
    for words in asked:
        ended = run(silas(*words), env)
        assert back in ended.out + ended.err, words
        told = run(silas(*words, "--json"), env).out
        assert f'"taken_back": "{back}' in told, words
        assert words[0] == "diff" or '"status": "undone"' in told, words
    assert run(silas("status"), env).out.startswith("taken back task-show  ")
    assert run(silas("show", "task-show"), env).out.startswith("taken back  task-show  ")
    german = {**env, "SILAS_LANGUAGE": "de"}
    assert run(silas("status"), german).out.startswith("zurückgenommen task-show  ")
