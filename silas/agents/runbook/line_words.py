"""A line for a file that was said without quotes, where its words could ask for something else."""

import re
from typing import Any, Final

from silas.agents.runbook.library import Library
from silas.language import tr
from silas.plans.runbooks.unquoted import with_quotes

_LINE: Final = re.compile(
    r"(?:(?:please|bitte)\s+)?(?P<verb>add|append|write|put|füge|schreibe?|ergänze)\s+"
    r"(?P<text>[^\s.\"'`][^\n.\"'`]*\s[^\n.\"'`]*?)\s+(?P<to>to|into|in|zu|an)\s+"
    r"(?:(?:the|my|die|meine)\s+)?(?:(?:file|datei)\s+)?"
    r"(?P<file>[\w~./-]*\w\.[A-Za-z]\w{0,4})(?P<end>\s+(?:hinzu|an|ein))?[\s.!]*",
    re.IGNORECASE,
)
_MOST: Final = 180


def in_quotes(library: Library[Any], plan: Any, text: str) -> str:
    """A request with quotes around what its plan takes without them."""
    return with_quotes(plan.parameters, library.parameters_from(plan, text), text)


def ask_for_quotes(text: str) -> str:
    """One sentence that asks for quotes around a line; empty for every other request."""
    found = _LINE.fullmatch(text.strip())
    if found is None or len(found["text"]) > _MOST:
        return ""
    verb, line, to, file = found["verb"], found["text"], found["to"], found["file"]
    example = f'{verb} "{line}" {to} {file}{found["end"] or ""}'
    return tr(
        "If the line shall say just that, say it in quotes: {example}. Writing the text for you "
        "takes a language model.",
        example=example,
    )
