"""While the record is found changed, every endpoint that changes something is refused."""

import re
import sqlite3
from contextlib import closing

from silas.channels.web.record_rule import PASSES
from tests.cockpit.house import House, a_house
from tests.cockpit.test_house import ENDPOINTS

MUTATING = {path for path, methods in ENDPOINTS.items() if methods - {"get"}}
PHONE = {"/devices/phone", "/devices/phone/link", "/devices/phone/close"}


def found_changed(house: House) -> None:
    with closing(sqlite3.connect(house.harness.config.data_dir / "silas.db")) as driver:
        found = driver.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'")
        for (name,) in found.fetchall():
            driver.execute(f"DROP TRIGGER {name}")
        driver.execute("UPDATE audit_log SET body = replace(body, 'record.', 'chord.')")
        driver.commit()
    assert house.parts.audit.look()


def test_what_passes_is_an_endpoint_that_changes_something() -> None:
    assert PASSES.keys() <= MUTATING | PHONE
    assert all(PASSES.values())


async def test_every_endpoint_that_changes_something_is_refused_or_passes_for_a_reason() -> None:
    async with a_house() as house:
        before = await house.get("/persona/state")
        found_changed(house)
        for path in sorted(MUTATING):
            place = re.sub(r"{\w+}", "1", path)
            answer = await house.signed(
                place, preset="mentor", type="too_harsh", delta={}, value=""
            )
            refused = answer.json().get("code") == "E_STOPPED_RECORD"
            assert refused is (path not in PASSES), (path, answer.text)
            assert not refused or answer.status_code == 409
        assert await house.get("/persona/state") == before
