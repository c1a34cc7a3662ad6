"""Properties of grants: for any that may be written, and calls that nearly fit them."""

import json
import random
from collections.abc import Sequence
from typing import Any, cast

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from silas.approval.grants import (
    GrantRefused,
    Literal,
    Sourced,
    find_grant,
    grant_lines,
    grants_of,
    literals_of,
    shortest,
)
from silas.approval.slots import SLOT_TYPES
from silas.patterns import fullmatch
from tests.approval.grant_strategies import GRANTS, NAMES, VALUES, Anything, Raw, pairs
from tests.support.chance import examples

Call = tuple[list[Raw], str, Raw]


def _never(path: str, value: object, source: str) -> bool:
    raise AssertionError(f"nobody should ask where {path} comes from")


def _always(path: str, value: object, source: str) -> bool:
    return True


def _sourced_by(seed: int) -> Sourced:
    """Some values come from some sources, always the same ones."""

    def sourced(path: str, value: object, source: str) -> bool:
        return random.Random(f"{seed} {path} {value!r} {source}").random() < 0.7

    return sourced


def _marks(raw: Any) -> Raw:
    """The mapping that says slot, pattern or literal; empty for a value."""
    if isinstance(raw, dict) and {"slot", "pattern", "literal"} & cast(Raw, raw).keys():
        return cast(Raw, raw)
    return {}


def _open(raw: Any) -> bool:
    """Whether anything in what is written is left open."""
    marked = _marks(raw)
    if marked:
        return "literal" not in marked
    return any(map(_open, _members(raw)))


def _members(raw: Any) -> list[Any]:
    if isinstance(raw, dict):
        return list(cast(Raw, raw).values())
    return cast(list[Any], raw) if isinstance(raw, list) else []


def _fixed(raw: Any) -> Any:
    """The value that is written where nothing is open."""
    if "literal" in _marks(raw):
        return raw["literal"]
    if isinstance(raw, dict):
        return {name: _fixed(part) for name, part in cast(Raw, raw).items()}
    return [_fixed(part) for part in cast(list[Any], raw)] if isinstance(raw, list) else raw


def _fits(raw: Any, path: str, name: str, args: Raw, sourced: Sourced) -> bool:
    """The rules once more, in the simplest way, from what is written."""
    marked, value = _marks(raw), args.get(name)
    if not _open(raw):
        return name in args and _plain(value) == _plain(_fixed(raw))
    if not marked and isinstance(raw, dict):
        fields, given_ = cast(Raw, raw), cast(Raw, value if isinstance(value, dict) else {"": 1})
        return given_.keys() <= fields.keys() and all(
            _fits(one, f"{path}.{n}", n, given_, sourced) for n, one in fields.items()
        )
    if not marked:
        if not isinstance(value, list) or len(cast(list[Any], value)) != len(raw):
            return False
        items = {str(n): item for n, item in enumerate(cast(list[Any], value))}
        return all(_fits(one, f"{path}[]", str(n), items, sourced) for n, one in enumerate(raw))
    if "slot" in marked:
        if value is None:
            return bool(marked.get("optional"))
        return _fits_slot(marked, path, value, sourced)
    if "pattern" in marked:
        if not isinstance(value, str) or len(value) > marked.get("max_chars", 200):
            return False
        return fullmatch(marked["pattern"], value) is not None
    raise AssertionError(raw)


def _fits_slot(marked: Raw, name: str, value: Any, sourced: Sourced) -> bool:
    kind: str = marked["slot"].removeprefix("list of ")
    row, sources = SLOT_TYPES[kind], marked["from"]
    items, path = [value], name
    if kind != marked["slot"]:
        items, path = value, f"{name}[]"
        if not isinstance(value, list) or not 1 <= len(items) <= marked.get("max_items", 20):
            return False
    named: list[str] = [sources] if isinstance(sources, str) else sources
    return all(
        row.fits(item)
        and (not row.chars or len(item) <= marked.get("max_chars", row.chars))
        and ("any" in named or any(sourced(path, item, source) for source in named))
        for item in items
    )


def _plain(value: Any) -> str:
    """JSON in which 1.0 is 1."""

    def number(digits: str) -> float:
        return int(float(digits)) if float(digits).is_integer() else float(digits)

    return json.dumps(json.loads(json.dumps(value), parse_float=number), sort_keys=True)


def _covers(raw: Raw, tool: str, args: Raw, sourced: Sourced) -> bool:
    wanted: Raw = raw.get("args", {})
    return (
        raw["tool"] == tool
        and all(name in wanted for name, value in args.items() if value is not None)
        and all(_fits(one, name, name, args, sourced) for name, one in wanted.items())
    )


@st.composite
def _filled(draw: st.DrawFn, raw: Any) -> Any:
    """What is written, with values for what is open; now and then something besides."""
    if not _open(raw):
        return _fixed(raw)
    if _marks(raw):
        return draw(VALUES)
    if isinstance(raw, list):
        more = draw(st.sampled_from([[], [], [], [1]]))
        return [draw(_filled(part)) for part in cast(list[Any], raw)] + more
    also = draw(st.sampled_from([{}, {}, {}, {"r": None}]))
    return {name: draw(_filled(part)) for name, part in cast(Raw, raw).items()} | also


