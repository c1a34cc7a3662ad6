"""Raw configuration data from YAML and environment, each value knowing where it was written."""

import re
from collections.abc import Mapping
from typing import Any, NamedTuple, cast

import yaml

from silas.errors import ConfigError

Loc = tuple[str | int, ...]
"""The way to a value: keys and indexes."""

_VARIABLE = re.compile(r"\$(\$?)\{([A-Za-z_][A-Za-z0-9_]*)\}")
_OVERRIDE = "SILAS_"
_LEFT_AS_WRITTEN = frozenset({"toolsets", "toolset_profiles"})
"""Sections whose variables are filled in where a toolset is made: they hold its secrets."""
_OTHERS = ("channels", "others")  # their `config` is left as written, too
_PLAIN = frozenset({"owner_id", "data_dir", "active_goal", "skills_dir", "workers_dir"})
"""Keys outside any section, set by `SILAS_<KEY>`; others without `__` mean other things."""


def _left_as_written(place: Loc) -> bool:
    if place[:2] == _OTHERS:
        return place[3:4] == ("config",)
    return bool(place) and place[0] in _LEFT_AS_WRITTEN


class Source(NamedTuple):
    """Raw data, where each value comes from, and which are null because a variable is not set."""

    data: dict[str, Any]
    origins: dict[Loc, str]
    unset: dict[Loc, str]

    def origin(self, loc: Loc) -> str:
        """Where a value, or the nearest part around it, was written; empty for a default."""
        while loc and loc not in self.origins:
            loc = loc[:-1]
        return self.origins.get(loc, "")


class _Loader(yaml.SafeLoader):
    """YAML as people mean it: `on`, `yes` and times are text, only true and false are truth."""


_SCALARS = (
    ("bool", re.compile(r"(?:true|True|TRUE|false|False|FALSE)\Z"), "tTfF"),
    ("int", re.compile(r"[-+]?[0-9]{1,18}\Z"), "-+0123456789"),
    (
        "float",
        re.compile(r"[-+]?(?:[0-9]+\.[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?\Z"),
        "-+.0123456789",
    ),
    ("null", re.compile(r"(?:~|null|Null|NULL|)\Z"), "~nN"),
)
_RESOLVERS: dict[str, list[tuple[str, re.Pattern[str]]]] = {}
for _kind, _rule, _firsts in _SCALARS:
    for _first in (*_firsts, *([""] if _kind == "null" else [])):
        _RESOLVERS.setdefault(_first, []).append((f"tag:yaml.org,2002:{_kind}", _rule))
_Loader.yaml_implicit_resolvers = _RESOLVERS


def read_source(text: str, name: str, environ: Mapping[str, str]) -> Source:
    """The `silas:` mapping of a YAML text, with variables filled in and overrides applied.

    Args:
        text: The file's contents; may be empty.
        name: What the file is called in errors.
        environ: For `${NAME}` and `SILAS_SECTION__KEY`.

    Raises:
        ConfigError: The YAML cannot be read, or a variable inside longer text is not set.
    """
    source = Source({}, {}, {})
    node = compose(text, name)
    if node is not None:
        data = _Reader(name, environ, source).value(node, ())
        if not isinstance(data, dict) or set(cast(dict[str, Any], data)) != {"silas"}:
            raise ConfigError(
                f"{name} must have one top-level key, `silas:`, and everything under it.",
                code="E_CFG_YAML",
            )
        inner = cast(dict[str, Any], data)["silas"]
        if inner is not None and not isinstance(inner, dict):
            raise ConfigError(f"`silas:` in {name} must be a mapping.", code="E_CFG_YAML")
        source.data.update(cast(dict[str, Any], inner or {}))
    for variable in sorted(environ):
        _override(source, variable, environ[variable])
    return source


def compose(text: str, name: str) -> yaml.Node | None:
    """The nodes of a YAML text with their places; None where there is nothing in it."""
    try:
        return yaml.compose(text, Loader=_Loader)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        where = f", line {mark.line + 1}" if mark else ""
        raise ConfigError(
            f"{name}{where}: the YAML cannot be read: {error.problem or error.context}.",
            code="E_CFG_YAML",
        ) from error
    except (yaml.YAMLError, ValueError) as error:
        words = str(error).splitlines()[0]
        raise ConfigError(
            f"{name}: the YAML cannot be read: {words}.", code="E_CFG_YAML"
        ) from error


class _Reader:
    """Turns nodes into data; refuses what would be read differently than it looks."""

    def __init__(self, name: str, environ: Mapping[str, str], source: Source) -> None:
        self._name = name
        self._environ = environ
        self._source = source
        self._seen: set[int] = set()

    def value(self, node: yaml.Node, loc: Loc) -> Any:
        """The data of a node; the `silas` key is not part of its location."""
        line = node.start_mark.line + 1 if node.start_mark else 0
        place = loc[1:]
        self._source.origins[place] = f"{self._name}, line {line}"
        if isinstance(node, yaml.ScalarNode):
            return self._scalar(node, place, line)
        if id(node) in self._seen:
            raise self._wrong(line, "aliases (*) are not supported; write it out")
        self._seen.add(id(node))
        if isinstance(node, yaml.SequenceNode):
            items = cast(list[yaml.Node], node.value)
            return [self.value(item, (*loc, index)) for index, item in enumerate(items)]
        return self._mapping(node, loc)

    def _mapping(self, node: yaml.Node, loc: Loc) -> dict[str, Any]:
        built: dict[str, Any] = {}
        for key, value in cast(list[tuple[yaml.Node, yaml.Node]], node.value):
            line = key.start_mark.line + 1 if key.start_mark else 0
            if not isinstance(key, yaml.ScalarNode):
                raise self._wrong(line, "a key must be plain text")
            name = str(key.value)
            if name in built:
                raise self._wrong(line, f"the key `{name}` is given twice")
            built[name] = self.value(value, (*loc, name))
            self._source.origins[(*loc, name)[1:]] = f"{self._name}, line {line}"
        return built

    def _scalar(self, node: yaml.ScalarNode, place: Loc, line: int) -> Any:
        text, kind = str(node.value), str(node.tag).rsplit(":", 1)[-1]
        if kind == "null":
            return None
        if kind == "bool":
            return text.lower() == "true"
        if kind == "int":
            return int(text)
        if kind == "float":
            return float(text)
        if kind != "str":
            raise self._wrong(line, f"the tag {node.tag} is not supported")
        return self._expand(text, place, line)

    def _expand(self, text: str, place: Loc, line: int) -> str | None:
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
                raise self._wrong(line, f"the environment variable {found[2]} is not set")
            return self._environ[found[2]]

        return _VARIABLE.sub(fill, text)

    def _wrong(self, line: int, words: str) -> ConfigError:
        return ConfigError(f"{self._name}, line {line}: {words}.", code="E_CFG_YAML")


def _override(source: Source, variable: str, text: str) -> None:
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
        return yaml.load(text, Loader=_Loader)  # noqa: S506 - a subclass of SafeLoader
    except yaml.YAMLError as error:
        raise ConfigError(
            f"The environment variable {variable} is not a YAML list or mapping.",
            code="E_CFG_YAML",
        ) from error
