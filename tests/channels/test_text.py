"""Cards as text: nothing hidden, nothing imitated, and only a clear reply is an answer."""

import re
from typing import Any
from unicodedata import east_asian_width

import pytest
from hypothesis import given
from hypothesis import strategies as st

from silas.cards import Action, Card, Detail, GateCard, HeldCard, PlanCard, ToolCallCard
from silas.cards.models import ALL_CARDS, BatchReviewCard, CheckpointCard, PlanAnswer
from silas.channels import parse_reply, render_card
from silas.channels.text import wrap_lines
from silas.testing.cards import a_card
from silas.types import Risk


@pytest.mark.proves("S0.5.3-DETAILS-BY-RISK", "A15-NUMBERED-OPTIONS")
@pytest.mark.parametrize("kind", ALL_CARDS)
@pytest.mark.parametrize("risk", list(Risk))
def test_every_card_shows_its_anatomy_and_opens_details_by_risk(
    kind: type[Card[Any]], risk: Risk
) -> None:
    card = a_card(kind, risk=risk, affected="3 files")
    shown = render_card(card)
    for part in (card.intent, risk.value, card.rationale, "3 files", "More"):
        assert part in shown
    for number, action in enumerate(card.actions, 1):
        assert f"\n  {number}  {action.label}\n" in shown
    opened = risk in (Risk.high, Risk.irreversible) or kind in (
        PlanCard,
        HeldCard,
        ToolCallCard,
        BatchReviewCard,
    )
    assert ("second line" in shown) is opened


def test_every_detail_of_a_plan_is_shown_whatever_its_length() -> None:
    text = "".join(chr(0x4E00 + n) for n in range(500))
    shown = render_card(a_card(PlanCard, details=[Detail(heading="Body", lines=(text, "", "end"))]))
    assert "".join(c for c in shown if c in text) == text
    assert "    end" in shown


_HOSTILE = [
    "\x1b[2J\x1b[H",
    "\x1b]0;title\x07",
    "\r\x08",
    "\u202e\u2066",
    "\u200b\u2060",
    "\U000e0041",
    "\x9b31m",
    "\x00",
    "\n" + "=" * 88 + "\n  1  Harmless",
    "\u2028  1  Harmless",
]


@pytest.mark.parametrize("bad", _HOSTILE)
@pytest.mark.parametrize("field", ["intent", "rationale", "affected", "label", "heading", "line"])
def test_hidden_and_moving_characters_become_visible_in_every_part(bad: str, field: str) -> None:
    text = f"a{bad}b"
    plain = a_card(PlanCard)
    overrides: dict[str, Any] = {field: text}
    if field == "label":
        overrides = {"actions": [plain.actions[0].model_copy(update={"label": text})]}
    if field in ("heading", "line"):
        detail = Detail(heading="h", lines=("l",)).model_dump() | {
            "heading": text if field == "heading" else "h",
            "lines": (text,) if field == "line" else ("l",),
        }
        overrides = {"details": [detail]}
    shown = render_card(a_card(PlanCard, **overrides))
    assert "<U+" in shown
    assert all(c.isprintable() for c in shown.replace("\n", ""))
    assert "\n  1  Harmless" not in shown


@given(
    st.lists(st.sampled_from([" ", "  1  Approve", "=" * 88, "Risk: low", "x" * 100]), max_size=12)
)
def test_no_text_stands_where_an_option_stands(words: list[str]) -> None:
    text = " ".join(["a", *words])
    card = a_card(
        GateCard,
        risk=Risk.high,
        rationale=text,
        affected=text,
        details=[Detail(heading="h", lines=(text,))],
    )
    lines = render_card(card).split("\n")
    assert [line for line in lines if line.startswith("  ") and line[2] not in " \\"] == [
        "  1  Do it now",
        "  2  Leave it",
    ]
    assert lines.count("=" * 88) == 2
    assert sum(line.startswith("Risk:") for line in lines) == 1


def columns(line: str) -> int:
    """How wide a terminal draws a line."""
    return sum(2 if east_asian_width(c) in ("W", "F") else 1 for c in line)


