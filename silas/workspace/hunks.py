"""What differs between two lists of lines, as the hunks of a unified diff.

Linear time for whatever a task may write: what begins and ends alike is not compared, and where
the rest is too much to compare it is shown as taken out and put in as a whole.
"""

import difflib
from collections.abc import Iterator
from typing import NamedTuple

_CONTEXT = 3
_COMPARED = 4_000_000  # lines times lines; about a second for the worst there is

LAST = "\n\\ No newline at end of file\n"


class _Block(NamedTuple):
    """Lines `old[i1:i2]` became `new[j1:j2]`."""

    i1: int
    i2: int
    j1: int
    j2: int


def lines_of(text: str) -> list[str]:
    """A text's lines with their ends; nothing but a line feed ends one."""
    *whole, last = text.split("\n")
    lines = [f"{line}\n" for line in whole]
    return [*lines, last + LAST] if last else lines


def hunks(old: list[str], new: list[str]) -> Iterator[str]:
    """The lines of every hunk, headings included; nothing if nothing differs."""
    for group in _group_blocks(_blocks(old, new)):
        first, last = group[0], group[-1]
        i1, i2 = max(first.i1 - _CONTEXT, 0), min(last.i2 + _CONTEXT, len(old))
        j1, j2 = max(first.j1 - _CONTEXT, 0), min(last.j2 + _CONTEXT, len(new))
        yield f"@@ -{_range(i1, i2)} +{_range(j1, j2)} @@\n"
        at = i1
        for block in group:
            yield from (f" {line}" for line in old[at : block.i1])
            yield from (f"-{line}" for line in old[block.i1 : block.i2])
            yield from (f"+{line}" for line in new[block.j1 : block.j2])
            at = block.i2
        yield from (f" {line}" for line in old[at:i2])


def _range(start: int, stop: int) -> str:
    length = stop - start
    if length == 1:
        return f"{start + 1}"
    return f"{start + 1 if length else start},{length}"


def _blocks(old: list[str], new: list[str]) -> list[_Block]:
    shorter = min(len(old), len(new))
    head = next((at for at in range(shorter) if old[at] != new[at]), shorter)
    rest = shorter - head
    tail = next((at for at in range(rest) if old[-1 - at] != new[-1 - at]), rest)
    left, right = old[head : len(old) - tail], new[head : len(new) - tail]
    if not left and not right:
        return []
    if len(left) * len(right) > _COMPARED:
        return [_Block(head, head + len(left), head, head + len(right))]
    matcher = difflib.SequenceMatcher(None, left, right)
    return [
        _Block(head + i1, head + i2, head + j1, head + j2)
        for tag, i1, i2, j1, j2 in matcher.get_opcodes()
        if tag != "equal"
    ]


def _group_blocks(blocks: list[_Block]) -> list[list[_Block]]:
    """Blocks so close together that their context meets."""
    groups: list[list[_Block]] = []
    for block in blocks:
        if groups and block.i1 - groups[-1][-1].i2 <= 2 * _CONTEXT:
            groups[-1].append(block)
        else:
            groups.append([block])
    return groups
