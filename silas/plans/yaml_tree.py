"""Front matter as data whose every part knows its place: a strict, small subset of YAML.

Mappings, lists and scalars. No anchors, aliases, tags, directives or second documents; keys are
text and unique; `yes`, `no`, `on`, `off` and times are text, as in YAML 1.2. Nothing in it can run
code, refer to itself or grow when it is read.
"""

import math
import re
from collections.abc import Iterator
from typing import Any, NamedTuple

import yaml

from silas.plans.characters import first_hidden, name_of
from silas.plans.envelope import Envelope
from silas.plans.errors import PlanError

MAX_DEPTH = 12
"""The deepest plan of the specification nests five levels."""

Loc = tuple[str | int, ...]
"""The way to a part of the data: keys and indexes."""

_INT = re.compile(r"[-+]?(?:0|[1-9][0-9]{0,17})")
_FLOAT = re.compile(r"[-+]?(?:[0-9]+\.[0-9]*|\.[0-9]+|[0-9]+(?=[eE]))(?:[eE][-+]?[0-9]{1,3})?")
_WORDS: dict[str, bool | None] = {
    "": None,
    "~": None,
    "null": None,
    "Null": None,
    "NULL": None,
    "true": True,
    "True": True,
    "TRUE": True,
    "false": False,
    "False": False,
    "FALSE": False,
}


class Place(NamedTuple):
    """Line and column in the original text, both from 1."""

    line: int
    column: int


class Tree(NamedTuple):
    """The data, the place of each value, and the place of each key."""

    data: dict[str, Any]
    values: dict[Loc, Place]
    keys: dict[Loc, Place]

    def at(self, loc: Loc) -> Place:
        """The place of a value, or of the nearest part around it that exists."""
        while loc and loc not in self.values:
            loc = loc[:-1]
        return self.values[loc]

    def key(self, loc: Loc) -> Place:
        """The place of a key; for what has none, of its value."""
        return self.keys.get(loc) or self.at(loc)


def read_tree(envelope: Envelope) -> Tree:
    """Read front matter.

    Raises:
        PlanError: With the place, for everything that is not in the subset.
    """
    text = "".join(line.text + "\n" for line in envelope.front)  # a block scalar ends in a break
    try:
        return _Builder(envelope, yaml.parse(text, Loader=yaml.SafeLoader)).document()
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        if mark and mark.line > text.count("\n") - 1:
            mark = error.context_mark or mark  # what is open at the end is found at its beginning
        line, column = (mark.line, mark.column) if mark else (0, 0)
        place = envelope.position(line, column)
        words = ": ".join(str(part) for part in (error.context, error.problem) if part)
    except yaml.reader.ReaderError as error:
        before = text[: error.position]
        place = envelope.position(before.count("\n"), len(before) - before.rfind("\n") - 1)
        words = "it has a character that YAML does not allow"
    except (ValueError, OverflowError) as error:  # PyYAML makes characters of escapes with chr()
        place, words = (envelope.opening, 1), str(error)
    raise PlanError(*place, f"the YAML cannot be read: {words}", code="E_PLAN_YAML")


class _Builder:
    """Builds data from the reader's events, one pass, remembering places."""

    def __init__(self, envelope: Envelope, events: Iterator[yaml.Event]) -> None:
        self._envelope = envelope
        self._events = events
        self._values: dict[Loc, Place] = {}
        self._keys: dict[Loc, Place] = {}

    def document(self) -> Tree:
        """The one mapping that a plan's front matter is."""
        next(self._events)  # the stream's start
        first = next(self._events)
        if isinstance(first, yaml.StreamEndEvent):
            raise PlanError(
                self._envelope.opening,
                1,
                "the front matter is empty; a plan needs at least id, type and title",
                code="E_PLAN_FRONT_MATTER",
            )
        self._refuse_marker(first)
        root = next(self._events)
        if not isinstance(root, yaml.MappingStartEvent):
            raise self._wrong(
                root, "the front matter must be a mapping, lines like `title: Fix the build`"
            )
        data = self._value(root, ())
        next(self._events)  # the document's end
        self._refuse_marker(next(self._events))
        return Tree(data, self._values, self._keys)

    def _refuse_marker(self, event: yaml.Event) -> None:
        if isinstance(event, yaml.DocumentStartEvent) and event.explicit:
            raise self._wrong(event, "a plan has one YAML document and no directives")

    def _value(self, event: yaml.Event, loc: Loc) -> Any:
        self._screen(event, loc)
        self._values[loc] = self._place(event)
        if isinstance(event, yaml.MappingStartEvent):
            return self._mapping(loc)
        if isinstance(event, yaml.SequenceStartEvent):
            return self._sequence(loc)
        return self._scalar(event)

    def _screen(self, event: yaml.Event, loc: Loc) -> None:
        if isinstance(event, yaml.AliasEvent) or getattr(event, "anchor", None):
            raise self._wrong(
                event, "anchors and aliases (& and *) are not allowed; write it out or quote it"
            )
        if getattr(event, "tag", None):
            raise self._wrong(event, "tags (!) are not allowed; quote text that starts with one")
        if len(loc) > MAX_DEPTH:
            raise self._wrong(event, f"nested deeper than {MAX_DEPTH} levels; flatten it")

    def _mapping(self, loc: Loc) -> dict[str, Any]:
        built: dict[str, Any] = {}
        while not isinstance(event := next(self._events), yaml.MappingEndEvent):
            self._screen(event, loc)
            if not isinstance(event, yaml.ScalarEvent):
                raise self._wrong(event, "a key must be plain text")
            key = self._text(event)
            if key in built:
                first = self._keys[(*loc, key)]
                raise self._wrong(
                    event, f"the key `{key}` is given twice; the first is on line {first.line}"
                )
            self._keys[(*loc, key)] = self._place(event)
            built[key] = self._value(next(self._events), (*loc, key))
        return built

    def _sequence(self, loc: Loc) -> list[Any]:
        built: list[Any] = []
        while not isinstance(event := next(self._events), yaml.SequenceEndEvent):
            built.append(self._value(event, (*loc, len(built))))
        return built

    def _scalar(self, event: yaml.Event) -> Any:
        assert isinstance(event, yaml.ScalarEvent)
        text = self._text(event)
        if event.style:
            return text
        if text in _WORDS:
            return _WORDS[text]
        if _INT.fullmatch(text):
            return int(text)
        if _FLOAT.fullmatch(text) and math.isfinite(float(text)):
            return float(text)
        return text

    def _text(self, event: yaml.ScalarEvent) -> str:
        """The text; escapes in quotes can make characters that the screening did not see."""
        text = str(event.value)
        bad = first_hidden(text, allowed="\n\t")
        if bad >= 0:
            raise self._wrong(
                event,
                f"{name_of(text[bad])} is invisible or a control character; remove its escape",
            )
        return text

    def _place(self, event: yaml.Event) -> Place:
        mark = event.start_mark
        assert mark is not None
        return Place(*self._envelope.position(mark.line, mark.column))

    def _wrong(self, event: yaml.Event, reason: str) -> PlanError:
        return PlanError(*self._place(event), reason, code="E_PLAN_YAML")
