"""Why work did not succeed, told in the owner's language (spec 8.2).

What is kept is in English where models read it, too: checks that failed, an executor that gives up,
a planner's verdict. It is told where it is shown, in the language of that moment. What a check
printed, and the words of a model, stay as they are.
"""

import re
from typing import Final

from silas.language import refusal_words, retell, retranslate, tr_later
from silas.plans.failures import QUOTE, failures_told

_NO_REASON: Final = tr_later("it gives no reason.")
_CODE: Final = tr_later("exit code {code}")
_NAMED: Final = tr_later("`{name}` failed with exit code {code}")
_CALL: Final = tr_later("{tool} failed: {said}")
_TOOL = re.compile(r"[\w.-]+ failed: ")
_EACH = re.compile(r"`[^`]*` failed with exit code -?[0-9]+")

_SENTENCES: Final = (
    tr_later("The executor reports that this takes another plan: {why}"),
    tr_later("The executor reports that it cannot go on: {why}"),
    tr_later("The planner finds that the plan itself is wrong: {why}"),
    tr_later("It ran to its end, and what it looked at is not in order: {named}."),
    tr_later("What cannot be written back must be removed: {names}."),
    tr_later("Step {step} failed: {said}"),
    tr_later("nothing was done"),
)


END_SENTENCES: Final = (
    tr_later("Done and verified: {passed}."),
    tr_later("Done; the plan has no checks, so nothing was verified."),
    *_SENTENCES,
)
"""What a result says of how work ended, as far as it is the same in each language but for names."""


def tell_end(text: str) -> str:
    """How work ended, as its owner reads it; what was told in his language stays."""
    return "\n".join(map(_tell_line, failures_told(text).split("\n")))


def _tell_line(line: str) -> str:
    if not line or line.startswith(QUOTE):
        return line
    values = {"why": _tell_reason, "named": _tell_checks, "said": _tell_code}
    told = retranslate(line, (*_SENTENCES, _CALL) if _TOOL.match(line) else _SENTENCES, values)
    if told == line:
        told = refusal_words(line)
    return retell(line, END_SENTENCES) if told == line else told


def _tell_reason(why: str) -> str:
    return retranslate(why, (_NO_REASON,))


def _tell_code(said: str) -> str:
    return retranslate(said, (_CODE,))


def _tell_checks(named: str) -> str:
    return _EACH.sub(lambda found: retranslate(found[0], (_NAMED,)), named)
