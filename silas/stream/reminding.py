"""Step 7 without a model: code understands what the owner says about reminders.

It is shown to him before it counts. Nobody else's words make one. A model may say how his are to be
read, where code cannot: what it wrote counts only on his card.
"""

import asyncio
import re
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING, Final

from silas.agents import AgentResponse
from silas.audit import Audit
from silas.clock import Clock
from silas.language import tr, tr_later, tr_many
from silas.stream.drafts import withdraw_draft
from silas.stream.owner import Owner
from silas.stream.owner_words import Answered, OwnerWords
from silas.stream.state import Turn
from silas.stream.turn_modes import TurnModes
from silas.types import TaintLevel

if TYPE_CHECKING:
    from silas.cards.models import DecisionCard
    from silas.reminders.models import Reminder
    from silas.reminders.request import ReminderRequest
    from silas.reminders.service import Reminders

OpenReminders = Callable[[], "Reminders"]
"""Makes the service when it is first asked for; turns about other things load nothing of it."""

_HINTS = ("snooze", "remind", "erinner", "timer", "alarm", "wecke", "weck ", "wake me", "me forget")
_NOT_HIS: Final = tr_later(
    "No reminder was made: what was understood has words in it that are not yours. Please write it "
    "like “remind me tomorrow at nine to call the dentist”."
)
_WORD: Final = re.compile(r"\w{3,}")
_TURNED: Final = frozenset(
    {"your", "yours", "yourself", "you", "the", "and", "dein", "deine", "deinen", "deinem"}
    | {"deiner", "dich", "dir", "der", "die", "das", "den", "dem", "und"}
)
"""What a request of his is turned into when it is said to him, and words that say nothing."""

_BESIDES: Final = re.compile(
    r"\w+\W+\w+.*?(?:[,.;:!?]|\band\b|\bthen\b|\bund\b|\bdann\b)\s+"
    r"(?:(?:and|then|please|also|und|dann|bitte|auch)\s+)*(?:remind\s+me|erinner[en]?\s+mich)\b",
    re.IGNORECASE | re.DOTALL,
)
"""Something of two words or more, and then the wish to be reminded."""


