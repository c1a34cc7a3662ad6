"""Filling in the blanks of a runbook: quoted for where each blank stands, and nothing re-read."""

import json
import re
import shlex
from collections.abc import Callable, Mapping
from typing import Any, cast

_BLANK = re.compile(r"\$\$|\$(?P<name>[A-Za-z_][A-Za-z0-9_]*)")
_ONE_BLANK = re.compile(r"\$[A-Za-z_][A-Za-z0-9_]*")
_FENCE = re.compile(r"[ ]*(?P<marks>`{3,}|~{3,})[ ]*(?P<info>[^`\s]*)")
_PLAIN_KEY = re.compile(r"[a-z][a-z_]*")

_SHELL_KEYS = frozenset({"run", "check_command"})
"""Fields of a plan that a shell reads."""

Quote = Callable[[str], str]

_FENCE_QUOTES: Mapping[str, Quote] = {
    "sh": shlex.quote,
    "bash": shlex.quote,
    "shell": shlex.quote,
    "python": repr,
    "py": repr,
}


class ShellText(str):
    """Shell text that a runbook itself wrote: it stands in shell text as it is, unquoted."""

    __slots__ = ()


def fill_command(text: str, values: Mapping[str, str]) -> str:
    """Shell text with its blanks filled, each quoted for the shell."""
    return fill_text(text, values, shlex.quote)


def blanks(text: str) -> frozenset[str]:
    """The identifiers that stand behind a dollar sign; `$$` is not one."""
    return frozenset(found["name"] for found in _BLANK.finditer(text) if found["name"])


def fill_text(text: str, values: Mapping[str, str], quote: Quote = str) -> str:
    """The text with known blanks filled; unknown ones, `$$` and what was inserted stay."""

    def value(found: re.Match[str]) -> str:
        name = found["name"]
        if name not in values:
            return found.group()
        verbatim = quote is shlex.quote and isinstance(values[name], ShellText)
        return values[name] if verbatim else quote(values[name])

    return _BLANK.sub(value, text)


def fill_data(data: Any, values: Mapping[str, str], many: frozenset[str], key: str = "") -> Any:
    """Front matter with its blanks filled, in text values only; keys stay as they are.

    A list item that is only `$name`, of a parameter that takes several values, becomes as many
    items as it has values.
    """
    if isinstance(data, str):
        return fill_text(data, values, shlex.quote if key in _SHELL_KEYS else str)
    if isinstance(data, dict):
        mapping = cast(dict[str, Any], data)  # front matter is JSON, and its keys are text
        return {name: fill_data(one, values, many, name) for name, one in mapping.items()}
    if isinstance(data, list):
        filled: list[Any] = []
        for item in cast(list[Any], data):
            several = _several(item, values, many)
            filled += [fill_data(item, values, many, key)] if several is None else several
        return filled
    return data


def _several(item: Any, values: Mapping[str, str], many: frozenset[str]) -> list[str] | None:
    """The items that a blank of several values stands for; None for every other item."""
    found = _BLANK.fullmatch(item) if isinstance(item, str) else None
    if found is None or found["name"] not in many:
        return None
    return [part for part in values[found["name"]].split(":") if part]


def fill_body(body: str, values: Mapping[str, str]) -> str:
    """The body with its blanks filled; shell-quoted in fenced shell blocks, literals in Python."""
    lines: list[str] = []
    fence, quote = "", str
    for line in body.split("\n"):
        found = _FENCE.match(line)
        if found and not fence:
            fence, quote = found["marks"], _FENCE_QUOTES.get(found["info"].lower(), str)
        elif found and found["marks"].startswith(fence) and not found["info"]:
            fence, quote = "", str
        lines.append(fill_text(line, values, quote))
    return "\n".join(lines)


def emit(data: Mapping[str, Any], body: str) -> str:
    """A plan as markdown. Values are JSON, which YAML reads as it is and which cannot end early."""
    return "\n".join(["---", *_lines(data), "---", "", body, ""])


def _lines(data: Mapping[str, Any]) -> list[str]:
    """A line for each key; a list of mappings gets a line for each of them."""
    lines: list[str] = []
    for key, value in data.items():
        items = cast(list[Any], value) if isinstance(value, list) else []
        if any(isinstance(item, dict) for item in items):
            lines += [f"{_name(key)}:", *(f"  - {_json(item)}" for item in items)]
        else:
            lines.append(f"{_name(key)}: {_json(value)}")
    return lines


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def _name(key: str) -> str:
    return key if _PLAIN_KEY.fullmatch(key) else _json(key)


def without_blank_items(data: Any) -> Any:
    """Front matter without list items that are one blank and nothing else."""
    if isinstance(data, dict):
        return {k: without_blank_items(v) for k, v in cast(dict[str, Any], data).items()}
    if isinstance(data, list):
        items = cast(list[Any], data)
        return [without_blank_items(i) for i in items if not _ONE_BLANK.fullmatch(str(i))]
    return data
