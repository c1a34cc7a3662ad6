"""Raw configuration data from YAML and environment, each value knowing where it was written."""

import re
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from typing import Any, NamedTuple, cast

from silas.errors import ConfigError
from silas.strict_yaml import Loc, Subset, YamlError, YamlNode, YamlTree, read_nodes, read_yaml

_VARIABLE = re.compile(r"\$(\$?)\{([A-Za-z_][A-Za-z0-9_]*)\}")
_OVERRIDE = "SILAS_"
_LEFT_AS_WRITTEN = frozenset({"toolsets", "toolset_profiles"})
"""Sections whose variables are filled in where a toolset is made: they hold its secrets."""
_OTHERS = ("channels", "others")  # their `config` is left as written, too
_PLAIN = frozenset({"owner_id", "data_dir", "active_goal", "skills_dir", "workers_dir", "language"})
"""Keys outside any section, set by `SILAS_<KEY>`; others without `__` mean other things."""


def _left_as_written(place: Loc) -> bool:
    if place[:2] == _OTHERS:
        return place[3:4] == ("config",)
    return bool(place) and place[0] in _LEFT_AS_WRITTEN


class ConfigSource(NamedTuple):
    """Raw data, where each value comes from, and which are null because a variable is not set."""

    data: dict[str, Any]
    origins: dict[Loc, str]
    unset: dict[Loc, str]

    def origin(self, loc: Loc) -> str:
        """Where a value, or the nearest part around it, was written; empty for a default."""
        while loc and loc not in self.origins:
            loc = loc[:-1]
        return self.origins.get(loc, "")


_SUBSET = Subset(deepest=32, marker=True)


def read_source(text: str, name: str, environ: Mapping[str, str]) -> ConfigSource:
    """The `silas:` mapping of a YAML text, with variables filled in and overrides applied.

    Args:
        text: The file's contents; may be empty.
        name: What the file is called in errors.
        environ: For `${NAME}` and `SILAS_SECTION__KEY`.

    Raises:
        ConfigError: The YAML cannot be read, or a variable inside longer text is not set.
    """
    source = ConfigSource({}, {}, {})
    tree = parse_yaml(text, name)
    if tree is not None:
        data = tree.data
        if not isinstance(data, dict) or set(cast(dict[str, Any], data)) != {"silas"}:
            raise ConfigError(
                f"{name} must have one top-level key, `silas:`, and everything under it.",
                code="E_CFG_YAML",
            )
        for loc, mark in [*tree.values.items(), *tree.keys.items()]:
            source.origins[loc[1:]] = f"{name}, line {mark.line + 1}"
        inner = _Variables(name, environ, source, tree).fill_in(data["silas"], ())
        if inner is not None and not isinstance(inner, dict):
            raise ConfigError(f"`silas:` in {name} must be a mapping.", code="E_CFG_YAML")
        source.data.update(cast(dict[str, Any], inner or {}))
    for variable in sorted(environ):
        _override(source, variable, environ[variable])
    return source


def parse_yaml(text: str, name: str) -> YamlTree | None:
    """The data of a YAML text with its places; None where there is nothing in it.

    Raises:
        ConfigError: It cannot be read, with line and column.
    """
    with _name_in_errors(name):
        return read_yaml(text, _SUBSET)


def compose_yaml(text: str, name: str) -> YamlNode | None:
    """How a YAML text is written; see `parse_yaml`."""
    with _name_in_errors(name):
        return read_nodes(text, _SUBSET)


@contextmanager
def _name_in_errors(name: str) -> Generator[None]:
    try:
        yield
    except YamlError as error:
        line, column = error.line + 1, error.column + 1
        raise ConfigError(
            f"{name}, line {line}, column {column}: {error}.", code="E_CFG_YAML"
        ) from error


class _Variables:
    """Fills the variables of the environment into texts."""

    def __init__(
        self, name: str, environ: Mapping[str, str], source: ConfigSource, tree: YamlTree
    ) -> None:
        self._name = name
        self._environ = environ
        self._source = source
        self._tree = tree

    def fill_in(self, data: Any, place: Loc) -> Any:
        """The data of a place below `silas:`."""
        if isinstance(data, dict):
            inner = cast(dict[str, Any], data)
            return {key: self.fill_in(value, (*place, key)) for key, value in inner.items()}
        if isinstance(data, list):
            items = cast(list[Any], data)
            return [self.fill_in(item, (*place, index)) for index, item in enumerate(items)]
        return self._expand(data, place) if isinstance(data, str) else data

    def _expand(self, text: str, place: Loc) -> str | None:
        """`${NAME}` from the environment; alone and not set it is null; `$${` is `${`."""
        if _left_as_written(place):
            return text
        whole = _VARIABLE.fullmatch(text)
        if whole and not whole[1] and not self._environ.get(whole[2]):
            self._source.unset[place] = whole[2]
            return None

        def fill(found: re.Match[str]) -> str:
            if found[1]:
                return found.group()[1:]
            if found[2] not in self._environ:
                line = self._tree.values[("silas", *place)].line + 1
                raise ConfigError(
                    f"{self._name}, line {line}: the environment variable {found[2]} is not set.",
                    code="E_CFG_YAML",
                )
            return self._environ[found[2]]

        return _VARIABLE.sub(fill, text)


def _override(source: ConfigSource, variable: str, text: str) -> None:
    """Set the value that `SILAS_SECTION__KEY` names; text is coerced like the file's."""
    if not variable.startswith(_OVERRIDE):
        return
    path = variable.removeprefix(_OVERRIDE).lower().split("__")
    if len(path) == 1 and path[0] not in _PLAIN:
        return
    inner = source.data
    for part in path[:-1]:
        if not isinstance(inner.get(part), dict):
            inner[part] = {}
        inner = cast(dict[str, Any], inner[part])
    inner[path[-1]] = _override_value(variable, text)
    source.origins[tuple(path)] = f"environment variable {variable}"


def _override_value(variable: str, text: str) -> Any:
    if text.strip() in {"", "null"}:
        return None
    if text.lstrip()[:1] not in {"[", "{"}:
        return text
    try:
        found = read_yaml(text, _SUBSET)
    except YamlError as error:
        raise ConfigError(
            f"The environment variable {variable} is not a YAML list or mapping.",
            code="E_CFG_YAML",
        ) from error
    return found and found.data
