"""What a grant says about one argument, or a part of one, and how it is written.

It is a literal, a pattern or a slot; or a mapping or list that has such parts.
"""

import difflib
import json
import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final, cast

from silas.approval.slots import LIST_OF, MAX_ITEMS, MOST_ITEMS, SLOT_TYPES, slot_type
from silas.canonical import canonical_json
from silas.errors import ApprovalError
from silas.patterns import PatternRefused, check_pattern
from silas.types import FrozenModel

ArgumentLoc = tuple[str | int, ...]
"""The way to a part of the list of grants: indexes and keys."""

PATTERN_CHARS: Final = 200
"""Characters that a pattern may match where the plan does not say how many: one long line."""

_MOST_PATTERN_CHARS: Final = 10_000
_DEEPEST: Final = 8  # levels of a literal: more than anybody reads on a card
_TOO_DEEP: Final = f"a literal is nested at most {_DEEPEST} levels deep"
_MOST_PARTS: Final = 100  # of an argument with open parts: each may be a line on a card
_NAME: Final = re.compile(r"[A-Za-z0-9_$@-]{1,64}")
"""A name that can neither be taken for a path nor hide anything on a card."""
_TOOL: Final = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.:/@-]{0,127}")
_MARKS: Final = frozenset({"slot", "pattern", "literal"})
"""Keys that make a mapping more than a value."""


class GrantRefused(ApprovalError):
    """Grants that cannot be understood as they are written.

    Attributes:
        loc: The way to what is wrong, from the list of grants on.
        reason: What is wrong there and what to write, in one sentence.
    """

    def __init__(self, loc: ArgumentLoc, reason: str) -> None:
        super().__init__(reason, code="E_APPROVAL_GRANT")
        self.loc = loc
        self.reason = reason


class Literal(FrozenModel):
    """Exactly this value, as its canonical JSON: 1 is neither true nor "1", but it is 1.0."""

    canonical: str

    @property
    def value(self) -> Any:
        """The value itself."""
        return json.loads(self.canonical)


class Pattern(FrozenModel):
    """Text that as a whole matches a regular expression; where it comes from is not asked."""

    pattern: str
    max_chars: int


class Slot(FrozenModel):
    """A value of a type, from one of these sources.

    Attributes:
        kind: A name of `SLOT_TYPES`, or `list of` one.
        sources: `owner`, `plan`, `tool NAME`; or `any` alone.
        max_chars: Of the text, or of each item; 0 where the type is no text or has its own length.
        max_items: Of a list; 0 where it is none.
        optional: The argument may be absent.
    """

    kind: str
    sources: tuple[str, ...]
    max_chars: int
    max_items: int
    optional: bool


class Fields(FrozenModel):
    """A mapping with exactly these fields, at least one of which is open."""

    fields: dict[str, "BoundArgument"]


class ExactItems(FrozenModel):
    """A list of exactly these items in this order, at least one of which is open."""

    items: tuple["BoundArgument", ...]


BoundArgument = Literal | Pattern | Slot | Fields | ExactItems


def argument_of(raw: Any, loc: ArgumentLoc) -> BoundArgument:
    """Read what a plan says about one argument or a part of one, which must be JSON.

    Raises:
        GrantRefused: With the way to what is wrong.
    """
    if isinstance(raw, dict):
        entry = cast(dict[str, object], raw)
        marks = [mark for mark in _READERS if mark in entry]
        if len(marks) > 1:
            raise GrantRefused(loc, f"an argument has one of {_names_in_code(marks)}, not several")
        if marks:
            return _READERS[marks[0]](entry, loc)
    marked = _is_marked(cast(object, raw))
    return _structure(raw, loc) if marked else _parse_literal(raw, loc)


def format_argument(argument: BoundArgument) -> Any:
    """The shortest way to write an argument; what is not said has its default."""
    match argument:
        case Literal():
            value = argument.value
            return {"literal": value} if _is_marked(value) else value
        case Pattern():
            limit = argument.max_chars
            return {"pattern": argument.pattern} | _unless(PATTERN_CHARS, max_chars=limit)
        case Slot():
            several = argument.kind.startswith(LIST_OF)
            sources = argument.sources
            return (
                {"slot": argument.kind, "from": sources[0] if len(sources) == 1 else list(sources)}
                | _unless(slot_type(argument.kind).chars, max_chars=argument.max_chars)
                | _unless(MAX_ITEMS if several else 0, max_items=argument.max_items)
                | _unless(False, optional=argument.optional)
            )
        case Fields():
            return {name: format_argument(part) for name, part in argument.fields.items()}
        case ExactItems():
            return [format_argument(part) for part in argument.items]