@st.composite
def near_calls(draw: st.DrawFn) -> Call:
    """Grants, and a call that may be what one of them says."""
    raw: list[Raw] = draw(st.lists(GRANTS, min_size=1, max_size=3))
    grant: Raw = draw(st.sampled_from(raw))
    wanted: Raw = grant.get("args", {})
    args: Raw = {}
    for name, one in wanted.items():
        value: Any = draw(_filled(one))
        args[name] = draw(st.sampled_from([value, value, value, draw(VALUES)]))
    if draw(st.integers(0, 4)) == 0:
        args[draw(NAMES)] = draw(VALUES)
    return raw, grant["tool"], args


@pytest.mark.proves("B1-TOOL-GRANTS")
@settings(max_examples=examples(400), deadline=None)
@given(near_calls(), st.integers(0, 5))
def test_a_call_is_covered_exactly_by_the_first_grant_it_fits(case: Call, seed: int) -> None:
    raw, tool, args = case
    sourced = _sourced_by(seed)
    expected = next((n for n, one in enumerate(raw) if _covers(one, tool, args, sourced)), -1)
    coverage = find_grant(grants_of(raw), tool, args, sourced)
    assert coverage.index == expected
    assert bool(coverage.reason) == (expected == -1)


@settings(max_examples=examples(100), deadline=None)
@given(near_calls(), st.randoms())
def test_the_order_of_keys_means_nothing(case: Call, order: random.Random) -> None:
    raw, tool, args = case
    names = list(args)
    order.shuffle(names)
    turned = [_turned(grant, order) for grant in raw]
    assert grants_of(turned) == grants_of(raw)
    assert find_grant(
        grants_of(turned), tool, {n: args[n] for n in names}, _sourced_by(1)
    ) == find_grant(grants_of(raw), tool, args, _sourced_by(1))


def _turned(value: Any, order: random.Random) -> Any:
    if not isinstance(value, dict):
        return value
    entry = cast(Raw, value)
    keys = list(entry)
    order.shuffle(keys)
    return {key: _turned(entry[key], order) for key in keys}


@settings(max_examples=examples(100), deadline=None)
@given(st.dictionaries(NAMES, VALUES, min_size=1), st.data())
def test_another_value_than_the_literal_is_never_covered(fixed: Raw, data: st.DataObject) -> None:
    grants = grants_of([{"tool": "t", "args": {n: {"literal": v} for n, v in fixed.items()}}])
    assert find_grant(grants, "t", fixed, _never)
    name = data.draw(st.sampled_from(sorted(fixed)))
    other = data.draw(VALUES)
    assume(_plain(other) != _plain(fixed[name]))
    assert not find_grant(grants, "t", fixed | {name: other}, _always)
    assert not find_grant(grants, "t", {n: v for n, v in fixed.items() if n != name}, _always)
    assert not find_grant(grants, "u", fixed, _always)


@settings(max_examples=examples(200), deadline=None)
@given(near_calls())
def test_every_literal_of_a_covered_call_is_what_the_plan_fixes_for_that_argument(
    case: Call,
) -> None:
    raw, tool, args = case
    grants = grants_of(raw)
    coverage = find_grant(grants, tool, args, _always)
    assume(coverage)
    for name, wanted in grants[coverage.index].args.items():
        if isinstance(wanted, Literal):
            fixed = literals_of(grants)[tool, name]
            assert _plain(args[name]) in {_plain(json.loads(one)) for one in fixed}


@settings(max_examples=examples(200), deadline=None)
@given(st.lists(GRANTS, max_size=3))
def test_what_is_written_short_is_read_as_it_was(raw: list[Raw]) -> None:
    grants = grants_of(raw)
    assert grants_of([shortest(grant) for grant in grants]) == grants


@settings(max_examples=examples(300), deadline=None)
@given(pairs())
def test_two_different_grants_are_told_in_different_words(pair: tuple[Raw, Raw]) -> None:
    (first, second) = grants_of(list(pair))
    assert (grant_lines(first) == grant_lines(second)) == (first == second)


_KEYS = st.sampled_from(
    ["tool", "args", "times", "slot", "from", "pattern", "literal", "max_chars"]
) | st.text(max_size=3)
_ANY: Anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_KEYS, inner, max_size=3),
    max_leaves=8,
)


@settings(max_examples=examples(300), deadline=None)
@given(_ANY | st.lists(st.dictionaries(_KEYS, _ANY, max_size=3), max_size=2))
def test_whatever_is_written_is_grants_or_is_refused(raw: object) -> None:
    for line in _lines_or_reason(raw):
        assert line.isprintable()
        assert line.isascii()


def _lines_or_reason(raw: object) -> Sequence[str]:
    try:
        return [line for grant in grants_of(raw) for line in grant_lines(grant)]
    except GrantRefused as refused:
        return [refused.reason]


@settings(max_examples=examples(300), deadline=None)
@given(st.lists(GRANTS, max_size=3), st.dictionaries(NAMES | st.text(max_size=3), _ANY, max_size=4))
def test_whatever_is_called_is_covered_or_told_why_not(raw: list[Raw], args: Raw) -> None:
    coverage = find_grant(grants_of(raw), "t", args, _sourced_by(2))
    assert bool(coverage) == (coverage.reason == "") == (coverage.index >= 0)
    assert coverage.reason.isprintable()
    assert coverage == find_grant(grants_of(raw), "t", dict(reversed(args.items())), _sourced_by(2))
