"""`silas workers list`, and what `silas doctor` says of a worker that cannot be used."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from silas.main import cli
from silas.plans import PlanParser, plan_hash
from silas.testing import plan_text

GOOD = """\
---
name: good
description: Looks, and changes nothing.
toolsets: { shell: }
---
Look.
"""


def said(*words: str) -> str:
    done = CliRunner().invoke(cli, list(words))
    assert done.exit_code == 0, done.output
    return done.output


def test_without_workers_it_says_where_they_would_be(here: Path) -> None:
    assert str(here / "data" / "workers") in said("workers", "list")
    assert json.loads(said("workers", "list", "--json")) == []


def test_it_shows_every_worker_and_one_sentence_for_each_file_that_is_none(
    here: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    del here
    monkeypatch.setenv("SILAS_WORKERS_DIR", str(tmp_path))
    (tmp_path / "good.worker").write_text(GOOD)
    (tmp_path / "bad.worker").write_text(GOOD.replace("toolsets", "toolset"))
    lines = said("workers", "list").splitlines()
    assert lines[0].split(maxsplit=1) == [
        "bad",
        "bad.worker, line 4, column 1: unknown key `toolset`; did you mean `toolsets`?",
    ]
    assert lines[1].split(maxsplit=1) == ["good", "Looks, and changes nothing."]
    assert [line.strip() for line in lines[2:]] == [
        "model: runbook",
        "tools: shell_exec",
        "delegates: -",
        "skills: -",
    ]
    rows = json.loads(said("workers", "list", "--json"))
    assert [(row["name"], bool(row["fault"])) for row in rows] == [("bad", True), ("good", False)]


def test_doctor_says_which_worker_cannot_be_used(
    here: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    del here
    monkeypatch.setenv("SILAS_WORKERS_DIR", str(tmp_path))
    (tmp_path / "good.worker").write_text(GOOD)
    (tmp_path / "bad.worker").write_text("---\n")
    done = CliRunner().invoke(cli, ["doctor", "--json"])
    assert done.exit_code == 2
    found = {row["part"]: row for row in json.loads(done.output)}
    assert found["worker good"]["ok"]
    assert not found["worker bad"]["ok"]
    assert "line 1, column 1" in found["worker bad"]["words"]


@pytest.mark.parametrize(("option", "asked"), [("--reject-all", "run policy"), (None, "owner")])
def test_a_run_answers_as_the_command_line_says(
    bare: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, option: str | None, asked: str
) -> None:
    """A worker that asks about every call: nobody is asked, or nobody is there to say yes."""
    said("init")
    careful = "approval: { shell_exec: { approval_required: true } }\n---\nLook."
    monkeypatch.setenv("SILAS_WORKERS_DIR", str(tmp_path))
    (tmp_path / "good.worker").write_text(GOOD.replace("---\nLook.", careful))
    text = plan_text(
        id=f"task-{option or 'asks'}",
        worker="good",
        verify=None,
        body="```sh\nls\n```",
        budget={"max_attempts": 1},
    )
    plan = tmp_path / "plan.md"
    plan.write_text(text)
    words = ["run", str(plan), "--approve", f"sha256:{plan_hash(PlanParser().parse(text))}"]
    done = CliRunner().invoke(cli, [*words, *([option] if option else [])])
    assert done.exit_code == 1, done.output
    assert bare.is_dir()
    assert CliRunner().invoke(cli, ["audit", "export", str(tmp_path / "log")]).exit_code == 0
    lines = (tmp_path / "log").read_text().splitlines()
    denied = [
        line for line in lines if "gate.denied" in line and f"task-{option or 'asks'}" in line
    ]
    assert len(denied) == 1
    assert asked in denied[0]
