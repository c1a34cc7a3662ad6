"""Writing the `models:` section into the configuration file; every other byte stays as it is."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import NamedTuple

from silas.agents.choice import ModelChoice
from silas.config.file_edit import CODE, FileEdit, line_end, meaning_of, read_text, replace_file
from silas.config.load import load_config
from silas.config.source import compose_yaml
from silas.errors import ConfigError
from silas.strict_yaml import YamlNode

_FIELDS = ("base_url", "api_key_env", "output")
_INDENT = "  "


@dataclass(frozen=True)
class ModelsEdit(FileEdit):
    """The file with a section of models.

    Attributes:
        lines: The section as it will stand.
        replaces: Whether a `models:` section is there that goes away.
        models: The models by role that the file must name afterwards.
    """

    lines: tuple[str, ...]
    replaces: bool
    models: Mapping[str, ModelChoice]


def plan_models(file: Path, models: Mapping[str, ModelChoice]) -> ModelsEdit:
    """Work out the file with these models in it.

    Raises:
        ConfigError: The file cannot be read, or is written so that a section cannot be put in; the
            sentence has the lines to write by hand.
    """
    before, text = read_text(file)
    place = _place(text, file, models)
    newline = "\r\n" if "\r\n" in text else "\n"
    lines = _section(models, place.indent)
    section = newline.join(lines)
    head, tail = text[: place.start], text[place.end :]
    opening = "" if not head or head.endswith("\n") else newline
    top = f"silas:{newline}" if place.bare else ""
    after = f"{head}{opening}{top}{section}{newline}{tail}"
    return ModelsEdit(file, before, after.encode(), lines, place.replaces, models)


def write_models(edit: ModelsEdit, environ: Mapping[str, str]) -> Path | None:
    """See `replace_file`; refuses what would not say exactly what was planned."""
    return replace_file(edit, lambda: _refuse_other_meaning(edit, environ))


class _Place(NamedTuple):
    start: int  # characters
    end: int
    indent: str
    replaces: bool
    bare: bool  # the text has no `silas:` yet


def _place(text: str, file: Path, models: Mapping[str, ModelChoice]) -> _Place:
    root = compose_yaml(text, file.name)
    if root is None:
        return _Place(len(text), len(text), _INDENT, replaces=False, bare=True)
    if not root.members:
        raise _by_hand(file, models)
    (key, value), *_ = root.members
    below = line_end(text, key.end)
    if value.text == "":
        return _Place(below, below, _INDENT, replaces=False, bare=False)
    if not value.members or value.flows or root.flows or value.start < below:
        raise _by_hand(file, models)
    indent = " " * value.members[0][0].column
    for name, section in value.members:
        if name.text == "models":
            start = text.rfind("\n", 0, name.start) + 1
            end = line_end(text, max(last_of(section), name.end))
            return _Place(start, end, indent, replaces=True, bare=False)
    return _Place(below, below, indent, replaces=False, bare=False)


def last_of(node: YamlNode) -> int:
    """Behind the last character of a value; the end of a block itself lies behind comments."""
    if node.text is not None or node.flows:
        return node.end
    parts = (*node.items, *chain.from_iterable(node.members or ()))
    return max(map(last_of, parts), default=node.start)


def _section(models: Mapping[str, ModelChoice], indent: str) -> tuple[str, ...]:
    inner = indent + _INDENT
    return (
        f"{indent}models:",
        *(f"{inner}{role}: {_choice_as_yaml(choice)}" for role, choice in models.items()),
    )


def _choice_as_yaml(choice: ModelChoice) -> str:
    fields = {"name": choice.name}
    usual = {name: ModelChoice.model_fields[name].default for name in _FIELDS}
    fields |= {key: getattr(choice, key) for key in _FIELDS if getattr(choice, key) != usual[key]}
    quoted = {key: json.dumps(value, ensure_ascii=False) for key, value in fields.items()}
    if len(quoted) == 1:
        return quoted["name"]
    return "{ " + ", ".join(f"{key}: {value}" for key, value in quoted.items()) + " }"


def _by_hand(file: Path, models: Mapping[str, ModelChoice]) -> ConfigError:
    lines = "\n".join(_section(models, _INDENT))
    return ConfigError(
        f"{file} is not written as an indented block under `silas:`, so nothing was put in; write "
        f"this yourself:\n{lines}",
        code=CODE,
    )


def _refuse_other_meaning(edit: ModelsEdit, environ: Mapping[str, str]) -> None:
    """Refuse what says anything but these models, and what no longer says all the rest."""
    try:
        new = meaning_of(edit, environ)
    except ConfigError as error:
        raise _by_hand(edit.file, edit.models) from error
    if any(getattr(new.models, role) != choice for role, choice in edit.models.items()):
        raise ConfigError(
            f"{edit.file} would not decide which model is used: variables such as "
            "SILAS_MODELS__PROXY win over it; unset them.",
            code=CODE,
        )
    if edit.before is not None:
        old = load_config(edit.file, environ)
        if new.model_copy(update={"models": old.models}) != old:
            raise _by_hand(edit.file, edit.models)
