"""On a real terminal words appear as they come; everywhere else nothing has changed."""

import os
import signal
from pathlib import Path

import pytest

from tests.support.command import person, run, silas
from tests.support.plans import a_workspace
from tests.support.slow_model import slow_model
from tests.support.speaking import direct, pieces

MESSAGE = "Good morning, owner. It is nine o'clock, and the kettle is on."
SECRET_FREE = "Good morning"


def configured(folder: Path, base_url: str) -> Path:
    """A configuration whose models are that server."""
    role = f"{{ name: slow, base_url: '{base_url}', output: prompted }}"
    roles = "".join(f"    {name}: {role}\n" for name in ("proxy", "planner", "executor", "scorer"))
    file = folder / "config.yaml"
    file.write_text(f"silas:\n  models:\n{roles}", encoding="utf-8")
    return file


@pytest.mark.parametrize("command", ["ask", "chat"])
def test_words_are_on_the_screen_before_the_answer_is_whole(
    command: str, tmp_path: Path, set_up: dict[str, str]
) -> None:
    words = ["ask", "hello"] if command == "ask" else ["chat"]
    with slow_model(pieces(direct(MESSAGE), 4)) as model:
        config = configured(tmp_path, model.base_url)
        with person(silas("--config", config, *words), set_up) as owner:
            if command == "chat":
                owner.waits_for("end with Ctrl-D")
                owner.types("hello\r")
            owner.waits_for("waiting for the model (proxy)")
            model.release(len(direct(MESSAGE).split("morning")[0]) // 4 + 3)
            owner.waits_for(SECRET_FREE)
            assert MESSAGE not in owner.seen
            model.release(1000)
            owner.waits_for("kettle is on.")
            if command == "chat":
                owner.types("\x04")
            assert owner.leaves() == 0
    after = owner.seen[owner.seen.rindex("\x1b[2K") + len("\x1b[2K") :]
    assert after == f"{MESSAGE}\n"


def test_without_a_terminal_the_output_has_the_answer_and_nothing_else(
    tmp_path: Path, set_up: dict[str, str]
) -> None:
    with slow_model(pieces(direct(MESSAGE), 4)) as model:
        model.release(1000)
        config = configured(tmp_path, model.base_url)
        done = run(silas("--config", config, "ask", "hello"), set_up)
    assert (done.code, done.out, done.err) == (0, f"{MESSAGE}\n", "")


@pytest.mark.parametrize(("extra", "words"), [({"TERM": "dumb"}, ()), ({}, ("--json",))])
def test_a_terminal_that_cannot_erase_and_a_program_get_the_answer_whole(
    extra: dict[str, str], words: tuple[str, ...], tmp_path: Path, set_up: dict[str, str]
) -> None:
    with slow_model(pieces(direct(MESSAGE), 4)) as model:
        model.release(1000)
        config = configured(tmp_path, model.base_url)
        argv = silas("--config", config, "ask", "hello", *words)
        with person(argv, {**set_up, **extra}) as owner:
            assert owner.leaves() == 0
    assert owner.seen.count(MESSAGE) == 1 + len(words)
    assert "\x1b[2K" not in owner.seen
    assert "waiting for" not in owner.seen


def test_running_work_says_in_the_status_line_what_it_waits_for(
    tmp_path: Path, set_up: dict[str, str]
) -> None:
    work = a_workspace(tmp_path / "work")
    runbooks = tmp_path / "runbooks"
    runbooks.mkdir()
    (runbooks / "nap.md").write_text(NAP, encoding="utf-8")
    config = tmp_path / "config.yaml"
    config.write_text(f"silas:\n  plans_dirs: ['{runbooks}']\n", encoding="utf-8")
    with person(
        silas("--config", config, "ask", "take a nap", "--workspace", work), set_up
    ) as owner:
        owner.waits_for("Your choice, 1 to 3:")
        owner.types("1\r")
        owner.waits_for("working: attempt 1")
        owner.waits_for("Run tail -f /dev/null")
        owner.types("\x03")
        assert owner.leaves() == 4
    assert owner.seen.rstrip().splitlines()[-1].find("Run tail") == -1


PLAN = """\
---
id: nap
type: task
title: Take a nap
verify:
  - { name: ran, run: "true", expect: { exit_code: 0 } }
---

```sh
tail -f /dev/null
```
"""


def a_nap(folder: Path, name: str, step: str = "tail -f /dev/null") -> Path:
    """A plan whose only step runs until it is stopped; its name is its own in a shared home."""
    plan = folder / "nap.md"
    text = PLAN.replace("id: nap", f"id: {name}").replace("tail -f /dev/null", step)
    plan.write_text(text, encoding="utf-8")
    return plan


def hash_of(plan: Path, env: dict[str, str]) -> str:
    """What `--approve` takes for a plan."""
    return run(silas("plan", "check", plan), env).out.splitlines()[-1]


@pytest.mark.parametrize("beforehand", [False, True])
def test_a_plan_that_is_run_says_which_step_it_is_at(
    beforehand: bool, tmp_path: Path, set_up: dict[str, str]
) -> None:
    plan = a_nap(tmp_path, f"nap-run-{beforehand:d}")
    words = ("--approve", hash_of(plan, set_up)) if beforehand else ()
    with person(silas("run", plan, *words), set_up) as owner:
        if not beforehand:
            owner.waits_for("Your choice, 1 to 3:")
            owner.types("1\r")
        owner.waits_for("Run tail -f /dev/null")
        owner.types("\x03")
        assert owner.leaves() == 4
    assert "Run tail" not in owner.seen.rstrip().splitlines()[-1]


def test_a_plan_that_is_approved_later_says_which_step_it_is_at(
    tmp_path: Path, set_up: dict[str, str]
) -> None:
    with person(
        silas("run", a_nap(tmp_path, "nap-later")), set_up
    ) as owner:  # a crash leaves it waiting
        owner.waits_for("Your choice, 1 to 3:")
        os.kill(owner.pid, signal.SIGKILL)
        owner.leaves()
    with person(silas("approve", "nap-later"), set_up) as owner:
        owner.waits_for("Your choice, 1 to 3:")
        owner.types("1\r")
        owner.waits_for("Run tail -f /dev/null")
        owner.types("\x03")
        assert owner.leaves() == 4


@pytest.mark.parametrize(("extra", "words"), [({"TERM": "dumb"}, ()), ({}, ("--json",))])
def test_a_run_on_what_cannot_erase_is_as_it_was(
    extra: dict[str, str], words: tuple[str, ...], tmp_path: Path, set_up: dict[str, str]
) -> None:
    plan = a_nap(tmp_path, f"nap-plain-{len(words)}", "true")
    argv = silas("run", plan, "--approve", hash_of(plan, set_up), *words)
    with person(argv, {**set_up, **extra}) as owner:
        assert owner.leaves() == 0, owner.seen
    assert "\x1b[2K" not in owner.seen
    assert "waiting for" not in owner.seen


NAP = """\
---
id: nap
type: task
title: Take a nap
runbook:
  phrases: [take a nap]
  parameters:
    workspace: { description: where, pattern: "/.+", example: /srv }
read: [$workspace]
verify:
  - { name: ran, run: "true", expect: { exit_code: 0 } }
---

```sh
tail -f /dev/null
```

In $workspace.
"""
