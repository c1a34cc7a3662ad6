"""What a line for a shell runs under another name, to which it copied it before. Pure.

It over-reads, as the other readers of commands: whatever went into a file that is run is taken for
what is run.
"""

import posixpath
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Final, NamedTuple

from silas.plans.commands.shell_words import PUNCTUATION, SimpleCommand, tokens_in

_COPIES: Final = frozenset({"cp", "mv", "ln", "install", "rsync"})
_TARGET: Final = ("-t", "--target-directory")


class _Copied(NamedTuple):
    """What went where."""

    target: str
    sources: tuple[str, ...]


def copied_from(text: str, commands: Sequence[SimpleCommand], run: str) -> Iterator[str]:
    """The paths from which a line made a file that it runs.

    Args:
        text: The line.
        commands: Its commands.
        run: The path of what it runs.
    """
    for target, sources in _copies_in(text, commands):
        if run == target:
            yield from sources
        elif run.startswith(f"{target}/") or target == ".":
            below = run if target == "." else run[len(target) + 1 :]
            for one in sources:
                yield from (one, f"{one}/{below}", posixpath.join(posixpath.dirname(one), below))


def _copies_in(text: str, commands: Sequence[SimpleCommand]) -> Iterator[_Copied]:
    every = tuple(path for one in commands for path in _paths(one, one.argv[1:]))
    for one in commands:
        name = posixpath.basename(one.argv[0])
        if name == "tee":
            for target in _paths(one, one.argv[1:]):
                yield _Copied(target, every)
        elif name in _COPIES:
            given = [word for before, word in pairwise(one.argv) if before in _TARGET]
            words = _paths(one, one.argv[1:])
            for target in (*_paths(one, given), *words[-1:]):
                yield _Copied(target, tuple(path for path in words if path != target))
    for operator, word in pairwise(tokens_in(text)):
        if ">" in operator and set(operator) <= set(PUNCTUATION) - set("(<"):
            for cwd in {one.cwd for one in commands}:
                yield _Copied(posixpath.normpath(posixpath.join(cwd, word)), every)


def _paths(command: SimpleCommand, words: Sequence[str]) -> tuple[str, ...]:
    return tuple(
        posixpath.normpath(posixpath.join(command.cwd, word))
        for word in words
        if word and not word.startswith("-")
    )
