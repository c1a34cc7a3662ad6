"""The measures of spec 0.5.6, from what the audit says: each entry is looked at once.

A measure that has too little to go by says so, and is never a number that means nothing.
"""

from collections.abc import Callable, Iterable
from datetime import datetime, timedelta
from statistics import fmean, median
from typing import Any, Literal, NamedTuple

from silas.audit.reader import ReadEntry
from silas.channels.web.views import Metric
from silas.language import tr, tr_later

EVENTS = frozenset({"card_answered", "workspace_applied", "workspace_undone", "fatigue_cue"})
"""What the measures are made of."""

WINDOW = timedelta(days=30)
_WEEK = timedelta(days=7)

ENOUGH_ANSWERS = 10
ENOUGH_TIMES = 5
ENOUGH_CHANGES = 5
"""Fewer of them say nothing yet."""

_CHANGED_WORDS = frozenset({"edit_requested", "edit", "rephrase", "edit_selection"})
_NO_WORDS = frozenset({"declined", "decline", "block", "deny", "reject", "cancel", "keep", "drop"})

MetricState = Literal["good", "watch", "none"]


class AnswerSample(NamedTuple):
    """One answer, as far as the measures need it."""

    at: datetime
    kind: str
    risk: str
    seconds: float | None
    taps: int | None
    declined: bool
    corrected: bool
    freetext: bool


class MetricWindow:
    """What was seen so far, no older than the window."""

    def __init__(self) -> None:
        self.upto = 0
        """The number of the last entry that was looked at."""
        self._answers: list[AnswerSample] = []
        self._applied: list[datetime] = []
        self._undone: list[datetime] = []
        self._cues: list[datetime] = []

    def add(self, entries: Iterable[ReadEntry], newest: int = 0) -> None:
        """Look at further entries, in their order.

        Args:
            entries: Those of `EVENTS` after `upto`.
            newest: The number of the newest entry of any kind: up to it nothing else is wanted.
        """
        for told in entries:
            if told.seq <= self.upto:
                continue
            self.upto = told.seq
            match told.event:
                case "card_answered":
                    self._answers.append(_answer_sample(told))
                case "workspace_applied":
                    self._applied.append(told.at)
                case "workspace_undone":
                    self._undone.append(told.at)
                case "fatigue_cue":
                    self._cues.append(told.at)
                case _:
                    pass
        self.upto = max(self.upto, newest)

    def metrics(self, now: datetime) -> tuple[Metric, ...]:
        """The measures of the last thirty days, those of cues of the last seven."""
        since = now - WINDOW
        self._answers = [one for one in self._answers if one.at >= since]
        self._applied = [at for at in self._applied if at >= since]
        self._undone = [at for at in self._undone if at >= since]
        self._cues = [at for at in self._cues if at >= since]
        answers = self._answers
        return (
            _decision_time("low", answers, tr("2 to 5 s")),
            _decision_time("medium", answers, tr("5 to 15 s")),
            _taps(answers),
            _share("decline_rate", tr("Declined"), answers, lambda one: one.declined),
            _undos(len(self._applied), len(self._undone)),
            _share(
                "correction_rate", tr("Changed before a yes"), answers, lambda one: one.corrected
            ),
            _cues(bool(answers), sum(at >= now - _WEEK for at in self._cues)),
            _share("freetext_rate", tr("Answered in own words"), answers, lambda one: one.freetext),
        )


def _answer_sample(told: ReadEntry) -> AnswerSample:
    said = told.data
    verdict, role = said.get("verdict"), said.get("role")
    return AnswerSample(
        at=told.at,
        kind=str(said.get("kind", "")),
        risk=str(said.get("risk", "")),
        seconds=_number(said.get("seconds")),
        taps=None if (taps := _number(said.get("taps"))) is None else int(taps),
        declined=role == "decline" or verdict in _NO_WORDS,
        corrected=verdict in _CHANGED_WORDS,
        freetext=said.get("freetext") is True,
    )


def _number(value: Any) -> float | None:
    plain = isinstance(value, int | float) and not isinstance(value, bool)
    return float(value) if plain and 0 <= value < float("inf") else None


