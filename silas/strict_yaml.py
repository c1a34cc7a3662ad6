"""YAML as data whose every part knows its place: a strict, small subset.

Mappings, lists and scalars. No anchors, aliases, tags or second documents; keys are text and
unique; `yes`, `no`, `on`, `off` and times are text, as in YAML 1.2. Nothing in it can run code,
refer to itself or grow when it is read.
"""

import math
import re
from collections.abc import Callable, Iterator
from typing import Any, Final, NamedTuple, cast

import yaml

Loc = tuple[str | int, ...]
"""The way to a part of the data: keys and indexes."""

_INT = re.compile(r"[-+]?(?:0|[1-9][0-9]{0,17})")
_FLOAT = re.compile(r"[-+]?(?:[0-9]+\.[0-9]*|\.[0-9]+|[0-9]+(?=[eE]))(?:[eE][-+]?[0-9]{1,3})?")
_NULL: Final = frozenset({"", "~", "null", "Null", "NULL"})
_BOOL: Final = {"true": True, "false": False}


class YamlError(ValueError):
    """A text is not in the subset; the error's words say why.

    Attributes:
        line: Where, counted from 0.
        column: As well.
    """

    def __init__(self, line: int, column: int, words: str) -> None:
        super().__init__(words)
        self.line, self.column = line, column


PROBLEMS: Final = tuple(
    (re.compile(problem, re.DOTALL), words)
    for problem, words in (
        (r".*'\\t' that cannot start any token", "a tab is no indentation; use blanks"),
        (
            r".*character '(?P<character>.+)' that cannot start any token",
            "plain text must not begin with {character}; put it in quotes",
        ),
        (
            r".*could not find expected ':'",
            "this line is no `key: value`; write a colon and a blank behind the key, or put text "
            "in quotes",
        ),
        (
            r"sequence entries are not allowed here",
            "a list must not begin here; begin it on a line of its own below its key",
        ),
        (r"mapping keys are not allowed here", "a ? must not stand here; put text in quotes"),
        (
            r"mapping values are not allowed here",
            "there must be no colon here; put text with a colon in quotes, and indent a key as "
            "its neighbours",
        ),
        (
            r"while (?:scanning|parsing) a directive.*|.*YAML directive|.*incompatible YAML.*"
            r"|duplicate tag handle.*",
            "a line must not begin with %; put text in quotes",
        ),
        (
            r"while scanning an (?:alias|anchor).*",
            "a name follows & and *; put text that starts with one in quotes",
        ),
        (
            r"while (?:scanning|parsing) a tag.*|.*undefined tag handle.*",
            "tags (!) are not allowed; quote text that starts with one",
        ),
        (
            r"while scanning a block scalar: .*but found 0",
            "behind | and > stands a number from 1 to 9, or none",
        ),
        (
            r"while scanning a block scalar.*",
            "nothing may follow | and > on their line; begin the text on the next one",
        ),
        (
            r".*(?:escape sequence of|unknown escape character).*",
            "in double quotes a backslash begins an escape; write two of them, or use single "
            "quotes",
        ),
        (r".*unexpected end of stream", "the quote that opens here is never closed; close it"),
        (
            r".*unexpected document separator",
            "a quote holds a line that begins with --- or ...; indent that line",
        ),
        (
            r"expected '<document start>'.*",
            "here is more after the end of the data; put text in quotes, or indent the line",
        ),
        (r".*expected the node content.*", "a value is missing here; write it, or quotes for none"),
        (
            r"while parsing a block collection.*",
            "this line is no item of the list before it; begin it with a hyphen, or indent it as "
            "its neighbours",
        ),
        (
            r"while parsing a block mapping.*",
            "this line does not fit the keys before it; indent it as its neighbours, or put the "
            "whole text in quotes",
        ),
        (
            r"while parsing a flow sequence.*",
            "the list lacks a comma or its closing bracket; add it",
        ),
        (
            r"while parsing a flow mapping.*",
            "the mapping lacks a comma or its closing brace; add it",
        ),
    )
)
"""What PyYAML says, as `context: problem`, and what Silas says of it; the first that fits."""

_UNKNOWN_PROBLEM: Final = "it is not YAML here; compare the line with those around it"


