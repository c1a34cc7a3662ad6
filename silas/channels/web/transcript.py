"""What was said on the pages, in the database: the same after a reload, elsewhere and later."""

import json
from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol

from pydantic import TypeAdapter
from sqlalchemy import Column, Integer, MetaData, Table, Text, cast, insert, select, update

from silas.canonical import canonical_json
from silas.channels.web.events import Kept, MessageEvent, PostExecution
from silas.damage import UNREADABLE, readable
from silas.db import Database

_TABLE = Table(
    "web_transcript",
    MetaData(),
    Column("seq", Integer, primary_key=True),
    Column("id", Text, unique=True),
    Column("body", Text),
    Column("withheld", Integer),
    Column("sources", Text),
    Column("forgotten", Integer),
)
_kept: TypeAdapter[Kept] = TypeAdapter(Kept)

_LOOKED_AT = 1000  # messages and results; older ones are looked at when a page asks for them
_RESULT = "result-"  # before a work item's id: one result each, the newest
SAID_HERE = "channel:web"
"""The source of what the owner says on the pages."""

_OF_OWNER = canonical_json([SAID_HERE])
_OF_RESULT = canonical_json({"type": "post_execution"})[1:-1]  # in a text its quotes are escaped


class TranscriptSlice(NamedTuple):
    """Some of the conversation, oldest first, and whether older parts were left out."""

    kept: tuple[Kept, ...]
    complete: bool


