"""Writing single values into the configuration file; every other byte stays as it is."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from silas.config.file_edit import CODE, FileEdit, line_end, meaning_of, read_text, replace_file
from silas.config.load import load_config
from silas.config.models import SilasConfig
from silas.config.place import ConfigPlace
from silas.config.source import compose_yaml
from silas.errors import ConfigError
from silas.strict_yaml import YamlNode

Scalar = str | int | float | bool | None
Value = Scalar | Mapping[str, object] | Sequence[str]
"""A mapping is written in braces and a list in brackets, in one line."""

_INDENT = 2


@dataclass(frozen=True)
class ValuesEdit(FileEdit):
    """The file with single values in it.

    Attributes:
        values: The values by their dotted names.
    """

    values: Mapping[str, Scalar]


def plan_values(file: Path, values: Mapping[str, Scalar]) -> ValuesEdit:
    """Work out the file with these values in it.

    Args:
        file: The configuration file; it need not be there.
        values: By dotted names below `silas:`.

    Raises:
        ConfigError: The file cannot be read, or is written so that a value cannot be put in.
    """
    before, text = read_text(file)
    for name, value in values.items():
        root = compose_yaml(text, file.name)
        try:
            text = put_in(text, root, ("silas", *name.split(".")), value)
        except UnfitText as unfit:
            raise _by_hand(file, values) from unfit
    return ValuesEdit(file, before, text.encode(), dict(values))


def write_values(edit: ValuesEdit, place: ConfigPlace) -> Path | None:
    """See `replace_file`; refuses what would not say exactly what was planned."""
    return replace_file(edit, lambda: require_meaning(edit, place))


def require_meaning(edit: ValuesEdit, place: ConfigPlace) -> None:
    """Refuse a value that breaks a rule or is overruled by a variable, and any other change."""
    try:
        new = meaning_of(edit, place.environ)
    except ConfigError as error:
        raise ConfigError(f"Nothing was written: {error.message}", code=error.code) from error
    old = load_config(edit.file if edit.before is not None else None, place.environ)
    was, will = old.model_dump(mode="json"), new.model_dump(mode="json")
    for name, value in edit.values.items():
        *parents, last = name.split(".")
        before, after = was, will
        for part in parents:
            before, after = before[part], after[part]
        if _short(after[last]) != value:
            raise ConfigError(
                f"{edit.file} does not decide {name}: a variable of the environment wins over it.",
                code=CODE,
                field=name,
            )
        before[last] = after[last]
    if was != will:
        raise _by_hand(edit.file, edit.values)


def value_of(config: SilasConfig, name: str) -> Scalar:
    """The value of a dotted name, as the file would have it."""
    found: Any = config.model_dump(mode="json")
    for part in name.split("."):
        found = found[part]
    return _short(found)


def _short(found: Any) -> Scalar:
    """A time of day without its seconds, as it is written; whole numbers as such."""
    if isinstance(found, str) and len(found) == len("00:00:00") and found.endswith(":00"):
        return found[:5]
    return int(found) if isinstance(found, float) and found.is_integer() else found


class UnfitText(Exception):
    """The text has no place for a value."""


def put_in(text: str, root: YamlNode | None, path: tuple[str, ...], value: Value) -> str:
    """The text with a value at a path; a place that has one already must hold a plain one.

    Raises:
        UnfitText: It has no place for it.
    """
    if root is None:
        opening = "" if not text or text.endswith("\n") else "\n"
        return f"{text}{opening}{_lines(path, value, 0)}"
    return _below(text, root, path, value, 0)


def _below(text: str, node: YamlNode, path: tuple[str, ...], value: Value, column: int) -> str:
    """The text with the value at a path below a node.

    Args:
        text: The text.
        node: What is there.
        path: The keys below it.
        value: The value.
        column: Where keys below it stand, if it has none yet.
    """
    if node.text == "":
        end = line_end(text, node.start)
        opening = "" if end == 0 or text[end - 1] == "\n" else "\n"
        return f"{text[:end]}{opening}{_lines(path, value, column)}{text[end:]}"
    if node.members is None:
        raise UnfitText
    found = next(((k, v) for k, v in node.members if k.text == path[0]), None)
    if found is None:
        return _insert_value(text, node, node.members, path, value)
    key, inner = found
    if len(path) > 1:
        return _below(text, inner, path[1:], value, key.column + _INDENT)
    if inner.text is None or inner.style in ("|", ">"):
        raise UnfitText
    start, end = inner.start, inner.end
    blank = "" if start < end or text[start - 1 : start] == " " else " "
    return f"{text[:start]}{blank}{json.dumps(value, ensure_ascii=False)}{text[end:]}"


def _insert_value(
    text: str,
    node: YamlNode,
    members: tuple[tuple[YamlNode, YamlNode], ...],
    path: tuple[str, ...],
    value: Value,
) -> str:
    if node.flows:
        at = node.start + 1
        inner = json.dumps(value, ensure_ascii=False)
        for name in reversed(path[1:]):
            inner = f"{{{json.dumps(name)}: {inner}}}"
        after = ", " if members else ""
        return f"{text[:at]}{json.dumps(path[0])}: {inner}{after}{text[at:]}"
    first = members[0][0]
    begin = first.start - first.column
    if text[begin : first.start].strip():
        raise UnfitText
    return f"{text[:begin]}{_lines(path, value, first.column)}{text[begin:]}"


def _lines(path: tuple[str, ...], value: Value, column: int) -> str:
    lines = [f"{' ' * (column + _INDENT * n)}{name}:" for n, name in enumerate(path)]
    return "\n".join(lines) + f" {json.dumps(value, ensure_ascii=False)}\n"


def _by_hand(file: Path, values: Mapping[str, Scalar]) -> ConfigError:
    told = ", ".join(f"{name}: {json.dumps(value)}" for name, value in values.items())
    return ConfigError(
        f"{file} is written in a way that Silas does not change, so nothing was put in; write this "
        f"yourself: {told}.",
        code=CODE,
    )