def problem_words(said: str) -> str:
    """What is wrong and what to do, for what PyYAML says is wrong."""
    for problem, words in PROBLEMS:
        if found := problem.fullmatch(said):
            return words.replace("{character}", found.groupdict().get("character", ""))
    return _UNKNOWN_PROBLEM


class Mark(NamedTuple):
    """Line and column in the text that was read, both from 0."""

    line: int
    column: int


class YamlTree(NamedTuple):
    """The data, the place of each value, and the place of each key."""

    data: Any
    values: dict[Loc, Mark]
    keys: dict[Loc, Mark]


class YamlNode(NamedTuple):
    """A part of a text as it is written, for who changes the text around it.

    Attributes:
        start, end: Its first character and the one behind its last; of a block, which ends where
            the next part begins, comments behind it count as its own.
        column: Of its first character, from 0.
        text: Of a scalar, without quotes and escapes; None of anything else.
        style: How a scalar is quoted, or `|` or `>`; empty for plain text.
        flows: Whether a mapping or list is written in braces or brackets.
        members: Keys and values of a mapping.
        items: Parts of a list.
    """

    start: int
    end: int
    column: int
    text: str | None = None
    style: str = ""
    flows: bool = False
    members: "tuple[tuple[YamlNode, YamlNode], ...] | None" = None
    items: "tuple[YamlNode, ...]" = ()


def yaml_scalar(text: str) -> Any:
    """What text without quotes stands for: null, a truth, a finite number, else itself."""
    if text in _NULL:
        return None
    if text in {text.lower(), text.upper(), text.title()} and text.lower() in _BOOL:
        return _BOOL[text.lower()]
    if _INT.fullmatch(text):
        return int(text)
    if _FLOAT.fullmatch(text) and math.isfinite(float(text)):
        return float(text)
    return text


def _any_text(text: str) -> str:
    del text
    return ""


def _line_number(line: int) -> int:
    return line + 1


class Subset(NamedTuple):
    """What a kind of file may hold.

    Attributes:
        deepest: Levels of keys and indexes below the root.
        scalar: What text without quotes stands for.
        refuse: Why a text may not stand there, as words; empty where it may. Escapes in quotes can
            make characters that no screening of the file saw.
        marker: Whether its one document may begin with `---` or a directive.
        line: What a line, counted from 0, is called in the file around it.
    """

    deepest: int
    scalar: Callable[[str], Any] = yaml_scalar
    refuse: Callable[[str], str] = _any_text
    marker: bool = False
    line: Callable[[int], int] = _line_number


def read_yaml(text: str, subset: Subset) -> YamlTree | None:
    """The data of a text; None where there is nothing in it.

    Raises:
        YamlError: With the place, for everything that is not in the subset.
    """
    try:
        return _Reader(subset, yaml.parse(text, Loader=yaml.SafeLoader)).document()
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        if mark and mark.line > text.removesuffix("\n").count("\n"):
            mark = error.context_mark or mark  # what is open at the end is found at its beginning
        line, column = (mark.line, mark.column) if mark else (0, 0)
        said = ": ".join(str(part) for part in (error.context, error.problem) if part)
        words = problem_words(said)
    except yaml.reader.ReaderError as error:
        before = text[: error.position]
        line, column = before.count("\n"), len(before) - before.rfind("\n") - 1
        words = "it has a character that YAML does not allow; remove it"
    except YamlError:
        raise
    except (ValueError, OverflowError):  # PyYAML makes characters of escapes with chr()
        line, column = 0, 0
        words = "an escape in double quotes stands for no character; remove it"
    raise YamlError(line, column, f"the YAML cannot be read: {words}")


def read_nodes(text: str, subset: Subset) -> YamlNode | None:
    """How a text is written that is in the subset; None where there is nothing in it.

    Raises:
        YamlError: As `read_yaml`.
    """
    if read_yaml(text, subset) is None:
        return None
    events = yaml.parse(text, Loader=yaml.SafeLoader)
    begun = (event for event in events if isinstance(event, yaml.NodeEvent))
    return _node(next(begun), events)


