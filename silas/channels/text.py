"""Cards as plain text with numbered options, and what a typed reply means (spec 4.1.1)."""

import re
import unicodedata
from collections.abc import Iterator, Sequence
from typing import Any, Final, TypeVar, cast

from silas.cards import Card, HeldCard, PlanCard, ToolCallCard
from silas.cards.models import (
    BatchAnswer,
    BatchReviewCard,
    DecisionAnswer,
    DecisionCard,
    Detail,
)
from silas.language import tr, tr_later, tr_many
from silas.plans.characters import as_shown
from silas.types import Risk

AnswerT = TypeVar("AnswerT")

WIDTH = 88
"""Columns of a card, where the terminal has as many."""

_ALWAYS_OPEN = frozenset({Risk.high, Risk.irreversible})
_SIGNED = PlanCard | ToolCallCard | BatchReviewCard | HeldCard
FIRST_SCREEN: Final = 24
"""Rows of a terminal on which a plan's card, its question and the line for the answer stand."""

_AROUND = 2
"""Lines before and after the options."""

_NAMED: Final = 5  # tasks that are named where there is no room for what they do
_LONGEST_NAME: Final = 40

TRIES = 3
"""An unclear reply is asked again twice; then the safe answer stands."""

_NARROW = frozenset({"N", "Na", "H"})
"""The widths of characters that every terminal draws in one column."""

_CLOSING: Final = "”“’‘'\"»«)]}>.,;:!?…`"
_AT_LEAST = 4  # characters of a word stand with the marks that close it
_ON = "   \\ "
"""Stands before a line that goes on with the one above, and before no other."""

_MOST_WORDS = 2000  # characters of an answer in own words, as in the cockpit's field

MORE: Final = tr_later("more")
"""What a person types to see all of a card before the question."""

LATER: Final = tr_later("later")
"""What leaves a plan waiting, so that the conversation goes on."""

SOME: Final = tr_later("or say which: only 1 3-5, or: without 2")
"""How a person chooses some of a batch's items by their numbers."""

_SOME = re.compile(r"(only|nur|without|ohne)\s+([\d\s,;–-]+)", re.IGNORECASE)
_NUMBERS = re.compile(r"(\d{1,4})(?:\s*[-–]\s*(\d{1,4}))?")

_YES, _NO = frozenset({"y", "yes"}), frozenset({"n", "no"})

_RISKS: Final = {
    Risk.low: tr_later("low"),
    Risk.medium: tr_later("medium"),
    Risk.high: tr_later("high"),
    Risk.irreversible: tr_later("irreversible"),
}


def render_card(card: Card[AnswerT], width: int = WIDTH) -> str:
    """A card for a terminal: intent, risk, why, what is affected, details, numbered options.

    Details are open for high and irreversible risk, and always for plans and tool calls: what is
    signed must have been shown. Hidden characters become visible, and only options stand at their
    indent, so no text can imitate another card or another choice. No line is wider than `width`
    columns: what a terminal wraps by itself goes on at the margin, where Silas's own words stand.
    Two cards that differ in anything shown have different texts.
    """
    return "\n".join([*card_lines(card, width), "", *_options(card, width), "=" * width])


def render_short(card: PlanCard, width: int = WIDTH) -> str:
    """The same for a person at a terminal, who can ask for the rest (see `short_lines`).

    What would be longer than one screen stands closer: no effect is left out for its lines.
    """
    shown, options, end = short_lines(card, width), _options(card, width), "=" * width
    lines, room = [*shown, "", *options, end], _card_room(card, width)
    if len(lines) <= room:
        return "\n".join(lines)
    close = list(filter(None, shown))
    beside = "   ".join(options)
    if len(close) + len(options) < room or len(beside) > width:
        return "\n".join([*close, *options, end])
    closest = [*close, beside]  # the question itself ends the card where its rule finds no room
    return "\n".join([*closest, end] if len(closest) < room else closest)


