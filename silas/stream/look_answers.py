"""What the owner answered: whether models elsewhere may be shown what lies in a directory."""

import os
from collections.abc import Callable, Iterable, Sequence
from pathlib import PurePath
from typing import Final, NamedTuple

from silas.clock import Clock
from silas.db import Database
from silas.errors import ApprovalError
from silas.plans.characters import show

_ALL = """
SELECT workspace, shown_to, allowed, answered_at FROM look_answers ORDER BY workspace, shown_to
"""
_KEEP = """
INSERT INTO look_answers (workspace, shown_to, allowed, answered_at)
VALUES (:workspace, :shown_to, :allowed, :answered_at)
ON CONFLICT (workspace, shown_to) DO UPDATE SET
  allowed = excluded.allowed, answered_at = excluded.answered_at
"""
_TAKE_BACK = "DELETE FROM look_answers WHERE workspace = :workspace"

TAKE_BACK: Final = "silas approvals ask-again"
"""The command that takes the answers about a directory back."""

RecordLook = Callable[..., object]
"""Writes an entry of the audit log, in the transaction that is open: event, then its fields."""


class ShownAnswer(NamedTuple):
    """One answer, as it is kept.

    Attributes:
        workspace: The directory, without links.
        shown_to: Who would be shown what lies there, in words.
        allowed: His yes or never; None where it cannot be read, which allows nothing.
        answered_at: When, as it is kept.
    """

    workspace: str
    shown_to: str
    allowed: bool | None
    answered_at: str

    @property
    def names(self) -> frozenset[str]:
        """Each of those who would be shown it."""
        return frozenset(self.shown_to.split(", "))

    @property
    def word(self) -> str:
        """The answer in one word, for lists and the record."""
        if self.allowed is None:
            return "unreadable"
        return "yes" if self.allowed else "never"


class LookAnswers:
    """Keeps what the owner answered, for a workspace and those who would be shown it.

    A never is for all that lies below the directory, too, and for whoever reads what lies above it;
    a yes is for exactly the directory and exactly those who were named.
    """

    def __init__(self, db: Database, clock: Clock) -> None:
        self._db = db
        self._clock = clock

    def all(self) -> list[ShownAnswer]:
        """Every answer, by directory."""
        with self._db.read() as tx:
            rows = tx.run(_ALL).fetchall()
        return [
            ShownAnswer(str(place), str(to), {0: False, 1: True}.get(allowed), str(at))
            for place, to, allowed, at in rows
        ]

    def of(self, workspace: str, shown_to: str) -> bool | None:
        """His answer; None where there is none that can be read."""
        answers = self.all()
        named = frozenset(shown_to.split(", "))
        if any(one.allowed is False and one.names & named for one in _about(answers, workspace)):
            return False
        exact = [one for one in answers if (one.workspace, one.shown_to) == (workspace, shown_to)]
        return exact[0].allowed if exact else None

    def names_refused(self, workspace: str) -> set[str]:
        """To whom nothing there may be shown; an answer that cannot be read refuses."""
        about = _about(self.all(), workspace)
        return {name for one in about if one.allowed is not True for name in one.names}

    def keep(self, workspace: str, shown_to: str, *, allowed: bool) -> None:
        """Keep an answer in place of an earlier one."""
        with self._db.write() as tx:
            tx.run(
                _KEEP,
                workspace=workspace,
                shown_to=shown_to,
                allowed=int(allowed),
                answered_at=self._clock.now().isoformat(),
            )

    def take_back(self, workspace: str, witness: RecordLook) -> list[ShownAnswer]:
        """Forget every answer about exactly this directory, so that the owner is asked again.

        Taking a never back allows nothing: looks ask, and work shows on its card who is shown what
        it reads.

        Args:
            workspace: The directory as it is kept, or another way to it; it need not exist any
                more. What is kept under this very name goes alone, wherever a link there leads.
            witness: Records it, in the same transaction.

        Returns:
            What was taken back.

        Raises:
            ApprovalError: `E_APPROVAL_UNKNOWN`: there is no answer about it.
        """
        taken = self._exactly(workspace)
        if not taken:
            raise ApprovalError(
                f"You were not asked whether models may be shown {show(workspace)}; "
                "`silas approvals showing` lists what you answered.",
                code="E_APPROVAL_UNKNOWN",
            )
        with self._db.write() as tx:
            for one in taken:
                tx.run(_TAKE_BACK, workspace=one.workspace)
            witness("workspace_look_taken_back", answers=len(taken), answer=_words(taken))
        return taken

    def _exactly(self, workspace: str) -> list[ShownAnswer]:
        kept = self.all()
        named = [one for one in kept if one.workspace == workspace]
        if named or "\0" in workspace:
            return named
        place = os.path.realpath(workspace)
        return [one for one in kept if one.workspace == place]


def _words(taken: Sequence[ShownAnswer]) -> str:
    return ", ".join(sorted({one.word for one in taken}))


def _about(answers: Iterable[ShownAnswer], workspace: str) -> list[ShownAnswer]:
    """Those about the directory itself, one above it or one below it."""
    place = PurePath(workspace)
    return [
        one
        for one in answers
        if place.is_relative_to(one.workspace) or PurePath(one.workspace).is_relative_to(place)
    ]
