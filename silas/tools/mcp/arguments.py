"""Whether arguments have the shape that a stranger's schema asks for.

The server judges its own arguments; here is checked what can be checked at a bounded cost. No
pattern of a stranger's runs, no reference is followed, and each value is looked at once.
"""

from collections.abc import Callable, Mapping
from typing import Any, Final, cast

_TYPES: Final[Mapping[str, Callable[[Any], bool]]] = {
    "object": lambda value: isinstance(value, dict),
    "array": lambda value: isinstance(value, list),
    "string": lambda value: isinstance(value, str),
    "boolean": lambda value: isinstance(value, bool),
    "integer": lambda value: isinstance(value, int) and not isinstance(value, bool),
    "number": lambda value: isinstance(value, int | float) and not isinstance(value, bool),
    "null": lambda value: value is None,
}


def check_arguments(schema: Mapping[str, Any], args: Mapping[str, Any]) -> None:
    """Look at types, required and unknown members, and fixed choices.

    An argument that the schema does not name is refused, unless the schema says that it takes any.

    Raises:
        ValueError: One sentence that names the place and what it must be, never its value.
    """
    known = _mapping(schema.get("properties"))
    if schema.get("additionalProperties", False) is False:
        for name in sorted(args.keys() - known.keys()):
            raise ValueError(f"{name[:64]!r} is not an argument of this tool")
    _check(schema, args, "arguments")


def _check(schema: Any, value: Any, place: str) -> None:
    if not isinstance(schema, Mapping):
        return
    rules = cast(Mapping[str, Any], schema)
    wanted = rules.get("type")
    names = [wanted] if isinstance(wanted, str) else wanted
    if isinstance(names, list):
        known = [n for n in cast(list[Any], names) if isinstance(n, str) and n in _TYPES]
        if known and not any(_TYPES[name](value) for name in known):
            raise ValueError(f"{place} must be {' or '.join(known)}")
    choices = rules.get("enum")
    if isinstance(choices, list) and value not in choices:
        raise ValueError(f"{place} must be one of the values that the schema names")
    if isinstance(value, Mapping):
        _check_members(rules, cast(Mapping[str, Any], value), place)
    elif isinstance(value, list):
        for at, member in enumerate(cast(list[Any], value)):
            _check(rules.get("items"), member, f"{place}[{at}]")


def _check_members(rules: Mapping[str, Any], value: Mapping[str, Any], place: str) -> None:
    required = rules.get("required")
    for name in cast(list[Any], required) if isinstance(required, list) else []:
        if isinstance(name, str) and name not in value:
            raise ValueError(f"{place} lacks {name[:64]!r}")
    members = _mapping(rules.get("properties"))
    for name, member in value.items():
        _check(members.get(name), member, f"{place}.{name[:64]}")


def _mapping(value: Any) -> Mapping[str, Any]:
    """What should be a mapping, and is a stranger's."""
    return cast(Mapping[str, Any], value) if isinstance(value, Mapping) else {}
