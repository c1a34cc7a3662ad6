"""Regular expressions from plans and configuration, kept from running forever.

Python's engine backtracks, so a short pattern can take longer than the universe is old. Two guards:
a pattern whose repeats nest is refused, and for the rest the greatest possible number of steps is
computed for the very text at hand, and refused above a budget. The bound is arithmetic, not a
timer: the same pattern and text always give the same answer, on every machine.

It does not protect against a pattern that is wrong; and it refuses some that would be harmless.
"""

import re
import warnings
from collections.abc import Callable
from functools import lru_cache
from typing import NamedTuple

MAX_PATTERN_CHARS = 500
"""A pattern that nobody can read is not a rule that somebody approved."""

MAX_STEPS = 50_000_000
"""About a second of the engine's worst case on an ordinary machine."""

_QUANTIFIER = re.compile(r"(?:[*+?]|\{(?P<low>\d*)(?P<comma>,)?(?P<high>\d*)\})[?+]?")
_GROUP = re.compile(r"\(\?(?:P<\w+>|:|<?[=!]|[aimsu]+(?=\)))")
_ESCAPE = re.compile(r"\\(?:x..|u.{4}|U.{8}|N\{[^}]*\}|[0-7]{3}|0[0-7]?|.)", re.DOTALL)
_CLASS = re.compile(r"\[\^?\]?(?:\\.|[^\]\\])*\]", re.DOTALL)
_UNBOUNDED = 1 << 30
_BLANKS = tuple(filter(str.isspace, map(chr, range(0x3001))))


class PatternRefused(ValueError):
    """A pattern that is invalid, too long, or could take too long; the message says which."""


class _Repeat(NamedTuple):
    """One quantified atom: its source (empty for a group that is not rigid), its greatest count."""

    atom: str
    high: int


class _Examined(NamedTuple):
    """What is known about a pattern before there is a text.

    Attributes:
        compiled: The pattern itself.
        repeats: For every repeat what finds its runs (None: it can eat everything), and its
            greatest count.
        ways: In how many ways the alternatives can be taken, whatever the text is.
        anchored: A match can begin only at the start of the text.
        literal: What every match begins with, empty where that is not known.
    """

    compiled: re.Pattern[str]
    repeats: tuple[tuple[re.Pattern[str] | None, int], ...]
    ways: int
    anchored: bool
    literal: str


class _Part(NamedTuple):
    """What scanning learned: every repeat, whether the length is fixed ("rigid"), and the ways."""

    repeats: tuple[_Repeat, ...]
    rigid: bool
    ways: int = 1


def search(pattern: str, text: str) -> re.Match[str] | None:
    """`re.search`, where it provably ends soon.

    Raises:
        PatternRefused: The pattern is invalid, nests repeats, refers back, or could need more than
            `MAX_STEPS` steps on this text.
    """
    return _require_bounded(pattern, text).search(text)


def fullmatch(pattern: str, text: str) -> re.Match[str] | None:
    """`re.fullmatch` under the same guards as `search`; it begins at the start of the text only."""
    return _require_bounded(pattern, text, whole=True).fullmatch(text)


def substitute(pattern: str, replacement: str, text: str) -> str:
    """`re.sub` under the same guards as `search`, where the text has what a match begins with."""
    known = _examine_pattern(pattern)
    _check_replacement(known.compiled, replacement)
    if known.literal and known.literal not in text:
        return text  # nearly every answer, of every key that the shipped gate looks for
    return _require_bounded(pattern, text).sub(replacement, text)


class Matches(NamedTuple):
    """Where in a text that goes on matches can be, as far as the pattern alone tells.

    Attributes:
        begin: What every match begins with; never empty.
        blanks: Whether a match may hold white space.
    """

    begin: str
    blanks: bool


def matches_in_part(pattern: str) -> Matches | None:
    """What of a part of a text can be told; None where a match may depend on what comes later.

    Raises:
        PatternRefused: As `search`.
    """
    known = _examine_pattern(pattern)
    scanner = _Scanner(pattern)
    scanner.alternation()
    if not known.literal or scanner.looks:
        return None
    flags = known.compiled.flags
    blanks = any(
        _compile_pattern(atom, flags).fullmatch(one) for atom in scanner.atoms for one in _BLANKS
    )
    return Matches(known.literal, blanks)


