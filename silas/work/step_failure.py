"""At which step of a runbook an attempt failed, in the words of the program itself (5.2.1 c1)."""

import re
from typing import Final

from silas.context import scrub_output
from silas.language import tr
from silas.plans import show
from silas.tools import ToolResult
from silas.tools.builtin.sandboxed import exit_code_of
from silas.work.ledger import Ledger

_HEADING: Final = re.compile(r"(?:stdout|stderr) \(\d+ characters\):")
_LONGEST: Final = 240  # characters of what a program said; its output has all of it


def step_failure(ledger: Ledger) -> str:
    """That a step failed, and what its program said last; nothing where each succeeded.

    It rests on what the tools did, and on no word of a model. What a program says is external
    text, so it stands on one line behind Silas's own words.
    """
    failed = next((entry for entry in ledger.entries if not entry.result.ok), None)
    if failed is None:
        return ""
    return tr("Step {step} failed: {said}", step=failed.step, said=_last_words(failed.result))


def _last_words(result: ToolResult) -> str:
    """The last line that a program printed, complaints before results; else how it ended."""
    code = exit_code_of(result)
    if code is None:
        return _one_line(result.error or result.return_value)
    printed = result.return_value.split("\n")[1:]  # the exit code comes first
    lines = [line for line in printed if line.strip() and not _HEADING.fullmatch(line)]
    return _one_line(lines[-1]) if lines else tr("exit code {code}", code=code)


def _one_line(text: str) -> str:
    words = show(" ".join(scrub_output(text).split()))
    return words if len(words) <= _LONGEST else f"{words[:_LONGEST]}…"
