"""At the cockpit's door a command is the page that does the same; a terminal keeps the command."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from silas.language import COCKPIT, RUN_PLAN_AGAIN, RUN_PROJECT_AGAIN, said_at, speak, tr
from silas.language.doors import PAGES, place_of

ROOT = Path(__file__).resolve().parents[2]
_COMMAND = re.compile(r"`silas ([a-z][a-z -]*)")
_TERMINAL = ("testing", "main", "sandbox/conformance", "skills")
"""Rooms whose sentences are read in a terminal alone."""

NO_PAGE = frozenset({
    "approvals clock --confirm", "ask --workspace",
    "audit accept", "audit witness", "batch", "calls",
    "calls list", "chat", "demo", "devices link", "init", "plan check",
    "projects list", "queue list", "run", "service install", "service remove", "signer",
    "skills list", "skills validate", "start", "undo",
})  # fmt: skip
"""What has no button in the cockpit, so that its sentences name the terminal there, too; `undo` is
that of `--keep-files` alone."""


def commands() -> Iterator[tuple[str, str]]:
    """Each command that a sentence of the package names, with its file."""
    for file in sorted((ROOT / "silas").rglob("*.py")):
        inside = file.relative_to(ROOT / "silas").as_posix()
        if inside.startswith(_TERMINAL):
            continue
        text = file.read_text(encoding="utf-8")
        if "`silas" not in text:
            continue
        tree = ast.parse(text)
        docs = {
            id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)
        }  # what stands as a statement is a docstring
        for node in ast.walk(tree):
            if (
                isinstance(node, ast.Constant)
                and isinstance(node.value, str)
                and id(node) not in docs
            ):
                for found in _COMMAND.finditer(node.value):
                    yield found[1].strip(" -"), inside


def test_each_command_that_a_sentence_names_has_its_page_or_is_known_to_have_none() -> None:
    found = dict(commands())
    assert len(found) > 40
    unknown = {
        command: file
        for command, file in found.items()
        if not place_of(command) and command not in NO_PAGE
    }
    assert not unknown


def test_the_pages_are_those_under_more() -> None:
    text = (ROOT / "web" / "more.js").read_text(encoding="utf-8")
    under = set(re.findall(r'^  \["[a-z]+", "[a-z]+", t\("([^"]+)"\)', text, re.MULTILINE))
    assert {page for _, page in PAGES} <= under


@pytest.mark.parametrize(
    ("words", "here"),
    [
        ("There is no work item x; `silas status` lists them.", "“Work” under “More” lists them."),
        ("`silas resume` starts it again.", "“Resume” at the top of every page starts it again."),
        ("`silas goals resume g1` goes on.", "“Ahead” under “More” goes on."),
        ("`silas goals` and `silas remind`", "“Ahead” under “More” and “Reminders” under “More”"),
        ("`silas approvals clock --confirm`", "`silas approvals clock --confirm`"),
        ("`silas undo w1` puts it back", "“Work” under “More” puts it back"),
        ("`silas undo w1 --keep-files`", "`silas undo w1 --keep-files`"),
        ("`silas audit show` has more.", "“Activity” has more."),
        ("run `silas audit verify`.", "run “What protects you” under “More”."),
        ("`silas doctor --deep` asks it", "“Try it” under “Who answers” asks it"),
        ("`silas approvals ask-again D` asks", "“What protects you” under “More” asks"),
        ("so do `silas devices revoke d-1`.", "so do `silas devices revoke d-1`."),
        (
            "run `silas init`",
            "run `silas init` in a terminal (key and folders are made before there is a page)",
        ),
        (
            f"It was interrupted. {RUN_PLAN_AGAIN}",
            "interrupted. Ask for it again in a conversation; it needs a new approval.",
        ),
        (
            f"It is part of p1: {RUN_PROJECT_AGAIN}",
            "p1: ask for that project again in a conversation; it needs a new approval.",
        ),
        ("`silas undone`", "`silas undone`"),
    ],
)
def test_a_command_is_a_place_in_the_cockpit_alone(words: str, here: str) -> None:
    assert said_at(COCKPIT, words).endswith(here)
    assert said_at("cli", words) == words


def test_what_somebody_else_said_in_a_sentence_keeps_its_commands() -> None:
    said = "I ran `silas status` (twice)."
    words = f"It cannot go on: {said} See `silas status`."
    assert (
        said_at(COCKPIT, words, [said, ""]) == f"It cannot go on: {said} See “Work” under “More”."
    )


def test_the_place_is_named_in_the_owners_language() -> None:
    speak("de")
    try:
        assert said_at(COCKPIT, "`silas resume`") == "„Fortsetzen“ oben auf jeder Seite"
        assert said_at(COCKPIT, "`silas secrets list`") == "„Geheimnisse“ unter „Mehr“"
        said = tr(RUN_PLAN_AGAIN)
        assert said_at(COCKPIT, said).startswith("Bitte in einer Unterhaltung neu darum;")
        assert said_at(COCKPIT, f"Er sagt: {said}", [said]) == f"Er sagt: {said}"
    finally:
        speak("en")
