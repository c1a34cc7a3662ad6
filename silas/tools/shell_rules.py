"""The rules of a worker's shell: which commands run, which are asked for, which never run.

Pure. First match wins; a pattern is a prefix of whole words; without a match and without a default
a command is blocked. What a command starts is held to the same rules as the command itself, and
what cannot be read is never let through unasked. The rules read words, not what programs do: the
sandbox holds whatever they miss.

Everything that a command line starts is judged as if given itself. That can be too strict and
never too lenient for what it can read; the rest asks.
"""

import shlex
from collections.abc import Sequence
from enum import IntEnum
from functools import lru_cache
from itertools import pairwise
from typing import Final

from pydantic import Field, field_validator

from silas.tools.shell_launch import (
    CODE_OPTION,
    META,
    NOTHING,
    OPERATORS,
    WINDOW,
    LaunchWords,
    lines_in,
    program,
    started_by,
)
from silas.types import FrozenModel


class ShellVerdict(IntEnum):
    """What the rules say about a command, from lenient to strict."""

    allowed = 0
    """No question of its own."""
    asks = 1
    """A rule wants an approval; `pre_approved` answers it."""
    looks = 2
    """It holds what cannot be read; a person looks at it, pre-approved or not."""
    blocked = 3
    """Never."""


class ShellDefault(FrozenModel):
    """What happens with a command that no rule names."""

    approval_required: bool = True
    blocked: bool = False

    @property
    def verdict(self) -> ShellVerdict:
        """Strictest first."""
        if self.blocked:
            return ShellVerdict.blocked
        return ShellVerdict.asks if self.approval_required else ShellVerdict.allowed


class ShellRule(ShellDefault):
    """What happens with commands that begin with these words.

    Attributes:
        pattern: Whole words, as a shell would split them. `git` is not `gitx`; `git status` covers
            `git status -s` and not `git stash`. A last word `*` says the same more clearly.
        approval_required: Whether each such command asks.
        blocked: Whether it never runs, whatever else is said.
    """

    pattern: str = Field(min_length=1)

    @field_validator("pattern")
    @classmethod
    def _words(cls, pattern: str) -> str:
        try:
            words = shlex.split(pattern)
        except ValueError as error:
            raise ValueError(f"cannot be split into words ({error}); close its quotes") from error
        if not words:
            raise ValueError("must name a program, such as `git *`")
        if any("*" in word for word in words[:-1]) or ("*" in words[-1] and words[-1] != "*"):
            raise ValueError("may have `*` only as its last word: rules match whole words")
        if len(words) > WINDOW:
            raise ValueError(f"may have at most {WINDOW} words")
        if META.search(pattern):
            raise ValueError("must not have characters that mean something to a shell")
        return pattern

    @property
    def words(self) -> LaunchWords:
        """The literal words; none for `*` alone, which covers everything."""
        return _literal(self.pattern)

    def covers(self, argv: Sequence[str]) -> bool:
        """Whether a command begins with these words.

        A rule that is strict knows its program under any directory; one that lets things run
        knows it under no other name than its own.
        """
        words, given = self.words, tuple(argv[: len(self.words)])
        if not words or given == words:
            return bool(argv)
        if self.verdict is ShellVerdict.allowed or not given:
            return False
        return (program(given[0]), *given[1:]) == (program(words[0]), *words[1:])


class ShellRules(FrozenModel):
    """The configuration of the shell toolset. Without rules and default everything is blocked."""

    rules: tuple[ShellRule, ...] = ()
    default: ShellDefault | None = None

    def verdict(self, argv: Sequence[str]) -> ShellVerdict:
        """What happens with a command; the strictest of all that it would start."""
        words = tuple(argv)
        if not words or _is_line(words):
            return ShellVerdict.blocked
        started = started_by(words, {program(rule.words[0]) for rule in self.rules if rule.words})
        verdicts = [self.of_one(words), *map(self.of_one, started.commands)]
        verdicts += [ShellVerdict.blocked for maybe in started.words if self._forbids(maybe)]
        if not started.readable:
            verdicts += [self._default_verdict(), ShellVerdict.looks]
        if any(True for _ in lines_in(words)) or _gives_code(words, known=started is not NOTHING):
            verdicts.append(ShellVerdict.looks)
        return max(verdicts)

    def of_one(self, argv: LaunchWords) -> ShellVerdict:
        """The first rule that covers these words, read as one plain command."""
        first = next((rule for rule in self.rules if rule.covers(argv)), None)
        return self._default_verdict() if first is None else first.verdict

    def _default_verdict(self) -> ShellVerdict:
        return ShellVerdict.blocked if self.default is None else self.default.verdict

    def _forbids(self, maybe: LaunchWords) -> bool:
        """Whether words that may or may not be a command are one that a rule blocks by name."""
        first = next((rule for rule in self.rules if rule.words and rule.covers(maybe)), None)
        return first is not None and first.blocked


@lru_cache
def _literal(pattern: str) -> LaunchWords:
    words = shlex.split(pattern)
    return tuple(words[:-1] if words[-1] == "*" else words)


NO_SHELL_RULES: Final = ShellRules(default=ShellDefault(approval_required=False))
"""A shell toolset without rules of its own: the plan, the matrix and the gates decide."""


def _is_line(argv: LaunchWords) -> bool:
    """Whether a line for a shell was given where there is no shell: as a word, or word by word."""
    if any(character.isspace() for character in argv[0]) or META.search(argv[0]):
        return True
    ends = {";"} if program(argv[0]) == "find" else set[str]()
    return any(word in OPERATORS - ends for word in argv[1:])


def _gives_code(argv: LaunchWords, *, known: bool) -> bool:
    """Whether a program that nobody knows is given text that it may run."""
    if known:
        return False
    pairs = pairwise(argv[1:])
    return any(CODE_OPTION.fullmatch(option) and _is_text(text) for option, text in pairs) or any(
        word.startswith("--") and CODE_OPTION.fullmatch(word) and _is_text(word.partition("=")[2])
        for word in argv[1:]
    )


def _is_text(word: str) -> bool:
    return any(character.isspace() for character in word)
