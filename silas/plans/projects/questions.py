"""What running work asks its owner, in the database: a crash while it waits loses nothing (5.2.2).

A question is of one approval of the work. Work that a crash cut off asks again in a new attempt,
and what was answered in the one that was cut off is its answer; an attempt that failed takes its
answers with it. Work that asks the same twice without a crash between is answered twice: a yes to
one thing is none to the next that is called the same. Nothing is kept then of what was answered,
for nobody knows which of the two a new attempt asks.
"""

from collections import Counter
from collections.abc import Callable
from datetime import datetime
from typing import NamedTuple

from silas.canonical import canonical_json, sha256_hex
from silas.clock import Clock
from silas.db import Database
from silas.plans.models import WorkItem

_OPEN = """
INSERT INTO work_questions (work_item_id, token_id, digest, state, chosen, words, asked_at)
VALUES (:work_item_id, :token_id, :digest, 'open', '', '', :asked_at)
ON CONFLICT (work_item_id, token_id, digest) DO NOTHING
"""
_ANSWER = """
UPDATE work_questions SET state = 'answered', chosen = :chosen, words = :words
WHERE work_item_id = :work_item_id AND token_id = :token_id AND digest = :digest
"""
_ANSWERED = """
SELECT chosen, words FROM work_questions
WHERE work_item_id = :work_item_id AND token_id = :token_id AND digest = :digest
  AND state = 'answered'
"""
_REOPEN = """
UPDATE work_questions SET state = 'open', chosen = '', words = ''
WHERE work_item_id = :work_item_id AND token_id = :token_id AND digest = :digest
"""
_FORGET = """
DELETE FROM work_questions
WHERE work_item_id = :work_item_id AND token_id = :token_id AND digest = :digest
"""
_DROP = """
DELETE FROM work_questions
WHERE work_item_id = :work_item_id AND token_id = :token_id AND state = 'open'
"""
_FORGET_ANSWERS = """
DELETE FROM work_questions
WHERE work_item_id = :work_item_id AND token_id = :token_id AND state = 'answered'
"""
_PRUNE = """
DELETE FROM work_questions WHERE asked_at < :before AND work_item_id NOT IN
(SELECT id FROM work_items WHERE status IN ('pending', 'running', 'paused', 'blocked'))
"""
_WAITS = """
SELECT DISTINCT work_item_id FROM work_questions WHERE state = 'open' AND digest <> :placeless
"""
_PLACELESS = sha256_hex(b"answered, and has no place yet among those that run")
"""In place of a question's digest: its work was answered, and nothing of it goes on yet."""
_CUT_OFF = """
SELECT 1 FROM work_questions
WHERE work_item_id = :work_item_id AND token_id = :token_id AND state = 'open'
"""
_NO_ANSWER = """
INSERT INTO work_questions (work_item_id, token_id, digest, state, chosen, words, asked_at)
VALUES (:work_item_id, :token_id, :digest, 'answered', '', '', :asked_at)
ON CONFLICT (work_item_id, token_id, digest) DO NOTHING
"""
_WITHOUT = """
SELECT 1 FROM work_questions
WHERE work_item_id = :work_item_id AND token_id = :token_id AND digest = :digest
"""
_UNANSWERED = sha256_hex(b"the last question of this work got no answer")
"""In the place of a question's digest: a mark that no question has."""


class KeptAnswer(NamedTuple):
    """What an owner answered; both are empty where he chose not to answer."""

    chosen: str
    words: str


