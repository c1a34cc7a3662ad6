"""The card of a plan: from the signed bytes, complete, and safe to show (0.5.2, 0.5.3, B2)."""

import json
import re
import unicodedata
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from silas.canonical import canonical_bytes, canonical_json
from silas.cards.models import PLAN_DECLINED, PlanCard
from silas.errors import PlanFamilyError
from silas.plans import plan_bytes, plan_card, plan_hash, show
from silas.testing.builders import a_plan
from silas.types import Risk
from tests.approval.grant_strategies import Raw, pairs
from tests.plans.test_subject import CHANGES
from tests.support.chance import examples


def _card(**overrides: Any) -> PlanCard:
    return plan_card(plan_bytes(a_plan(**overrides)), rationale="You asked for it.")


def _lines(card: PlanCard, *, without_hash: bool = False) -> list[str]:
    return [
        line
        for detail in card.details
        if not (without_hash and detail.heading == "Hash")
        for line in (detail.heading, *detail.lines)
    ]


@pytest.mark.proves("B1-ON-THE-CARD")
def test_a_card_says_what_is_touched_what_is_done_and_what_decides() -> None:
    card = _card(
        workspace="/home/me/src",
        read=["/usr/lib/py"],
        network=["pypi.org"],
        tools=[
            {
                "tool": "send_email",
                "args": {
                    "recipients": ["alice@example.com"],
                    "body": {"slot": "text", "from": "tool get_webpage"},
                },
            }
        ],
        credential_refs={"TOKEN": f"ref_{7:032x}"},
        skills=["coding"],
        body="# Do\n\nFix it.",
        verify=[{"name": "tests", "run": "pytest -q\nruff .", "expect": {"exit_code": 0}}],
    )
    text = "\n".join(_lines(card))
    assert card.intent == "Write the result"
    assert card.effect == (
        "Changes files in `src` after 1 check passed; it may send data to `pypi.org`, may call "
        "`send_email` and 1 more; what leaves it cannot be undone, file changes can."
    )
    for expected in (
        "works on a copy of: `/home/me/src`",
        "may change: anywhere in the workspace, once its checks have passed",
        "may read: `/usr/lib/py`",
        "may reach over the network: `pypi.org`",
        f"is given your secret: `TOKEN` (`ref_{7:032x}`)",
        "may call send_email once, with\n"
        "  body: text from what get_webpage returns, up to 2,000 characters\n"
        '  recipients: exactly ["alice@example.com"]',
        "| # Do\n| \n| Fix it.",
        "check `tests`: exit code is 0\n  after at most 60 seconds, without network, of the command"
        "\n  | pytest -q\n  | ruff .",
        "at most 200,000 tokens and $2.0",
        "`coding`",
        f"sha256:{card.plan_hash}",
    ):
        assert expected in text


@pytest.mark.proves("B2-CARD-FROM-HASHED-BYTES")
def test_a_card_binds_to_the_hash_of_the_bytes_and_is_declined_by_silence() -> None:
    card = _card()
    assert card.plan_hash == plan_hash(a_plan())
    assert card.work_item_id == "task-example"
    assert card.safe == PLAN_DECLINED
    assert [action.value.verdict for action in card.actions] == [
        "approved",
        "edit_requested",
        "declined",
    ]
    assert card.rationale == "You asked for it."
    assert plan_card(plan_bytes(a_plan()), rationale=" ").rationale == "No reason was given."


@pytest.mark.proves("S8.1-CARD-TIMEOUTS")
def test_a_plan_waits_five_minutes_for_its_answer() -> None:
    assert _card().timeout_seconds == 300


@pytest.mark.proves("B1-ON-THE-CARD", "B2-CARD-FROM-HASHED-BYTES")
def test_nothing_of_the_plan_is_missing_from_the_card() -> None:
    cards = {(*_lines(_card(), without_hash=True), _card().intent)}
    for change in CHANGES:
        card = _card(**change)
        cards.add((*_lines(card, without_hash=True), card.intent))
    assert len(cards) == len(CHANGES) + 1


@pytest.mark.parametrize(
    ("expect", "words"),
    [
        ({"exit_code": 2}, "exit code is 2"),
        ({"equals": "ok"}, 'output is exactly "ok"'),
        ({"contains": "a\nb"}, 'output contains "a\\nb"'),
        ({"regex": "^a+$"}, 'output matches "^a+$"'),
        ({"output_lt": 5}, "output is a number below 5.0"),
        ({"output_gt": 0.5}, "output is a number above 0.5"),
        ({"file_exists": "a.txt"}, 'file "a.txt" exists'),
        ({"not_empty": True}, "output is not empty"),
        ({"exit_code": 0, "not_empty": False}, "exit code is 0"),
        ({"equals": ""}, 'output is exactly ""'),
    ],
)
def test_every_expectation_has_words(expect: dict[str, Any], words: str) -> None:
    card = _card(verify=[{"name": "a", "run": "b", "expect": expect}])
    assert f"check `a`: {words}" in _lines(card)


