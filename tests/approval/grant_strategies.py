"""Grants as they may be written, for properties."""

from typing import Any, cast

from hypothesis import strategies as st

from silas.approval.slots import SLOT_TYPES

Raw = dict[str, Any]
Anything = st.SearchStrategy[Any]

NAMES = st.sampled_from(["a", "b", "to", "body"])
_TEXTS = st.sampled_from(
    ["x", "x y", "1", "true", "", "a@b.example", "Report for x", "ü", "\u202e"]
)
_SCALARS: Anything = (
    st.none() | st.booleans() | st.integers(-2, 2) | st.sampled_from([0.0, 1.0, -0.0]) | _TEXTS
)
VALUES: Anything = st.recursive(
    _SCALARS,
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("pq"), inner, max_size=2)
    ),
    max_leaves=4,
)
_FROM = st.sampled_from(["owner", "plan", "tool x", "tool y"])
_SOURCES: Anything = st.just("any") | _FROM | st.lists(_FROM, min_size=1, max_size=3, unique=True)


@st.composite
def slots(draw: st.DrawFn) -> Raw:
    kind = draw(st.sampled_from(sorted(SLOT_TYPES)))
    several = draw(st.booleans())
    raw: Raw = {"slot": f"list of {kind}" if several else kind, "from": draw(_SOURCES)}
    if SLOT_TYPES[kind].most and draw(st.booleans()):
        raw["max_chars"] = draw(st.sampled_from([1, 3, 128, 200]))
    if several and draw(st.booleans()):
        raw["max_items"] = draw(st.integers(1, 20))
    if draw(st.booleans()):
        raw["optional"] = draw(st.booleans())
    return raw


_PATTERNS = st.fixed_dictionaries(
    {"pattern": st.sampled_from(["x.*", "x", "Report for .*", "[a-z ]+", "x|true"])},
    optional={"max_chars": st.sampled_from([1, 200])},
)
_WHOLE: Anything = VALUES | VALUES.map(lambda value: {"literal": value}) | _PATTERNS | slots()


def _lists(inner: Anything) -> Anything:
    return st.lists(inner.map(_always_there), max_size=3)


def _always_there(part: Any) -> Any:
    """An item of a list is never absent."""
    if isinstance(part, dict) and "slot" in part:
        return {key: said for key, said in cast(Raw, part).items() if key != "optional"}
    return cast(object, part)


ARGUMENTS: Anything = st.recursive(
    _WHOLE,
    lambda inner: _lists(inner) | st.dictionaries(st.sampled_from("pq"), inner, max_size=2),
    max_leaves=4,
)
GRANTS: Anything = st.fixed_dictionaries(
    {"tool": st.sampled_from(["t", "u"])},
    optional={
        "args": st.dictionaries(NAMES, ARGUMENTS, max_size=3),
        "times": st.integers(1, 3),
    },
)


_CHANGES: dict[str, Anything] = {
    "slot": st.sampled_from(sorted([*SLOT_TYPES, *(f"list of {kind}" for kind in SLOT_TYPES)])),
    "from": _SOURCES,
    "max_chars": st.integers(1, 128),
    "max_items": st.integers(1, 20),
    "optional": st.booleans(),
    "pattern": st.sampled_from(["x.*", "x", "x|true"]),
}


@st.composite
def pairs(draw: st.DrawFn) -> tuple[Raw, Raw]:
    """Two grants, most of them alike but for one thing said of one argument or a part of one."""
    one: Raw = draw(GRANTS)
    if draw(st.integers(0, 3)) == 0:
        return one, draw(GRANTS)
    argument: Raw = draw(slots() | _PATTERNS)
    key = draw(st.sampled_from(sorted(argument)))
    other = argument | {key: draw(_CHANGES[key])}
    kind = str(other.get("slot", "text")).removeprefix("list of ")
    if kind == other.get("slot"):
        other.pop("max_items", None)
    if not SLOT_TYPES[kind].most:
        other.pop("max_chars", None)
    args: Raw = one.get("args", {})
    around = draw(st.sampled_from([_alone, _in_a_list, _in_a_mapping]))
    if around is _in_a_list:
        argument, other = _always_there(argument), _always_there(other)
    return (
        one | {"args": args | {"x": around(argument)}},
        one | {"args": args | {"x": around(other)}},
    )


def _alone(part: Raw) -> Any:
    return part


def _in_a_list(part: Raw) -> Any:
    return ["x", part]


def _in_a_mapping(part: Raw) -> Any:
    return {"p": [1], "q": part}
