"""A short run of the fuzz target of cards: random bytes, and pieces of cards as text."""

from hypothesis import example, given, settings
from hypothesis import strategies as st

from tests.fuzz.card_text import run
from tests.support.chance import examples

PIECES = st.lists(
    st.sampled_from(
        ["=" * 88, "  1  Approve", "Risk: low", "\n", "\xff", "\u4e00" * 45, "\x1b[2J", "\u202e",
         "`", "   \\ ", "    | ", "```", "\u0430" * 50, "\u0301", "\U0001f600" * 30, "Hash:",
         "may call t once, without arguments", '", from anywhere']
    ),
    max_size=12,
)  # fmt: skip


@settings(max_examples=examples(200), deadline=None)
@given(st.binary(max_size=300))
@example(b"")
@example(b"\x00\xff\xff\xff\xff\xff")
def test_any_bytes_make_a_card_of_plain_lines(data: bytes) -> None:
    run(data)


@settings(max_examples=examples(200), deadline=None)
@given(st.integers(0, 3), PIECES)
def test_pieces_of_cards_do_not_make_a_card(width: int, pieces: list[str]) -> None:
    texts = [b"\xff" if piece == "\xff" else piece.encode() for piece in pieces]
    run(bytes([width]) + b"".join(texts))
