"""The built-in model keeps what it is told to, word for word, and recalls it; nothing more."""

import pytest

from silas.agents.models import MemoryOpType
from silas.agents.runbook_memory import asked, to_keep
from silas.memory import MemoryType


@pytest.mark.parametrize(
    ("text", "content", "kind"),
    [
        ("remember that my cat is Mia", "my cat is Mia", MemoryType.fact),
        ("Silas, please remember: the code is\n  4711", "the code is\n  4711", MemoryType.fact),
        ("Don't forget that I moved", "I moved", MemoryType.fact),
        ("Keep in mind that nobody is in on Mondays.", "nobody is in on Mondays.", MemoryType.fact),
        ("from now on, name the date", "name the date", MemoryType.preference),
        ("remember: always name the date", "always name the date", MemoryType.preference),
    ],
)
def test_what_it_is_told_to_remember_it_keeps_in_these_words(
    text: str, content: str, kind: MemoryType
) -> None:
    op = to_keep(text)
    assert op is not None
    assert (op.op, op.content, op.memory_type) == (MemoryOpType.store, content, kind)


@pytest.mark.parametrize(
    "text",
    ["", "remember", "remember?", "I remember that day", "do you remember me?", "forget my cat",
     "fix the failing test", "do not remember that I moved"],
)  # fmt: skip
def test_nothing_else_is_kept(text: str) -> None:
    assert to_keep(text) is None


@pytest.mark.parametrize(
    ("text", "about", "everything"),
    [
        ("what do you remember about my cat?", "my cat", False),
        ("What do you know about Mia", "Mia", False),
        ("hi, what did I say about the code?!", "the code", True),
        ("what did i tell you about Bern?", "Bern", True),
        ("Do you remember the weir?", "the weir", False),
    ],
)
def test_a_question_about_what_is_remembered_is_looked_up(
    text: str, about: str, everything: bool
) -> None:
    question = asked(text)
    assert question is not None
    assert question == (about, everything)


@pytest.mark.parametrize("text", ["", "what is 2 + 2?", "remember my cat", "what do you know"])
def test_no_other_question_is(text: str) -> None:
    assert asked(text) is None
