"""What a shell can hand over and nobody meant: every command refuses it in few words."""

import re
from pathlib import Path

import click
import pytest
from click.testing import CliRunner, Result

from silas.main import cli
from silas.main.shared import GivenPath
from silas.main.typed import shorten
from tests.support.tree import commands

NOT_UTF_8 = b"caf\xe9".decode("utf-8", "surrogateescape")
EVERY = dict(commands())
LONG_WORDS_ARE_NOT_UNDERSTOOD = {"ask"}
"""Ends with 1, as for any other words that it does not understand."""


def invoke(*words: str) -> Result:
    return CliRunner().invoke(cli, list(words))


def given(name: str, text: str) -> list[str]:
    """The command with the text for each of its arguments; one too many where it has none."""
    arguments = [each for each in EVERY[name].params if isinstance(each, click.Argument)]
    words = [
        each.type.choices[0] if isinstance(each.type, click.Choice) else text for each in arguments
    ]
    return [*name.split(), "--", *(words or [text])]


@pytest.mark.parametrize("name", EVERY)
def test_an_argument_that_is_not_utf_8_ends_every_command_with_two(name: str, here: Path) -> None:
    assert here.is_dir()
    done = invoke(*given(name, NOT_UTF_8))
    assert (done.exit_code, done.stdout) == (2, "")
    assert done.stderr == (
        r"Error: The argument 'caf\xe9' is not UTF-8 text; give it, or rename the file, in UTF-8."
        "\n"
    )


@pytest.mark.parametrize("words", [["--config", NOT_UTF_8, "status"], [NOT_UTF_8], ["show", "--x"]])
def test_so_do_options_and_names_of_commands(words: list[str], here: Path) -> None:
    assert here.is_dir()
    assert invoke(*words, NOT_UTF_8 * 10_000).exit_code == 2
    assert len(invoke(*words, NOT_UTF_8 * 10_000).output) < 600


@pytest.mark.parametrize("text", ["x" * 100_000, "a b " * 25_000], ids=["one word", "words"])
@pytest.mark.parametrize("name", EVERY)
def test_a_very_long_argument_is_not_repeated_whole(
    name: str, text: str, here: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert here.is_dir()
    monkeypatch.chdir(tmp_path)
    done = invoke(*given(name, text))
    assert done.exit_code != 1 or name in LONG_WORDS_ARE_NOT_UNDERSTOOD, done.output[-300:]
    assert "Traceback" not in done.output
    assert "did not foresee" not in done.output
    repeated = done.output.count("x") + done.output.count("a b ") * 4
    assert repeated < 600 if text[0] == "x" else repeated < 3_200, done.output[:300]


def paths() -> list[tuple[str, click.Parameter]]:
    """Every parameter that is a path, with the name of its command."""
    tree = [("", cli), *EVERY.items()]
    return [
        (name, each)
        for name, command in tree
        for each in command.params
        if isinstance(each.type, click.Path)
    ]


def test_every_path_is_of_the_kind_that_refuses_an_empty_one() -> None:
    assert len(paths()) > 8
    assert {name for name, each in paths() if not isinstance(each.type, GivenPath)} == set()


@pytest.mark.parametrize(
    "words", [["audit", "export", ""], ["memory", "export", ""], ["--config", "", "status"]]
)
def test_an_empty_path_is_a_wrong_use(words: list[str], here: Path) -> None:
    assert here.is_dir()
    done = invoke(*words)
    assert (done.exit_code, done.stdout) == (2, "")
    assert "it is empty; give the path of a file or a folder" in done.stderr


WRITES = [("audit", "export"), ("memory", "export")]
READS = [("memory", "import"), ("skills", "validate"), ("plan", "check")]


@pytest.mark.parametrize("words", [*WRITES, *READS])
def test_a_path_that_cannot_be_used_is_named_as_it_was_given(
    words: tuple[str, str], here: Path, tmp_path: Path
) -> None:
    assert here.is_dir()
    for file in (tmp_path / "no" / "f", tmp_path / ("n" * 300)):
        done = invoke(*words, str(file))
        assert (done.exit_code, done.stdout) == (2, ""), done.output
        assert str(file)[-60:] in done.stderr or ascii(file.name)[1:60] in done.stderr
        assert not re.search(r"Errno|\.part|Traceback", done.stderr), done.stderr
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("words", [*WRITES, ("memory", "import")])
def test_a_folder_where_a_file_should_be_is_told(
    words: tuple[str, str], here: Path, tmp_path: Path
) -> None:
    assert here.is_dir()
    done = invoke(*words, str(tmp_path))
    assert (done.exit_code, done.stdout) == (2, "")
    assert "Errno" not in done.stderr


def test_what_an_export_would_replace_stays_where_it_cannot_be_written(
    here: Path, tmp_path: Path
) -> None:
    assert here.is_dir()
    blocked = tmp_path / "file"
    blocked.write_text("mine", encoding="utf-8")
    done = invoke("audit", "export", str(blocked / "below"))
    assert done.exit_code == 2
    below = str(blocked / "below")
    assert f"'{below}' cannot be used: a part of its path is no folder" in done.stderr
    assert blocked.read_text(encoding="utf-8") == "mine"


def test_only_what_is_very_long_is_shortened() -> None:
    plain = f"{'/folder' * 22} isn't 'there is'; it's “{'so ' * 50}” and 'doesn't' say more."
    assert shorten(plain) == plain
    short = "There is no '{}'; it isn't here."
    assert shorten(short.format("w " * 500)) == short.format(f"{'w ' * 45}...{'w ' * 30}")
    assert shorten("x" * 500 + " y") == f"{'x' * 90}...{'x' * 60} y"
    assert len(shorten("a b " * 9_000)) < 3_000
    assert shorten("a b\n" * 900) == "a b\n" * 900