def argument_names(entries: Mapping[str, object], loc: ArgumentLoc) -> dict[str, object]:
    """The arguments of a grant, sorted by name: the order in a plan has no meaning.

    Raises:
        GrantRefused: At the first other name.
    """
    for name in entries:
        if not _NAME.fullmatch(name):
            raise GrantRefused(
                (*loc, name), "an argument has letters, digits and _ $ @ - only, at most 64"
            )
    return {name: entries[name] for name in sorted(entries)}


def tool_name(raw: object, loc: ArgumentLoc) -> str:
    """The exact name of a tool. Raises `GrantRefused`."""
    if isinstance(raw, str) and _TOOL.fullmatch(raw):
        return raw
    raise GrantRefused(
        loc, "a tool is named exactly: letters, digits and _ . : / @ -, at most 128 characters"
    )


def whole_number(raw: object, loc: ArgumentLoc, most: int) -> int:
    """A whole number from 1 on. Raises `GrantRefused`."""
    if isinstance(raw, int) and not isinstance(raw, bool) and 1 <= raw <= most:
        return raw
    raise GrantRefused(loc, f"`{loc[-1]}` must be a whole number from 1 to {most:,}")


def refuse_unknown(entry: Mapping[str, object], known: Iterable[str], loc: ArgumentLoc) -> None:
    """Refuse a key that is not known. Raises `GrantRefused`."""
    names = list(known)
    for key in entry:
        if key not in names:
            raise GrantRefused((*loc, key), f"unknown key {_short(key)}; {_nearest(key, names)}")


def _pattern(entry: Mapping[str, object], loc: ArgumentLoc) -> Pattern:
    refuse_unknown(entry, ("pattern", "max_chars"), loc)
    pattern = entry["pattern"]
    if not isinstance(pattern, str) or not pattern:
        raise GrantRefused((*loc, "pattern"), "`pattern` must be a regular expression, as text")
    try:
        check_pattern(pattern)
    except PatternRefused as refused:
        raise GrantRefused((*loc, "pattern"), str(refused)) from refused
    limit = entry.get("max_chars", PATTERN_CHARS)
    chars = whole_number(limit, (*loc, "max_chars"), _MOST_PATTERN_CHARS)
    return Pattern(pattern=pattern, max_chars=chars)


def _slot(entry: Mapping[str, object], loc: ArgumentLoc) -> Slot:
    refuse_unknown(entry, ("slot", "from", "max_chars", "max_items", "optional"), loc)
    kind = _kind(entry["slot"], (*loc, "slot"))
    several = kind.startswith(LIST_OF)
    row = slot_type(kind)
    if "from" not in entry:
        raise GrantRefused(
            loc, "a slot says where its value may come from: `from: owner`, plan, tool NAME or any"
        )
    optional = entry.get("optional", False)
    if not isinstance(optional, bool):
        raise GrantRefused((*loc, "optional"), "`optional` must be true or false")
    return Slot(
        kind=kind,
        sources=_sources(entry["from"], (*loc, "from")),
        max_chars=_limit(entry, "max_chars", loc, row.chars, row.most, kind),
        max_items=_limit(
            entry, "max_items", loc, MAX_ITEMS if several else 0, MOST_ITEMS if several else 0, kind
        ),
        optional=optional,
    )


def _limit(
    entry: Mapping[str, object], key: str, loc: ArgumentLoc, default: int, most: int, kind: str
) -> int:
    if key not in entry:
        return default
    if not most:
        raise GrantRefused((*loc, key), f"a slot of type `{kind}` has no `{key}`")
    return whole_number(entry[key], (*loc, key), most)


def _kind(raw: object, loc: ArgumentLoc) -> str:
    if isinstance(raw, str) and raw.removeprefix(LIST_OF) in SLOT_TYPES:
        return raw
    name = raw if isinstance(raw, str) else ""
    several = LIST_OF if name.startswith(LIST_OF) else ""
    known = [f"{several}{kind}" for kind in SLOT_TYPES]
    raise GrantRefused(loc, f"unknown type of a slot; {_nearest(name, known)}")


