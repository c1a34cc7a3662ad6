"""Grants: which calls of tools an approved plan allows, read and compared (decision B1). Pure.

A grant names one tool and, for each argument, a *literal*, a *pattern* or a *slot*: this value,
text of this form, or a value of this type from these sources; or a mapping or list with such parts.
An argument, or a field of such a mapping, that is not named must be absent. Nothing here knows a
run: whether a value comes from a source is for the caller to say.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final, NamedTuple, cast

from silas.approval.arguments import (
    ArgumentLoc,
    BoundArgument,
    ExactItems,
    Fields,
    GrantRefused,
    Literal,
    Pattern,
    Slot,
    argument_names,
    argument_of,
    format_argument,
    refuse_unknown,
    tool_name,
    whole_number,
)
from silas.approval.grant_words import Say, argument_lines, from_words, times_in_words
from silas.approval.slots import LIST_OF, slot_type
from silas.canonical import canonical_json, read_json
from silas.language import tr
from silas.patterns import PatternRefused, fullmatch
from silas.types import FrozenModel

__all__ = [
    "BoundArgument",
    "Coverage",
    "ExactItems",
    "Fields",
    "Grant",
    "GrantRefused",
    "Literal",
    "Pattern",
    "Say",
    "Slot",
    "Sourced",
    "find_grant",
    "grant_lines",
    "grants_of",
    "literals_of",
    "shortest",
]

Sourced = Callable[[str, object, str], bool]
"""(path as `body`, `recipients[]` or `attachments[].file_id`, value, source as in the plan) ->
whether this value really comes from that source in this run. `any` is never asked."""

_NULL: Final = Literal(canonical="null")
_NONE_USED: Final[Mapping[int, int]] = MappingProxyType({})

MAX_GRANTS: Final = 50
"""Grants of one plan: as many as a person reads."""

MAX_TIMES: Final = 1000
"""Calls that one grant may allow at most."""


class Grant(FrozenModel):
    """Calls of one tool that a plan allows: which arguments, and how many times."""

    tool: str
    args: dict[str, BoundArgument]
    times: int


class Coverage(NamedTuple):
    """Whether a call lies inside a plan's grants; falsy where it does not.

    Attributes:
        index: Of the grant that covers it, or -1.
        reason: In plain words the first thing that does not fit; empty where it is covered.
    """

    index: int  # pyright: ignore[reportIncompatibleMethodOverride]
    reason: str

    def __bool__(self) -> bool:
        return self.index >= 0


def grants_of(raw: object) -> tuple[Grant, ...]:
    """Read what a plan has under `tools:`.

    Raises:
        GrantRefused: With the way to the first thing that is wrong, and one sentence.
    """
    try:
        raw = read_json(canonical_json(raw))
    except (ValueError, TypeError) as error:
        raise GrantRefused((), "grants must be plain JSON values") from error
    if not isinstance(raw, list):
        raise GrantRefused((), "`tools` must be a list of grants, each with `tool` and `args`")
    entries = cast(list[object], raw)
    if len(entries) > MAX_GRANTS:
        raise GrantRefused((), f"a plan has at most {MAX_GRANTS} grants")
    return tuple(_grant(entry, (index,)) for index, entry in enumerate(entries))


def shortest(grant: Grant) -> dict[str, Any]:
    """The shortest way to write a grant; `grants_of` reads it back as it was."""
    args = {name: format_argument(argument) for name, argument in grant.args.items()}
    return (
        {"tool": grant.tool}
        | ({"args": args} if args else {})
        | ({"times": grant.times} if grant.times != 1 else {})
    )


def find_grant(
    grants: Sequence[Grant],
    tool: str,
    args: Mapping[str, Any],
    sourced: Sourced,
    used: Mapping[int, int] = _NONE_USED,
) -> Coverage:
    """Which grant covers a call: the first in the order of the plan that has a use left.

    Total and deterministic. Where none does, the reason is that of the grant for the same tool of
    which the most fits.

    Args:
        grants: The grants of the approved plan.
        tool: The tool that is called.
        args: Its validated arguments; null is the same as absent.
        sourced: Whether a value comes from a source. Asked only for values that fit their slot.
        used: How often each grant, by index, has covered a call already.
    """
    best = (-len(args) - 1, f"the plan has no grant for {_quote_name(tool)}")
    for index, grant in enumerate(grants):
        if grant.tool != tool:
            continue
        unnamed = [
            f"the plan does not name the argument {_quote_name(name)}"
            for name in sorted(args)
            if name not in grant.args and args[name] is not None
        ]
        found = [
            _misfit(_Part(f"`{name}`", name), wanted, name, args, sourced)
            for name, wanted in grant.args.items()
        ]
        faults = [*unnamed, *filter(None, found)]
        if not faults and used.get(index, 0) >= grant.times:
            faults = [
                f"the plan allows this call {times_in_words(grant.times)}, and no more are left"
            ]
        if not faults:
            return Coverage(index, "")
        best = max(best, (found.count("") - len(unnamed), faults[0]), key=lambda fit: fit[0])
    return Coverage(-1, best[1])


def literals_of(grants: Sequence[Grant]) -> Mapping[tuple[str, str], frozenset[str]]:
    """What the plan itself fixes: by tool and argument path, the canonical JSON of values.

    Every part of a literal has its path: `filter`, `filter.name`, `recipients`, `recipients[]`. The
    names of fields beside which others are open are fixed, too: as values of `filter{}`.
    """
    found: dict[tuple[str, str], set[str]] = {}
    for grant in grants:
        for name, argument in grant.args.items():
            for path, value in _fixed_parts(name, argument):
                found.setdefault((grant.tool, path), set()).add(canonical_json(value))
    return {place: frozenset(values) for place, values in found.items()}


def grant_lines(grant: Grant, say: Say = canonical_json) -> tuple[str, ...]:
    """A grant in plain words, one line for the call and one for each argument.

    Two different grants have different lines, as long as `say` tells values apart.
    """
    head = tr("may call {tool} {times}", tool=grant.tool, times=times_in_words(grant.times))
    if not grant.args:
        return (tr("{head}, without arguments", head=head),)
    return (
        tr("{head}, with", head=head),
        *(
            f"  {line}"
            for name, argument in grant.args.items()
            for line in argument_lines(name, argument, say)
        ),
    )


def _grant(raw: object, loc: ArgumentLoc) -> Grant:
    if not isinstance(raw, dict):
        raise GrantRefused(loc, "a grant must be a mapping, like { tool: NAME, args: { ... } }")
    entry = cast(dict[str, object], raw)
    refuse_unknown(entry, ("tool", "args", "times"), loc)
    if "tool" not in entry:
        raise GrantRefused(loc, "a grant must say which tool it is for: `tool`")
    return Grant(
        tool=tool_name(entry["tool"], (*loc, "tool")),
        args=_arguments(entry.get("args", {}), (*loc, "args")),
        times=whole_number(entry.get("times", 1), (*loc, "times"), MAX_TIMES),
    )


def _arguments(raw: object, loc: ArgumentLoc) -> dict[str, BoundArgument]:
    if not isinstance(raw, dict):
        raise GrantRefused(loc, "`args` must be a mapping of argument to value, pattern or slot")
    named = argument_names(cast(dict[str, object], raw), loc)
    return {name: argument_of(one, (*loc, name)) for name, one in named.items()}


class _Part(NamedTuple):
    """An argument or a part of one: as it is called, and its path."""

    words: str
    path: str

    def field(self, name: str) -> "_Part":
        return _Part(f"{self.words}, `{name}`", f"{self.path}.{name}")

    def item(self, number: int) -> "_Part":
        return _Part(f"{self.words}, item {number}", f"{self.path}[]")


def _misfit(
    part: _Part, wanted: BoundArgument, name: str, members: Mapping[str, Any], sourced: Sourced
) -> str:
    """Why a member of the arguments or of a mapping is not what the plan says, or nothing."""
    value = members.get(name)
    if value is None and not (wanted == _NULL and name in members):
        optional = isinstance(wanted, Slot) and wanted.optional
        return "" if optional else f"{part.words} is missing, and the plan names it"
    return _part_misfit(part, wanted, value, sourced)


def _part_misfit(part: _Part, wanted: BoundArgument, value: Any, sourced: Sourced) -> str:
    match wanted:
        case Literal():
            fault = "" if _same(value, wanted) else "is not exactly what the plan says"
        case Pattern():
            fault = _pattern_misfit(value, wanted)
        case Slot():
            fault = _slot_misfit(part.path, value, wanted, sourced)
        case Fields():
            return _fields_misfit(part, value, wanted.fields, sourced)
        case ExactItems():
            return _items_misfit(part, value, wanted.items, sourced)
    return fault and f"{part.words} {fault}"


def _fields_misfit(
    part: _Part, value: Any, fields: Mapping[str, BoundArgument], sourced: Sourced
) -> str:
    if not isinstance(value, dict):
        return f"{part.words} is not a mapping"
    members = cast(dict[str, Any], value)
    for name in sorted(members):
        if name not in fields:  # null or not: the name itself says something
            return f"{part.words} has a field {_quote_name(name)} that the plan does not name"
    found = (
        _misfit(part.field(name), wanted, name, members, sourced) for name, wanted in fields.items()
    )
    return next(filter(None, found), "")


def _items_misfit(part: _Part, value: Any, items: Sequence[BoundArgument], sourced: Sourced) -> str:
    if not isinstance(value, list):
        return f"{part.words} is not a list"
    given = cast(list[Any], value)
    if len(given) != len(items):
        return f"{part.words} has {len(given):,} items, and the plan says {len(items):,}"
    found = (
        _part_misfit(part.item(number), wanted, one, sourced)
        for number, (wanted, one) in enumerate(zip(items, given, strict=True), 1)
    )
    return next(filter(None, found), "")


def _same(value: object, literal: Literal) -> bool:
    try:
        return canonical_json(_whole(value)) == canonical_json(_whole(literal.value))
    except (ValueError, TypeError, RecursionError):  # nothing that a plan could have fixed
        return False


def _whole(value: Any) -> Any:
    """The value with 100 for 100.0: a schema that asks for a number makes the one of the other."""
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, dict):
        return {name: _whole(member) for name, member in cast(dict[str, Any], value).items()}
    return [_whole(item) for item in cast(list[Any], value)] if isinstance(value, list) else value


def _pattern_misfit(value: object, wanted: Pattern) -> str:
    if not isinstance(value, str):
        return "is not text"
    if len(value) > wanted.max_chars:
        return _too_long(value, wanted.max_chars)
    try:
        matches = fullmatch(wanted.pattern, value)
    except PatternRefused as refused:
        return f"cannot be compared: {refused}"
    return "" if matches else "does not match the plan's pattern"


def _slot_misfit(name: str, value: object, slot: Slot, sourced: Sourced) -> str:
    if not slot.kind.startswith(LIST_OF):
        return _value_misfit(name, value, slot, sourced)
    if not isinstance(value, list) or not value:
        return "is not a list with at least one item"
    items = cast(list[object], value)
    if len(items) > slot.max_items:
        return f"has {len(items):,} items, more than {slot.max_items:,}"
    faults = (_value_misfit(f"{name}[]", item, slot, sourced) for item in items)
    fault = next(filter(None, faults), "")
    return fault and f"has an item that {fault}"


def _value_misfit(path: str, value: object, slot: Slot, sourced: Sourced) -> str:
    kind = slot_type(slot.kind)
    if slot.max_chars and isinstance(value, str) and len(value) > slot.max_chars:
        return _too_long(value, slot.max_chars)
    if not kind.fits(value):
        return f"is not {kind.words}"
    if "any" in slot.sources or any(sourced(path, value, source) for source in slot.sources):
        return ""
    return f"does not come from {from_words(slot.sources)}"


def _too_long(value: str, limit: int) -> str:
    return f"has {len(value):,} characters, more than {limit:,}"


def _fixed_parts(path: str, argument: BoundArgument) -> Iterator[tuple[str, Any]]:
    match argument:
        case Literal():
            yield from _parts(path, argument.value)
        case Fields():
            for name, part in argument.fields.items():
                yield f"{path}{{}}", name
                yield from _fixed_parts(f"{path}.{name}", part)
        case ExactItems():
            for part in argument.items:
                yield from _fixed_parts(f"{path}[]", part)
        case Pattern() | Slot():
            pass


def _parts(path: str, value: Any) -> Iterator[tuple[str, Any]]:
    yield path, value
    if isinstance(value, dict):
        for name, member in cast(dict[str, Any], value).items():
            yield from _parts(f"{path}.{name}", member)
    elif isinstance(value, list):
        for item in cast(list[Any], value):
            yield from _parts(f"{path}[]", item)


def _quote_name(name: str) -> str:
    """A name that nobody vouches for."""
    return canonical_json(name if len(name) <= 80 else name[:80] + "...")