@pytest.mark.proves("B1-ON-THE-CARD")
@pytest.mark.parametrize(
    ("network", "words"),
    [
        (False, "without network"),
        (True, "with network to the plan's hosts and `a.example:443`"),
        (["b.example", "c.example:8443"],
         "with network to `b.example` (443 and 80) and `c.example:8443`"),
        ([], "with network to no host"),
    ],
)  # fmt: skip
def test_a_check_says_which_hosts_it_may_reach(network: bool | list[str], words: str) -> None:
    run = "curl -s https://a.example/"
    check = {"name": "up", "run": run, "expect": {"exit_code": 0}, "network": network}
    assert f"  after at most 60 seconds, {words}, of the command" in _lines(_card(verify=[check]))


def test_a_plan_without_checks_says_so() -> None:
    assert "nothing: it counts as done when it ran without an error" in _lines(_card(verify=[]))


_ONLINE = [{"name": "a", "run": "b", "expect": {"exit_code": 0}, "network": True}]


@pytest.mark.proves("S0.5.2-RISK-BY-HARNESS")
@pytest.mark.parametrize(
    ("overrides", "risk"),
    [
        ({}, Risk.low),
        ({"read": ["/usr/lib"]}, Risk.low),
        ({"workspace": "/w"}, Risk.medium),
        ({"workspace": "/w", "writes": ["a.txt"]}, Risk.medium),
        ({"workspace": "/w", "writes": []}, Risk.low),
        ({"workspace": "/w", "verify": []}, Risk.low),
        ({"workspace": "/w", "network": ["pypi.org"]}, Risk.high),
        ({"network": ["pypi.org"]}, Risk.high),
        ({"tools": [{"tool": "t"}]}, Risk.high),
        ({"worker": "w"}, Risk.high),
        ({"credential_refs": {"TOKEN": f"ref_{0:032x}"}}, Risk.high),
        ({"verify": _ONLINE}, Risk.high),
        ({"type": "goal"}, Risk.high),
        ({"type": "project"}, Risk.high),
        ({"title": "low risk, trivial", "body": "risk: low", "worker": "w"}, Risk.high),
    ],
)
def test_risk_follows_scope_and_never_the_plans_own_words(
    overrides: dict[str, Any], risk: Risk
) -> None:
    assert _card(**overrides).risk is risk


HOSTILE = (
    "\x1b[2J\x1b[31mred",
    "\x1b]0;title\x07",
    "a\rb",
    "\u202etxt.exe",
    "zero\u200bwidth",
    "soft\u00adhyphen",
    "\u2028line",
    "\x9b31m",
    "\u3164",
    "\ufe0f",
    "\U000e0041",
    "no\u00a0break",
    "<U+202E>",
    "tab\there",
    "bell\x07",
    "del\x7f",
    "\ufeff",
)


@pytest.mark.parametrize("hostile", HOSTILE)
def test_no_field_can_drive_the_terminal_or_hide_text(hostile: str) -> None:
    card = _card(
        title=f"T {hostile}",
        body=hostile,
        workspace=f"/{hostile}",
        read=[f"/{hostile}"],
        network=[hostile],
        skills=[hostile],
        tools=[
            {"name": hostile},
            {"tool": "t", "args": {"a": hostile, "b": [f"in {hostile} prose"], hostile: 1}},
            {"tool": "t", "args": {"a": hostile, "b": [f"in {hostile} prose"]}},
            {"tool": "t", "args": {"a": {"pattern": re.escape(hostile)}}},
        ],
        domain=hostile,
        worker=hostile,
        verify=[{"name": hostile, "run": hostile, "expect": {"equals": hostile}}],
    )
    for line in (card.intent, card.effect, *_lines(card)):
        assert "\n" not in line
        assert not [c for c in line if unicodedata.category(c) in ("Cc", "Cf", "Zl", "Zp", "Cs")]
        assert not set(line) & set("\u3164\ufe0f\u00a0")
    assert "<U+" in card.intent


GRANT_WORDS: tuple[tuple[dict[str, Any], tuple[str, ...]], ...] = (
    ({"tool": "ping"}, ("may call ping once, without arguments",)),
    (
        {"tool": "ping", "times": 1, "args": {}},
        (
            "may call ping once, without arguments",
            '  (written as {"args":{},"times":1,"tool":"ping"})',
        ),
    ),
    (
        {"tool": "say", "args": {"text": "Grüße, bis später", "to": "zoë"}, "times": 3},
        (
            "may call say up to 3 times, with",
            '  text: exactly "Grüße, bis später"',
            '  to: exactly "zoë"',
        ),
    ),
    (
        {"tool": "pay", "args": {"to": "раураl", "why": 'x", amount: "any', "amount": 5}},
        (
            "may call pay once, with",
            "  amount: exactly 5",
            '  to: exactly "<U+0440><U+0430><U+0443><U+0440><U+0430>l"',
            '  why: exactly "x\\", amount: \\"any"',
        ),
    ),
    (
        {
            "tool": "find",
            "args": {"q": {"pattern": "\\d+"}, "n": {"slot": "integer", "from": "any"}},
        },
        (
            "may call find once, with",
            "  n: a whole number from anywhere",
            '  q: text that as a whole matches "\\\\d+", up to 200 characters, from anywhere',
        ),
    ),
    (
        {"name": "ping"},
        ('names calls in a way that is not understood and allows none: {"name":"ping"}',),
    ),
)


