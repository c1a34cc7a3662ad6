"""A command that is forked for a test is as one that was started."""

import os
import subprocess
from pathlib import Path

import pytest

from tests.support import forked
from tests.support.command import ROOT, environment, person, run, silas

ASKED = {
    "help": ["--help"],
    "a command that is not there": ["asc"],
    "no words": ["ask"],
    "an unknown id": ["show", "no-such"],
    "where things are": ["config", "path"],
    "letters of another script": ["ask", "\u00fcber \u4f60"],
    "a word that is no text": ["config", "show", "--scope", "\udcff"],
}


GERMAN = {"LC_MESSAGES": "de_DE.UTF-8"}
NOTHING = dict[str, str]()
CASES = {
    **{name: (words, NOTHING) for name, words in ASKED.items()},
    "in German": (["ask"], GERMAN),
}


@pytest.mark.parametrize(("words", "told"), CASES.values(), ids=CASES)
def test_it_ends_as_a_started_one_does_and_says_the_same(
    words: list[str], told: dict[str, str], tmp_path: Path
) -> None:
    env = environment(tmp_path / "home", **told)
    assert forked.may_be(silas(*words), env)
    begun = subprocess.run(
        silas(*words), env=env, cwd=ROOT, input="", capture_output=True, text=True, check=False
    )
    assert run(silas(*words), env) == (begun.returncode, begun.stdout, begun.stderr)


def test_a_persons_terminal_is_its_own_and_ctrl_c_ends_what_runs_there(tmp_path: Path) -> None:
    with person(silas("init"), environment(tmp_path / "home")) as owner:
        owner.waits_for("assphrase")
        assert os.getsid(owner.pid) == owner.pid
        owner.types("\x03")
        assert owner.leaves() == 4


@pytest.mark.parametrize(
    "told", [{"PYTHONHASHSEED": "1"}, {"LC_ALL": "C"}, {"LANG": "C"}, {"COVERAGE_RUN": "true"}]
)
def test_where_python_itself_is_told_something_it_is_started(told: dict[str, str]) -> None:
    assert not forked.may_be(silas("--help"), {"LANG": "C.UTF-8", **told})


def test_another_program_is_started(tmp_path: Path) -> None:
    assert not forked.may_be(["python", *silas("--help")[1:]], environment(tmp_path))
