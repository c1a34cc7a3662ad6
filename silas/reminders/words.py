"""How reminders are said back: exact, with the zone, before they count and when they come."""

from collections.abc import Sequence
from datetime import datetime, timedelta

from silas.cards import Action
from silas.cards.models import DecisionAnswer, DecisionCard, Detail
from silas.jobs.slots import comes_twice, is_skipped, next_slot
from silas.language import tr, tr_many
from silas.language.calendar import moment_words
from silas.reminders.models import Reminder, ReminderTime
from silas.reminders.rule_words import rule_words
from silas.types import Risk

_NO = DecisionAnswer()
_YES = DecisionAnswer(selected_value="remind", approved=True)
_CANCEL = DecisionAnswer(selected_value="cancel", approved=True)
_SHOWN = 4  # times of one that recurs
ON_TIME = timedelta(minutes=1)
"""Told later than this is told as late."""


def when_words(when: ReminderTime) -> str:
    """When something comes, and comes again."""
    first = moment_words(when.moment, when.zone)
    rule = rule_words(when.rule)
    return (
        tr("{rule}{rule2}, first on {first}", rule=rule[0].upper(), rule2=rule[1:], first=first)
        if rule
        else first
    )


def when_of(reminder: Reminder) -> ReminderTime:
    """When a reminder comes next."""
    return ReminderTime(reminder.due, reminder.zone, reminder.start, reminder.rule)


def next_times(when: ReminderTime) -> list[datetime]:
    """The first times of what recurs; its only one where it does not."""
    found, moment = [when.moment], when.moment
    while when.rule and len(found) < _SHOWN:
        next_one = next_slot(when.rule, when.start, when.zone, moment)
        if next_one is None:
            break
        moment = next_one
        found.append(moment)
    return found


def reminder_card(text: str, when: ReminderTime) -> DecisionCard:
    """Shows what was understood, to the minute; silence makes no reminder.

    Args:
        text: What will be said.
        when: When.
    """
    return _card(
        tr("Remind you: {text}", text=text), when, text, tr("Remind me then"), tr("No reminder")
    )


def moving_card(reminder: Reminder, when: ReminderTime) -> DecisionCard:
    """Shows the time that a reminder is to have; silence leaves it as it is."""
    goes_on = reminder.rule and not when.rule
    more = (
        tr("Afterwards {rule_words} as before.", rule_words=rule_words(reminder.rule))
        if goes_on
        else ""
    )
    return _card(
        tr("Move a reminder: {text}", text=reminder.text),
        when,
        reminder.text,
        tr("Move it there"),
        tr("Leave it"),
        more,
    )


def cancelling_card(reminders: Sequence[Reminder]) -> DecisionCard:
    """Shows every reminder that is to come no more; silence keeps all of them."""
    return DecisionCard(
        intent=tr_many(len(reminders), "Cancel {count} reminder", "Cancel {count} reminders"),
        risk=Risk.medium,
        rationale=tr("They come no more, and nothing brings them back."),
        details=(Detail(heading=tr("What is cancelled"), lines=tuple(list_lines(reminders))),),
        actions=(
            Action(label=tr("Cancel them"), value=_CANCEL),
            Action(label=tr("Keep them"), value=_NO, role="decline"),
        ),
        safe=_NO,
    )


def _card(
    intent: str, when: ReminderTime, text: str, yes: str, no: str, more: str = ""
) -> DecisionCard:
    wall, notes = when.start, [f"{when_words(when)}."]
    if is_skipped(wall, when.zone):
        notes.append(tr("The clocks are put forward then and skip {wall:%H:%M}.", wall=wall))
    elif comes_twice(wall, when.zone) and when.moment.astimezone(when.zone).fold == 0:
        notes.append(tr("The clocks are put back then; it is the first {wall:%H:%M}.", wall=wall))
    details = [Detail(heading=tr("What will be said"), lines=(text,))]
    if when.rule:
        times = tuple(moment_words(moment, when.zone) for moment in next_times(when))
        details.append(Detail(heading=tr("Next times"), lines=times))
    return DecisionCard(
        intent=intent,
        risk=Risk.low,
        rationale=" ".join(filter(None, (*notes, more))),
        details=tuple(details),
        actions=(
            Action(label=yes, value=_YES),
            Action(label=no, value=_NO, role="decline"),
        ),
        safe=_NO,
    )


def list_lines(reminders: Sequence[Reminder]) -> list[str]:
    """A line each, numbered as one may name them."""
    return [
        f"{number}. {reminder.text}: {when_line(reminder)}"
        for number, reminder in enumerate(reminders, 1)
    ]


def when_line(reminder: Reminder) -> str:
    """When a reminder comes, in a list."""
    again = f", {rule_words(reminder.rule)}" if reminder.rule else ""
    return moment_words(reminder.due, reminder.zone) + again


def telling_words(reminder: Reminder, now: datetime, missed: int, *, again: bool) -> str:
    """What is said when a reminder comes.

    Args:
        reminder: Its `due` is the moment that is told.
        now: The present moment.
        missed: How many further moments passed meanwhile.
        again: It was begun before, and nobody knows whether it was seen.
    """
    words = [tr("Reminder: {text}", text=reminder.text)]
    if again:
        words.append(tr("You may have seen this: Silas ended while it told you."))
    if now - reminder.due > ON_TIME:
        due = moment_words(reminder.due, reminder.zone)
        words.append(tr("It was due {due}; nothing could tell you then.", due=due))
    if missed:
        words.append(
            tr_many(
                missed,
                "It came {count} more time meanwhile.",
                "It came {count} more times meanwhile.",
            )
        )
    return "\n".join(words)
