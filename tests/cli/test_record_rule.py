"""While the record is found changed, every command that signs or changes something is refused."""

import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from silas.main.record_rule import PASSES
from tests.cli.test_exit_codes import NAMES_ONE
from tests.cli.test_json import BUNDLED, READS, READS_ONE
from tests.support.changed_record import edit_record
from tests.support.command import Ended, environment, run, silas
from tests.support.plans import a_workspace, check, sh_plan
from tests.support.tree import commands

SKILL = str(next(each for each in BUNDLED.iterdir() if (each / "SKILL.md").is_file()))

REFUSED: dict[str, tuple[str, ...]] = {
    **{
        name: NAMES_ONE[name]
        for name in (
            "approvals approve",
            "approvals ask-again",
            "approvals narrow",
            "approve",
            "batch undo",
            "calls settle",
            "conversations archive",
            "conversations delete",
            "conversations rename",
            "conversations restore",
            "goals resume",
            "goals run",
            "mcp change",
            "mcp trust",
            "queue done",
            "remind move",
            "skills install",
            "undo",
        )
    },
    "approvals clock": ("--confirm",),
    "audit witness": (),
    "batch tidy": ("FOLDER",),
    "config set": ("sandbox.default_memory_mb", "64"),
    "devices link": (),
    "devices name": ("no-such-device", "my phone"),
    "keys rotate": (),
    "mcp add": ("a-server", "cat"),
    "memory add": ("Odile is the dentist.",),
    "memory correct": ("no-such-id", "Ada is the dentist."),
    "memory export": ("FILE",),
    "memory import": ("FILE", "--yes"),
    "persona feedback": ("too_harsh",),
    "persona preset": ("mentor",),
    "projects rest": ("no-such-project",),
    "remind me": ("tomorrow at nine, water the plants", "--yes"),
    "resume": (),
    "run": ("FILE",),
    "secrets add": ("LATER",),
    "service install": ("--dry-run",),
    "setup": ("--model", "runbook", "--replace"),
    "skills import": ("FOLDER",),
}
"""Commands that sign or change something, and what they are given here."""


def test_every_command_is_refused_or_passes_for_a_reason() -> None:
    known = {name for name, _ in commands()}
    assert not REFUSED.keys() & PASSES.keys()
    assert known == REFUSED.keys() | PASSES.keys()
    assert READS.keys() | READS_ONE <= PASSES.keys() | {"approvals clock"}
    assert all(PASSES.values())


class Changed:
    """A home whose record somebody edited, with everything that the commands name."""

    def __init__(self, folder: Path) -> None:
        self.env = environment(folder / "home")
        assert run(silas("init"), self.env).code == 0
        self.file, self.folder = folder / "plan.md", folder / "given"
        self.folder.mkdir()
        work = a_workspace(folder / "work")
        self.file.write_text(
            sh_plan("true", id="task-rule", workspace=str(work), verify=check("true")),
            encoding="utf-8",
        )
        self.persona = self.of("persona", "show").out
        (database,) = (folder / "home").rglob("silas.db")
        self.database = database
        edit_record(database)

    def of(self, *words: str) -> Ended:
        given = {"FILE": str(self.file), "FOLDER": str(self.folder)}
        return run(silas(*(given.get(word, word) for word in words)), self.env, stdin="y\n" * 3)

    def entries(self) -> int:
        with closing(sqlite3.connect(self.database)) as driver:
            return int(driver.execute("SELECT count(*) FROM audit_log").fetchone()[0])


@pytest.fixture(scope="module")
def changed(tmp_path_factory: pytest.TempPathFactory) -> Changed:
    return Changed(tmp_path_factory.mktemp("changed"))


@pytest.mark.parametrize("name", REFUSED)
def test_a_command_that_signs_or_changes_something_is_refused(name: str, changed: Changed) -> None:
    before = changed.entries()
    ended = changed.of(*name.split(), *REFUSED[name])
    assert (ended.code, ended.out) == (3, ""), ended
    assert ended.err.count("The record was changed outside Silas") == 1
    assert changed.entries() == before


def test_what_was_refused_changed_nothing_and_looking_goes_on(changed: Changed) -> None:
    assert changed.of("persona", "show").out == changed.persona
    assert changed.of("remind", "list").code == 0
    assert changed.of("approvals", "clock").code == 0


SAY_IT_THEMSELVES = {"doctor", "audit verify"}
"""Commands whose answer is about the record."""

READ_NO_HOME = {"config path", "plan check", "service status"}
"""Commands that read no record, and nothing that stands in it."""


@pytest.mark.parametrize("name", sorted(READS.keys() - READ_NO_HOME - SAY_IT_THEMSELVES))
@pytest.mark.parametrize("form", [(), ("--json",)], ids=["words", "json"])
def test_who_looks_is_told_once_that_the_record_was_changed(
    name: str, form: tuple[str, ...], changed: Changed
) -> None:
    given = [SKILL if word == "SKILL" else word for word in READS[name]]
    ended = changed.of(*name.split(), *form, *given)
    assert ended.err.count("The record was changed outside Silas") == 1, ended
    if form:
        json.loads(ended.out)
    else:
        assert "The record was changed" not in ended.out, ended
