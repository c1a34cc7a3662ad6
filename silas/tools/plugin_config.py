"""A toolset's own configuration: variables filled in, and held against what its class declares.

What was filled in is treated as a secret: no error here repeats a value.
"""

import re
from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple, cast

from jsonschema import Draft202012Validator, SchemaError
from jsonschema.protocols import Validator
from jsonschema.validators import (
    validator_for,  # pyright: ignore[reportUnknownVariableType] - its stub is partial
)
from pydantic import BaseModel, ValidationError
from referencing import Registry

from silas.canonical import canonical_json
from silas.errors import ConfigError
from silas.tools.plugin_spec import CODE

_VARIABLE: Final = re.compile(r"\$(\$?)\{([A-Za-z_][A-Za-z0-9_]*)\}")
_OWN_WORDS: Final = frozenset({"value_error", "assertion_error"})  # a class's own validator spoke
_SHOWN: Final = 80  # characters of a schema's rule in an error

_NOTHING_ELSE: Registry[Any] = Registry()  # the default one would fetch what `$ref` names

Loc = tuple[str | int, ...]


class Expanded(NamedTuple):
    """A configuration with its variables filled in.

    Attributes:
        config: As the toolset gets it.
        values: What was filled in, by the name of the variable.
        places: Where.
    """

    config: dict[str, Any]
    values: dict[str, str]
    places: frozenset[Loc]


def expand(config: Mapping[str, Any], environ: Mapping[str, str], where: str) -> Expanded:
    """Fill in `${NAME}` in every text of a configuration; `$${` stands for `${`.

    Raises:
        ConfigError: A variable is not set, or empty; the error names it and the place.
    """
    values: dict[str, str] = {}
    places: set[Loc] = set()

    def text(found: str, loc: Loc) -> str:
        def fill(match: re.Match[str]) -> str:
            escaped, name = match.groups()
            if escaped:
                return match.group()[1:]
            if not environ.get(name):
                raise ConfigError(
                    f"{_dotted(where, loc)} needs the environment variable {name}, which is not "
                    "set.",
                    code="E_CFG_ENV",
                )
            values[name] = environ[name]
            places.add(loc)
            return environ[name]

        return _VARIABLE.sub(fill, found)

    filled = _walk(dict(config), (), text)
    return Expanded(filled, values, frozenset(places))


def _walk(value: Any, loc: Loc, text: Callable[[str, Loc], str]) -> Any:
    if isinstance(value, str):
        return text(value, loc)
    if isinstance(value, Mapping):
        items = cast(Mapping[str, Any], value).items()
        return {key: _walk(member, (*loc, key), text) for key, member in items}
    if isinstance(value, list | tuple):
        members = enumerate(cast(list[Any], value))
        return [_walk(member, (*loc, at), text) for at, member in members]
    return value


def fitted(made_by: object, expanded: Expanded, where: str) -> Any:
    """The configuration as a class or factory declares it.

    A pydantic model as `config_model` or `Config` gets what is configured and is itself what the
    toolset is given; keys that it does not know are refused unless it says that it takes any. A
    JSON schema as `config_schema` is held against the mapping. Where nothing is declared, the
    mapping goes through as it is.

    Raises:
        ConfigError: With the path of the field, never with its value.
    """
    model = getattr(made_by, "config_model", None) or getattr(made_by, "Config", None)
    if isinstance(model, type) and issubclass(model, BaseModel):
        return _by_model(model, expanded, where)
    schema = getattr(made_by, "config_schema", None)
    if schema is not None:
        wrong = first_misfit(validator_of(schema), expanded.config)
        if wrong:
            raise ConfigError(f"{where}: {wrong}.", code=CODE)
    return expanded.config


def _by_model(model: type[BaseModel], expanded: Expanded, where: str) -> BaseModel:
    extra = "allow" if model.model_config.get("extra") == "allow" else "forbid"
    try:
        return model.model_validate(expanded.config, extra=extra)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        words = str(first["msg"])
        if _may_repeat(first["type"], first["loc"], expanded):
            words = f"does not fit ({first['type']})"
        place = _dotted(where, first["loc"])
    raise ConfigError(f"{place}: {words}.", code=CODE)


def _may_repeat(kind: str, loc: Loc, expanded: Expanded) -> bool:
    """Whether the words of an error could hold something that was filled in."""
    if not expanded.places:
        return False
    return kind in _OWN_WORDS or any(
        place[: len(loc)] == loc or loc[: len(place)] == place for place in expanded.places
    )


def validator_of(schema: object) -> Validator:
    """A validator of a JSON schema that never fetches anything.

    Raises:
        ValueError: It is no JSON schema.
    """
    if not isinstance(schema, Mapping):
        raise ValueError("its schema is not a mapping")
    plain = dict(cast(Mapping[str, Any], schema))
    kind = validator_for(plain, default=Draft202012Validator)
    try:
        kind.check_schema(plain)
    except SchemaError as error:
        raise ValueError(f"its schema is no JSON schema ({error.validator})") from None
    return kind(plain, registry=_NOTHING_ELSE)


def first_misfit(validator: Validator, found: Any) -> str:
    """Where and how a value does not fit a schema, without the value; empty where it fits."""
    error = next(iter(sorted(validator.iter_errors(found), key=lambda e: len(e.path))), None)
    if error is None:
        return ""
    place = ".".join(str(part) for part in error.absolute_path)
    rule = f"{error.validator}: {_shown(error.validator_value)}"
    if error.validator == "required":
        rule = f"needs {', '.join(_absent(error.validator_value, error.instance))}"
    if error.validator == "additionalProperties":
        rule = "has a key that is not known"
    return f"{place or 'it'} does not fit ({rule})"


def _absent(required: object, found: object) -> list[str]:
    names = [str(name) for name in cast(list[object], required)]
    return [name for name in names if not isinstance(found, Mapping) or name not in found]


def _shown(rule: object) -> str:
    text = canonical_json(rule)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}..."


def _dotted(where: str, loc: Loc) -> str:
    return ".".join((where, *(str(part) for part in loc)))
