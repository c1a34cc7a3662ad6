"""The page's types are checked with the pinned TypeScript, or it is said why they could not be."""

import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest

from scripts.page_types import NotFetched, typescript

TOOL = "node_modules/typescript/bin/tsc"


class Npm:
    """Fetches, or fails with what it prints."""

    def __init__(self, said: str = "") -> None:
        self.runs = 0
        self._said = said

    def run(self, words: Sequence[str], where: Path) -> "subprocess.CompletedProcess[str]":
        self.runs += 1
        if not self._said:
            (where / TOOL).parent.mkdir(parents=True)
            (where / TOOL).touch()
        return subprocess.CompletedProcess(words, int(bool(self._said)), "", self._said)


def test_it_is_fetched_once_and_again_when_its_pin_changes(tmp_path: Path) -> None:
    npm, into = Npm(), tmp_path / "typescript"
    assert typescript(into, npm.run) == typescript(into, npm.run) == into / TOOL
    assert npm.runs == 1
    (into / "package-lock.json").write_text("{}")
    typescript(into, npm.run)
    assert npm.runs == 2


def test_what_cannot_be_fetched_is_one_sentence_and_leaves_nothing(tmp_path: Path) -> None:
    npm, into = Npm("npm error code ENOTFOUND\nnpm error more\n"), tmp_path / "typescript"
    with pytest.raises(NotFetched) as caught:
        typescript(into, npm.run)
    assert "run it again with a network" in str(caught.value)
    assert str(caught.value).endswith("npm error code ENOTFOUND")
    assert not into.exists()
