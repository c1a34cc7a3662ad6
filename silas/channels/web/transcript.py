"""What was said on the pages, in the database: the same after a reload, elsewhere and later."""

import json
from collections.abc import Sequence
from typing import Any, LiteralString, NamedTuple, Protocol

from pydantic import TypeAdapter

from silas.canonical import canonical_json
from silas.channels.web.events import Kept, MessageEvent
from silas.channels.web.reports import retold
from silas.channels.web.results import MessageAsked, PostExecution
from silas.damage import UNREADABLE, readable_rows
from silas.db import Database, Rows, Tx

_kept: TypeAdapter[Kept] = TypeAdapter(Kept)
_NOT_KEPT = {"seq", "asked"}  # the place is the row's, and what was asked is looked up anew

_COLUMNS = "seq, id, body"
_INSERT = """
INSERT INTO web_transcript (id, body, sources, forgotten, conversation)
VALUES (:id, :body, :sources, :forgotten, :conversation) RETURNING seq
"""
_PLACE = "SELECT seq FROM web_transcript WHERE id = :id"
_LAST_OF_OWNER = """
SELECT forgotten FROM web_transcript WHERE sources = :sources AND conversation = :conversation
ORDER BY seq DESC LIMIT 1
"""
_MAKE_ROOM = "UPDATE web_transcript SET id = id || '-' || CAST(seq AS TEXT) WHERE id = :id"
_BODY = "SELECT seq, body FROM web_transcript WHERE id = :id"
_ASKED = f"""
SELECT {_COLUMNS} FROM web_transcript WHERE id = :id AND conversation = :conversation
"""
_CHANGE = "UPDATE web_transcript SET body = :body WHERE seq = :seq"
_RESULTS = f"""
SELECT {_COLUMNS} FROM web_transcript
WHERE body LIKE '%' || :of_result || '%' AND withheld = 0 AND seq > :after
"""
_MESSAGES = """
SELECT seq, sources, forgotten FROM web_transcript
WHERE body NOT LIKE '%' || :of_result || '%' AND withheld = 0
AND forgotten < :last AND seq > :after
"""
_ONE = f"SELECT {_COLUMNS} FROM web_transcript WHERE seq = :seq"
_WITHHOLD = "UPDATE web_transcript SET body = :body, withheld = 1 WHERE seq = :seq"
_WITHHELD = "SELECT seq FROM web_transcript WHERE withheld = 1"
_NEWEST = "SELECT seq FROM web_transcript ORDER BY seq DESC LIMIT 1"
_NEWEST_FIRST = f"SELECT {_COLUMNS} FROM web_transcript ORDER BY seq DESC LIMIT :limit"
_AFTER = f"""
SELECT {_COLUMNS} FROM web_transcript
WHERE conversation = :conversation AND seq > :seq ORDER BY seq DESC LIMIT :limit
"""
_BEFORE = f"""
SELECT {_COLUMNS} FROM web_transcript
WHERE conversation = :conversation AND seq < :seq ORDER BY seq DESC LIMIT :limit
"""

_LOOKED_AT = 1000  # messages and results; older ones are looked at when a page asks for them
_BEGINNING = 100  # characters of a message that a result names
_RESULT = "result-"  # before a work item's id: one result each, the newest
SAID_HERE = "channel:web"
"""The source of what the owner says on the pages."""

_OF_OWNER = canonical_json([SAID_HERE])
_OF_RESULT = canonical_json({"type": "post_execution"})[1:-1]  # in a text its quotes are escaped


class _Row(NamedTuple):
    """What is kept of a message or a result, nothing about it believed yet."""

    seq: int
    id: str
    body: str


class TranscriptSlice(NamedTuple):
    """Some of the conversation, oldest first, and whether older parts were left out."""

    kept: tuple[Kept, ...]
    complete: bool


class ContentOrigins(Protocol):
    """What is known of where the words on the pages come from."""

    def last(self) -> int:
        """The number of the last forgetting."""
        ...

    def sources_of_said(self, text: str) -> Sequence[str]:
        """What Silas made this of that it is about to say on the pages."""
        ...


class KeptMessage(NamedTuple):
    """A message that shows its words.

    Attributes:
        seq: Its place.
        sources: What it was made of.
        forgotten: The last forgetting before it.
    """

    seq: int
    sources: tuple[str, ...]
    forgotten: int


