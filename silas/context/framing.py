"""Framing: labelled blocks whose content can never pass for Silas's own words (spec 3.5).

Two kinds. What Silas or the owner says stands in a block whose content is escaped line by line.
What comes from outside keeps its lines, because a model may have to copy them: its block names the
origin and carries a mark that was made after the text, and only that mark ends it.
"""

import re
import unicodedata
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

from silas.types import Origin, new_mark

_END = "--- end ---"
_DASHES = 3
_LONGEST_NAME = 200  # characters of an address or a path in a header; it may be anybody's words
_ODD_BREAK = re.compile(r"[\r\x0b\x0c\x1c-\x1e]")
_HEADER = re.compile(r"^--- (?P<label>.+) ---$")


class FramedSection(NamedTuple):
    """One framed block: its kind, its labels in order, and its text, line ends as `\\n`."""

    kind: str
    labels: tuple[str, ...]
    text: str

    def label(self, name: str) -> str:
        """The value of a `name: value` label, or empty."""
        prefix = f"{name}: "
        return next((v[len(prefix) :] for v in self.labels if v.startswith(prefix)), "")


def _looks_like_framing(line: str) -> bool:
    # Invisible and look-alike characters count, because a model reads what a person would see.
    seen = 0
    for char in line.lstrip("\\"):
        category = unicodedata.category(char)
        if category == "Pd" or char in "\u2212\u2500\u2501":
            seen += 1
            if seen == _DASHES:
                return True
        elif category not in ("Cf", "Cc", "Zs", "Mn", "Me"):
            return False
    return False


def escape(text: str) -> str:
    """Text whose lines cannot be taken for framing; undone exactly by `unescape`.

    A line that begins with three dashes, also after invisible characters or with look-alike
    dashes, gets a backslash in front. Nested framing gets one more per level.
    """
    if text.isascii() and text.count("-") < _DASHES and not _ODD_BREAK.search(text):
        return text  # nearly always: too few dashes for a line of them, and no other line ends
    return "\n".join("\\" + line if _looks_like_framing(line) else line for line in _lines(text))


def unescape(text: str) -> str:
    """The text that `escape` was given, line ends as `\\n`."""
    return "\n".join(
        line[1:] if line.startswith("\\") and _looks_like_framing(line[1:]) else line
        for line in text.split("\n")
    )


def _lines(text: str) -> list[str]:
    # str.splitlines also splits at U+2028, form feeds and the like: each could hide a forged
    # header. The extra character keeps a line end at the end of the text.
    *lines, last = (text + ".").splitlines()
    return [*lines, last[:-1]]


@lru_cache(maxsize=512)  # nearly every header says what another one said
def _label(value: str) -> str:
    words = " ".join(flatten_line(value).split())
    return words.replace("|", "/").replace("---", "- - -")


def flatten_line(value: str) -> str:
    """One line: whatever cannot be printed becomes a space."""
    if value.isprintable():  # nearly always
        return value
    return "".join(c if c.isprintable() else " " for c in value)


def _header(kind: str, labels: dict[str, str]) -> str:
    shown = [f"{name}: {_label(value)}" for name, value in labels.items() if value]
    return f"--- {' | '.join([_label(kind), *shown])} ---"


def frame(kind: str, text: str, **labels: str) -> str:
    """A block `--- kind | name: value ---`, the escaped text, `--- end ---`.

    Args:
        kind: What the text is, in Silas's words: `message`, `briefing`, `facts`.
        text: Anything at all.
        labels: Shown in the header; flattened to one line. Empty ones are left out.
    """
    return f"{_header(kind, labels)}\n{escape(text)}\n{_END}"


def frame_text(text: str, origin: Origin, kind: str = "") -> str:
    """A block of text from outside, between two lines that carry one mark; the text as it is.

    The mark is made now, so that no text can know it, and is new for each block. Clean the text
    before with `scrub` or `scrub_output`.

    Args:
        text: Cleaned text.
        origin: Named in the header: kind, name, tool and taint.
        kind: What the text is, in Silas's words, where that is not the kind of its origin.
    """
    mark = new_mark()
    while mark in text:
        mark = new_mark()
    labels = {
        "name": origin.name[:_LONGEST_NAME],
        "tool": origin.tool,
        "taint": origin.taint.value,
        "mark": mark,
    }
    return f"{_header(kind or origin.kind.value, labels)}\n{text}\n{_end_of(mark)}"


class Fence(NamedTuple):
    """The two lines around a block, apart from its text, so that a text is kept only once."""

    head: str
    end: str

    def around(self, body: str) -> str:
        """The whole block."""
        return f"{self.head}\n{body}\n{self.end}"


def fence(parts: Sequence[str], text: str, *, marked: bool) -> Fence:
    """The lines around a block `--- kind | part | part ---` of a context (spec 3.5).

    Args:
        parts: Shown in the header, the kind first; flattened to one line, empty ones left out.
        text: What will stand in it; the mark is made after it.
        marked: Text from outside, which keeps its lines; any other is escaped by the caller.
    """
    shown = [_label(part) for part in parts if part]
    mark = ""
    if marked:
        mark = new_mark()
        while mark in text:
            mark = new_mark()
        shown.append(f"mark: {mark}")
    return Fence(f"--- {' | '.join(shown)} ---", _end_of(mark))


def content_of(block: str) -> str:
    """The text of the first block of a prompt; the prompt itself where it has none."""
    return next((section.text for section in sections(block)), block)


def _end_of(mark: str) -> str:
    return f"--- end {mark} ---" if mark else _END


def sections(prompt: str) -> Iterator[FramedSection]:
    """The blocks of a prompt in order; what stands outside of blocks is passed over."""
    open_block: FramedSection | None = None
    body = list[str]()
    for line in prompt.split("\n"):
        if open_block is None:
            if found := _HEADER.match(line):
                kind, *labels = found["label"].split(" | ")
                open_block, body = FramedSection(kind, tuple(labels), ""), []
        elif line == _end_of(mark := open_block.label("mark")):
            text = "\n".join(body)
            yield open_block._replace(text=text if mark else unescape(text))
            open_block = None
        else:
            body.append(line)
