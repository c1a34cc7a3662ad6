"""Files that were moved in batches go back from the cockpit, as by `silas batch undo`."""

from datetime import timedelta
from pathlib import Path

import pytest

from silas.testing import MockClock, ScriptedChannel, ScriptedModel
from tests.batches.folders import NOW, PDF, PNG, listed, put
from tests.cockpit.house import House, a_house, proof
from tests.stream.kit import saying_yes


async def _tidied(house: House, place: Path) -> str:
    await house.harness.silas.tidy(place)
    (row,) = await house.get("/batches")
    assert row["folder"] == str(place)
    return str(row["id"])


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOME", str(tmp_path))
    place = tmp_path / "Downloads"
    for name, content in (("a.pdf", PDF), ("b.pdf", PDF + b"b"), ("c.png", PNG)):
        put(place, name, content)
    return place


async def test_one_file_goes_back_and_then_all_and_only_with_a_proof(place: Path) -> None:
    before = listed(place)
    models = {"proxy": ScriptedModel([])}
    clock = MockClock(NOW)
    async with a_house(ScriptedChannel(saying_yes), models=models, clock=clock) as house:
        assert await house.get("/batches") == []
        name = await _tidied(house, place)
        (row,) = await house.get("/batches")
        moved = {one["name"]: one for one in row["files"]}
        assert {one["state"] for one in row["files"]} == {"moved"}
        unproved = await house.post(f"/batches/{name}/undo", numbers=[1])
        assert unproved.status_code == 400
        wrong = await house.client.post(
            f"/batches/{name}/undo", json={"numbers": [1], "proof": proof(b"another's")}
        )
        assert wrong.status_code == 403
        number = moved["b.pdf"]["number"]
        one = await house.signed(f"/batches/{name}/undo", numbers=[number])
        assert (one.status_code, "1 file back" in one.json()["words"]) == (200, True)
        assert f":[{number}]".encode() in house.door.proved[-1]
        (row,) = await house.get("/batches")
        assert [f["name"] for f in row["files"] if f["state"] == "undone"] == ["b.pdf"]
        rest = await house.signed(f"/batches/{name}/undo")
        assert rest.status_code == 200
        assert listed(place) == before
        unknown = await house.signed("/batches/batch-0/undo")
    assert unknown.status_code == 404
    assert "batch" in unknown.json()["message"]


async def test_after_its_time_a_batch_stays_and_the_page_is_told_so(place: Path) -> None:
    clock = MockClock(NOW)
    models = {"proxy": ScriptedModel([])}
    async with a_house(ScriptedChannel(saying_yes), models=models, clock=clock) as house:
        name = await _tidied(house, place)
        clock.advance(timedelta(minutes=6).total_seconds())
        (row,) = await house.get("/batches")
        late = await house.signed(f"/batches/{name}/undo")
    assert row["undo_until"] is None
    assert late.status_code != 200
    assert set(listed(place)) == {"Documents/a.pdf", "Documents/b.pdf", "Pictures/c.png"}