class Reminding(OwnerWords["ReminderRequest"]):
    """Answers the owner's own messages about reminders.

    Args:
        reminders: The service.
        audit: Where the turn is recorded.
        clock: What cards are timed by.
        modes: Resolves the mode that such a turn proceeds in.
        profile: The context profile of such a turn.
    """

    reason = "reminder"
    owners_only = tr_later(
        "Only Silas's owner can make, move, cancel or read reminders: with `silas remind`, in "
        "`silas chat` or in the cockpit. Nothing was changed."
    )

    def __init__(
        self,
        reminders: OpenReminders,
        audit: Audit,
        clock: Clock,
        modes: TurnModes,
        profile: str,
    ) -> None:
        super().__init__(audit, modes, profile)
        self._reminders = reminders
        self._clock = clock

    async def as_a_model_reads_it(self, turn: Turn, sentence: str) -> bool:
        """Make a reminder of a message of the owner's that a model put into words code can read.

        His card decides, as ever: it shows what is said, and when, to the minute. Where the model
        was shown what others wrote, no word of what is said may come from anybody but him.

        Args:
            turn: Of the message.
            sentence: "remind me tomorrow at nine to call".

        Returns:
            Whether it was answered; False where it cannot be read so, or the owner did not ask.
        """
        from silas.reminders.request import request_of  # noqa: PLC0415 - few turns need it

        asked = request_of(sentence)
        if turn.message.taint is not TaintLevel.owner or asked is None or asked.wanted != "make":
            return False
        # a small model fills in what its instructions show, whatever it was asked
        if asked.phrase is None or not _shares(asked.text, turn.message.text):
            return False
        if turn.response_taint is TaintLevel.owner or not _adds(asked.text, turn.message.text):
            withdraw_draft()  # it may end in half a sentence, and his card is shown beside it
            return await self._answer_request(turn, asked, owners=True)
        turn.answer.speaker = "silas"
        turn.answer.response = AgentResponse(message=tr(_NOT_HIS))
        return True

    def _parse_request(self, text: str) -> "ReminderRequest | None":
        if not any(hint in text.lower() for hint in _HINTS):
            return None
        from silas.reminders.request import request_of  # noqa: PLC0415 - few turns need it

        return request_of(text)

    def _describe_refusal(self, words: str) -> str:
        return tr("{message} No reminder was made or changed.", message=words)

    def _facts(self, asked: "ReminderRequest") -> dict[str, str]:
        return {"reminder": asked.wanted}

    async def _do(self, turn: Turn, asked: "ReminderRequest") -> Answered | None:
        match asked.wanted:
            case "make" | "again":
                return await self._make(turn, asked)
            case "list":
                return self._list(), "answered"
            case "cancel_all":
                return await self._cancel_all(turn)
            case "cancel" | "move":
                found = self._find(asked.text)
                if found is None:
                    return None  # “delete the reminder module” is no wish of this kind
                if asked.wanted == "cancel":
                    return self._cancel(found), "answered"
                return await self._move(turn, found, asked)

    async def _make(self, turn: Turn, asked: "ReminderRequest") -> Answered:
        from silas.reminders.words import reminder_card, when_words  # noqa: PLC0415 - as above

        service = self._reminders()
        # the first date of a process costs half a second
        understood = await asyncio.to_thread(service.understand, asked)
        service.require_whole()  # nobody is asked for what would be refused
        if not await self._ask_agreement(turn, reminder_card(understood.text, understood.when)):
            return tr("No reminder was made."), "declined"
        made = service.make(understood.text, understood.when, turn.source)
        return tr(
            "I will remind you: {text}. {when_words}.",
            text=made.text,
            when_words=when_words(understood.when),
        ), "answered"

    def _list(self) -> str:
        from silas.reminders.words import list_lines  # noqa: PLC0415 - as above

        waiting = self._reminders().waiting()
        if not waiting:
            return tr("No reminder waits.")
        many = tr("{count} waiting:", count=len(waiting))
        return "\n".join([many, *list_lines(waiting)])

    def _find(self, which: str) -> "Reminder | None":
        from silas.reminders.models import ReminderRefused  # noqa: PLC0415 - as above

        if not which:
            return self._reminders().only()
        try:
            return self._reminders().find(which)
        except ReminderRefused as error:
            if error.code == "E_REMINDER_UNKNOWN" and not which.lstrip("#").isdecimal():
                return None
            raise

    def _cancel(self, reminder: "Reminder") -> str:
        from silas.reminders.words import when_line  # noqa: PLC0415 - as above

        self._reminders().cancel(reminder)
        return tr(
            "Cancelled: {text}, {when_line}.", text=reminder.text, when_line=when_line(reminder)
        )

    async def _cancel_all(self, turn: Turn) -> Answered:
        from silas.reminders.models import ReminderRefused  # noqa: PLC0415 - as above
        from silas.reminders.words import cancelling_card, list_lines  # noqa: PLC0415 - as above

        service = self._reminders()
        shown = service.waiting()
        if not shown:
            return tr("No reminder waits."), "answered"
        service.require_whole()
        if not await self._ask_agreement(turn, cancelling_card(shown)):
            return tr("All reminders stay."), "declined"
        gone = list["Reminder"]()
        for one in shown:  # what was made meanwhile was not shown
            with suppress(ReminderRefused):  # told meanwhile
                service.cancel(one)
                gone.append(one)
        many = tr_many(len(gone), "{count} reminder cancelled:", "{count} reminders cancelled:")
        return "\n".join([many, *list_lines(gone)]), "answered"

    async def _move(self, turn: Turn, found: "Reminder", asked: "ReminderRequest") -> Answered:
        from silas.reminders.words import moving_card, when_line  # noqa: PLC0415 - as above

        service = self._reminders()
        when = await asyncio.to_thread(service.when, asked.phrase, found)
        service.require_whole()
        if not await self._ask_agreement(turn, moving_card(found, when)):
            return tr("The reminder stays as it was."), "declined"
        moved = service.move(found, when)
        return tr(
            "Moved: {text}, {when_line}.", text=moved.text, when_line=when_line(moved)
        ), "answered"

    async def _ask_agreement(self, turn: Turn, card: "DecisionCard") -> bool:
        owner = Owner(turn.seat.channel, self._audit, self._clock)
        return (await owner.ask(card)).approved


def asks_besides(message: str) -> bool:
    """Whether a message that asks for a reminder asks for something else before it."""
    return _BESIDES.search(message) is not None


def _words(text: str) -> set[str]:
    return set(_WORD.findall(text.casefold())) - _TURNED


def _shares(text: str, message: str) -> bool:
    """Whether a text has anything of a message."""
    return not _words(text).isdisjoint(_words(message))


def _adds(text: str, message: str) -> bool:
    """Whether a text says anything that a message does not."""
    return bool(_words(text) - _words(message))
