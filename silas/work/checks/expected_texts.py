"""What the checks of a plan look for in a file by its name, word for word. Pure."""

import posixpath
import shlex
from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from silas.plans import VerificationCheck
from silas.work.checks.called_scripts import inside

_SEARCHES: Final = frozenset({"grep", "egrep", "fgrep", "rg"})
_PLAIN: Final = frozenset("qsFEwx")
"""Options that leave a search one for what is there: `-v` and `-c` are none of them."""
_SIGNS: Final = frozenset(";|&$<>`!()\n\\")
"""With one of them in it a line may say the opposite, and is not read."""


def expected_texts(
    checks: Iterable[VerificationCheck], workspace: str
) -> Mapping[str, frozenset[str]]:
    """The words that checks look for with `grep WORD FILE`, by the file, relative to the workspace.

    Args:
        checks: Of the plan. Those count that say nothing but such searches, joined by `&&`.
        workspace: Where it stands, for absolute paths in a command.
    """
    found: dict[str, frozenset[str]] = {}
    for check in checks:
        parts = check.run.split("&&")
        if check.expect.exit_code != 0 or any(_SIGNS & set(part) for part in parts):
            continue
        for path, word in filter(None, map(_demand, parts)):
            at = inside(path, workspace)
            found[at] = found.get(at, frozenset()) | {word}
    return found


def _demand(line: str) -> tuple[str, str] | None:
    """The file of one search and its word; None where the line is something else."""
    try:
        words = shlex.split(line)
    except ValueError:
        return None
    if not words or words[0] not in _SEARCHES:
        return None
    given = list(_beside_options(words[1:]))
    if len(given) != 2 or not given[0] or not given[1]:
        return None
    return posixpath.normpath(given[1]), given[0].strip(" \t\"',")


def _beside_options(words: Iterable[str]) -> Iterator[str]:
    for word in words:
        if not word.startswith("-"):
            yield word
        elif not set(word[1:]) <= _PLAIN:
            yield ""  # what it does is not known, so this demands nothing
