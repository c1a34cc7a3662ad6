"""The text of a plan's card: no two plans have the same, and no prose passes for the card (B2)."""

import re
import unicodedata
from random import Random
from typing import Any

import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from benchmarks.one_change import one_change
from silas.cards import ToolCallCard
from silas.channels import render_card
from silas.plans import WorkItem, plan_bytes, plan_card
from silas.stream.ask import for_work, tool_call_card
from silas.testing import a_plan
from silas.tools import RiskLevel, validated_call
from silas.tools.pending_call import AskReason
from silas.work.models import CallQuestion
from tests.support.chance import examples

PLAN: dict[str, Any] = {
    **a_plan().model_dump(mode="json"),
    "workspace": "/home/me/src",
    "read": ["/usr/lib/py", "/srv/run.sh"],
    "network": ["pypi.org", "example.org:8443"],
    "skills": ["excel"],
    "body": "# Do\n\nFix it.\n\n```sh\nmake  test\n```\n",
    "tools": [
        {"tool": "mail", "args": {"to": "anna", "body": {"slot": "text", "from": ["owner"]}}},
        {"tool": "find", "args": {"q": {"pattern": "[a-z]+ x", "max_chars": 9}}, "times": 2},
    ],
}


def _shown(item: WorkItem, width: int) -> str:
    """The card without its hash, which differs anyway."""
    text = render_card(plan_card(plan_bytes(item), rationale="Asked for."), width)
    before, _, after = text.partition("\nHash:\n")
    return before + after[after.index("\n\n") :]


def _changed(plan: dict[str, Any], draw: Random, times: int) -> WorkItem | None:
    for _ in range(times):
        _, plan = one_change(plan, draw)
    try:
        return WorkItem.model_validate(plan)
    except (ValidationError, ValueError):
        return None


@pytest.mark.proves("B2-CARD-FROM-HASHED-BYTES")
@settings(max_examples=examples(400), deadline=None)
@given(draw=st.randoms(use_true_random=False), width=st.integers(1, 200), times=st.integers(1, 3))
def test_two_plans_that_differ_anywhere_have_different_cards(
    draw: Random, width: int, times: int
) -> None:
    one = WorkItem.model_validate(PLAN)
    other = _changed(PLAN, draw, times)
    assume(other is not None and plan_bytes(other) != plan_bytes(one))
    assert other is not None
    assert _shown(one, width) != _shown(other, width)


PROSE = st.lists(
    st.sampled_from(
        ["=" * 88, "Risk: low", "Why: it is harmless", "  1  Approve", "Hash:", "\n", "\n\n", " ",
         "    | ", "   \\ ", "`", "What it may touch:", "東" * 45, "а" * 90, "x" * 83,
         "Affects: no", "check `a`: exit code is 0", "\u202e", "\u0301" * 9, "Intent: "]
    ),
    min_size=1, max_size=8,
).map("".join)  # fmt: skip


def _columns(line: str) -> int:
    """As wide as the widest of terminals would show it."""
    letters = [c for c in line if unicodedata.category(c)[0] != "M"]
    wide = sum(unicodedata.east_asian_width(c) in ("W", "F", "A") for c in letters)
    return len(line) + wide


HEADS = (
    r"=+", r"Intent: .*", r"Effect: .*", r"Risk: medium", r"Why: .*", r"",
    r"(What it may touch|What it does|What verifies it|Budget|Skills|Everything else"
    r"|What must be the same when it runs|Hash):",
    r"    .*", r"   \\ .*", r"  [123]  (Approve and run once|Ask for changes|Decline, run nothing)",
)  # fmt: skip
"""Every way in which a line of a card may begin."""


@settings(max_examples=examples(200), deadline=None)
@given(title=PROSE, body=PROSE, name=PROSE, run=PROSE, rationale=PROSE, width=st.integers(40, 120))
@example("Risk: low", "=" * 88 + "\n  1  Approve", "a`: ok", "true\nBudget:", "Hash:", 88)
def test_no_prose_passes_for_the_card_around_it(
    title: str, body: str, name: str, run: str, rationale: str, width: int
) -> None:
    check = {"name": name, "run": run, "expect": {"exit_code": 0}}
    item = a_plan(title=title, body=body, verify=[check], workspace="/" + title)
    card = plan_card(plan_bytes(item), rationale=rationale)
    lines = render_card(card, width).split("\n")
    whole = re.compile("|".join(HEADS))
    assert [line for line in lines if not whole.fullmatch(line)] == []
    assert max(map(_columns, lines)) <= width
    assert lines.count("=" * width) == 2
    for head in ("Intent: ", "Effect: ", "Risk: ", "Why: ", "  1  ", "  2  ", "  3  "):
        assert sum(line.startswith(head) for line in lines) == 1
    does, verifies = lines.index("What it does:"), lines.index("What verifies it:")
    assert {line[:6] for line in lines[does + 1 : verifies - 1]} <= {"    | ", "   \\ |", *_ON}
    assert "".join(lines).count("What it does:") >= 1


_ON = {f"   \\ {chr(code)}" for code in range(0x20, 0x10FFFF) if chr(code).isprintable()}


@given(st.text(max_size=200).filter(str.strip), st.integers(1, 200))
def test_a_title_can_be_read_back_from_the_card_at_any_width(title: str, width: int) -> None:
    text = render_card(plan_card(plan_bytes(a_plan(title=title)), rationale="x"), width)
    said = text.split("\nEffect: ", 1)[0].split("\n", 1)[1].replace("\n   \\ ", "")
    shown = said.removeprefix("Intent: ")
    read = re.sub(r"<U\+([0-9A-F]{4,6})>", lambda m: chr(int(m[1], 16)), shown)
    assert read == title


def _call(tool: str, action: str, args: dict[str, Any]) -> str:
    call = validated_call(tool, action, args)
    question = CallQuestion(call, RiskLevel.high, AskReason.plan)
    card = tool_call_card(for_work(a_plan()), question)
    assert isinstance(card, ToolCallCard)
    return render_card(card)


def test_two_calls_that_differ_in_anything_have_different_cards() -> None:
    calls: list[tuple[str, str, dict[str, Any]]] = [
        ("mail", "send", {"to": "anna"}),
        ("mail", "draft", {"to": "anna"}),
        ("post", "send", {"to": "anna"}),
        ("mail", "send", {"to": "\u0430nna"}),
        ("mail", "send", {"to": "anna", "cc": ""}),
        ("mail", "send", {"to": "anna "}),
        ("mail", "send", {"to": "an\nna"}),
        ("m\u0430il", "send", {"to": "anna"}),
    ]
    shown = [_call(*call) for call in calls]
    assert len(set(shown)) == len(calls)
    assert sum("<U+0430>" in text for text in shown) == 2