def _node(event: yaml.Event, events: Iterator[yaml.Event]) -> YamlNode:
    start, column, end = _span(event)
    if isinstance(event, yaml.ScalarEvent):
        return YamlNode(start, end, column, str(event.value), str(event.style or ""))
    flows = bool(cast(yaml.CollectionStartEvent, event).flow_style)
    parts, last = list[YamlNode](), next(events)
    while not isinstance(last, yaml.CollectionEndEvent):
        parts.append(_node(last, events))
        last = next(events)
    end = _span(last)[2]
    if isinstance(event, yaml.MappingStartEvent):
        pairs = tuple(zip(parts[::2], parts[1::2], strict=True))
        return YamlNode(start, end, column, flows=flows, members=pairs)
    return YamlNode(start, end, column, flows=flows, items=tuple(parts))


def _span(event: yaml.Event) -> tuple[int, int, int]:
    begin, end = event.start_mark, event.end_mark
    assert begin is not None
    assert end is not None
    return begin.index, begin.column, end.index


class _Reader:
    """Builds data from the parser's events, one pass, remembering places."""

    def __init__(self, subset: Subset, events: Iterator[yaml.Event]) -> None:
        self._subset = subset
        self._events = events
        self._values: dict[Loc, Mark] = {}
        self._keys: dict[Loc, Mark] = {}

    def document(self) -> YamlTree | None:
        """The one document."""
        next(self._events)  # the stream's start
        first = next(self._events)
        if isinstance(first, yaml.StreamEndEvent):
            return None
        marked = isinstance(first, yaml.DocumentStartEvent) and first.explicit
        if marked and not self._subset.marker:
            raise _error(first, "only one YAML document is allowed, without directives")
        data = self._value(next(self._events), ())
        next(self._events)  # the document's end
        after = next(self._events)
        if not isinstance(after, yaml.StreamEndEvent):
            raise _error(after, "only one YAML document is allowed")
        return YamlTree(data, self._values, self._keys)

    def _value(self, event: yaml.Event, loc: Loc) -> Any:
        self._screen(event, loc)
        self._values[loc] = _mark(event)
        if isinstance(event, yaml.MappingStartEvent):
            return self._mapping(loc)
        if isinstance(event, yaml.SequenceStartEvent):
            return self._sequence(loc)
        assert isinstance(event, yaml.ScalarEvent)
        text = self._text(event)
        return text if event.style else self._subset.scalar(text)

    def _screen(self, event: yaml.Event, loc: Loc) -> None:
        if isinstance(event, yaml.AliasEvent) or getattr(event, "anchor", None):
            raise _error(
                event, "anchors and aliases (& and *) are not allowed; write it out or quote it"
            )
        if getattr(event, "tag", None):
            raise _error(event, "tags (!) are not allowed; quote text that starts with one")
        if len(loc) > self._subset.deepest:
            raise _error(event, f"nested deeper than {self._subset.deepest} levels; flatten it")

    def _mapping(self, loc: Loc) -> dict[str, Any]:
        built: dict[str, Any] = {}
        while not isinstance(event := next(self._events), yaml.MappingEndEvent):
            self._screen(event, loc)
            if not isinstance(event, yaml.ScalarEvent):
                raise _error(event, "a key must be plain text")
            key = self._text(event)
            if key in built:
                line = self._subset.line(self._keys[(*loc, key)].line)
                raise _error(event, f"the key `{key}` is given twice; the first is on line {line}")
            self._keys[(*loc, key)] = _mark(event)
            built[key] = self._value(next(self._events), (*loc, key))
        return built

    def _sequence(self, loc: Loc) -> list[Any]:
        built: list[Any] = []
        while not isinstance(event := next(self._events), yaml.SequenceEndEvent):
            built.append(self._value(event, (*loc, len(built))))
        return built

    def _text(self, event: yaml.ScalarEvent) -> str:
        text = str(event.value)
        if why := self._subset.refuse(text):
            raise _error(event, why)
        return text


def _mark(event: yaml.Event) -> Mark:
    mark = event.start_mark
    assert mark is not None
    return Mark(mark.line, mark.column)


def _error(event: yaml.Event, words: str) -> YamlError:
    return YamlError(*_mark(event), words)
