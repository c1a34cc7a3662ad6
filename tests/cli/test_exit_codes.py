"""An id that nothing has ends every command with 2, a wrong use of it, and one sentence."""

import json
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from silas.main import cli
from tests.support.tree import commands

NOBODY = "no-such-id"

NAMES_ONE: dict[str, tuple[str, ...]] = {
    "approve": (NOBODY,),
    "approvals show": (NOBODY,),
    "approvals approve": (NOBODY,),
    "approvals deny": (NOBODY,),
    "approvals narrow": (NOBODY, "--uses", "1"),
    "approvals revoke": (NOBODY,),
    "approvals ask-again": (NOBODY,),
    "batch show": (NOBODY,),
    "batch undo": (NOBODY,),
    "calls settle": (NOBODY, "happened"),
    "config set": (NOBODY, "on"),
    "conversations archive": (NOBODY,),
    "conversations delete": (NOBODY,),
    "conversations export": (NOBODY,),
    "conversations files": (NOBODY,),
    "conversations rename": (NOBODY, "a title"),
    "conversations restore": (NOBODY,),
    "conversations show": (NOBODY,),
    "devices name": (NOBODY, "my phone"),
    "devices revoke": (NOBODY,),
    "diff": (NOBODY,),
    "goals history": (NOBODY,),
    "goals next": (NOBODY,),
    "goals pause": (NOBODY,),
    "goals resume": (NOBODY,),
    "goals run": (NOBODY,),
    "goals show": (NOBODY,),
    "projects rest": (NOBODY,),
    "projects show": (NOBODY,),
    "mcp change": (NOBODY, "cat"),
    "mcp distrust": (NOBODY,),
    "mcp remove": (NOBODY,),
    "mcp trust": (NOBODY,),
    "memory correct": (NOBODY, "words"),
    "memory forget": ("--id", NOBODY, "--yes"),
    "memory show": (NOBODY,),
    "persona feedback": (NOBODY,),
    "persona preset": (NOBODY,),
    "queue done": (NOBODY,),
    "remind cancel": (NOBODY,),
    "remind move": (NOBODY, "tomorrow at nine", "--yes"),
    "secrets remove": (NOBODY,),
    "show": (NOBODY,),
    "skills install": (NOBODY,),
    "skills remove": (NOBODY, "--yes"),
    "undo": (NOBODY,),
}
"""What each command that names something that is kept is given for one that is not."""

NAMES_NONE = {
    "ask": "words",
    "batch tidy": "a folder",
    "audit accept": "a hash",
    "conversations search": "words",
    "audit export": "a file",
    "mcp add": "a new name",
    "memory add": "words",
    "memory export": "a file",
    "memory import": "a file",
    "memory search": "words",
    "plan check": "a file",
    "remind me": "words",
    "run": "a file",
    "secrets add": "a new name",
    "skills import": "a folder",
    "skills validate": "a folder",
}
"""What the argument of each other command is."""


def _has_json(command: click.Command) -> bool:
    return any(parameter.name == "as_json" for parameter in command.params)


def test_every_command_with_an_argument_is_in_one_of_the_two_tables() -> None:
    with_argument = {
        name
        for name, command in commands()
        if any(isinstance(parameter, click.Argument) for parameter in command.params)
    }
    assert with_argument == NAMES_ONE.keys() | NAMES_NONE.keys()
    assert not NAMES_ONE.keys() & NAMES_NONE.keys()


@pytest.mark.parametrize("name", NAMES_ONE)
def test_an_id_that_nothing_has_ends_the_command_with_two(name: str, here: Path) -> None:
    assert here.is_dir()
    done = CliRunner().invoke(cli, [*name.split(), *NAMES_ONE[name]])
    assert (done.exit_code, done.stdout) == (2, ""), done.output
    last = done.stderr.strip().splitlines()
    assert len(last) == 1, done.stderr
    assert NOBODY in last[0] or "silas devices list" in last[0]


@pytest.mark.parametrize(
    "name", [name for name, command in commands() if name in NAMES_ONE and _has_json(command)]
)
def test_with_json_the_error_is_the_document(name: str, here: Path) -> None:
    assert here.is_dir()
    done = CliRunner().invoke(cli, [*name.split(), *NAMES_ONE[name], "--json"])
    assert done.exit_code == 2, done.output
    error = json.loads(done.stdout)["error"]
    assert done.stderr.strip().endswith(f"{error['words']} [{error['code']}]")


@pytest.mark.parametrize("odd", ["a" * 5_000, "..", "../../etc", "a/b", "A:b"])
@pytest.mark.parametrize("name", NAMES_ONE)
def test_so_does_one_that_nothing_can_have(name: str, odd: str, here: Path) -> None:
    assert here.is_dir()
    words = [odd if word == NOBODY else word for word in NAMES_ONE[name]]
    done = CliRunner().invoke(cli, [*name.split(), *words])
    assert (done.exit_code, done.stdout) == (2, ""), done.output
    assert "cannot be used" not in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1 or "SKILL.md" in done.stderr


RUNBOOK = """\
---
id: greet
type: task
title: Greet somebody
runbook:
  phrases: [greet somebody]
  parameters:
    who: { description: whom to greet, pattern: "@[a-z]+", example: "@anna" }
    place: { description: where, pattern: "in-[a-z]+", default: in-brno, example: in-brno }
verify:
  - { name: ran, run: "true", expect: { exit_code: 0 } }
---

Say hello to $who $place.
"""


@pytest.mark.parametrize(
    ("text", "code", "said"),
    [
        ("hello", 0, "Hello. I am Silas, without a language model"),
        ("what can you do?", 0, "I can run these plans"),
        ("what is 17 % of 240?", 0, "17 % of 240 = 40.8"),
        ("5 miles in km", 0, "5 miles = 8.04672 km"),
        ("what is the capital of France?", 1, "I do not understand that"),
        ("summarise my mail", 1, "I have no mail account connected."),
        ("greet somebody", 3, "- who: whom to greet"),
    ],
)
def test_ask_ends_with_zero_only_where_it_was_answered(
    text: str, code: int, said: str, tmp_path: Path, here: Path
) -> None:
    assert here.is_dir()
    (tmp_path / "runbooks").mkdir()
    (tmp_path / "runbooks" / "greet.md").write_text(RUNBOOK, encoding="utf-8")
    config = tmp_path / "config.yaml"
    config.write_text(f"silas:\n  plans_dirs: ['{tmp_path / 'runbooks'}']\n", encoding="utf-8")
    done = CliRunner().invoke(cli, ["--config", str(config), "ask", text])
    assert done.exit_code == code, done.output
    assert said in done.output
