"""Reminders for the cockpit: what was shown is what counts, and only that."""

import asyncio
from collections import OrderedDict
from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

from silas.channels.web.views import Done
from silas.channels.web.views_kept import ReminderRow, ReminderRows, ReminderView
from silas.language import tr, tr_later
from silas.types import new_id

if TYPE_CHECKING:
    from silas.cards.models import DecisionCard
    from silas.reminders.models import Reminder, ReminderTime
    from silas.services.schedules.reminders import ReminderService

_MOST_SHOWN = 100
_SOURCE = "channel:web"


class _Shown(NamedTuple):
    """What a page was shown; `moved` is the reminder that it would move."""

    text: str
    when: "ReminderTime"
    moved: "Reminder | None"


class CockpitReminders:
    """`silas.channels.web.port.ReminderRoom` over the service that `silas remind` uses.

    Args:
        service: Opens the service; what nobody asks for is not loaded.
        redact: Takes secrets out of what is shown.
    """

    def __init__(
        self, service: "Callable[[], ReminderService]", redact: Callable[[str], str]
    ) -> None:
        self._service = service
        self._redact = redact
        self._shown: OrderedDict[str, _Shown] = OrderedDict()

    async def rows(self) -> ReminderRows:
        """See `ReminderRoom.rows`."""
        return await asyncio.to_thread(self._rows)

    def _rows(self) -> ReminderRows:
        from silas.language.calendar import moment_words  # noqa: PLC0415 - as above
        from silas.reminders.rule_words import rule_words  # noqa: PLC0415 - few pages ask

        service = self._service()
        return ReminderRows(
            reminders=tuple(
                ReminderRow(
                    id=one.id,
                    text=self._redact(one.text),
                    due=one.due,
                    words=moment_words(one.due, one.zone),
                    again=rule_words(one.rule) if one.rule else "",
                )
                for one in service.reminders.waiting()
            ),
            words=" ".join((*service.warnings, *service.untold)),
        )

    async def read(self, said: str) -> ReminderView:
        """See `ReminderRoom.read`."""
        from silas.reminders.words import reminder_card  # noqa: PLC0415 - few pages ask

        text, when = await self._service().understand(said)
        return self._show(_Shown(text, when, None), reminder_card(text, when))

    async def read_move(self, reminder_id: str, said: str) -> ReminderView:
        """See `ReminderRoom.read_move`."""
        from silas.reminders.words import moving_card  # noqa: PLC0415 - few pages ask

        service = self._service()
        found = service.one(reminder_id)
        when = await service.moment(said, found)
        return self._show(_Shown(found.text, when, found), moving_card(found, when))

    async def confirm(self, shown_id: str) -> Done:
        """See `ReminderRoom.confirm`. What could not be made can be tried again."""
        from silas.reminders.models import ReminderRefused  # noqa: PLC0415 - few pages ask
        from silas.reminders.words import when_line  # noqa: PLC0415 - as above

        shown = self._shown.get(shown_id)
        if shown is None:
            raise ReminderRefused(
                tr_later("What was shown is no longer kept; say it again."),
                code="E_REMINDER_UNKNOWN",
            )
        service = self._service()
        if shown.moved is None:
            made, done = service.make(shown.text, shown.when, _SOURCE), tr("Silas will remind you")
        else:
            made, done = service.move(shown.moved, shown.when), tr("Moved")
        self._shown.pop(shown_id, None)
        return Done(words=f"{done}: {self._redact(made.text)}, {when_line(made)}.")

    async def cancel(self, reminder_id: str) -> Done:
        """See `ReminderRoom.cancel`."""
        service = self._service()
        found = service.one(reminder_id)
        service.reminders.cancel(found)
        return Done(words=tr("Cancelled: {found}.", found=self._redact(found.text)))

    def _show(self, shown: _Shown, card: "DecisionCard") -> ReminderView:
        name = new_id("shown")
        self._shown[name] = shown
        while len(self._shown) > _MOST_SHOWN:
            self._shown.popitem(last=False)
        return ReminderView(
            id=name,
            title=self._redact(card.intent),
            text=self._redact(shown.text),
            words=card.rationale,
            times=tuple(line for detail in card.details[1:] for line in detail.lines),
        )
