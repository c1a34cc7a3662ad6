from datetime import UTC, datetime
from pathlib import Path

from silas.autonomy.signals import plan_family
from silas.autonomy.store import RecordedDecision, SqlAutonomyStore
from silas.services.work import open_work
from silas.types import OWNER
from tests.support.command import run
from tests.support.home import Home

_EVER = datetime(2000, 1, 1, tzinfo=UTC)


async def test_an_undo_in_the_terminal_is_learned_from_as_one_in_the_cockpit(
    tmp_path: Path,
) -> None:
    home = await Home.set_up(tmp_path)
    (home.signals / "go").touch()
    assert run(home.command(), home.env).code == 0
    async with open_work(home.config) as service:
        (item,) = await service.items()
        store, family = SqlAutonomyStore(service.db), plan_family(item)
        assert not store.list_decided(OWNER, family, _EVER, 1)
        await service.undo(item.id)
        (last,) = store.list_decided(OWNER, family, _EVER, 2)
    assert isinstance(last, RecordedDecision)
    assert last.outcome == "undo"
    assert not (home.work / "result.txt").exists()
