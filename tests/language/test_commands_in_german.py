"""Every command that prints speaks German to a German owner; `--json` stays English."""

import re
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from silas.language import speak
from silas.main import cli
from silas.main.record_rule import PASSES

_ENGLISH = re.compile(
    r"\b(?:the|is|are|were|and|not|with|from|your|you|has|have|there|this|that|nothing|"
    r"which|cannot|only|such|memory|memories|yet|until|since|healthy|low|high)\b"
)
"""Words that no German sentence has."""
_QUOTED = re.compile(r"`[^`]*`|'[^']*'|--?[a-z][\w-]*|silas(?: [a-z]+)+|\S*[/:]\S*")
"""What stays as it is: commands, options, names, paths."""


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SILAS_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("LANG", "de_DE.UTF-8")
    for name in ("LC_ALL", "LC_MESSAGES"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("SILAS_KEYS__BACKEND", "file")
    monkeypatch.setenv("SILAS_KEYS__KEY_FILE", str(tmp_path / "unlock.key"))
    monkeypatch.setenv("SILAS_KEYS__CREATE_KEY_FILE", "true")
    assert _say("init").exit_code == 0
    return tmp_path


def _say(*words: str) -> Result:
    try:
        return CliRunner().invoke(cli, words, catch_exceptions=False)
    finally:
        speak("en")


def _english_of(said: str) -> list[str]:
    """The lines in which an English word stands, beside what is quoted."""
    return [line for line in said.splitlines() if _ENGLISH.search(_QUOTED.sub("", line))]


def test_what_only_looks_says_nothing_in_english(home: Path) -> None:
    quiet = {"config show", "keys export", "persona show", "skills list"}
    looks = [one for one, why in PASSES.items() if why == "it only looks" and one not in quiet]
    assert len(looks) > 20
    found = {one: _english_of(_say(*one.split(), *_given(one)).output) for one in looks}
    assert not {one: lines for one, lines in found.items() if lines}


def _given(command: str) -> tuple[str, ...]:
    """What a command wants besides, none of which is there: its refusal is told in German."""
    needs = {
        **dict.fromkeys(("approvals show", "batch show", "goals show", "goals history"), ("none",)),
        **dict.fromkeys(("projects show", "memory show", "memory search", "show"), ("none",)),
        **dict.fromkeys(("conversations show", "conversations files"), ("none",)),
        **dict.fromkeys(("conversations export", "conversations search", "diff"), ("none",)),
        **dict.fromkeys(("plan check", "skills validate"), ("none.md",)),
    }
    return needs.get(command, ())


@pytest.mark.parametrize(
    "line",
    [
        "memory add Der Pass liegt im Schrank",
        "memory correct none Der Pass",
        "memory forget",
        "memory forget none",
        "memory forget --id none",
        "memory export kept.bundle",
        "memory import none.bundle",
        "secrets remove none",
        "persona preset none",
        "persona preset chill",
        "persona feedback too_wordy",
        "devices revoke none",
        "audit witness",
        "audit accept",
        "audit accept none",
        "audit export record.jsonl",
        "keys rotate",
        "calls settle none happened",
        "queue done none",
        "conversations rename none Haupt",
        "conversations delete none",
        "skills import none",
        "skills install none",
        "skills remove none",
        "mcp trust none",
        "mcp remove none",
        "goals pause none",
        "approvals revoke none",
        "remind cancel none",
        "remind move none morgen um neun",
        "batch undo none",
        "undo none",
        "approve none",
        "run none.md",
        "stop",
        "stop --now",
        "resume",
        "resume --yes",
        "chat --new --conversation x",
    ],
)
def test_what_changes_something_says_nothing_in_english(home: Path, line: str) -> None:
    done = _say(*line.split())
    told = [one for one in _english_of(done.output) if not one.startswith(("Usage", "Try ", "{"))]
    assert not told, done.output


def test_a_memory_is_shown_with_german_fields(home: Path) -> None:
    made = _say("memory", "add", "Der", "Pass", "liegt", "im", "Schrank").output
    shown = _say("memory", "show", made.split()[-1].rstrip(".")).output
    assert "Vertrauen: bestätigt" in shown
    assert "Art: Tatsache" in shown


def test_documents_for_programs_stay_english(home: Path) -> None:
    assert '"There is no memory none;' in _say("memory", "show", "none", "--json").output
    assert '"risk": "low"' in _say("tools", "list", "--json").output
