"""Failed checks as text for a briefing: quoted, so that output stays output (spec 5.2.3).

What a check prints may come from anywhere. Here it can be neither front matter, nor a heading,
nor a fence, nor an instruction at the margin: every line of it stands behind `  | `.
"""

import json
import re
from collections.abc import Sequence

from silas.language import retranslate, tr, tr_later
from silas.plans.characters import first_hidden, strip_hidden
from silas.plans.models import VerificationReport, VerificationResult

MAX_REASON = 300
"""Characters of a check's reason that are kept."""

MAX_OUTPUT = 1000
"""Characters of a check's output that are kept, as in `VerificationResult`."""

QUOTE = "  | "
"""What a line begins with that a check printed."""
_HEAD = re.compile(r'- check (?P<name>".*") failed(?: with exit code (?P<code>-?[0-9]{1,10}))?')
_OTHER_CODE = tr_later("exit code {got}, expected {wanted}")


def format_failures(report: VerificationReport) -> str:
    """The failures of a report, one paragraph a check; empty where nothing failed."""
    return "\n".join(_paragraph(result) for result in report.failed)


def failures_told(text: str) -> str:
    """What `format_failures` makes, as an owner reads it; every other line stays as it is."""
    return "\n".join(map(_line_told, text.split("\n")))


def _line_told(line: str) -> str:
    if (found := _HEAD.fullmatch(line)) is not None:
        name = tr("“{words}”", words=json.loads(found["name"]))
        if found["code"] is None:
            return tr("The check {name} failed.", name=name)
        return tr("The check {name} failed with exit code {code}.", name=name, code=found["code"])
    if not line.startswith(QUOTE):
        return line
    said = line.removeprefix(QUOTE)
    return f"{QUOTE}{retranslate(said, (_OTHER_CODE,))}"


def is_failure_text(text: str, names: Sequence[str]) -> bool:
    """Whether a text is what `format_failures` makes of some of these checks, in their order."""
    left = list(names)
    quoted = 0
    for line in text.split("\n"):
        if line.startswith(QUOTE):
            quoted += len(line) - len(QUOTE) + 1
            if quoted > MAX_REASON + MAX_OUTPUT + 2 or first_hidden(line) >= 0:
                return False
            continue
        found = _HEAD.fullmatch(line)
        at = next(
            (i for i, name in enumerate(left) if found and _quote_name(name) == found["name"]), -1
        )
        if at < 0:
            return False
        left, quoted = left[at + 1 :], 0
    return not text.startswith(QUOTE)


def _paragraph(result: VerificationResult) -> str:
    code = "" if result.exit_code is None else f" with exit code {result.exit_code}"
    said = [_clean(result.reason, MAX_REASON), _clean(result.output, MAX_OUTPUT)]
    lines = [line for text in said if text for line in text.split("\n")]
    return "\n".join(
        [f"- check {_quote_name(result.name)} failed{code}", *(QUOTE + s for s in lines)]
    )


def _clean(text: str, limit: int) -> str:
    return strip_hidden(text)[:limit].strip("\n")


def _quote_name(name: str) -> str:
    return json.dumps(name, ensure_ascii=True)