def first_screen(card: Card[Any], width: int = WIDTH) -> str:
    """What a person at a terminal sees first of a card: the short form where there is one."""
    return render_short(card, width) if isinstance(card, PlanCard) else render_card(card, width)


def question_words(card: Card[Any]) -> str:
    """What is asked below a card: how many options there are, and what else is an answer."""
    return tr(
        "Your choice, 1 to {card}{words}:{waits}",
        card=len(card.actions),
        words=tr(", or your own words") if takes_own_words(card) else "",
        waits=tr(" (`{later}` leaves it waiting)", later=tr(LATER)) if is_plan(card) else "",
    )


def is_plan(card: Card[Any]) -> bool:
    """Whether a card asks for a plan, which waits where nobody answers."""
    return type(card) is PlanCard


def _card_room(card: Card[Any], width: int) -> int:
    """Lines of the first screen that are left for a card above its question and the answer."""
    return FIRST_SCREEN - len(question_words(card)) // width - 2


def _options(card: Card[AnswerT], width: int) -> list[str]:
    lines = [
        line
        for number, action in enumerate(card.actions, 1)
        for line in _wrap_labelled(f"  {number}  ", action.label, width)
    ]
    return [*lines, *(_wrap_labelled("     ", tr(SOME), width) if _can_choose(card) else ())]


def card_lines(card: Card[AnswerT], width: int = WIDTH) -> list[str]:
    """A card without its options: everything that is decided about."""
    lines = _head(card, width)
    if card.risk in _ALWAYS_OPEN or isinstance(card, _SIGNED):
        lines += _detail_lines(card.details, width)
    elif card.details:
        lines += _wrap_labelled(tr("Details: "), ", ".join(d.heading for d in card.details), width)
    return lines


def short_lines(card: PlanCard, width: int = WIDTH) -> list[str]:
    """A plan's card on one screen: the sentence, what it may touch, what was read, and its hash.

    What it does is never left out; the text of the plan, its checks' commands, its limits and what
    is not set are for who asks for them (`MORE`). Two plans that differ have different hashes.
    """
    opened = [one for one in card.details if one.open and one.heading != "Hash"]
    more = tr('"{more}" shows everything that your yes signs.', more=tr(MORE))
    head = _head(card, width)
    end = [
        "",
        *_wrap_labelled(tr("Hash: "), f"sha256:{_told_hash(card)}", width),
        *_wrap_labelled("", more, width),
    ]
    if card.task_hashes:
        tasks, *opened = opened
        own = _detail_lines(opened, width)
        around = [*head, *own, *end, *_options(card, width)]
        room = _card_room(card, width) - len(around) - _AROUND
        blanks = around.count("") + 2  # and above the tasks and the options
        return [*head, *_first_tasks(tasks, room, blanks, width), *own, *end]
    return [*head, *_detail_lines(opened, width), *end]


def _first_tasks(tasks: Detail, room: int, blanks: int, width: int) -> list[str]:
    """As many of a project's tasks as fit on so many lines, each whole; the others are counted.

    Where not one would fit, the room of the card's blank lines is used, too. What all of them
    together may do is the sentence that stands above them.
    """
    lines = _detail_lines([tasks], width)
    if len(lines) <= room:
        return lines
    heading, pairs = lines[:2], range(0, len(tasks.lines), 2)  # two lines a task
    told = [
        [piece for text in tasks.lines[start : start + 2] for piece in detail_line(text, width)]
        for start in pairs
    ]
    names, shown, named = [_task_name(text) for text in tasks.lines[::2]], 0, 0
    tries = ((space, named) for space in (room, room + blanks) for named in range(_NAMED, -1, -1))
    for space, named in tries:
        shown = _that_fit(told, names, space - len(heading), width, named)
        if shown:
            break
    first = [line for task in told[:shown] for line in task]
    return [*heading, *first, *_further(names, shown, width, named)]


