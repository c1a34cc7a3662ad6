"""Whether a text is a cron expression of five fields; when it is due, the scheduler says."""

import re

_FIELDS = (
    ("minute", 0, 59),
    ("hour", 0, 23),
    ("day of month", 1, 31),
    ("month", 1, 12),
    ("day of week", 0, 7),  # 0 and 7 are both Sunday
)
_PART = re.compile(
    r"(?P<only>[0-9]{1,2})|(?:\*|(?P<low>[0-9]{1,2})-(?P<high>[0-9]{1,2}))(?:/(?P<step>[0-9]{1,2}))?"
)


def cron_fault(expression: str) -> str:
    """What is wrong with a cron expression, or an empty text.

    Numbers, `*`, ranges, lists and steps are known; names of months and days are not.
    """
    fields = expression.split()
    if len(fields) != len(_FIELDS):
        return f"it has 5 fields separated by blanks, not {len(fields)}"
    for text, (name, low, high) in zip(fields, _FIELDS, strict=True):
        for part in text.split(","):
            if not _fits(part, low, high):
                return f"{part!r} is not a {name} ({low} to {high}, like 5, 1-5, */10 or 1,15)"
    return ""


def _fits(part: str, low: int, high: int) -> bool:
    found = _PART.fullmatch(part)
    if found is None:
        return False
    first = int(found["only"] or found["low"] or low)
    last = int(found["only"] or found["high"] or high)
    step = int(found["step"] or 1)
    return low <= first <= last <= high and 1 <= step <= high
