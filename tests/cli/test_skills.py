"""`silas skills`: every folder with its standing, and what is wrong with one."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from silas.main import cli
from tests.skills.kit import put_skill, skill_md


def said(*words: str, code: int = 0) -> str:
    done = CliRunner().invoke(cli, list(words))
    assert done.exit_code == code, done.output
    return done.output


def test_it_shows_every_skill_with_its_standing_and_one_sentence_for_each_that_is_none(
    here: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    del here
    own, project = tmp_path / "own", tmp_path / "project"
    monkeypatch.setenv("SILAS_SKILLS_DIR", str(own))
    monkeypatch.setenv("HOME", str(tmp_path))
    project.mkdir()
    monkeypatch.chdir(project)
    put_skill(own, "excel")
    put_skill(own, "bad", "nothing")
    put_skill(tmp_path / ".agents" / "skills", "found")
    put_skill(project / ".agents" / "skills", "nearby")
    rows = {row["name"]: row for row in json.loads(said("skills", "list", "--json"))}
    assert {name: row["trust"] for name, row in rows.items()} == {
        "coding": "bundled",
        "bad": "installed",
        "excel": "waiting",
        "found": "untrusted",
        "nearby": "untrusted",
    }
    assert [name for name, row in rows.items() if row["fault"]] == ["bad", "excel"]
    text = said("skills", "list")
    assert "SKILL.md must begin with a line that is only ---." in text
    assert "it waits for your yes: silas skills install excel" in text


def test_validate_names_every_rule_that_is_broken(here: Path, tmp_path: Path) -> None:
    del here
    good = put_skill(tmp_path, "excel")
    assert "excel is valid" in said("skills", "validate", str(good))
    bad = put_skill(tmp_path, "word", skill_md("word", "See [it](gone.md)."), {"a.py": "def ("})
    report = json.loads(said("skills", "validate", str(bad), "--json", code=1))
    assert [one["path"] for one in report["findings"]] == ["SKILL.md", "a.py"]
    assert "gone.md" in said("skills", "validate", str(bad), code=1)


@pytest.mark.parametrize("path", ["gone", "file"])
def test_validate_says_in_one_sentence_what_is_no_skill_at_all(
    path: str, here: Path, tmp_path: Path
) -> None:
    del here
    (tmp_path / "file").write_text("x")
    done = CliRunner().invoke(cli, ["skills", "validate", str(tmp_path / path)])
    assert done.exit_code == 2
    assert "Traceback" not in done.output
    assert "E_CFG_SKILL" in done.output
