"""What is said of texts without understanding them: extracts, counts and differences."""

import difflib
import re
from typing import Final, NamedTuple

from silas.language import tr, tr_many

_HEADING: Final = r", lines \d+ to \d+(?P<more>; more follow)?:\n"
_MOST_SENTENCES: Final = 40
_MOST_LINES: Final = 200  # of a difference


class ReadText(NamedTuple):
    """A text, and whether it goes on."""

    text: str
    cut: bool


def text_of(path: str, said: str) -> ReadText | None:
    """The text that `workspace_read` gave of a file; None where it gave none."""
    if said == f"{path} is empty.":
        return ReadText("", cut=False)
    found = re.match(re.escape(path) + _HEADING, said)
    return None if found is None else ReadText(said[found.end() :], bool(found["more"]))


def extract(text: str) -> str:
    """Headings, and the first sentence of each paragraph, as they stand."""
    lines = [tr("An extract, not a summary: headings, and the first sentence of each paragraph.")]
    shown = 0
    for part in re.split(r"\n[ \t]*\n", text):
        rest = [line.strip() for line in part.strip().split("\n") if line.strip()]
        while rest and rest[0].startswith("#"):
            lines.append(rest.pop(0)[:200])
        prose = " ".join(rest)
        if prose and shown < _MOST_SENTENCES:
            lines.append("- " + re.split(r"(?<=[.!?]) ", prose, maxsplit=1)[0][:300])
            shown += 1
    return "\n".join([*lines, f"({text_counts(text)})"])


def text_counts(text: str) -> str:
    """Words, lines and characters of a text."""
    lines = text.split("\n")
    lines_in_all = len(lines) - (lines[-1] == "")
    sizes = (
        tr_many(len(text.split()), "{count} word", "{count} words"),
        tr_many(lines_in_all, "{count} line", "{count} lines"),
        tr_many(len(text), "{count} character", "{count} characters"),
    )
    return ", ".join(sizes)


def differences(one: tuple[str, str], two: tuple[str, str]) -> str:
    """In which lines two texts differ.

    Args:
        one: The name of the first, and its text.
        two: The same of the second.
    """
    texts = (one[1].split("\n"), two[1].split("\n"))
    found = list(difflib.unified_diff(*texts, one[0], two[0], lineterm="", n=1))
    if not found:
        return tr("{one} and {two} hold the same.", one=one[0], two=two[0])
    more = len(found) - _MOST_LINES
    cut = [tr("({more} more lines are not shown)", more=more)] if more > 0 else []
    return "\n".join([*found[:_MOST_LINES], *cut])