class KeptResult(NamedTuple):
    """A result that shows what its work made.

    Attributes:
        seq: Its place.
        work_item_id: Whose it is.
        ran_again: The work ended once more after this, so that this is of an earlier run.
    """

    seq: int
    work_item_id: str
    ran_again: bool


class Transcript:
    """The conversation. Statements are tiny and run inline (decision A23)."""

    def __init__(self, db: Database, made_of: ContentOrigins) -> None:
        self._db = db
        self._made_of = made_of

    def add(self, said: MessageEvent) -> MessageEvent | None:
        """Keep a message and give it its place; None where one of this id is kept already.

        What Silas says answers what was said before, so of what was forgotten between the two it
        is taken to be made, too.
        """
        mine = said.sender == "silas"
        sources = self._made_of.sources_of_said(said.text) if mine else (SAID_HERE,)
        last = self._made_of.last()
        with self._db.write() as tx:
            if tx.run(_PLACE, id=said.id).fetchone() is not None:
                return None
            if mine:
                found = tx.run(
                    _LAST_OF_OWNER, sources=_OF_OWNER, conversation=said.conversation
                ).fetchone()
                last = last if found is None else min(last, int(found[0]))
            place = _insert(tx, said.id, said, _sources_as_json(sources), last)
            return said.model_copy(update={"seq": place})

    def add_result(self, ended: PostExecution) -> PostExecution:
        """Keep how work ended; a second end of the same item stands at a place of its own, and the
        plan is asked about anew there alone.
        """
        with self._db.write() as tx:
            name = f"{_RESULT}{ended.work_item_id}"
            _change(tx, name, {"again": False})
            tx.run(_MAKE_ROOM, id=name)
            kept = ended.model_copy(update={"seq": _insert(tx, name, ended)})
        return self._with_asked(kept)

    def mark_undone(self, work_item_id: str) -> None:
        """Note that what an item changed was taken back."""
        with self._db.write() as tx:
            _change(tx, f"{_RESULT}{work_item_id}", {"undone": True, "undo_until": None})

    def results(self, after: int) -> list[KeptResult]:
        """The results after a place of which nothing is withheld."""
        with self._db.read() as tx:
            rows = _rows(tx.run(_RESULTS, of_result=_OF_RESULT, after=after))
        found = list[KeptResult]()
        for name, kept in self._readable_rows(rows):
            if isinstance(kept, PostExecution):
                item = kept.work_item_id
                found.append(KeptResult(kept.seq, item, name != f"{_RESULT}{item}"))
        return found

    def offering_undo(self) -> list[str]:
        """The ids of the work whose results offer to take back what it changed."""
        with self._db.read() as tx:
            rows = _rows(tx.run(_RESULTS, of_result=_OF_RESULT, after=0))
        return [
            kept.work_item_id
            for name, kept in self._readable_rows(rows)
            if isinstance(kept, PostExecution)
            and kept.undo_until is not None
            and name == f"{_RESULT}{kept.work_item_id}"
        ]

    def messages(self, after: int) -> list[KeptMessage]:
        """The messages after a place that show their words, and before which something was not
        forgotten that is now.
        """
        last = self._made_of.last()
        with self._db.read() as tx:
            rows = tx.run(_MESSAGES, of_result=_OF_RESULT, last=last, after=after).fetchall()
        # nobody noted what messages of a former version were made of: they answered what was said
        return [
            KeptMessage(seq, tuple(json.loads(sources or _OF_OWNER)), forgotten)
            for seq, sources, forgotten in rows
        ]

    def withhold(self, seqs: Sequence[int], words: str) -> None:
        """Put these words in the place of what messages say and results show, for good."""
        with self._db.write() as tx:
            for seq in seqs:
                row = _Row(*tx.run(_ONE, seq=seq).fetchone())
                try:
                    body = canonical_json(replace_words(_parse_row(row)[1], words))
                except UNREADABLE:  # no page shows it
                    body = row.body
                tx.run(_WITHHOLD, body=body, seq=seq)

    def withheld(self) -> tuple[int, ...]:
        """The places of everything that is withheld, or of which something is."""
        with self._db.read() as tx:
            rows = tx.run(_WITHHELD).fetchall()
        return tuple(sorted(int(seq) for (seq,) in rows))

    def newest(self) -> int:
        """The newest place; 0 where nothing was said."""
        with self._db.read() as tx:
            row = tx.run(_NEWEST).fetchone()
        return 0 if row is None else int(row[0])

    def after(self, seq: int, most: int, conversation: str = "") -> TranscriptSlice:
        """What was said in a conversation after a place, or the newest of it where that is more
        than `most`.
        """
        return self._part(_AFTER, seq, most, conversation)

    def before(self, seq: int, most: int, conversation: str = "") -> TranscriptSlice:
        """What was said in a conversation before a place, the newest of it."""
        return self._part(_BEFORE, seq, most, conversation)

    def _part(
        self, statement: LiteralString, seq: int, most: int, conversation: str
    ) -> TranscriptSlice:
        with self._db.read() as tx:
            rows = _rows(tx.run(statement, seq=seq, limit=most + 1, conversation=conversation))
        kept = self._readable_rows(rows[:most][::-1])
        named = tuple(
            self._with_asked(retold(one)) if isinstance(one, PostExecution) else one
            for _, one in kept
        )
        return TranscriptSlice(named, len(rows) <= most)

    def _with_asked(self, kept: PostExecution) -> PostExecution:
        """A result with the message that asked for it as it is now, which may be withheld."""
        if not kept.reply_to:
            return kept
        with self._db.read() as tx:
            key = {"id": kept.reply_to, "conversation": kept.conversation}
            rows = _rows(tx.run(_ASKED, **key))
        for _, said in self._readable_rows(rows):
            if isinstance(said, MessageEvent):
                asked = MessageAsked(seq=said.seq, words=_beginning(said.text))
                return kept.model_copy(update={"asked": asked})
        return kept

    def _readable_rows(self, rows: Sequence[_Row]) -> list[tuple[str, Kept]]:
        return _readable(self._db, rows)


