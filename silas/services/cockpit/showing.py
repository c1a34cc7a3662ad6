"""What the owner answered about showing directories to models elsewhere, for the cockpit."""

from collections.abc import Callable
from datetime import datetime
from itertools import groupby
from pathlib import Path
from typing import Protocol

from silas.channels.web.views import Done
from silas.channels.web.views_kept import ShowingAnswer, ShowingRow, ShowingRows
from silas.language import tr
from silas.stream.look_answers import ShownAnswer


class KeepsAnswers(Protocol):
    """Where the answers are; `silas.stream.session.Session` is one."""

    def showing(self) -> list[ShownAnswer]:
        """Every answer, by directory."""
        ...

    def forget_showing(self, workspace: Path) -> list[ShownAnswer]:
        """Take those about a directory back. Raises where there is none."""
        ...


class CockpitShowing:
    """`silas.channels.web.choices_port.ShowingRoom` over an open Silas.

    Args:
        answers: Where they are.
        redact: Takes secrets out of who would be shown it.
    """

    def __init__(self, answers: KeepsAnswers, redact: Callable[[str], str]) -> None:
        self._answers = answers
        self._redact = redact

    async def look(self) -> ShowingRows:
        """See `ShowingRoom.look`."""
        kept = groupby(self._answers.showing(), key=lambda one: one.workspace)
        return ShowingRows(
            directories=tuple(
                ShowingRow(workspace=place, answers=tuple(self._row(one) for one in answers))
                for place, answers in kept
            )
        )

    async def ask_again(self, workspace: str) -> Done:
        """See `ShowingRoom.ask_again`."""
        self._answers.forget_showing(Path(workspace))
        return Done(words=tr("Taken back: you are asked before a model is shown it."))

    def _row(self, one: ShownAnswer) -> ShowingAnswer:
        return ShowingAnswer(
            answer=one.word,
            words=_words(one.allowed, self._redact(one.shown_to)),
            answered_at=_moment(one.answered_at),
        )


def _words(allowed: bool | None, whom: str) -> str:
    if allowed is None:
        return tr("Your answer cannot be read, so {whom} is shown nothing of it.", whom=whom)
    if allowed:
        return tr("Yes: {whom} may be shown what Silas looks at there.", whom=whom)
    return tr("Never: {whom} is shown nothing of it, nor of what lies below it.", whom=whom)


def _moment(text: str) -> datetime | None:
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return None
    return moment if moment.tzinfo else None
