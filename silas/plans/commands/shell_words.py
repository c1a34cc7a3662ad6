"""The simple commands of a line for a shell, as far as its words say (decision D305). Pure.

This decides what is bound by an approval and told of a result. It over-reads: what might be a
command is taken for one, because a file that is bound without need costs a look, and one that is
missed costs the promise.
"""

import posixpath
import re
import shlex
from collections.abc import Iterator
from typing import Final, NamedTuple

CommandWords = tuple[str, ...]

PUNCTUATION: Final = ";&|()<>\n"
ASSIGNED: Final = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)=(.*)", re.DOTALL)
_INNER: Final = re.compile(r"\$\(|`|[<>]\(")
_DOLLAR_QUOTE: Final = re.compile(r"\$(?=['\"])")
KEYWORDS: Final = frozenset(
    {
        "if", "then", "else", "elif", "fi", "while", "until", "do", "done", "!", "{", "}", "[[",
        "]]", "exec", "command", "builtin", "eval", "export",
    }
)  # fmt: skip
_DEPTH: Final = 4  # command substitutions inside each other


class SimpleCommand(NamedTuple):
    """One simple command.

    Attributes:
        argv: Its words.
        cwd: The directory that a `cd` before it led to, relative to where the line began.
        assigned: `NAME=value` before it or before a command of the same line.
        piped: Whether its output goes to another command, or into the words of one.
    """

    argv: CommandWords
    cwd: str = ""
    assigned: tuple[tuple[str, str], ...] = ()
    piped: bool = False


def commands_in(text: str, cwd: str = "", depth: int = _DEPTH) -> tuple[SimpleCommand, ...]:
    """Every simple command of a line or script for a shell, in order.

    Where a directory may have been left again, each command is found in the first one, too.
    """
    found: list[SimpleCommand] = []
    assigned: list[tuple[str, str]] = []
    began = cwd
    for words, piped in _simple(text):
        for word in words if depth else ():
            if _INNER.search(word):
                inner = _INNER.sub("\n", word).replace(")", "\n")
                found += [one._replace(piped=True) for one in commands_in(inner, cwd, depth - 1)]
        rest = list(words)
        while rest and (rest[0] in KEYWORDS or ASSIGNED.fullmatch(rest[0])):
            if given := ASSIGNED.fullmatch(rest.pop(0)):
                assigned.append((given[1], given[2]))
        if not rest:
            continue
        found.append(SimpleCommand(tuple(rest), cwd, tuple(assigned), piped))
        if rest[0] in ("cd", "pushd") and len(rest) > 1:
            cwd = posixpath.normpath(posixpath.join(cwd, rest[-1]))
    if cwd != began and _may_leave(text):
        found += [one._replace(cwd=began) for one in found if one.cwd != began]
    return tuple(found)


def _may_leave(text: str) -> bool:
    return "(" in text or "popd" in text or re.search(r"\bcd\s+(?:-|\S*\$)", text) is not None


def _simple(text: str) -> Iterator[tuple[CommandWords, bool]]:
    """The words between operators, and whether the operator after them is a pipe.

    Where input comes from a file, that is a word, too.
    """
    words: list[str] = []
    skip = False
    for token in tokens_in(text):
        if token and all(char in PUNCTUATION for char in token):
            # what is written to is not run
            skip = ">" in token and not set(token) & set("(<")
            if not set(token) & set("<>"):
                yield tuple(words), token.startswith("|") and not token.startswith("||")
                words = []
        elif skip:
            skip = False
        else:
            words.append(token)
    yield tuple(words), False


def tokens_in(text: str) -> list[str]:
    """The words of a text for a shell, and its operators; a word keeps no quotes."""
    text = _DOLLAR_QUOTE.sub("", text.replace("\\\n", " "))
    lines = [line for line in text.split("\n") if not line.lstrip().startswith("#")]
    lexer = shlex.shlex("\n".join(lines), posix=True, punctuation_chars=PUNCTUATION)
    lexer.whitespace, lexer.whitespace_split, lexer.commenters = " \t\r", True, ""
    try:
        return list(lexer)
    except ValueError:  # a quote is left open: a shell would refuse it
        return [word.strip("'\"") for word in re.split(r"([;&|()<>\n])|\s+", text) if word]