def _change(tx: Tx, name: str, update: dict[str, Any]) -> None:
    """Update fields of what is kept under a name, where there is something that can be read."""
    row = tx.run(_BODY, id=name).fetchone()
    if row is None:
        return
    seq, kept = row
    try:
        body = canonical_json({**json.loads(kept), **update})
    except UNREADABLE:  # no page shows it
        return
    tx.run(_CHANGE, body=body, seq=seq)


def _insert(
    tx: Tx, name: str, kept: MessageEvent | PostExecution, sources: str = "", forgotten: int = 0
) -> int:
    body = canonical_json(kept.model_dump(mode="json", exclude=_NOT_KEPT))
    row = tx.run(
        _INSERT,
        id=name,
        body=body,
        sources=sources,
        forgotten=forgotten,
        conversation=kept.conversation,
    ).fetchone()
    return int(row[0])


def _beginning(text: str) -> str:
    words = " ".join(text.split())
    if len(words) <= _BEGINNING:
        return words
    return f"{words[:_BEGINNING].rsplit(' ', 1)[0]} …"


def _rows(found: Rows) -> list[_Row]:
    return [_Row(*row) for row in found]


def check_newest(db: Database) -> None:
    """Look at what pages show first; what cannot be read is set aside."""
    with db.read() as tx:
        rows = _rows(tx.run(_NEWEST_FIRST, limit=_LOOKED_AT))
    _readable(db, rows)


def _readable(db: Database, rows: Sequence[_Row]) -> list[tuple[str, Kept]]:
    """What is kept, with its id; a damaged row is set aside and the conversation goes on."""
    return readable_rows(db, "web_transcript", rows, lambda row: f"place {row.seq}", _parse_row)


def replace_words(kept: Kept, words: str) -> dict[str, Any]:
    """The body of a message or result with these words in the place of its own."""
    body = kept.model_dump(mode="json", exclude=_NOT_KEPT)
    if isinstance(kept, MessageEvent):
        return {**body, "text": words}
    gone = {name: words for name in ("summary", "output", "report") if body[name]}
    checks = [{**check, "words": ""} for check in body["checks"]]
    return {**body, **gone, "diff": "", "checks": checks}


def _sources_as_json(sources: Sequence[str]) -> str:
    return canonical_json(list(sources))


def _parse_row(row: _Row) -> tuple[str, Kept]:
    return str(row.id), _kept.validate_python({**json.loads(row.body), "seq": row.seq})