def _decision_time(risk: str, answers: list[AnswerSample], target: str) -> Metric:
    times = [one.seconds for one in answers if one.risk == risk and one.seconds is not None]
    name, title = f"decision_time_{risk}", tr("Time to decide, {risk} risk", risk=tr(risk))
    if len(times) < ENOUGH_TIMES:
        return _not_yet(name, title, "s", target, len(times), ENOUGH_TIMES, tr("answers"))
    value = round(median(times), 1)
    if value < 1:
        state, words = "watch", tr("Answers come faster than a card can be read.")
    elif value > 30:
        state, words = (
            "watch",
            tr("Answers take long: the cards may not say clearly what is asked."),
        )
    else:
        state, words = "good", tr("Cards are read, and are clear enough to decide by.")
    return _metric(name, title, value, "s", target, state, words)


def _taps(answers: list[AnswerSample]) -> Metric:
    taps = [one.taps for one in answers if one.kind == "batch_review" and one.taps]
    name, title, target = "taps_per_batch", tr("Taps for one batch"), tr("3 at most")
    if not taps:
        return _not_yet(name, title, tr("taps"), target, 0, 1, tr("batches"))
    value = round(fmean(taps), 1)
    good = value <= 3
    words = (
        tr("A batch is decided at once.") if good else tr("A batch takes more taps than it should.")
    )
    return _metric(name, title, value, tr("taps"), target, "good" if good else "watch", words)


_RATES: dict[str, tuple[str, float, float, str, str, str]] = {
    "decline_rate": (
        tr_later("5 to 15 %"),
        2,
        30,
        tr_later("Hardly anything is declined; it may not be read any more."),
        tr_later("Much is declined: the proposals do not fit."),
        tr_later("Some proposals are declined, as it should be."),
    ),
    "correction_rate": (
        tr_later("below 10 %"),
        -1,
        10,
        "",
        tr_later("Many proposals are changed before they fit."),
        tr_later("Most proposals fit as they are."),
    ),
    "freetext_rate": (
        tr_later("below 20 %"),
        -1,
        20,
        "",
        tr_later("The buttons often do not say what you want."),
        tr_later("The buttons mostly say what you want."),
    ),
}
"""Target, below and above what to watch, and the words for too low, too high and good."""


def _share(
    name: str, title: str, answers: list[AnswerSample], which: Callable[[AnswerSample], bool]
) -> Metric:
    target, low, high, too_low, too_high, good = _RATES[name]
    target = tr(target)
    if len(answers) < ENOUGH_ANSWERS:
        return _not_yet(name, title, "%", target, len(answers), ENOUGH_ANSWERS, tr("answers"))
    value = round(100 * sum(map(which, answers)) / len(answers), 1)
    if value < low:
        return _metric(name, title, value, "%", target, "watch", tr(too_low))
    if value > high:
        return _metric(name, title, value, "%", target, "watch", tr(too_high))
    return _metric(name, title, value, "%", target, "good", tr(good))


def _undos(applied: int, undone: int) -> Metric:
    name, title, target = "undo_rate", tr("Taken back"), tr("below 10 %")
    if applied < ENOUGH_CHANGES:
        return _not_yet(name, title, "%", target, applied, ENOUGH_CHANGES, tr("changes"))
    value = round(100 * undone / applied, 1)
    good = value < 10
    words = tr("What is done mostly stays.") if good else tr("Much of what is done is taken back.")
    return _metric(name, title, value, "%", target, "good" if good else "watch", words)


def _cues(any_answer: bool, cues: int) -> Metric:
    name, title, target = "fatigue_triggers", tr("Cues about tiredness"), tr("less than 1 a week")
    if not any_answer:
        return _not_yet(name, title, tr("a week"), target, 0, 1, tr("answers"))
    words = tr("None in the last seven days.") if not cues else tr("You decide much, or very fast.")
    return _metric(name, title, cues, tr("a week"), target, "watch" if cues else "good", words)


def _not_yet(
    name: str, title: str, unit: str, target: str, seen: int, enough: int, what: str
) -> Metric:
    words = tr(
        "Not enough yet: {seen} of {enough} {what} in the last thirty days.",
        seen=seen,
        enough=enough,
        what=what,
    )
    return _metric(name, title, None, unit, target, "none", words)


def _metric(
    name: str,
    title: str,
    value: float | None,
    unit: str,
    target: str,
    state: MetricState,
    words: str,
) -> Metric:
    return Metric(
        name=name, title=title, value=value, unit=unit, target=target, state=state, words=words
    )