@lru_cache(maxsize=512)  # as `_examine_pattern`
def _check_replacement(compiled: re.Pattern[str], replacement: str) -> None:
    try:
        compiled.sub(replacement, "")
    except (re.error, IndexError) as error:
        raise PatternRefused(f"the replacement {replacement!r} is not valid: {error}") from error


def check_pattern(pattern: str) -> None:
    """Refuse what would be refused for every text; for validating a configuration at start.

    Raises:
        PatternRefused: As `search`.
    """
    _examine_pattern(pattern)


def _require_bounded(pattern: str, text: str, *, whole: bool = False) -> re.Pattern[str]:
    known = _examine_pattern(pattern)
    if whole:
        known = known._replace(anchored=True)
    if not _within(known, text, exactly=False) and not _within(known, text, exactly=True):
        raise PatternRefused(
            f"the pattern {pattern!r} may need too many steps on {len(text)} characters; "
            "anchor it, start it with literal text, or use fewer repeats"
        )
    return known.compiled


def _within(known: _Examined, text: str, *, exactly: bool) -> bool:
    """Whether the greatest possible number of steps is within the budget.

    Not exactly, a run is taken to be as long as the text: more than it can be, and known at once.
    """
    if not known.repeats and known.ways == 1:
        return True
    steps = _starts(known, text) * known.ways
    for runs, high in known.repeats:
        longest = _longest_run(runs, text) if exactly and runs is not None else len(text)
        steps *= min(longest, high) + 1
    return steps <= MAX_STEPS


def _starts(known: _Examined, text: str) -> int:
    """At how many positions a match can begin to be tried in earnest."""
    if known.anchored:
        return 1
    return max(text.count(known.literal), 1) if known.literal else len(text) + 1


def _longest_run(runs: re.Pattern[str], text: str) -> int:
    """How many characters in a row the repeated atom can eat in this text."""
    return max((m.end() - m.start() for m in runs.finditer(text)), default=0)


# Gates ask about the same few patterns at every message, and only the text is new.
@lru_cache(maxsize=512)
def _examine_pattern(pattern: str) -> _Examined:
    compiled, (repeats, _, ways) = _scan(pattern)
    alternatives = "|" in pattern
    at_start = "^" if not compiled.flags & re.MULTILINE else "\\A"
    literal = re.match(r"(?:\\b)?((?:[\w\"':=<>/ -](?![*+?{]))+)", pattern)
    # alternatives begin elsewhere, and ignoring case the text may spell it otherwise
    spelled = literal and not alternatives and not compiled.flags & re.IGNORECASE
    return _Examined(
        compiled,
        tuple(
            (_compile_pattern(f"(?:{r.atom})+", compiled.flags) if r.atom else None, r.high)
            for r in repeats
        ),
        ways=ways,
        anchored=pattern.startswith(("\\A", at_start)) and not alternatives,
        literal=literal[1] if literal and spelled else "",
    )


def _scan(pattern: str) -> tuple[re.Pattern[str], _Part]:
    if len(pattern) > MAX_PATTERN_CHARS:
        raise PatternRefused(f"a pattern has at most {MAX_PATTERN_CHARS} characters")
    compiled = _compile_pattern(pattern)
    if compiled.flags & re.VERBOSE:
        raise PatternRefused("a pattern may not use verbose mode")
    return compiled, _Scanner(pattern).alternation()


def _compile_pattern(pattern: str, flags: int = 0) -> re.Pattern[str]:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", FutureWarning)
            return re.compile(pattern, flags)
    except FutureWarning as error:
        raise PatternRefused(
            f"the pattern {pattern!r} will mean something else in a later Python ({error}); write "
            "a backslash before what is meant as it stands"
        ) from error
    except (re.error, OverflowError, RecursionError) as error:
        raise PatternRefused(f"the pattern {pattern!r} is not valid: {error}") from error


