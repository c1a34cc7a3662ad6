"""`silas plan check` says of skills, tools, workers, secrets and folders what a run says."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from silas.plans.projects.document import join_project
from silas.testing import plan_text
from tests.mcp.house import Fake
from tests.support.command import environment, run, silas

LOOKER = """\
---
name: looker
description: Looks, and changes nothing.
toolsets: { shell: }
skills: [unheard-of]
---
Look.
"""
GRANT: list[dict[str, Any]] = [{"tool": "send_email", "args": {}}]
SECRET = {"TOKEN": "ref_" + "0" * 32}


def _alone(**fields: Any) -> Callable[[Path], str]:
    return lambda _: plan_text(**fields)


def _in_a_task(tmp_path: Path) -> str:
    del tmp_path
    body = join_project("Do it.", [("task-a", plan_text(id="task-a", skills=["unheard-of"]))])
    return plan_text(type="project", tasks=["task-a"], body=body, verify=[])


def _tidying(tmp_path: Path) -> str:
    (tmp_path / "project" / ".git").mkdir(parents=True)
    return plan_text(
        type="goal",
        cycle="tidy",
        schedule="0 18 * * 5",
        workspace=str(tmp_path / "project"),
        verify=[],
        body="",
    )


UNABLE: dict[str, tuple[Callable[[Path], str], str, str]] = {
    "a skill": (
        _alone(skills=["unheard-of"]),
        "The plan needs skills that are not installed: unheard-of.",
        "E_PLAN_SKILL",
    ),
    "a task's skill": (
        _in_a_task,
        "The task task-a could not run. The plan needs skills that are not installed: unheard-of.",
        "E_PLAN_SKILL",
    ),
    "a tool": (
        _alone(tools=GRANT),
        "The plan asks for the tool 'send_email', which is not here; `silas tools list`.",
        "E_PLAN_TOOL",
    ),
    "a worker": (
        _alone(worker="nobody"),
        "The plan's `worker` cannot do it: ",
        "E_PLAN_WORKER",
    ),
    "a worker's skill": (
        _alone(worker="looker"),
        "The plan's `worker` needs skills that are not installed: unheard-of.",
        "E_PLAN_WORKER",
    ),
    "a worker's tool": (
        _alone(worker="idle", tools=[{"tool": "python_exec", "args": {}}]),
        "The plan grants the tool 'python_exec', which its worker 'idle' cannot call",
        "E_PLAN_WORKER",
    ),
    "a secret": (
        _alone(credential_refs=SECRET),
        f"The plan asks for a secret that it cannot have: the secret TOKEN ({SECRET['TOKEN']}) is "
        "not known, or was removed.",
        "E_PLAN_SECRET",
    ),
    "a folder": (_tidying, "is a project or holds what programs start from", "E_BATCH_PLACE"),
}


@pytest.mark.parametrize("what", UNABLE)
def test_a_check_says_what_a_run_says_before_any_card(
    what: str, tmp_path: Path, set_up: dict[str, str]
) -> None:
    make, words, code = UNABLE[what]
    workers = tmp_path / "workers"
    workers.mkdir()
    (workers / "looker.worker").write_text(LOOKER)
    idle = LOOKER.replace("looker", "idle").replace("skills: [unheard-of]\n", "")
    (workers / "idle.worker").write_text(idle)
    plan, env = tmp_path / "plan.md", {**set_up, "SILAS_WORKERS_DIR": str(workers)}
    plan.write_text(make(tmp_path), encoding="utf-8")
    checked = run(silas("plan", "check", plan), env)
    assert checked.code == 2, checked.out
    assert len(checked.err.splitlines()) == 1
    assert f"[{code}]" in checked.err
    assert words in checked.err
    ran = run(silas("run", plan), env)
    assert ran.code == 3
    said = checked.err.rpartition(" [")[0]
    assert said in " ".join((ran.out + ran.err).split())
    assert "Your choice" not in ran.out + ran.err


_OWN = "is, holds or lies in what belongs to Silas; name another directory."
_SECRET = "it is or holds your whole home, secrets, or what belongs to Silas or the system;"
PLACES: dict[str, tuple[Callable[[Path], dict[str, Any]], str]] = {
    "its keys": (lambda home: {"workspace": str(home / "data" / "keys")}, _OWN),
    "all of it": (lambda home: {"workspace": str(home)}, _OWN),
    "its keys to read": (lambda home: {"read": [str(home / "data" / "keys")]}, _SECRET),
    "secrets to read": (lambda home: {"read": [str(home / ".ssh")]}, _SECRET),
}


@pytest.mark.parametrize("what", PLACES)
def test_what_is_of_silas_or_secret_is_refused_before_a_card(
    what: str, tmp_path: Path, set_up: dict[str, str]
) -> None:
    fields, why = PLACES[what]
    home, plan = Path(set_up["SILAS_HOME"]), tmp_path / "plan.md"
    (home / ".ssh").mkdir(exist_ok=True)
    plan.write_text(plan_text(**fields(home)), encoding="utf-8")
    checked = run(silas("plan", "check", plan), set_up)
    assert (checked.code, "[E_PLAN_PLACE]" in checked.err) == (2, True), checked.err
    assert why in checked.err
    ran = run(silas("run", plan), set_up)
    assert ran.code == 3
    assert why in " ".join((ran.out + ran.err).split())
    assert "Your choice" not in ran.out + ran.err


def test_a_granted_tool_of_a_trusted_server_is_there_for_a_check_as_well(tmp_path: Path) -> None:
    fake, env = Fake(tmp_path / "fake"), environment(tmp_path / "home")
    plan, settings = tmp_path / "plan.md", tmp_path / "home" / "config.yaml"
    granted = [{"tool": "fake__act", "args": {"what": "tea"}}]
    plan.write_text(plan_text(tools=granted), encoding="utf-8")
    settings.parent.mkdir()
    settings.write_text(yaml.safe_dump({"silas": fake.settings()}), encoding="utf-8")
    assert run(silas("init"), env).code == 0
    before = run(silas("plan", "check", plan), env)
    assert before.code == 2
    assert "The plan asks for the tool 'fake__act', which is not here" in before.err
    seen = run(silas("mcp", "trust", "fake"), env).out.splitlines()[0]
    assert run(silas("mcp", "trust", "fake", "--approve", seen), env).code == 0
    trusted = run(silas("plan", "check", plan), env)
    assert (trusted.code, trusted.err) == (0, "")
    assert not fake.calls
