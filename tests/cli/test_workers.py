"""`silas workers list`, and what `silas doctor` says of a worker that cannot be used."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from silas.main import cli

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