class _Scanner:
    """Walks a pattern that `re` already accepted, collecting what can repeat."""

    def __init__(self, pattern: str) -> None:
        self._text = pattern
        self._at = 0
        self.atoms: list[str] = []  # each that takes one character of the text
        self.looks = False  # at what stands around a match, or at the end of the text

    def alternation(self) -> _Part:
        repeats: list[_Repeat] = []
        rigid, ended, ways = True, 0, 1  # `ended`: the ways of the branches before this one
        while self._at < len(self._text) and self._text[self._at] != ")":
            if self._text[self._at] == "|":
                self._at += 1
                rigid, ended, ways = False, ended + ways, 1
                continue
            part = self._item()
            repeats += part.repeats
            rigid = rigid and part.rigid
            ways *= part.ways
        return _Part(tuple(repeats), rigid, ended + ways)

    def _item(self) -> _Part:
        """One atom with its quantifier."""
        char = self._text[self._at]
        readers: dict[str, Callable[[], tuple[str, _Part]]] = {
            "(": self._group,
            "[": self._class,
            "\\": self._escape,
        }
        atom, body = readers.get(char, self._literal)()
        found = _QUANTIFIER.match(self._text, self._at)
        if found is None or found.group().startswith("{}"):
            return body
        self._at = found.end()
        low, high = _counts(found)
        if char == "(" and found.group()[1:].endswith("+"):
            # Python before 3.11.5 takes what a group that does not match has read of the text
            raise PatternRefused(
                f"the pattern {self._text!r} repeats a group possessively; write it without the "
                "last +"
            )
        if high > 1 and not body.rigid:
            raise PatternRefused(
                f"the pattern {self._text!r} repeats a group that itself repeats or has "
                "alternatives, which can take for ever; write it without nesting"
            )
        again = _Repeat(atom, high)
        return _Part((*body.repeats, again), low == high and body.rigid, body.ways)

    def _group(self) -> tuple[str, _Part]:
        start = self._at
        if self._text.startswith(("(?P=", "(?("), self._at):
            raise PatternRefused(f"the pattern {self._text!r} refers back to a group")
        if self._text.startswith("(?#", self._at):
            self._at = self._text.index(")", self._at) + 1
            return "", _Part((), True)
        head = _GROUP.match(self._text, self._at)
        if head is None and self._text.startswith("(?", self._at):
            raise PatternRefused(
                f"the pattern {self._text!r} uses a kind of group not allowed here"
            )
        self._at = head.end() if head else self._at + 1
        self.looks |= head is not None and head.group().endswith(("=", "!"))
        part = self.alternation()
        self._at += 1
        return self._text[start : self._at] if part.rigid else "", part

    def _class(self) -> tuple[str, _Part]:
        found = _CLASS.match(self._text, self._at)
        if found is None:
            raise PatternRefused(f"the pattern {self._text!r} has an unclosed class")
        return self._take(found)

    def _escape(self) -> tuple[str, _Part]:
        found = _ESCAPE.match(self._text, self._at)
        if found is None:
            raise PatternRefused(f"the pattern {self._text!r} ends in a backslash")
        atom = found.group()
        if atom[1] in "123456789" and len(atom) == 2:
            raise PatternRefused(f"the pattern {self._text!r} refers back to a group")
        return self._take(found)

    def _literal(self) -> tuple[str, _Part]:
        atom = self._text[self._at]
        self._at += 1
        self.atoms.append(atom)
        self.looks |= atom == "$"
        return atom, _Part((), True)

    def _take(self, found: re.Match[str]) -> tuple[str, _Part]:
        self._at = found.end()
        self.atoms.append(found.group())
        self.looks |= found.group() == "\\Z"
        return found.group(), _Part((), True)


def _counts(found: re.Match[str]) -> tuple[int, int]:
    """The least and greatest count of a quantifier."""
    sign = found.group()[0]
    if sign != "{":
        return {"*": (0, _UNBOUNDED), "+": (1, _UNBOUNDED), "?": (0, 1)}[sign]
    low = int(found["low"] or 0)
    if not found["comma"]:
        return low, low
    return low, int(found["high"]) if found["high"] else _UNBOUNDED
