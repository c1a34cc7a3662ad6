"""What a plan names of this machine: told at every door, in the words of the plan."""

import asyncio
import os
from pathlib import Path

import pytest
from click.testing import CliRunner

from silas.clock import SystemClock
from silas.db import Database
from silas.home.database import migrate
from silas.main.app import cli
from silas.plans import WaitingPlan
from silas.plans.waiting_plans import SqlWaitingPlans
from silas.testing import a_plan
from tests.support.command import run, silas
from tests.support.plans import a_workspace, check, sh_plan

ABSENT = "The plan's workspace {} does not exist: make that directory, or name another one in `wo"


def a_plan_file(tmp_path: Path, workspace: Path, **fields: object) -> Path:
    """A plan that works there."""
    file = tmp_path / "plan.md"
    text = sh_plan("ls", id="task-placed", workspace=str(workspace), verify=check("true"), **fields)
    file.write_text(text, encoding="utf-8")
    return file


@pytest.mark.parametrize("form", [[], ["--json"]])
def test_a_workspace_that_is_not_there_is_told_before_a_card(
    tmp_path: Path, set_up: dict[str, str], form: list[str]
) -> None:
    plan = a_plan_file(tmp_path, tmp_path / "gone")
    words = ABSENT.format(tmp_path / "gone")
    checked = run(silas("plan", "check", plan, *form), set_up)
    assert checked.code == 2
    assert "[E_PLAN_PLACE]" in checked.err
    assert words in checked.err
    assert "sha256" in checked.out or "plan_hash" in checked.out
    done = run(silas("run", plan, *form), set_up)
    assert done.code == 3
    assert words in done.out + done.err
    assert "Hash:" not in done.out + done.err
    assert "task-placed" not in run(silas("status"), set_up).out


def _file(at: Path) -> None:
    at.write_text("x")


def _link(at: Path) -> None:
    at.with_name("real").mkdir()
    at.symlink_to(at.with_name("real"))


PLACES = {
    "a file": (_file, "is no directory: name the one it lies in."),
    "a link": (_link, "is reached through a symbolic link: name what the link leads to."),
}


@pytest.mark.parametrize("what", PLACES)
def test_a_workspace_of_another_kind_is_told_too(
    what: str, tmp_path: Path, set_up: dict[str, str]
) -> None:
    make, words = PLACES[what]
    make(tmp_path / "place")
    checked = run(silas("plan", "check", a_plan_file(tmp_path, tmp_path / "place")), set_up)
    assert f"The plan's workspace {tmp_path / 'place'} {words}" in checked.err
    assert checked.code == 2


def test_what_may_be_read_is_looked_for_as_well(tmp_path: Path, set_up: dict[str, str]) -> None:
    work = a_workspace(tmp_path / "work")
    plan = a_plan_file(tmp_path, work, read=[str(tmp_path / "notes.txt")])
    checked = run(silas("plan", "check", plan), set_up)
    assert checked.code == 2
    assert f"{tmp_path / 'notes.txt'}, which the plan reads, does not exist: put it" in checked.err


def _tools(text: str) -> list[str]:
    lines = [line.strip() for line in text.splitlines()]
    return [line for line in lines if line.startswith("tools: project .venv (Python 3.11.7)")]


def a_project(work: Path) -> Path:
    """A workspace with a virtual environment of its own."""
    programs = a_workspace(work) / ".venv" / "bin"
    programs.mkdir(parents=True)
    (work / ".venv" / "pyvenv.cfg").write_text("home = /usr/bin\nversion = 3.11.7\n")
    (programs / "python3").symlink_to("/usr/bin/python3")
    (programs / "pytest").write_text("#!/bin/sh\n")
    os.chmod(programs / "pytest", 0o755)
    return work


def test_checking_a_plan_says_of_the_tools_what_its_card_says(
    tmp_path: Path, set_up: dict[str, str]
) -> None:
    plan = a_plan_file(tmp_path, a_project(tmp_path / "work"))
    asked = run(silas("run", plan), set_up, stdin="no\n")
    told = _tools(asked.out + asked.err)
    assert len(told) == 1
    assert _tools(run(silas("plan", "check", plan), set_up).out) == told


def test_looking_at_a_plan_that_waits_says_the_tools_too(here: Path, tmp_path: Path) -> None:
    (found,) = here.rglob("silas.db")
    database = Database(found, SystemClock())
    migrate(database)
    item = a_plan(id="wait-tools", workspace=str(a_project(tmp_path / "work")))
    asyncio.run(SqlWaitingPlans(database, SystemClock()).put(WaitingPlan(item, "why")))
    told = [
        _tools(CliRunner().invoke(cli, words).stdout)
        for words in (["approvals", "show", "wait-tools"], ["show", "wait-tools"])
    ]
    with database.write() as tx:  # the home is shared with other tests
        tx.driver.execute("DELETE FROM waiting_plans")
    database.close()
    assert [len(one) for one in told] == [1, 1]
    assert told[0] == told[1]
