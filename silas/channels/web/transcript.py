"""What was said on the pages, in the database: the same after a reload, elsewhere and later."""

import json
from collections.abc import Sequence
from typing import Any, NamedTuple

from pydantic import TypeAdapter
from sqlalchemy import Column, Integer, MetaData, Table, Text, cast, insert, select, update

from silas.canonical import canonical_json
from silas.channels.web.events import Kept, PostExecution, Said
from silas.damage import UNREADABLE, readable
from silas.db import Database

_TABLE = Table(
    "web_transcript",
    MetaData(),
    Column("seq", Integer, primary_key=True),
    Column("id", Text, unique=True),
    Column("body", Text),
    Column("withheld", Integer),
)
_kept: TypeAdapter[Kept] = TypeAdapter(Kept)

_LOOKED_AT = 1000  # messages and results; older ones are looked at when a page asks for them
_RESULT = "result-"  # before a work item's id: one result each, the newest
_OF_RESULT = canonical_json({"type": "post_execution"})[1:-1]  # in a text its quotes are escaped


class Part(NamedTuple):
    """Some of the conversation, oldest first, and whether older parts were left out."""

    kept: tuple[Kept, ...]
    complete: bool


class KeptResult(NamedTuple):
    """A result that shows what its work printed or reported.

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

    def __init__(self, db: Database) -> None:
        self._db = db

    def add(self, said: Said) -> Said | None:
        """Keep a message and give it its place; None where one of this id is kept already."""
        known = select(_TABLE.c.seq).where(_TABLE.c.id == said.id)
        with self._db.write() as tx:
            if tx.execute(known).first() is not None:
                return None
            return said.model_copy(update={"seq": self._insert(tx, said.id, said)})

    def add_result(self, ended: PostExecution) -> PostExecution:
        """Keep how work ended; a second end of the same item stands at a place of its own."""
        with self._db.write() as tx:
            name = f"{_RESULT}{ended.work_item_id}"
            tx.execute(
                update(_TABLE)
                .where(_TABLE.c.id == name)
                .values(id=_TABLE.c.id + "-" + cast(_TABLE.c.seq, Text))
            )
            return ended.model_copy(update={"seq": self._insert(tx, name, ended)})

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
        """The results after a place that show what their work printed or reported."""
        mine = _TABLE.c.body.contains(_OF_RESULT) & (_TABLE.c.withheld == 0)
        mine &= _TABLE.c.seq > after
        with self._db.read() as tx:
            rows: Sequence[Any] = tx.execute(select(_TABLE).where(mine)).all()
        found = list[KeptResult]()
        for name, kept in self._readable(rows):
            if isinstance(kept, PostExecution) and (kept.output or kept.report):
                item = kept.work_item_id
                found.append(KeptResult(kept.seq, item, name != f"{_RESULT}{item}"))
        return found

    def withhold(self, seqs: Sequence[int], words: str) -> None:
        """Put these words in the place of what results show of their work, for good."""
        with self._db.write() as tx:
            for seq in seqs:
                mine = _TABLE.c.seq == seq
                body = json.loads(tx.execute(select(_TABLE.c.body).where(mine)).scalar_one())
                gone = {name: words for name in ("output", "report") if body.get(name)}
                changed = canonical_json({**body, **gone})
                tx.execute(update(_TABLE).where(mine).values(body=changed, withheld=1))

    def withheld(self) -> tuple[int, ...]:
        """The places of all results of which something is withheld."""
        with self._db.read() as tx:
            rows = tx.execute(select(_TABLE.c.seq).where(_TABLE.c.withheld == 1)).all()
        return tuple(sorted(int(row.seq) for row in rows))

    def newest(self) -> int:
        """The newest place; 0 where nothing was said."""
        with self._db.read() as tx:
            row = tx.execute(select(_TABLE.c.seq).order_by(_TABLE.c.seq.desc()).limit(1)).first()
        return 0 if row is None else int(row.seq)

    def after(self, seq: int, most: int) -> Part:
        """What was said after a place, or the newest of it where that is more than `most`."""
        return self._part(_TABLE.c.seq > seq, most)

    def before(self, seq: int, most: int) -> Part:
        """What was said before a place, the newest of it."""
        return self._part(_TABLE.c.seq < seq, most)

    def _part(self, condition: Any, most: int) -> Part:
        newest_first = select(_TABLE).where(condition).order_by(_TABLE.c.seq.desc())
        with self._db.read() as tx:
            rows: Sequence[Any] = tx.execute(newest_first.limit(most + 1)).all()
        kept = self._readable(rows[:most][::-1])
        return Part(tuple(one for _, one in kept), len(rows) <= most)

    def check(self) -> None:
        """Look at what pages show first; what cannot be read is set aside."""
        self.before(self.newest() + 1, _LOOKED_AT)

    def _readable(self, rows: Sequence[Any]) -> list[tuple[str, Kept]]:
        """What is kept, with its id; a damaged row is set aside and the conversation goes on."""
        return readable(self._db, _TABLE.name, rows, lambda row: f"place {row.seq}", _read)

    @staticmethod
    def _insert(tx: Any, name: str, kept: Said | PostExecution) -> int:
        body = canonical_json(kept.model_dump(mode="json", exclude={"seq"}))
        return int(tx.execute(insert(_TABLE).values(id=name, body=body)).lastrowid)


def _read(row: Any) -> tuple[str, Kept]:
    return str(row.id), _kept.validate_python({**json.loads(row.body), "seq": row.seq})