def _that_fit(
    told: Sequence[Sequence[str]], names: Sequence[str], room: int, width: int, named: int
) -> int:
    """How many tasks fit above the line that counts the others, and names so many of them."""
    shown = 0
    while room >= 0 and shown < len(told):
        room -= len(told[shown])
        if room < len(_further(names, shown + 1, width, named)):
            break
        shown += 1
    return shown


def _task_name(line: str) -> str:
    """The number and title of a task, without its id and what it does."""
    name = line.partition(" (`")[0]
    return name if len(name) <= _LONGEST_NAME else f"{name[:_LONGEST_NAME]}…"


def _further(names: Sequence[str], shown: int, width: int, named: int) -> list[str]:
    others = names[shown:]
    words = (
        tr_many(len(others), "{count} further task", "{count} further tasks")
        if shown
        else tr_many(len(others), "{count} task", "{count} tasks")
    )
    if others and named:
        more = ["…"] if len(others) > named else []
        words = f"{words} ({'; '.join([*others[:named], *more])})"
    text = tr(
        '{tasks}: "{more}" shows all of it before you answer.',
        tasks=words,
        more=tr(MORE),
    )
    return detail_line(text, width)


def _told_hash(card: PlanCard) -> str:
    """Of a project the one that covers its tasks."""
    return card.approves if card.task_hashes else card.plan_hash


def _head(card: Card[AnswerT], width: int) -> list[str]:
    lines = ["=" * width, *_wrap_labelled(tr("Intent: "), card.intent, width)]
    if card.effect:
        lines += _wrap_labelled(tr("Effect: "), card.effect, width)
    lines += [
        tr("Risk: {value}", value=tr(_RISKS[card.risk])),
        *_wrap_labelled(tr("Why: "), card.rationale, width),
    ]
    if card.affected:
        lines += _wrap_labelled(tr("Affects: "), card.affected, width)
    return lines


def _detail_lines(details: Sequence[Detail], width: int) -> list[str]:
    lines: list[str] = []
    for detail in details:
        lines += ["", f"{as_shown(detail.heading)}:"]
        lines += [piece for text in detail.lines for piece in detail_line(text, width)]
    return lines


def parse_reply(card: Card[AnswerT], text: str) -> AnswerT | None:
    """The answer a reply names, or None where it is unclear and must be asked again.

    A number names an option. `yes` and `no` name the recommended and the declining option, where
    there is exactly one of each. Anything else means nothing: a guess could be a yes. Only where a
    card takes own words, which choose none of its options, is any other text the answer itself.
    """
    word = text.strip().rstrip(".!").casefold()
    if word.isascii() and word.isdecimal():
        number = int(word) if len(word) < 4 else 0  # more options than that fit on no card
        return card.actions[number - 1].value if 1 <= number <= len(card.actions) else None
    if _can_choose(card) and (some := _SOME.fullmatch(word)):
        return cast("AnswerT | None", _choose_items(cast("BatchReviewCard", card), some))
    role = _role(word)
    named = [action.value for action in card.actions if action.role == role]
    if len(named) == 1:
        return named[0]
    return None if role else cast("AnswerT | None", _own_words(card, text.strip()))


def _can_choose(card: Card[Any]) -> bool:
    """Whether some of a batch's items can be chosen, and there is something to choose."""
    edits = any(action.value == BatchAnswer(verdict="edit_selection") for action in card.actions)
    return isinstance(card, BatchReviewCard) and edits and len(card.item_ids) > 1


def _choose_items(card: BatchReviewCard, said: re.Match[str]) -> BatchAnswer | None:
    """Some of the items by their numbers, in the card's order; None where that is unclear: a
    number that there is not, none at all, or every one.
    """
    every = range(1, len(card.item_ids) + 1)
    ranges = [(int(one[1]), int(one[2] or one[1])) for one in _NUMBERS.finditer(said[2])]
    named = {number for first, last in ranges for number in range(first, last + 1)}
    inside = all(first in every and last in every and first <= last for first, last in ranges)
    keeps = said[1].casefold() in ("only", "nur")
    numbers = [number for number in every if (number in named) is keeps]
    if not inside or not 0 < len(numbers) < len(every):
        return None
    ids = tuple(card.item_ids[number - 1] for number in numbers)
    return BatchAnswer(verdict="edit_selection", selected_item_ids=ids)