class ContentOrigins(Protocol):
    """What is known of where the words on the pages come from."""

    def last(self) -> int:
        """The number of the last forgetting."""
        ...

    def said(self, text: str) -> Sequence[str]:
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
        sources = self._made_of.said(said.text) if mine else (SAID_HERE,)
        last, known = self._made_of.last(), select(_TABLE.c.seq).where(_TABLE.c.id == said.id)
        with self._db.write() as tx:
            if tx.execute(known).first() is not None:
                return None
            if mine:
                asked = select(_TABLE.c.forgotten).where(_TABLE.c.sources == _OF_OWNER)
                found = tx.execute(asked.order_by(_TABLE.c.seq.desc()).limit(1)).scalar()
                last = last if found is None else min(last, int(found))
            noted = {"sources": _listed(sources), "forgotten": last}
            return said.model_copy(update={"seq": self._insert(tx, said.id, said, noted)})

    def add_result(self, ended: PostExecution) -> PostExecution:
        """Keep how work ended; a second end of the same item stands at a place of its own."""
        with self._db.write() as tx:
            name = f"{_RESULT}{ended.work_item_id}"
            tx.execute(
                update(_TABLE)
                .where(_TABLE.c.id == name)
                .values(id=_TABLE.c.id + "-" + cast(_TABLE.c.seq, Text))
            )
            return ended.model_copy(update={"seq": self._insert(tx, name, ended, {})})

    def undone(self, work_item_id: str) -> None:
        """Note that what an item changed was taken back."""
        with self._db.write() as tx:
            mine = _TABLE.c.id == f"{_RESULT}{work_item_id}"
            row = tx.execute(select(_TABLE.c.seq, _TABLE.c.body).where(mine)).first()
            if row is None:
                return
            try:
                body = canonical_json({**json.loads(row.body), "undone": True, "undo_until": None})
            except UNREADABLE:  # no page shows it
                return
            tx.execute(update(_TABLE).where(_TABLE.c.seq == row.seq).values(body=body))

    def results(self, after: int) -> list[KeptResult]:
        """The results after a place of which nothing is withheld."""
        mine = _TABLE.c.body.contains(_OF_RESULT) & (_TABLE.c.withheld == 0)
        mine &= _TABLE.c.seq > after
        with self._db.read() as tx:
            rows: Sequence[Any] = tx.execute(select(_TABLE).where(mine)).all()
        found = list[KeptResult]()
        for name, kept in self._readable(rows):
            if isinstance(kept, PostExecution):
                item = kept.work_item_id
                found.append(KeptResult(kept.seq, item, name != f"{_RESULT}{item}"))
        return found

    def messages(self, after: int) -> list[KeptMessage]:
        """The messages after a place that show their words, and before which something was not
        forgotten that is now.
        """
        mine = ~_TABLE.c.body.contains(_OF_RESULT) & (_TABLE.c.withheld == 0)
        mine &= _TABLE.c.forgotten < self._made_of.last()
        wanted = select(_TABLE.c.seq, _TABLE.c.sources, _TABLE.c.forgotten)
        with self._db.read() as tx:
            rows: Sequence[Any] = tx.execute(wanted.where(mine & (_TABLE.c.seq > after))).all()
        # nobody noted what messages of a former version were made of: they answered what was said
        return [
            KeptMessage(row.seq, tuple(json.loads(row.sources or _OF_OWNER)), row.forgotten)
            for row in rows
        ]

    def withhold(self, seqs: Sequence[int], words: str) -> None:
        """Put these words in the place of what messages say and results show, for good."""
        with self._db.write() as tx:
            for seq in seqs:
                row = tx.execute(select(_TABLE).where(_TABLE.c.seq == seq)).one()
                try:
                    body = canonical_json(without(_read(row)[1], words))
                except UNREADABLE:  # no page shows it
                    body = row.body
                mine = _TABLE.c.seq == seq
                tx.execute(update(_TABLE).where(mine).values(body=body, withheld=1))

    def withheld(self) -> tuple[int, ...]:
        """The places of everything that is withheld, or of which something is."""
        with self._db.read() as tx:
            rows = tx.execute(select(_TABLE.c.seq).where(_TABLE.c.withheld == 1)).all()
        return tuple(sorted(int(row.seq) for row in rows))

    def newest(self) -> int:
        """The newest place; 0 where nothing was said."""
        with self._db.read() as tx:
            row = tx.execute(select(_TABLE.c.seq).order_by(_TABLE.c.seq.desc()).limit(1)).first()
        return 0 if row is None else int(row.seq)

    def after(self, seq: int, most: int) -> TranscriptSlice:
        """What was said after a place, or the newest of it where that is more than `most`."""
        return self._part(_TABLE.c.seq > seq, most)

    def before(self, seq: int, most: int) -> TranscriptSlice:
        """What was said before a place, the newest of it."""
        return self._part(_TABLE.c.seq < seq, most)

    def _part(self, condition: Any, most: int) -> TranscriptSlice:
        newest_first = select(_TABLE).where(condition).order_by(_TABLE.c.seq.desc())
        with self._db.read() as tx:
            rows: Sequence[Any] = tx.execute(newest_first.limit(most + 1)).all()
        kept = self._readable(rows[:most][::-1])
        return TranscriptSlice(tuple(one for _, one in kept), len(rows) <= most)

    def _readable(self, rows: Sequence[Any]) -> list[tuple[str, Kept]]:
        return _readable(self._db, rows)

    @staticmethod
    def _insert(
        tx: Any, name: str, kept: MessageEvent | PostExecution, noted: dict[str, Any]
    ) -> int:
        body = canonical_json(kept.model_dump(mode="json", exclude={"seq"}))
        return int(tx.execute(insert(_TABLE).values(id=name, body=body, **noted)).lastrowid)


def check_newest(db: Database) -> None:
    """Look at what pages show first; what cannot be read is set aside."""
    newest_first = select(_TABLE).order_by(_TABLE.c.seq.desc())
    with db.read() as tx:
        rows: Sequence[Any] = tx.execute(newest_first.limit(_LOOKED_AT)).all()
    _readable(db, rows)


def _readable(db: Database, rows: Sequence[Any]) -> list[tuple[str, Kept]]:
    """What is kept, with its id; a damaged row is set aside and the conversation goes on."""
    return readable(db, _TABLE.name, rows, lambda row: f"place {row.seq}", _read)


def without(kept: Kept, words: str) -> dict[str, Any]:
    """The body of a message or result with these words in the place of its own."""
    body = kept.model_dump(mode="json", exclude={"seq"})
    if isinstance(kept, MessageEvent):
        return {**body, "text": words}
    gone = {name: words for name in ("summary", "output", "report") if body[name]}
    checks = [{**check, "words": ""} for check in body["checks"]]
    return {**body, **gone, "diff": "", "checks": checks}


def _listed(sources: Sequence[str]) -> str:
    return canonical_json(list(sources))


def _read(row: Any) -> tuple[str, Kept]:
    return str(row.id), _kept.validate_python({**json.loads(row.body), "seq": row.seq})
