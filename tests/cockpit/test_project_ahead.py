"""A project that waits for a yes, on the page Ahead: its graph in steps, over HTTP and as text."""

from pathlib import Path

from silas.main.schedules.ahead import project_lines
from silas.services.projects import under_way
from silas.work.changes.held_store import HeldStore
from tests.cockpit.house import a_house
from tests.projects.test_held import Owner, ran


async def test_its_tasks_are_shown_in_steps_with_what_each_waits_for(tmp_path: Path) -> None:
    owner = Owner()
    async with a_house(owner.channel) as house:
        assert (await house.get("/ahead"))["projects"] == []
        await ran(house.harness, tmp_path)
        (row,) = (await house.get("/ahead"))["projects"]
        store, config = house.harness.store, house.harness.config
        (shown,) = await under_way(store, HeldStore(config.data_dir / "held"), house.parts.undoing)
        owner.word = "apply"
        await house.harness.silas.answer("second")
        assert (await house.get("/ahead"))["projects"] == []
    assert (row["title"], row["done"]) == ("Deploy it", 2)
    assert [[(one["id"], one["words"]) for one in step] for step in row["steps"]] == [
        [("first", "done")],
        [("second", "waits for your yes"), ("aside", "done")],
        [("third", "not begun")],
    ]
    assert row["steps"][1][0]["state"] == "waiting"
    assert row["steps"][2][0]["after"] == ["Do second"]
    assert project_lines(shown) == [
        "  1. first: done",
        "  2. second: waits for your yes  (after first)",
        "  2. aside: done  (after first)",
        "  3. third: not begun  (after second)",
    ]
