"""What cannot be put on record is not changed or deleted, at the cockpit's doors (decision B5)."""

from collections.abc import Generator
from contextlib import contextmanager

import pytest

from silas.errors import DatabaseError
from tests.cockpit.house import House, a_house

VALUE = "a-value-that-nobody-sees"


@contextmanager
def no_entry(house: House) -> Generator[None]:
    """Nothing can be appended to the record."""
    trigger = (
        "CREATE TRIGGER broken BEFORE INSERT ON audit_log BEGIN SELECT RAISE(ABORT, 'no'); END"
    )
    with house.harness.db.write() as tx:
        tx.driver.execute(trigger)
    try:
        yield
    finally:
        with house.harness.db.write() as tx:
            tx.driver.execute("DROP TRIGGER broken")


async def _status(house: House, path: str, **data: str) -> int:
    return (await house.signed(path, **data)).status_code


@pytest.mark.parametrize("act", ["add", "correct", "forget"])
async def test_a_memory_is_not_touched_where_that_cannot_be_recorded(act: str) -> None:
    async with a_house() as house:
        await house.signed("/memory", text="The dentist is called Odile.")
        before = (await house.get("/memory"))["memories"]
        path = {"add": "/memory", "correct": f"/memory/{before[0]['id']}"}
        acts = {"text": "The dentist is called Ada."} if act != "forget" else {}
        with no_entry(house):
            refused = await _status(
                house, path.get(act, f"/memory/{before[0]['id']}/forget"), **acts
            )
        assert refused >= 400
        assert (await house.get("/memory"))["memories"] == before


async def test_a_secret_is_not_removed_where_that_cannot_be_recorded() -> None:
    async with a_house() as house:
        vault = house.harness.secrets
        kept = vault.add("NOTION_TOKEN", VALUE, house.harness.clock.now())
        with no_entry(house):
            assert await _status(house, f"/secrets/{kept.ref_id}/remove") >= 400
        assert vault.facts() == (kept,)
        assert await _status(house, f"/secrets/{kept.ref_id}/remove") == 200


async def test_a_secret_that_was_to_be_replaced_stays_where_that_cannot_be_recorded() -> None:
    async with a_house() as house:
        vault, setup = house.harness.secrets, house.rooms.configuration.setup
        kept = vault.add("NOTION_TOKEN", VALUE, house.harness.clock.now())
        asked = await setup.ask_secret("NOTION_TOKEN", replaces=True)
        with no_entry(house), pytest.raises(DatabaseError):
            await setup.store_secret(asked.ref_id, "another-value-of-it")
        assert vault.facts() == (kept,)
        await setup.store_secret(asked.ref_id, "another-value-of-it")
        assert [one.ref_id for one in vault.facts()] == [asked.ref_id]


async def test_a_conversation_is_not_put_away_where_that_cannot_be_recorded() -> None:
    async with a_house() as house:
        talk = (await house.post("/conversations")).json()["id"]
        before = await house.get("/conversations")
        with no_entry(house):
            assert await _status(house, f"/conversations/{talk}/archive") >= 400
        assert await house.get("/conversations") == before
