"""One random change of one thing in a JSON document, as somebody who edits it would make it."""

import copy
from collections.abc import Callable, Iterator, Mapping
from random import Random
from typing import Any, cast

Place = tuple[str | int, ...]
"""The keys and positions that lead to a value."""

_CHARACTERS = "ab 1/.-\n\t\x1b\u200b\u202e\u0430\uff41\U0001d41a\u00e9"
"""Ordinary, controlling, invisible, reordering, and alike to others."""


def one_change(document: Mapping[str, Any], draw: Random) -> tuple[str, dict[str, Any]]:
    """Where something was changed, and a copy with the change."""
    changed: dict[str, Any] = copy.deepcopy(dict(document))
    place = draw.choice(list(_places(changed)))
    holder: Any = changed
    for key in place[:-1]:
        holder = holder[key]
    holder[place[-1]] = _other(holder[place[-1]], draw)
    return "/".join(map(str, place)), changed


def _places(value: Any, above: Place = ()) -> Iterator[Place]:
    """Every value but the document itself; longer texts more often, as there is more to change."""
    inside: Any = ()
    if isinstance(value, dict):
        inside = cast(dict[str, Any], value).items()
    elif isinstance(value, list):
        inside = enumerate(cast(list[Any], value))
    for key, inner in inside:
        yield (*above, key)
        yield from _places(inner, (*above, key))


def _other(value: Any, draw: Random) -> Any:
    return next(make(value, draw) for kind, make in _MAKERS if isinstance(value, kind))


def _text(text: str, draw: Random) -> str:
    at, put = draw.randrange(len(text) + 1), draw.choice(_CHARACTERS)
    return draw.choice(
        (text[:at] + put + text[at:], text[:at] + put + text[at + 1 :], text[:at] + text[at + 1 :])
    )


def _number(number: float, draw: Random) -> float:
    return draw.choice((number + 1, number - 1, number * 2, 0, -number, number + 0.5))


def _list(values: list[Any], draw: Random) -> list[Any]:
    if not values:
        return [_anything(draw)]
    at = draw.randrange(len(values))
    return draw.choice(
        (values[:at] + values[at + 1 :], [*values, values[at]], values[::-1], [*values, "a"])
    )


def _anything(draw: Random) -> object:
    values: tuple[object, ...] = ("", "a", 0, 1, True, [], ["a"], {})
    return draw.choice(values)


def _mapping(values: dict[str, Any], draw: Random) -> dict[str, Any]:
    if values and draw.random() < 0.5:
        gone = draw.choice(sorted(values))
        return {name: value for name, value in values.items() if name != gone}
    return {**values, draw.choice(("a", "network", "not_after")): draw.choice((0, "a", None))}


_MAKERS: tuple[tuple[type | tuple[type, ...], Callable[[Any, Random], Any]], ...] = (
    (bool, lambda value, draw: not value),
    (str, _text),
    ((int, float), _number),
    (list, _list),
    (dict, _mapping),
    (object, lambda value, draw: _anything(draw)),  # null
)