@pytest.mark.parametrize("width", [20, 40, 72, 80, 88])
@pytest.mark.parametrize("wide", ["\u4e00", "\uff21", "\U0001f600", "\U0001f1e6", "x"])
def test_no_line_is_wider_than_the_terminal_so_that_none_goes_on_at_the_margin(
    width: int, wide: str
) -> None:
    for filled in range(1, 2 * width):
        text = wide * filled + "  1  Decline, run nothing"
        detail = Detail(heading="Body", lines=(text,))
        card = a_card(PlanCard, intent=text, rationale=text, affected=text, details=[detail])
        shown = render_card(card, width).split("\n")
        options = [line for line in shown if line.startswith("  ") and line[2].isdigit()]
        assert options == [f"  {n}  {action.label}" for n, action in enumerate(card.actions, 1)]
        assert all(columns(line) <= width for line in shown if line not in options)


@pytest.mark.parametrize("width", [20, 40, 80])
def test_a_finished_card_is_made_to_fit_a_narrower_terminal(width: int) -> None:
    text = "\u4e00" * 37 + "Risk: low" + "y" * 80
    card = render_card(a_card(PlanCard, details=[Detail(heading="Body", lines=(text,))]))
    shown = wrap_lines(card, width)
    assert all(columns(line) <= width for line in shown.split("\n"))
    assert shown.replace("\n   \\ ", "") == card.replace("\n   \\ ", "")
    assert sum(line.startswith("Risk:") for line in shown.split("\n")) == 1
    assert wrap_lines(card, 200) == card


_YES, _NO = PlanAnswer(verdict="approved"), PlanAnswer(verdict="declined")


@pytest.mark.parametrize(
    ("reply", "answer"),
    [
        ("1", _YES), (" 1 \n", _YES), ("1.", _YES), ("yes", _YES), ("Y", _YES), ("Yes!", _YES),
        ("2", _NO), ("n", _NO), ("NO.", _NO), ("02", _NO),
        ("0", None), ("3", None), ("-1", None), ("1 2", None), ("11", None), ("", None),
        ("  ", None), ("ok", None), ("do it", None), ("yes please", None), ("no, yes", None),
        ("not yes", None), ("y" * 1000, None), ("1" * 5000, None), ("\u0661", None),
        ("\u00b9", None),
        ("\uff11", None), ("1\u200b", None), ("approve", None), ("\x1b[A", None),
    ],
)  # fmt: skip
def test_only_a_clear_reply_is_an_answer(reply: str, answer: PlanAnswer | None) -> None:
    assert parse_reply(a_card(PlanCard), reply) == answer


def test_yes_and_no_mean_nothing_where_they_could_mean_two_things() -> None:
    actions = [
        Action[str](label="All", value="all", role="recommended"),
        Action[str](label="Some", value="some", role="recommended"),
        Action[str](label="Stop", value="stop", role="decline"),
        Action[str](label="Never", value="never", role="decline"),
    ]
    card = a_card(CheckpointCard, actions=actions, safe="stop")
    assert parse_reply(card, "yes") is None
    assert parse_reply(card, "no") is None
    assert parse_reply(card, "2") == "some"


@pytest.mark.proves("S0.5-NO-MANDATORY-FREE-TEXT", "A15-NUMBERED-OPTIONS")
@pytest.mark.parametrize("kind", ALL_CARDS)
def test_every_question_can_be_answered_by_the_number_of_an_option_alone(
    kind: type[Card[Any]],
) -> None:
    card = a_card(kind)
    answers = [parse_reply(card, str(number)) for number in range(1, len(card.actions) + 1)]
    assert answers == [action.value for action in card.actions]
    assert len(answers) >= 1
    assert card.safe in answers


@given(st.text(max_size=20))
def test_a_reply_of_any_form_is_an_offered_answer_or_nothing(reply: str) -> None:
    card = a_card(GateCard)
    assert parse_reply(card, reply) in {None, "approve", "block"}


_IDS = [
    f"“task-{name}-the-notes-of-every-week-into-the-folder”" for name in ("copy", "sort", "tell")
]


@pytest.mark.parametrize("width", range(40, 111))
def test_a_quote_mark_stays_with_its_word_in_a_list_of_ids(width: int) -> None:
    text = f"The tasks {', '.join(_IDS)} wait; then „{'x' * width}“, ({'y' * (width - 7)}) end."
    lines = wrap_lines(text, width).split("\n")
    pieces = [line.removeprefix("   \\ ") for line in lines]
    assert "".join(pieces) == text
    assert all(len(line) <= width for line in lines)
    for piece in pieces:
        assert piece.lstrip()[0] in "“„(-" or piece.lstrip()[0].isalnum(), pieces
        assert re.search(r"\w", piece), pieces
    for word in _IDS:
        if len(word) + 9 <= width:  # a word is broken only where no line has room for it
            assert any(word in piece for piece in pieces), pieces