def _sources(raw: object, loc: ArgumentLoc) -> tuple[str, ...]:
    if not isinstance(raw, list):
        return (_source(raw, loc),)
    sources = tuple(_source(one, (*loc, n)) for n, one in enumerate(cast(list[object], raw)))
    if not sources or len(set(sources)) < len(sources) or ("any" in sources and len(sources) > 1):
        raise GrantRefused(loc, "`from` names at least one source, each once, or `any` alone")
    return sources


def _source(raw: object, loc: ArgumentLoc) -> str:
    if isinstance(raw, str):
        if raw in ("owner", "plan", "any"):
            return raw
        if raw.startswith("tool "):
            return f"tool {tool_name(raw.removeprefix('tool '), loc)}"
    raise GrantRefused(loc, "a source is owner, plan, tool NAME or any")


def _parse_wrapped(entry: Mapping[str, object], loc: ArgumentLoc) -> Literal:
    refuse_unknown(entry, ("literal",), loc)
    return _parse_literal(entry["literal"], (*loc, "literal"))


def _structure(raw: Any, loc: ArgumentLoc) -> BoundArgument:
    """A mapping or list with open parts; one whose every part is fixed is a literal after all."""
    if _deeper_than(raw, _DEEPEST):
        raise GrantRefused(loc, _TOO_DEEP)
    if _parts_of(raw) > _MOST_PARTS:
        raise GrantRefused(loc, f"an argument with open parts has at most {_MOST_PARTS} parts")
    if isinstance(raw, list):
        entries = enumerate(cast(list[object], raw))
        items = tuple(_item(one, (*loc, index)) for index, one in entries)
        values = [part.value for part in items if isinstance(part, Literal)]
        return _make_literal(values) if len(values) == len(items) else ExactItems(items=items)
    named = argument_names(cast(dict[str, object], raw), loc)
    fields = {name: argument_of(one, (*loc, name)) for name, one in named.items()}
    members = {name: part.value for name, part in fields.items() if isinstance(part, Literal)}
    return _make_literal(members) if len(members) == len(fields) else Fields(fields=fields)


def _item(raw: object, loc: ArgumentLoc) -> BoundArgument:
    part = argument_of(raw, loc)
    if isinstance(part, Slot) and part.optional:
        raise GrantRefused((*loc, "optional"), "an item of a list cannot be absent")
    return part


def _parts_of(raw: object) -> int:
    return 1 + sum(map(_parts_of, _members(raw) or ()))


def _parse_literal(raw: Any, loc: ArgumentLoc) -> Literal:
    if _deeper_than(raw, _DEEPEST):
        raise GrantRefused(loc, _TOO_DEEP)
    return _make_literal(raw)


def _make_literal(value: Any) -> Literal:
    return Literal(canonical=canonical_json(value))


def _deeper_than(value: object, levels: int) -> bool:
    members = _members(value)
    if members is None:
        return False
    return levels == 0 or any(_deeper_than(member, levels - 1) for member in members)


def _is_marked(value: object) -> bool:
    """Whether a value has a mapping in it that reads like a slot, a pattern or a literal."""
    if isinstance(value, dict) and _MARKS & cast(dict[str, object], value).keys():
        return True
    return any(map(_is_marked, _members(value) or ()))


def _members(value: Any) -> Iterable[object] | None:
    if isinstance(value, dict):
        return cast(dict[str, object], value).values()
    return cast(list[object], value) if isinstance(value, list) else None


def _unless(default: object, **value: object) -> dict[str, object]:
    return {name: one for name, one in value.items() if one != default}


def _nearest(name: str, known: list[str]) -> str:
    near = difflib.get_close_matches(name[:80], known, n=1, cutoff=0.5)
    return f"did you mean `{near[0]}`?" if near else f"known are {_names_in_code(known)}"


def _names_in_code(names: Iterable[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)


def _short(key: str) -> str:
    return f"`{key}`" if key.isidentifier() and key.isascii() and len(key) <= 80 else "here"


_READERS: Final[Mapping[str, Callable[[Mapping[str, object], ArgumentLoc], BoundArgument]]] = {
    "slot": _slot,
    "pattern": _pattern,
    "literal": _parse_wrapped,
}
"""What a mapping with this key is read as; any other mapping is a value."""
