"""One zone of one scope: its items in the order of arrival, and what stays as it was shown."""

from collections.abc import Iterator, Set
from dataclasses import dataclass
from itertools import islice, takewhile

from silas.context.conversation import (
    BETWEEN,
    ConversationPiece,
    ConversationSide,
    merge_sides,
    pieces,
)
from silas.context.framing import Fence
from silas.context.models import ContextItem


@dataclass(slots=True)
class ViewItem:
    """One item in view.

    Attributes:
        item: What it is.
        fence: The lines around its text.
        body: Its text as it is shown; nearly always the very string of the item.
        cost: Tokens of the whole block.
        done: A plan or a result of work that is over.
        settled: It is part of the text that its zone has joined.
        when: Day and time of an answer that are told behind it.
    """

    item: ContextItem
    fence: Fence
    body: str
    cost: int
    done: bool = False
    settled: bool = False
    when: str = ""

    @property
    def pieces(self) -> tuple[ConversationPiece, ...]:
        """The item as it is shown: its block, or what Silas said."""
        return pieces(self.item, self.fence.around(self.body), self.when)


class ZoneItems:
    """The slots of a zone, and what is shown of the first of them joined, side by side.

    A conversation grows at its end and leaves from its beginning, so that a turn costs what came
    and what left. Whatever changes in between is joined anew with all that stands there.
    """

    __slots__ = ("_left", "_said", "_settled", "_slots", "tokens")

    def __init__(self) -> None:
        self.tokens = 0
        self._slots: dict[str, ViewItem] = {}
        self._settled = 0  # the first slots, which are in what was said
        self._said: list[ConversationSide] = []
        self._left = 0  # characters at the beginning of it that are no longer shown

    def get(self, ctx_id: str) -> ViewItem | None:
        """The slot of this id."""
        return self._slots.get(ctx_id)

    def put(self, slot: ViewItem) -> ViewItem | None:
        """Add at the end, or take the place of the slot of the same id, which comes back."""
        ctx_id = slot.item.ctx_id
        former = self._slots.get(ctx_id)
        if former is not None:
            self.tokens -= former.cost
            if former.settled:
                self._unsettle()
        self.tokens += slot.cost
        self._slots[ctx_id] = slot
        return former

    def take(self, ctx_id: str) -> ViewItem:
        """Remove the slot of this id, which is there."""
        slot = self._slots[ctx_id]
        if slot.settled and next(iter(self._slots)) == ctx_id:
            self._settled -= 1
            self._cut(slot.pieces)
        elif slot.settled:
            self._unsettle()
        del self._slots[ctx_id]
        self.tokens -= slot.cost
        slot.settled = False
        return slot

    def sides_without(self, leave_out: Set[str]) -> list[ConversationSide]:
        """What is shown, but for the items of these ids, in turns; the same objects as long as
        nothing of them changed.
        """
        if not self._slots:
            return []
        if any((slot := self._slots.get(i)) is not None and slot.settled for i in leave_out):
            self._unsettle()
        rest = list(islice(self._slots.values(), self._settled, None))
        new = list(takewhile(lambda slot: slot.item.ctx_id not in leave_out, rest))
        self._settle(new)
        after = [s for s in islice(rest, len(new), None) if s.item.ctx_id not in leave_out]
        return merge_sides(self._said, _pieces(after)) if after else self._said

    def _settle(self, new: list[ViewItem]) -> None:
        if self._left:
            first = self._said[0]
            self._said[0] = ConversationSide(first.side, first.text[self._left :])
            self._left = 0
        if new:
            self._said = merge_sides(self._said, _pieces(new))
        self._settled += len(new)
        for slot in new:
            slot.settled = True

    def _cut(self, gone: tuple[ConversationPiece, ...]) -> None:
        """What the first slot said is no longer shown."""
        for piece in gone:
            if len(self._said[0].text) - self._left == len(piece.text):
                del self._said[0]
                self._left = 0
            else:
                self._left += len(piece.text) + len(BETWEEN)

    def _unsettle(self) -> None:
        for slot in islice(self._slots.values(), self._settled):
            slot.settled = False
        self._said, self._settled, self._left = [], 0, 0

    def __iter__(self) -> Iterator[ViewItem]:
        return iter(self._slots.values())

    def __reversed__(self) -> Iterator[ViewItem]:
        return reversed(self._slots.values())


def _pieces(slots: list[ViewItem]) -> list[ConversationPiece]:
    return [piece for slot in slots for piece in slot.pieces]
