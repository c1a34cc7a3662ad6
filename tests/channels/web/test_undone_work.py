"""A result that was undone says so on every page, whichever process took it back, and once."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

from silas.channels.web.events import PostExecution
from silas.channels.web.pages import Pages
from silas.channels.web.transcript import Transcript
from silas.channels.web.undone_work import UndoneNews, UndoneResults
from silas.db import Database
from silas.testing import MockClock
from tests.support.pages import NothingForgotten

NOW = datetime(2026, 11, 22, 9, 0, tzinfo=UTC)


class Record:
    """What was undone, as a test says."""

    def __init__(self, *undone: str) -> None:
        self.undone = list(undone)
        self.gone = set(undone)

    async def newest(self) -> int:
        return len(self.undone)

    async def since(self, seq: int) -> UndoneNews:
        return UndoneNews(len(self.undone), self.undone[seq:])

    async def is_undone(self, work_item_id: str) -> bool:
        return work_item_id in self.gone


def _ended(name: str, *, undoable: bool = True) -> PostExecution:
    until = NOW + timedelta(minutes=5) if undoable else None
    return PostExecution(
        seq=0,
        work_item_id=name,
        title=name,
        status="done",
        summary="Done.",
        undo_until=until,
        timestamp=NOW,
    )


async def test_what_was_undone_before_and_what_is_undone_now_is_told_once(tmp_path: Path) -> None:
    db = Database(tmp_path / "silas.db", MockClock())
    db.migrate("silas.channels.web")
    transcript = Transcript(db, NothingForgotten())
    for name in ("before", "now", "stands"):
        transcript.add_result(_ended(name))
    transcript.add_result(_ended("changed nothing", undoable=False))
    record, told = Record("before", "changed nothing"), list[str]()

    def tell(name: str) -> None:
        transcript.mark_undone(name)
        told.append(name)

    results = UndoneResults(transcript, Pages(), record, tell)
    await results.look()
    assert told == ["before"]
    record.undone.append("now")
    await results.look()
    await results.look()
    assert told == ["before", "now"]
    again = list[str]()
    await UndoneResults(transcript, Pages(), record, again.append).look()
    assert again == []
    assert transcript.offering_undo() == ["stands"]
    kept = {one.work_item_id: one for one in transcript.after(0, 9).kept if one.type != "message"}
    assert [name for name, one in kept.items() if one.undone] == ["before", "now"]
    db.close()
