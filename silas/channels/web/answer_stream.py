"""Answers that are still coming, as the pages show them: nothing of them is kept (spec 8.1)."""

from silas.channels.web.events import MessageDelta


class AnswerStream:
    """What was shown of each turn so far, for a page that connects in the middle."""

    def __init__(self) -> None:
        self._shown: dict[str, str] = {}
        self._in: dict[str, str] = {}
        self._asked: dict[str, str] = {}

    def note_message(self, message_id: str, conversation: str) -> None:
        """A message was taken in a conversation, and waits for its answer."""
        self._asked[message_id] = conversation

    def forget_message(self, message_id: str) -> None:
        """Something was said to it."""
        self._asked.pop(message_id, None)

    @property
    def answering(self) -> tuple[str, ...]:
        """The messages that nothing was said to yet, the oldest first."""
        return tuple(self._asked)

    @property
    def answering_in(self) -> dict[str, str]:
        """Which conversation each of them was said in."""
        return dict(self._asked)

    def add(self, turn_id: str, text: str, *, begins: bool, conversation: str) -> MessageDelta:
        """A further piece, or the first one."""
        self._in[turn_id] = conversation
        before = "" if begins else self._shown.get(turn_id, "")
        self._shown[turn_id] = before + text
        if not self._shown[turn_id]:
            del self._shown[turn_id], self._in[turn_id]
        return MessageDelta(turn_id=turn_id, text=text, begins=begins, conversation=conversation)

    def end(self, turn_id: str) -> None:
        """The turn's message takes its place."""
        self._shown.pop(turn_id, None)
        self._in.pop(turn_id, None)

    @property
    def all(self) -> tuple[MessageDelta, ...]:
        """Each as one piece."""
        return tuple(
            MessageDelta(turn_id=turn, text=text, begins=True, conversation=self._in[turn])
            for turn, text in self._shown.items()
        )


class WaitNotices:
    """What is waited for, by who waits; the newest is what pages show."""

    def __init__(self) -> None:
        self._words: dict[str, str] = {}

    def say(self, source: str, words: str) -> str:
        """Take what a source waits for, empty for nothing; gives what is shown now."""
        if words != self._words.get(source, ""):
            self._words.pop(source, None)
            if words:
                self._words[source] = words
        return self.said

    @property
    def said(self) -> str:
        """What is shown now."""
        return next(reversed(self._words.values()), "")


def join_deltas(before: MessageDelta | None, piece: MessageDelta) -> MessageDelta:
    """Two pieces of one turn that nobody has seen yet, as one."""
    if before is None or piece.begins:
        return piece
    return before.model_copy(update={"text": before.text + piece.text})
