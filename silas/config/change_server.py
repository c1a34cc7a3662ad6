"""Changing one MCP server in the configuration file: what is not changed keeps every byte."""

import json
from collections.abc import Mapping, Sequence
from difflib import SequenceMatcher
from typing import NamedTuple

from silas.config.edit_servers import ServersEdit, by_hand, without
from silas.config.edit_values import UnfitText, put_in
from silas.config.file_edit import CODE, line_end, read_text
from silas.config.place import ConfigPlace
from silas.config.source import compose_yaml
from silas.errors import ConfigError
from silas.language import tr
from silas.strict_yaml import YamlNode

_HANDLING = frozenset({"network", "read", "write"})  # stand in `mcp`; all others in `mcpServers`


class PartChange(NamedTuple):
    """What becomes of a part of a server: a text, several, or empty where there is none.

    Attributes:
        keys: Where it stands, as `("command",)` or `("env", "TOKEN")`.
        before, after: What it says, as it is in force.
    """

    keys: tuple[str, ...]
    before: str | tuple[str, ...]
    after: str | tuple[str, ...]


def plan_changed(place: ConfigPlace, name: str, changes: Sequence[PartChange]) -> ServersEdit:
    """Work out the file with parts of a server changed.

    Raises:
        ConfigError: The file does not name it, or is written so that this cannot be changed in it.
    """
    before, text = read_text(place.file)
    paths = {
        one: ("silas", "mcp" if one.keys[0] in _HANDLING else "mcpServers", name, *one.keys)
        for one in changes
    }
    if _node(text, place, ("silas", "mcpServers", name)) is None:
        raise ConfigError(
            tr("{file} names no server {name}.", file=str(place.file), name=repr(name)), code=CODE
        )
    lines = tuple(_line(paths[one][1:], one) for one in changes)
    for one in sorted(changes, key=lambda one: not one.after):  # what is new first: never empty
        try:
            text = _change_part(text, place, paths[one], one)
        except UnfitText as unfit:
            raise by_hand(ServersEdit(place.file, before, b"", name, lines)) from unfit
    return ServersEdit(place.file, before, text.encode(), name, lines)


def _line(path: Sequence[str], one: PartChange) -> str:
    there = ".".join(path)
    if not one.after:
        return tr("{place} goes out", place=there)
    return f"{there}: {json.dumps(one.after, ensure_ascii=False)}"


def _node(text: str, place: ConfigPlace, path: Sequence[str]) -> YamlNode | None:
    """The part of a text at a path; None where there is none."""
    node = compose_yaml(text, place.file.name)
    for key in path:
        found = [value for name, value in (node.members or () if node else ()) if name.text == key]
        node = found[0] if found else None
    return node


def _change_part(text: str, place: ConfigPlace, path: tuple[str, ...], one: PartChange) -> str:
    root, there = compose_yaml(text, place.file.name), _node(text, place, path)
    if not one.after:
        return text if there is None else without(text, root, path)
    if isinstance(one.after, str) or there is None or there.text is not None:
        return put_in(text, root, path, one.after)
    if there.members is not None or len(there.items) != len(one.before):
        raise UnfitText
    if any(item.text is None or item.style in ("|", ">") for item in there.items):
        raise UnfitText
    change = _change_in_brackets if there.flows else _change_lines
    return change(text, there, _steps(one.before, one.after))


class _Step(NamedTuple):
    """Items from `begin` to `end` become these."""

    begin: int
    end: int
    now: tuple[str, ...]


def _steps(before: Sequence[str], after: Sequence[str]) -> list[_Step]:
    """What changes, the last first."""
    codes = SequenceMatcher(None, before, after, autojunk=False).get_opcodes()
    steps = [_Step(a, b, tuple(after[c:d])) for tag, a, b, c, d in codes if tag != "equal"]
    return steps[::-1]


def _quote(words: str) -> str:
    return json.dumps(words, ensure_ascii=False)


def _change_in_brackets(text: str, there: YamlNode, steps: Sequence[_Step]) -> str:
    marks = [
        there.start,
        *(mark for one in there.items for mark in (one.start, one.end)),
        there.end,
    ]
    if any("#" in text[a:b] for a, b in zip(marks[::2], marks[1::2], strict=True)):
        raise UnfitText  # a comment would be lost
    items = [text[one.start : one.end] for one in there.items]
    for begin, end, now in steps:
        items[begin:end] = map(_quote, now)
    return f"{text[: there.start]}[{', '.join(items)}]{text[there.end :]}"


def _change_lines(text: str, there: YamlNode, steps: Sequence[_Step]) -> str:
    """A list of one item a line; comments stay, also those beside items that become others."""
    newline = "\r\n" if "\r\n" in text else "\n"
    for begin, end, now in steps:
        kept = min(end - begin, len(now))  # so many are replaced where they stand
        at = there.items[max(begin + kept - 1, 0)]
        first = text.rfind("\n", 0, at.start) + 1
        head = text[first : at.start]
        if head.strip() != "-":
            raise UnfitText
        new = "".join(f"{head}{_quote(one)}{newline}" for one in now[kept:])
        place = first if begin + kept == 0 else line_end(text, at.end)
        opening = newline if new and place == len(text) and text[-1:] != "\n" else ""
        for item in reversed(there.items[begin + kept : end]):
            line = text.rfind("\n", 0, item.start) + 1
            text = text[:line] + text[line_end(text, item.end) :]
        text = f"{text[:place]}{opening}{new}{text[place:]}"
        for item, words in reversed(list(zip(there.items[begin:], now[:kept], strict=False))):
            text = f"{text[: item.start]}{_quote(words)}{text[item.end :]}"
    return text


Parts = Mapping[tuple[str, ...], str | tuple[str, ...]]
"""The parts of a server by their keys; what is empty may be left out."""


def part_changes(before: Parts, after: Parts) -> tuple[PartChange, ...]:
    """Every part that becomes another one."""
    keys = dict.fromkeys((*before, *after))
    every = (PartChange(one, before.get(one, ""), after.get(one, "")) for one in keys)
    return tuple(one for one in every if (one.before or one.after) and one.before != one.after)
