"""Fuzz target: whatever stands in a plan, its card is plain lines that nobody else wrote."""

import unicodedata
from functools import cache

from silas.channels import render_card
from silas.plans import plan_bytes, plan_card
from silas.testing.builders import a_plan

_EDGE = b"\xff"  # stands between the parts of an input
_WIDTHS = (40, 60, 80, 88)


@cache
def _labels() -> tuple[str, ...]:
    card = plan_card(plan_bytes(a_plan()), rationale="x")
    return tuple(f"  {n}  {action.label}" for n, action in enumerate(card.actions, 1))


def run(data: bytes) -> None:
    """Show a plan whose title, briefing, check, path and reason are parts of `data`.

    Raises:
        AssertionError: A line drives the terminal, hides something, is wider than the terminal, or
            stands where only the card's own lines stand.
    """
    width = _WIDTHS[data[0] % len(_WIDTHS)] if data else 88
    parts = [part.decode("utf-8", errors="replace") for part in data[1:].split(_EDGE, 5)]
    title, body, name, run_, path, why = [*parts, *[""] * 6][:6]
    check = {"name": name or "n", "run": run_ or "true", "expect": {"equals": body}}
    item = a_plan(title=title or "t", body=body, verify=[check], read=[f"/{path}"], skills=[name])
    lines = render_card(plan_card(plan_bytes(item), rationale=why), width).split("\n")
    assert [line for line in lines if line[:3] in ("  1", "  2", "  3")] == list(_labels())
    assert lines.count("=" * width) == 2
    for label in ("Intent: ", "Risk: ", "Why: ", "Affects: ", "What it does:", "Hash:"):
        assert sum(line.startswith(label) for line in lines) == 1, label
    for line in lines:
        assert line.isprintable(), line
        assert sum(map(_columns, line)) <= width, line


def _columns(character: str) -> int:
    return 2 if unicodedata.east_asian_width(character) in ("W", "F") else 1