class WorkQuestions:
    """The questions of running work. Statements are tiny and run inline (decision A23).

    Args:
        db: The database.
        clock: When a question was asked.
        redact: Takes known secrets out of what is kept; no model is told them in any case.
    """

    def __init__(self, db: Database, clock: Clock, redact: Callable[[str], str]) -> None:
        self._db = db
        self._clock = clock
        self._redact = redact
        self._asked = Counter[tuple[str, ...]]()  # by this process

    def open(self, item: WorkItem, question: str, options: tuple[str, ...]) -> KeptAnswer | None:
        """Keep a question as waiting; what was answered to the same one before a crash, where it
        was.
        """
        key = _key(item, question, options)
        self._asked[tuple(key.values())] += 1
        with self._db.write() as tx:
            row = tx.run(_ANSWERED, **key).fetchone()
            if row is not None and self._asked[tuple(key.values())] == 1:
                return KeptAnswer(str(row[0]), str(row[1]))
            tx.run(_REOPEN, **key)
            tx.run(_OPEN, **key, asked_at=self._clock.now().isoformat())
        return None

    def answer(
        self, item: WorkItem, question: str, options: tuple[str, ...], answer: KeptAnswer
    ) -> None:
        """Keep what was answered, and that nothing of the work goes on before `resume`."""
        key = _key(item, question, options)
        mark = {**key, "digest": _UNANSWERED}
        with self._db.write() as tx:
            if self._asked[tuple(key.values())] > 1:
                tx.run(_FORGET, **key)
            else:
                words = self._redact(answer.words)
                tx.run(_ANSWER, **key, chosen=answer.chosen, words=words)
            if any(answer):
                tx.run(_FORGET, **mark)
            else:
                tx.run(_NO_ANSWER, **mark, asked_at=self._clock.now().isoformat())
            tx.run(_OPEN, **_placeless(item), asked_at=self._clock.now().isoformat())

    def resume(self, item: WorkItem) -> None:
        """What was answered goes on: from here a crash cuts off an attempt like any other."""
        with self._db.write() as tx:
            tx.run(_FORGET, **_placeless(item))

    def drop(self, item: WorkItem) -> None:
        """Nothing of this work waits any more: it was stopped, or its questions were."""
        with self._db.write() as tx:
            tx.run(_DROP, work_item_id=item.id, token_id=_token(item))

    def forget_answers(self, item: WorkItem) -> None:
        """An attempt of this work ended by itself: what was answered in it is none of the next."""
        whose = {"work_item_id": item.id, "token_id": _token(item)}
        with self._db.write() as tx:
            tx.run(_FORGET_ANSWERS, **whose)
        for key in [key for key in self._asked if key[:2] == tuple(whose.values())]:
            del self._asked[key]

    def cut_off(self, item: WorkItem) -> bool:
        """Whether a question of this work was open when its last attempt was cut off, or answered
        and nothing had gone on yet.
        """
        with self._db.read() as tx:
            row = tx.run(_CUT_OFF, work_item_id=item.id, token_id=_token(item)).fetchone()
        return row is not None


def prune_questions(db: Database, before: datetime) -> None:
    """Forget what was asked before a moment by work that has ended; what may go on keeps all."""
    with db.write() as tx:
        tx.run(_PRUNE, before=before.isoformat())


def waiting_for_answers(db: Database) -> frozenset[str]:
    """The ids of work with a question that waits for its owner."""
    with db.read() as tx:
        return frozenset(str(name) for (name,) in tx.run(_WAITS, placeless=_PLACELESS))


def was_unanswered(db: Database, item: WorkItem) -> bool:
    """Whether the last question that work asked under its approval got no answer."""
    with db.read() as tx:
        mark = {"work_item_id": item.id, "token_id": _token(item), "digest": _UNANSWERED}
        return tx.run(_WITHOUT, **mark).fetchone() is not None


def _token(item: WorkItem) -> str:
    return "" if item.approval_token is None else item.approval_token.token_id


def _placeless(item: WorkItem) -> dict[str, str]:
    return {"work_item_id": item.id, "token_id": _token(item), "digest": _PLACELESS}


def _key(item: WorkItem, question: str, options: tuple[str, ...]) -> dict[str, str]:
    asked = canonical_json({"question": question, "options": list(options)})
    return {
        "work_item_id": item.id,
        "token_id": _token(item),
        "digest": sha256_hex(asked.encode()),
    }
