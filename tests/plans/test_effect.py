"""The first sentence of a plan's card: effect, place and undo, whatever the plan says (0.5.2)."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from silas.channels.text import MORE, render_short
from silas.language.catalogue import speaking_as_asked
from silas.plans import plan_bytes, plan_card
from silas.testing.builders import a_plan
from silas.types import Risk

_CHECK = {"name": "tests", "run": "make test", "expect": {"exit_code": 0}}
_ONLINE = {**_CHECK, "name": "site", "network": True}
_HOME: dict[str, Any] = {"workspace": "/home/me/orders", "verify": [_CHECK]}

PLANS: tuple[tuple[str, dict[str, Any], Risk, str], ...] = (
    (
        "a goal that checks nothing",
        {"type": "goal", "schedule": "0 7 * * *", "verify": []},
        Risk.high,
        "Does nothing here: it has no checks that could run by the clock, without a network; "
        "nothing to undo.",
    ),
    (
        "fix a test",
        _HOME,
        Risk.medium,
        "Changes files in `orders` after 1 check passed, without a network; you can undo it.",
    ),
    (
        "rename files by pattern",
        {**_HOME, "writes": ["*.txt", "*.md"]},
        Risk.medium,
        "Changes files ending in `.txt` and `.md` in `orders` after 1 check passed, without a "
        "network; you can undo it.",
    ),
    (
        "change many named files",
        {**_HOME, "writes": ["a.py", "b.py", "c.py", "d.py"]},
        Risk.medium,
        "Changes `a.py`, `b.py` and 2 more in `orders` after 1 check passed, without a network; "
        "you can undo it.",
    ),
    (
        "run the tests",
        {**_HOME, "writes": []},
        Risk.low,
        "Reads `orders`, works on a copy and changes nothing of yours, without a network; "
        "nothing to undo.",
    ),
    (
        "tidy up without a check",
        {**_HOME, "verify": []},
        Risk.low,
        "Works on a copy of `orders` and asks you again before anything is changed, without a "
        "network; nothing to undo.",
    ),
    (
        "summarise two folders",
        {"read": ["/home/me/letters", "/home/me/bills"], "verify": [_CHECK]},
        Risk.low,
        "Reads `letters` and `bills` and changes nothing of yours, without a network; "
        "nothing to undo.",
    ),
    (
        "calculate something",
        {"verify": [_CHECK]},
        Risk.low,
        "Works in an empty folder of its own and changes nothing of yours, without a network; "
        "nothing to undo.",
    ),
    (
        "install packages",
        {**_HOME, "network": ["pypi.org", "mirror.example.org", "example.net"]},
        Risk.high,
        "Changes files in `orders` after 1 check passed; it may send data to `pypi.org`, "
        "`mirror.example.org` and 1 more; what leaves it cannot be undone, file changes can.",
    ),
    (
        "send a mail",
        {"tools": [{"tool": "send_email"}], "verify": []},
        Risk.high,
        "Works in an empty folder of its own and changes nothing of yours; it may call "
        "`send_email`; what leaves it cannot be undone.",
    ),
    (
        "deploy with a secret",
        {**_HOME, "network": ["api.example"], "credential_refs": {"KEY": f"ref_{1:032x}"}},
        Risk.high,
        "Changes files in `orders` after 1 check passed; it may send data to `api.example` and is "
        "given 1 secret of yours; what leaves it cannot be undone, file changes can.",
    ),
    (
        "a review by a worker, a check that goes online",
        {**_HOME, "worker": "reviewer", "verify": [_CHECK, _ONLINE]},
        Risk.high,
        "Changes files in `orders` after 2 checks passed; it may reach a network in its checks and "
        "is done by the worker `reviewer` with its tools; what leaves it cannot be undone, file "
        "changes can.",
    ),
    (
        "watch a folder",
        {**_HOME, "type": "goal", "on_failure": "spawn_task"},
        Risk.high,
        "Starts work by itself in `orders` each time one of its checks fails; that work may change "
        "files, without a network; you can undo it.",
    ),
)


@pytest.mark.proves("S0.5.2-RISK-BY-HARNESS")
@pytest.mark.parametrize(
    ("overrides", "risk", "sentence"), [row[1:] for row in PLANS], ids=[row[0] for row in PLANS]
)
def test_the_first_sentence_says_effect_place_and_undo(
    overrides: dict[str, Any], risk: Risk, sentence: str
) -> None:
    card = plan_card(plan_bytes(a_plan(**overrides)), rationale="You asked for it.")
    assert (card.effect, card.risk) == (sentence, risk)


@given(words=st.text(min_size=1, max_size=60).filter(str.strip))
def test_no_word_of_a_plans_prose_is_in_the_sentence(words: str) -> None:
    spoken = a_plan(**_HOME, title=f"{words} x", body=words)
    silent = a_plan(**_HOME)
    one, other = (plan_card(plan_bytes(p), rationale=w) for p, w in ((spoken, words), (silent, "")))
    assert one.effect == other.effect


@pytest.mark.parametrize("row", PLANS, ids=[row[0] for row in PLANS])
def test_a_terminal_shows_a_plan_on_24_lines_with_its_hash(row: Any) -> None:
    card = plan_card(plan_bytes(a_plan(**row[1])), rationale="You asked for it.")
    lines = render_short(card, 80).split("\n")
    assert len(lines) <= 24
    assert f"Hash: sha256:{card.plan_hash}" in lines
    assert f'"{MORE}" shows everything that your yes signs.' in lines
    assert "not set" not in "\n".join(lines)
    assert "".join(lines).count("1  Approve") == 1


@pytest.mark.parametrize(
    ("writes", "changed"),
    [
        (["**/*.py"], "files ending in `.py`"),
        (
            ["*.jpg", "*.JPG", "*.png", "*.jpg", "*.gif"],
            "files ending in `.jpg`, `.png` and 1 more",
        ),
        (["*.pdf", "*.PDF", "docs", "docs/*"], "files ending in `.pdf` and files in `docs`"),
        (["*", "*/*"], "files"),
        (["**", "a.py"], "files"),
        (["unpacked/**"], "files in `unpacked`"),
        (["src/*.py"], "`src/*.py`"),
        (["a.py", "photos/*"], "files in `photos` and `a.py`"),
        (["*.`; safe"], "`*.<U+0060>; safe`"),
    ],
)
def test_the_sentence_says_patterns_in_words_and_the_card_each_as_it_is_signed(
    writes: list[str], changed: str
) -> None:
    card = plan_card(plan_bytes(a_plan(**_HOME, writes=writes)), rationale="You asked for it.")
    assert card.effect.startswith(f"Changes {changed} in `orders` after 1 check passed")
    lines = "\n".join(line for one in card.details if one.open for line in one.lines)
    assert all(entry.partition("`")[0] in lines for entry in writes)


def test_what_it_may_touch_and_what_proves_it_is_never_collapsed() -> None:
    card = plan_card(plan_bytes(a_plan(**_HOME)), rationale="You asked for it.")
    shown = {line for one in card.details if one.open for line in one.lines}
    assert "works on a copy of: `/home/me/orders`" in shown
    assert "may reach over the network: nothing" in shown
    assert "proved by: `tests`" in shown


def test_a_name_cannot_close_its_quotes_or_fill_the_sentence() -> None:
    card = plan_card(plan_bytes(a_plan(workspace=f"/w/`; safe{'x' * 90}")), rationale="x")
    assert "`; safe" not in card.effect
    assert len(card.effect) < 180


def test_a_goal_without_checks_says_that_nothing_is_done() -> None:
    goal = a_plan(type="goal", schedule="0 7 * * *", verify=[])
    (when,) = [
        detail.lines[0]
        for detail in plan_card(plan_bytes(goal), rationale="").details
        if detail.heading == "When it runs, and what it may start"
    ]
    assert when == (
        "it would run every day at 07:00 in your time zone (`0 7 * * *`), but has no checks: "
        "nothing is done here"
    )
    with speaking_as_asked("de"):
        card = plan_card(plan_bytes(goal), rationale="")
    said = json.dumps([card.model_dump(mode="json")], ensure_ascii=False)
    assert "Tut hier nichts: Es hat keine Prüfungen, die nach der Uhr laufen könnten" in said
    assert "hat aber keine Prüfungen: hier wird nichts getan" in said


@pytest.mark.parametrize("verify", [[], [{"name": "c", "run": "true", "expect": {"exit_code": 0}}]])
def test_a_plan_that_writes_nothing_has_nothing_that_is_shown_first(verify: list[Any]) -> None:
    card = plan_card(plan_bytes(a_plan(**{**_HOME, "writes": [], "verify": verify})), rationale="")
    [lines] = [part.lines for part in card.details if "may change: nothing" in part.lines]
    assert not any("shown to you first" in line for line in lines)
