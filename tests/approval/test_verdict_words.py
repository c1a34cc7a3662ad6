"""A verdict on an approval is put into words in one place."""

import ast
from pathlib import Path

import pytest

import silas
from silas.approval import Verdict
from silas.approval.verdict_words import verdict_words

_PACKAGE = Path(str(silas.__file__)).parent
_PLACE = "approval/verdict_words.py"
_OF_CHAINS = {
    "audit/kept_head.py",
    "home/audit_log.py",
    "main/audit.py",
    "main/demo.py",
    "services/owner_key.py",
}
"""Where a verdict is one on the chain of the record, which is another class."""


def _worded(source: str) -> list[str]:
    """Where the reason of a verdict is read, whatever it is called or taken out with."""
    named = "reason" in source and "verdict" in source.lower()
    return [
        ast.unparse(node)
        for node in ast.walk(ast.parse(source if named else ""))
        if isinstance(node, ast.Attribute)
        and node.attr == "reason"
        and "verdict" in ast.unparse(node.value).lower()
    ]


def test_no_other_place_words_a_verdict() -> None:
    found = {
        path.relative_to(_PACKAGE).as_posix()
        for path in _PACKAGE.rglob("*.py")
        if _worded(path.read_text(encoding="utf-8"))
    }
    assert found - _OF_CHAINS == {_PLACE}


def test_verdicts_on_the_chain_are_no_verdicts_on_approvals() -> None:
    for name in _OF_CHAINS:
        tree = ast.parse((_PACKAGE / name).read_text(encoding="utf-8"))
        imported = {
            alias.name
            for node in ast.walk(tree)
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("silas.approval")
            for alias in node.names
        }
        assert imported & {"Verdict", "ApprovalVerifier", "ApprovalEngine"} == set()


@pytest.mark.parametrize(
    ("verdict", "sentence", "words"),
    [
        (Verdict(True, ""), "{why}.", ""),
        (Verdict(False, "It has expired."), "{reason}", "It has expired."),
        (Verdict(False, "Too late."), "No ({why}); nothing.", "No (Too late); nothing."),
        (Verdict(False, "it has {why}"), "It is so: {why}.", "It is so: it has {why}."),
    ],
)
def test_a_verdict_stands_in_a_sentence(verdict: Verdict, sentence: str, words: str) -> None:
    assert verdict_words(verdict, sentence) == words