def _role(word: str) -> str:
    """The role of what yes and no choose, in English or the owner's language; else nothing."""
    if word in _YES or word in (tr("yes"), tr("yes")[:1]):
        return "recommended"
    return "decline" if word in _NO or word in (tr("no"), tr("no")[:1]) else ""


def is_word_typed(word: str, reply: str) -> bool:
    """Whether somebody typed a word, in English or as it was shown to him.

    Args:
        word: As the catalogue has it.
        reply: The line.
    """
    return reply.strip().casefold() in (word, tr(word))


def takes_own_words(card: Card[AnswerT]) -> bool:
    """Whether a reply that names no option is an answer, too."""
    return isinstance(card, DecisionCard) and card.allow_freetext


def _own_words(card: Card[AnswerT], text: str) -> DecisionAnswer | None:
    if not takes_own_words(card) or not 0 < len(text) <= _MOST_WORDS:
        return None
    return DecisionAnswer(freetext=text, approved=True)


def wrap_lines(text: str, width: int) -> str:
    """Finished text whose lines are no wider than a terminal, as cards have them."""
    lines = (enumerate(_wrap_at_words(line, width, max(width - 5, 8))) for line in text.split("\n"))
    return "\n".join(f"{_ON}{piece}" if n else piece for line in lines for n, piece in line)


def detail_line(text: str, width: int = WIDTH) -> list[str]:
    """A line of details, made visible, indented and cut, so that a terminal wraps nothing."""
    room = max(width - 6, 8)
    cut = enumerate(_wrap_at_words(as_shown(text), room, room))
    return [f"{_ON}{piece}" if n else f"    {piece}" for n, piece in cut]


def _wrap_labelled(label: str, text: str, width: int) -> list[str]:
    """Text behind a label of Silas's own, so that no text stands where that label could."""
    first, *rest = _wrap_at_words(
        as_shown(text), max(width - len(label), 8), max(width - len(_ON), 8)
    )
    return [f"{label}{first}", *(f"{_ON}{piece}" for piece in rest)]


def _wrap_at_words(text: str, first: int, room: int) -> Iterator[str]:
    """Pieces that end with a word where one ends; together they are the text, blanks and all."""
    while True:
        _, piece = next(_cut(text, first, first))
        if len(piece) < len(text):
            piece = piece[: _end_of_line(text, piece, room)]
        yield piece
        text, first = text[len(piece) :], room
        if not text:
            return


def _end_of_line(text: str, piece: str, room: int) -> int:
    """Where a line ends that has room for `piece`: before a word that the next one has room for,
    else within it, and never right before the marks that close it.
    """
    blank = piece.rfind(" ") + 1
    if not piece[:blank].strip():
        blank = 0  # no line is all blank
    word, left = text[blank:].split(" ", 1)[0], text[len(piece) :].split(" ", 1)[0]
    if blank and (blank > len(piece) // 2 or sum(map(_columns, word)) <= room):
        return blank
    closes = left and not left.strip(_CLOSING)
    return len(piece) - min(_AT_LEAST, len(piece) // 2) if closes else len(piece)


def _cut(text: str, first: int, room: int) -> Iterator[tuple[int, str]]:
    """Numbered pieces: the first of at most so many columns, the others of at most `room`."""
    if text.isascii() and len(text) <= first:
        yield 0, text
        return
    number, start, used = 0, 0, 0
    for at, character in enumerate(text):
        columns = _columns(character)
        if used + columns > (room if number else first):
            yield number, text[start:at]
            number, start, used = number + 1, at, 0
        used += columns
    yield number, text[start:]


def _columns(character: str) -> int:
    """At most so many columns does a terminal give a character; some take less."""
    if character.isascii() or unicodedata.category(character)[0] == "M":
        return 1
    return 1 if unicodedata.east_asian_width(character) in _NARROW else 2
