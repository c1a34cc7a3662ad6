"""A toolset's own configuration: variables filled in, and held against what its class declares.

What was filled in is treated as a secret: no error here repeats a value.
"""

import re
from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple, cast

from pydantic import BaseModel, ValidationError

from silas.errors import ConfigError, misfits
from silas.tools.plugins.names import CODE
from silas.tools.plugins.schema import first_misfit, validator_of

_VARIABLE: Final = re.compile(r"\$(\$?)\{([A-Za-z_][A-Za-z0-9_]*)\}")

SettingsLoc = tuple[str | int, ...]


class ExpandedConfig(NamedTuple):
    """A configuration with its variables filled in.

    Attributes:
        config: As the toolset gets it.
        values: What was filled in, by the name of the variable.
        places: Where.
    """

    config: dict[str, Any]
    values: dict[str, str]
    places: frozenset[SettingsLoc]


def expand(config: Mapping[str, Any], environ: Mapping[str, str], where: str) -> ExpandedConfig:
    """Fill in `${NAME}` in every text of a configuration; `$${` stands for `${`.

    Raises:
        ConfigError: A variable is not set, or empty; the error names it and the place.
    """
    values: dict[str, str] = {}
    places: set[SettingsLoc] = set()

    def text(found: str, loc: SettingsLoc) -> str:
        def fill(match: re.Match[str]) -> str:
            escaped, name = match.groups()
            if escaped:
                return match.group()[1:]
            if not environ.get(name):
                raise ConfigError(
                    f"{_key_path(where, loc)} needs the environment variable {name}, which is not "
                    "set.",
                    code="E_CFG_ENV",
                )
            values[name] = environ[name]
            places.add(loc)
            return environ[name]

        return _VARIABLE.sub(fill, found)

    filled = _walk(dict(config), (), text)
    return ExpandedConfig(filled, values, frozenset(places))


def _walk(value: Any, loc: SettingsLoc, text: Callable[[str, SettingsLoc], str]) -> Any:
    if isinstance(value, str):
        return text(value, loc)
    if isinstance(value, Mapping):
        items = cast(Mapping[str, Any], value).items()
        return {key: _walk(member, (*loc, key), text) for key, member in items}
    if isinstance(value, list | tuple):
        members = enumerate(cast(list[Any], value))
        return [_walk(member, (*loc, at), text) for at, member in members]
    return value


def fit_config(made_by: object, expanded: ExpandedConfig, where: str) -> Any:
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


def _by_model(model: type[BaseModel], expanded: ExpandedConfig, where: str) -> BaseModel:
    extra = "allow" if model.model_config.get("extra") == "allow" else "forbid"
    try:
        return model.model_validate(expanded.config, extra=extra)
    except ValidationError as error:
        errors = misfits(error)
        # a key that is not known is probably the one that is missing, misspelt
        first = next((e for e in errors if e.kind == "extra_forbidden"), errors[0])
        # the words of a class's own validator could hold something that was filled in
        words = first.plain if expanded.places else first.words
        place = _key_path(where, first.loc)
    raise ConfigError(f"{place}: {words}.", code=CODE)


def _key_path(where: str, loc: SettingsLoc) -> str:
    return ".".join((where, *(str(part) for part in loc)))
