"""Framing: labelled blocks whose content can never pass for Silas's own words (spec 3.5)."""

import re
import unicodedata
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from functools import cache
from importlib.resources import files
from typing import NamedTuple

from silas.types import TaintLevel

_END = "--- end ---"
_DASHES = 3
_HEADER = re.compile(r"^--- (?P<label>.+) ---$")


class Section(NamedTuple):
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


def _label(value: str) -> str:
    words = " ".join(_flat(value).split())
    return words.replace("|", "/").replace("---", "- - -")


def frame(kind: str, text: str, **labels: str) -> str:
    """A block `--- kind | name: value ---`, the escaped text, `--- end ---`.

    Args:
        kind: What the text is, in Silas's words: `message`, `briefing`, `facts`.
        text: Anything at all.
        labels: Shown in the header; flattened to one line. Empty ones are left out.
    """
    shown = [f"{name}: {_label(value)}" for name, value in labels.items() if value]
    header = " | ".join([_label(kind), *shown])
    return f"--- {header} ---\n{escape(text)}\n{_END}"


def sections(prompt: str) -> Iterator[Section]:
    """The blocks of a prompt in order; what stands outside of blocks is passed over."""
    header, body = "", list[str]()
    for line in prompt.split("\n"):
        if line == _END and header:
            kind, *labels = header.split(" | ")
            yield Section(kind, tuple(labels), unescape("\n".join(body)))
            header = ""
        elif header:
            body.append(line)
        elif found := _HEADER.match(line):
            header, body = found["label"], []


@cache
def load_prompt(name: str) -> str:
    """The text of `prompts/<name>.md`."""
    return files("silas.agents").joinpath("prompts", f"{name}.md").read_text("utf-8").strip()


@dataclass(frozen=True)
class TurnRequest:
    """Everything proxy and planner are told about one turn.

    Attributes:
        text: What was said.
        now: The moment of the turn, timezone-aware.
        taint: Where the text came from.
        profiles: Names of the context profiles to choose from, the default first.
        workspace: The directory the turn is about, empty for none.
        facts: Further facts of the surroundings by name, such as `interpreter`.
        context: What the context manager rendered; framed here once more, so that nothing in it
            can pass for the framing of this request.
        personality: Style directives; they never change what is allowed.
        skills: Name and description of each skill on offer.
        access_level: Whose turn it is.
        reason: Why the proxy routed the turn to the planner.
        continuation_of: The work item that is deepened or corrected.
        interaction_mode: The mode that was resolved for the turn.
    """

    text: str
    now: datetime
    taint: TaintLevel = TaintLevel.external
    profiles: tuple[str, ...] = ("conversation",)
    workspace: str = ""
    facts: Mapping[str, str] = field(default_factory=dict[str, str])
    context: str = ""
    personality: str = ""
    skills: Mapping[str, str] = field(default_factory=dict[str, str])
    access_level: str = "public"
    reason: str = ""
    continuation_of: str = ""
    interaction_mode: str = ""

    def render(self) -> str:
        """The prompt: what changes least comes first, so that providers can reuse the prefix."""
        turn = {
            "workspace": self.workspace,
            **self.facts,
            "continuation_of": self.continuation_of,
            "interaction_mode": self.interaction_mode,
            "route_reason": self.reason,
            "now": self.now.isoformat(),
        }
        blocks: tuple[tuple[str, str, dict[str, str]], ...] = (
            ("context_profiles", "\n".join(self.profiles), {}),
            ("skills", _pairs(self.skills), {}),
            ("personality", self.personality, {}),
            ("access_level", self.access_level, {}),
            ("context", self.context, {}),
            ("facts", _pairs(turn), {}),
            ("message", self.text, {"taint": self.taint.value}),
        )
        return "\n\n".join(
            frame(kind, text, **labels)
            for kind, text, labels in blocks
            if text or kind == "message"
        )


def _pairs(values: Mapping[str, str]) -> str:
    return "\n".join(f"{_flat(k)}: {_flat(v)}" for k, v in values.items() if v)


def _flat(value: str) -> str:
    if value.isprintable():  # nearly always
        return value
    return "".join(c if c.isprintable() else " " for c in value)


def read_pairs(text: str) -> dict[str, str]:
    """The `name: value` lines of a framed section."""
    return dict(line.split(": ", 1) for line in text.split("\n") if ": " in line)
