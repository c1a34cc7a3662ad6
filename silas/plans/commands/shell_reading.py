"""How a text for a shell runs, as far as that decides what it can see (decision D522). Pure."""

import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from silas.plans.commands.executed_files import program_of
from silas.plans.commands.hidden_from_checks import CLIENTS, COMMANDS
from silas.plans.commands.script_runners import LOOKS_ONLY
from silas.plans.commands.shell_words import ASSIGNED, KEYWORDS, PUNCTUATION, tokens_in

ScriptWords = tuple[str, ...]

_BESIDE: Final = re.compile(r"(?<![&|<>])&(?![&<>])")
_DOCUMENT: Final = re.compile(r"(?<!<)<<(?!<)(-?)[ \t]*(['\"]?)([A-Za-z_]\w*)\2")
_MARK: Final = "\ue000"
_INNER_TEXT: Final = re.compile(r"\$\(|`|[<>]\(")
_IDLE: Final = (
    LOOKS_ONLY
    | {"wait", "read"}
    | COMMANDS.keys()
    | (CLIENTS - {"ssh", "socat", "nc", "ncat", "netcat"})
)
"""Programs that are nothing which another command looks for, though they run beside it."""
_OF_JOBS: Final = re.compile(r"\$!|\bjobs\b|%\d")
_ENDS: Final = frozenset({"}", "done", "fi", "esac"})
_CONDITIONS: Final = frozenset({"if", "while", "until", "!"})
_ASKS: Final = frozenset({"[", "[[", "test"})
_DECIDES: Final = re.compile(r"\||&&")


def without_documents(text: str) -> tuple[str, Mapping[str, str]]:
    """A text without its here-documents, and each of them by the word that stands for it."""
    found, lines = dict[str, str](), list[str]()
    waiting = iter(text.split("\n"))
    for line in waiting:
        for dash, _, word in _DOCUMENT.findall(line):
            mark = f"{_MARK}{len(found)}"
            line = _DOCUMENT.sub(f"< {mark}", line, count=1)  # noqa: PLW2901
            found[mark] = "\n".join(_until(waiting, word, bool(dash)))
        lines.append(line)
    return "\n".join(lines), found


def _until(lines: Iterator[str], word: str, tabs: bool) -> Iterator[str]:
    for line in lines:
        plain = line.lstrip("\t") if tabs else line
        if plain == word:
            return
        yield plain


def starts_beside(text: str) -> bool:
    """Whether a text starts something that it may look for, and goes on while that runs.

    What only waits or looks is not looked for, unless a later word names it.
    """
    before, group = list[ScriptWords](), list[ScriptWords]()
    words, idle = list[str](), set[str]()
    for token in [*tokens_in(text), "\n"]:
        if not _is_operator(token):
            words.append(token)
            if _INNER_TEXT.search(token) and starts_beside(_INNER_TEXT.sub("\n", token)[:-1]):
                return True
            continue
        if set(token) <= set("<>&") and set(token) & set("<>"):
            continue
        if words:
            group.append(tuple(words))
        if _BESIDE.search(token):
            if not words or words[-1] in _ENDS or ")" in token:
                group = [*before, *group]  # what the braces hold
            programs = {program_of(one[0]) for one in map(_plain, group) if one}
            if not programs <= _IDLE:
                return True
            idle |= programs
        if not re.fullmatch(r"\|\||&&|\|&?", token):
            before, group = [*before, *group], []
        words = []
    named = {word for one in before for word in _plain(one)[1:]}
    return bool(idle) and (_OF_JOBS.search(text) is not None or not idle.isdisjoint(named))


def alternatives_in(text: str) -> Iterator[ScriptWords]:
    """What runs where something before it failed; an empty one where that is several commands."""
    tokens = tokens_in(text)
    for at, token in enumerate(tokens):
        if _is_operator(token) and "||" in token:
            words = list[str]()
            for word in tokens[at + 1 :]:
                if _is_operator(word):
                    break
                words.append(word)
            yield () if words[:1] == ["{"] else _plain(words)


def decisive_part(script: str) -> str:
    """The part of a script whose results decide how it ends.

    Left out are branches, and what a script only prints or cleans up on its way.
    """
    statements = [*_statements(script)]
    if any(one[:1] == ["case"] for one in statements):
        return ""
    strict = any(one[0] == "set" and re.search(r"-\w*e", " ".join(one)) for one in statements)
    last = len(statements) - 1
    kept = list[str]()
    for at, statement in enumerate(statements):
        chained = any(_is_operator(one) and "&&" in one for one in statement)
        if statement[0] in _ASKS and chained and at != last:
            continue
        decides = not _CONDITIONS.isdisjoint(statement) or any(
            (_is_operator(one) and _DECIDES.search(one)) or _INNER_TEXT.search(one) or one == "$"
            for one in statement
        )
        if strict or decides or at == last or any(map(ASSIGNED.fullmatch, statement)):
            kept.append(" ".join(one if _is_operator(one) else shlex.quote(one)
                                 for one in statement))  # fmt: skip
    return "\n".join(kept)


def _statements(script: str) -> Iterator[list[str]]:
    """Each statement outside branches, in words and operators."""
    branches, statement = list[bool](), list[str]()
    begins = True
    for part in [*tokens_in(script), "\n"]:
        if begins and part == "if":
            branches.append(any(branches))
        elif begins and part in ("then", "elif", "else") and branches:
            branches[-1] = True
        elif begins and part == "fi" and branches:
            branches.pop()
            continue
        begins = _is_operator(part) or part in KEYWORDS
        if _is_operator(part) and re.search(r"[;\n]", part):
            if statement:
                yield statement
            statement = []
        elif not any(branches):
            statement.append(part)


def _plain(words: Sequence[str]) -> ScriptWords:
    """Words without what stands before a program."""
    rest = list(words)
    while rest and (rest[0] in KEYWORDS or ASSIGNED.fullmatch(rest[0])):
        rest.pop(0)
    return tuple(rest)


def _is_operator(token: str) -> bool:
    return bool(token) and all(char in PUNCTUATION for char in token)