@pytest.mark.proves("B1-ON-THE-CARD")
@pytest.mark.parametrize(("grant", "words"), GRANT_WORDS, ids=range(len(GRANT_WORDS)))
def test_a_grant_is_on_the_card_in_words(grant: dict[str, Any], words: tuple[str, ...]) -> None:
    touched = next(d for d in _card(tools=[grant]).details if d.heading == "What it may touch")
    assert touched.lines[2:-2] == words


@pytest.mark.proves("B1-ON-THE-CARD", "B2-CARD-FROM-HASHED-BYTES")
@settings(max_examples=examples(150), deadline=None)
@example(({"tool": "t"}, {"tool": "t", "times": 1}))
@example(({"tool": "t", "args": {"a": "é"}}, {"tool": "t", "args": {"a": "<U+00E9>"}}))
@example(({"tool": "t", "args": {"a": 1}}, {"tool": "t", "args": {"a": {"literal": 1}}}))
@example(({"tool": "t", "args": {"a": 1}}, {"tool": "t", "args": {"a": True}}))
@example(
    (
        {"tool": "t", "args": {"a": {"slot": "text", "from": "any", "max_chars": 9}}},
        {"tool": "t", "args": {"a": {"slot": "text", "from": "any", "max_chars": 8}}},
    )
)
@given(pairs())
def test_two_different_grants_never_have_the_same_card(pair: tuple[Raw, Raw]) -> None:
    first, second = (_lines(_card(tools=[grant]), without_hash=True) for grant in pair)
    assert (first == second) == (canonical_json(pair[0]) == canonical_json(pair[1]))


def test_prose_cannot_imitate_the_card_around_it() -> None:
    card = _card(body="ok\nHash\nsha256:" + "0" * 64 + "\n1. Approve")
    detail = next(d for d in card.details if d.heading == "What it does")
    assert all(line.startswith("| ") for line in detail.lines)
    run = _card(verify=[{"name": "a", "run": "true\nBudget\nat most", "expect": {"exit_code": 0}}])
    assert "Budget" not in next(d for d in run.details if d.heading == "What verifies it").lines


@example("<U+202E>", "\u202e")
@example("\t", "<U+0009>")
@given(st.text(max_size=12), st.text(max_size=12))
def test_different_texts_are_shown_differently(one: str, other: str) -> None:
    assert (show(one) == show(other)) == (one == other)


@given(st.text(alphabet="<U+023EA>\u202e\u200b ab"))
def test_what_is_shown_can_be_read_back(text: str) -> None:
    shown = show(text)
    assert shown.isascii()
    for code in (0x202E, 0x200B):
        shown = shown.replace(f"<U+{code:04X}>", chr(code))
    assert shown.replace("<U+003C>U+", "<U+") == text


def test_ordinary_text_is_shown_as_it_is() -> None:
    for text in ("ls -la | grep 'x'", "Größe, 東京, Привет", "emoji \U0001f600", "a < b, U+0041"):
        assert show(text) == text


@pytest.mark.proves("B2-CARD-FROM-HASHED-BYTES")
@pytest.mark.parametrize(
    "raw",
    [
        b"",
        b"not json",
        b"\xff",
        b"[]",
        b"{}",
        b"null",
        b"[" * 100_000,
        "and a space",
        "in another order",
        "with a name twice",
        canonical_bytes({"title": "x"}),
        "with a name more",
        canonical_bytes({"id": 1, "title": 2, "body": 3, "verify": 4}),
    ],
    ids=range(13),
)
def test_a_card_is_made_from_canonical_plan_bytes_only(
    raw: bytes | str,
) -> None:
    plan = plan_bytes(a_plan())
    changed = {
        "and a space": plan + b" ",
        "in another order": json.dumps(json.loads(plan)).encode(),
        "with a name twice": plan.replace(b'{"access', b'{"title":"Innocent","access'),
        "with a name more": canonical_bytes(json.loads(plan) | {"status": "done"}),
    }
    with pytest.raises(PlanFamilyError) as refused:
        plan_card(changed[raw] if isinstance(raw, str) else raw, rationale="x")
    assert refused.value.code == "E_PLAN_BYTES"
