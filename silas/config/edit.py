"""Writing the `models:` section into the configuration file; every other byte stays as it is."""

import json
import os
from collections.abc import Mapping
from itertools import chain, count
from pathlib import Path
from typing import NamedTuple, cast

import yaml

from silas.agents.choice import ModelChoice
from silas.config.load import load_config
from silas.config.source import parsed
from silas.errors import ConfigError, SilasError, reason
from silas.types import new_nonce

_CODE = "E_CFG_FILE"
_FIELDS = ("base_url", "api_key_env", "output")
_INDENT = "  "


class ModelsEdit(NamedTuple):
    """What will become of the file; nothing is written yet.

    Attributes:
        file: The configuration file.
        before: Its bytes; None where there is none.
        after: Its bytes with the section.
        lines: The section as it will stand.
        replaces: Whether a `models:` section is there that goes away.
        models: The models by role that the file must name afterwards.
    """

    file: Path
    before: bytes | None
    after: bytes
    lines: tuple[str, ...]
    replaces: bool
    models: Mapping[str, ModelChoice]


def plan_models(file: Path, models: Mapping[str, ModelChoice]) -> ModelsEdit:
    """Work out the file with these models in it.

    Raises:
        ConfigError: The file cannot be read, or is written so that a section cannot be put in; the
            sentence has the lines to write by hand.
    """
    try:
        before = file.read_bytes() if file.exists() else None
        text = (before or b"").decode()
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(
            f"The configuration file {file} cannot be read: {reason(error)}.", code=_CODE
        ) from error
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
    """Write what was planned, once it is certain that it says that and nothing else changes.

    Returns:
        Where the former file is kept; None where there was none.

    Raises:
        ConfigError: The result would not be what was planned, the file changed meanwhile, or it
            cannot be written; it is as it was.
    """
    try:
        edit.file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        _refuse_other_meaning(edit, environ)
        if edit.before != (edit.file.read_bytes() if edit.file.exists() else None):
            raise ConfigError(
                f"{edit.file} was changed meanwhile; run `silas setup` again.", code=_CODE
            )
        backup = None if edit.before is None else keep_former(edit.file, edit.before)
        true_file = edit.file.resolve()  # a link to a file elsewhere stays a link
        new_file(true_file, edit.before, edit.after).replace(true_file)
    except OSError as error:
        raise ConfigError(
            f"{edit.file} cannot be written ({error.strerror}); make it and its directory yours.",
            code=_CODE,
        ) from error
    return backup


class _Place(NamedTuple):
    start: int  # characters
    end: int
    indent: str
    replaces: bool
    bare: bool  # the text has no `silas:` yet


def _place(text: str, file: Path, models: Mapping[str, ModelChoice]) -> _Place:
    parsed(text, file.name)
    root = yaml.compose(text, Loader=yaml.SafeLoader)
    if root is None:
        return _Place(len(text), len(text), _INDENT, replaces=False, bare=True)
    (key, value), *_ = cast(list[tuple[yaml.Node, yaml.Node]], root.value)
    below = _line_end(text, key.end_mark.index)
    if isinstance(value, yaml.ScalarNode) and not value.value:
        return _Place(below, below, _INDENT, replaces=False, bare=False)
    block = isinstance(value, yaml.MappingNode) and not (_flows(value) or _flows(root))
    if not block or value.start_mark.index < below:
        raise _by_hand(file, models)
    members = cast(list[tuple[yaml.Node, yaml.Node]], value.value)
    indent = " " * members[0][0].start_mark.column
    for name, section in members:
        if name.value == "models":
            start = text.rfind("\n", 0, name.start_mark.index) + 1
            end = _line_end(text, max(_last(section), name.end_mark.index))
            return _Place(start, end, indent, replaces=True, bare=False)
    return _Place(below, below, indent, replaces=False, bare=False)


def _last(node: yaml.Node) -> int:
    """Behind the last character of a value; the end of a block itself lies behind comments."""
    if isinstance(node, yaml.ScalarNode) or _flows(node):
        return node.end_mark.index
    parts = cast(list[yaml.Node | tuple[yaml.Node, yaml.Node]], node.value)
    nodes = chain.from_iterable(one if isinstance(one, tuple) else (one,) for one in parts)
    return max(map(_last, nodes), default=node.start_mark.index)


def _flows(node: yaml.Node) -> bool:
    return isinstance(node, yaml.CollectionNode) and bool(node.flow_style)


def _line_end(text: str, at: int) -> int:
    if at and text[at - 1] == "\n":
        return at
    found = text.find("\n", at)
    return len(text) if found < 0 else found + 1


def _section(models: Mapping[str, ModelChoice], indent: str) -> tuple[str, ...]:
    inner = indent + _INDENT
    return (
        f"{indent}models:",
        *(f"{inner}{role}: {_written(choice)}" for role, choice in models.items()),
    )


def _written(choice: ModelChoice) -> str:
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
        code=_CODE,
    )


def _refuse_other_meaning(edit: ModelsEdit, environ: Mapping[str, str]) -> None:
    """Read the new text as Silas will, beside the file, before it takes the file's place."""
    trial = new_file(edit.file, edit.before, edit.after)
    try:
        new = load_config(trial, environ)
    except SilasError as error:
        raise _by_hand(edit.file, edit.models) from error
    finally:
        trial.unlink()
    if any(getattr(new.models, role) != choice for role, choice in edit.models.items()):
        raise ConfigError(
            f"{edit.file} would not decide which model is used: variables such as "
            "SILAS_MODELS__PROXY win over it; unset them.",
            code=_CODE,
        )
    if edit.before is not None:
        old = load_config(edit.file, environ)
        if new.model_copy(update={"models": old.models}) != old:
            raise _by_hand(edit.file, edit.models)


def keep_former(file: Path, content: bytes) -> Path:
    """A copy beside the file under the first name that is free, as open to others as the file."""
    mode = file.stat().st_mode & 0o777
    for number in count(1):
        backup = file.with_name(f"{file.name}.bak" + (f".{number}" if number > 1 else ""))
        try:
            return _create(backup, content, mode)
        except FileExistsError:
            continue
    raise AssertionError("there are more numbers than files")


def new_file(file: Path, before: bytes | None, after: bytes) -> Path:
    """What is to take a file's place, beside it, as open to others as the file is."""
    mode = 0o600 if before is None else file.stat().st_mode & 0o777
    return _create(file.with_name(f".{file.name}.{new_nonce()[:16]}"), after, mode)


def _create(path: Path, content: bytes, mode: int) -> Path:
    descriptor = os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_CLOEXEC, 0o600)
    try:
        with os.fdopen(descriptor, "wb") as stream:
            os.fchmod(descriptor, mode)
            stream.write(content)
            stream.flush()
            os.fsync(descriptor)
    except BaseException:
        path.unlink()
        raise
    return path
