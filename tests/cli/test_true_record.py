"""The record tells of a change of files only what happened, wherever Silas is killed."""

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.skills.kit import put_skill
from tests.support.command import Ended, environment, person, python, run, silas

_KILLED = """
import importlib, os, signal
module = importlib.import_module({module!r})
write = module.{writer}
def killed(*arguments):
    if {after}:
        write(*arguments)
    os.kill(os.getpid(), signal.SIGKILL)
module.{writer} = killed
from silas.main import cli
cli()
"""
"""Silas, killed just before or after it writes."""

_SETTINGS = ("silas.services.setup.saved_settings", "write_values")
_INSTALLS = ("silas.services.skills.service", "install_tree")
_REMOVES = ("silas.services.skills.service", "take_away")


@pytest.fixture
def env(tmp_path: Path) -> dict[str, str]:
    """A home of its own."""
    made = environment(tmp_path / "home")
    assert run(silas("init"), made).code == 0
    return made


def _events(env: dict[str, str], room: str) -> list[str]:
    told = json.loads(run(silas("audit", "show", "--json"), env).out)
    return [one["event"] for one in told if one["event"].startswith(room)]


def _sentences(env: dict[str, str]) -> str:
    return " ".join(run(silas("audit", "show"), env).out.split())


def _kill(
    env: dict[str, str], at: tuple[str, str], after: bool, words: Sequence[str | Path]
) -> None:
    program = _KILLED.format(module=at[0], writer=at[1], after=after)
    done: Ended = run(python(program, *words), env, imported=True)
    assert done.code == -9, done


@pytest.mark.parametrize("after", [False, True])
def test_a_kill_leaves_no_setting_told_as_saved(env: dict[str, str], after: bool) -> None:
    file = Path(env["SILAS_HOME"]) / "config.yaml"
    file.write_text("silas: {}\n")
    words = ("config", "set", "sandbox.default_memory_mb", "64")
    _kill(env, _SETTINGS, after, words)
    assert ("64" in file.read_text(), _events(env, "settings")) == (after, ["settings_saving"])
    file.write_text("silas: {}\n")
    assert run(silas(*words), env).code == 0
    assert _events(env, "settings")[1:] == ["settings_saving", "settings_saved"]


def test_a_file_that_changed_while_the_card_waited_is_told_as_not_saved(
    env: dict[str, str],
) -> None:
    file = Path(env["SILAS_HOME"]) / "config.yaml"
    file.write_text("silas: {}\n")
    with person(silas("config", "set", "sandbox.default_memory_mb", "1024"), env) as owner:
        owner.waits_for("Your choice, 1 to 2:")
        file.write_text("silas:\n  language: en\n")
        owner.types("1\r")
        assert owner.leaves() == 2
    assert file.read_text() == "silas:\n  language: en\n"
    assert _events(env, "settings") == ["settings_saving", "settings_not_saved"]
    assert ": not changed. " in _sentences(env)


@pytest.mark.parametrize("after", [False, True])
def test_a_kill_leaves_no_skill_told_as_there_or_as_gone(
    env: dict[str, str], tmp_path: Path, after: bool
) -> None:
    folder = put_skill(tmp_path, "word")
    _kill(env, _INSTALLS, after, ("skills", "import", folder))
    assert _events(env, "skill.") == ["skill.importing"]
    shown = run(silas("skills", "install", folder), env).out.split()[0]
    begun = len(_events(env, "skill."))
    _kill(env, _INSTALLS, after, ("skills", "install", folder, "--approve", shown))
    assert _events(env, "skill.")[begun:] == ["skill.installing"]
    assert run(silas("skills", "install", folder, "--approve", shown), env).code == 0
    begun = len(_events(env, "skill."))
    _kill(env, _REMOVES, after, ("skills", "remove", "word", "--yes"))
    assert _events(env, "skill.")[begun:] == ["skill.removing"]


def test_a_skill_that_the_disk_refuses_is_told_as_not_installed(
    env: dict[str, str], tmp_path: Path
) -> None:
    folder = put_skill(tmp_path, "word", files={"big.txt": "a line of it\n" * 300_000})
    shown = run(silas("skills", "install", folder), env).out.split()[0]
    words = silas("skills", "install", folder, "--approve", shown)
    done = run(["bash", "-c", 'ulimit -f 2048; exec "$@"', "bash", *words], env)
    assert (done.code, "cannot be put into" in done.err) == (2, True), done
    assert _events(env, "skill.")[-2:] == ["skill.installing", "skill.not_installed"]
    assert "Installing the skill word did not come to its end: " in _sentences(env)
