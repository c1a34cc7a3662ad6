"""While the record is found changed, every endpoint that changes something is refused."""

import json
import re
from pathlib import Path
from typing import Any, cast, get_args

import pytest

from silas.audit.kept_head import KeptAuditLog
from silas.channels.web.record_rule import FRAMES, PASSES
from silas.channels.web.wire import Inbound
from silas.testing.approval import a_signer
from tests.channels.web.test_the_whole_house import let_in, pair
from tests.cockpit.house import House, a_house
from tests.cockpit.program_page import a_page
from tests.cockpit.test_house import ENDPOINTS
from tests.support.changed_record import edit_record
from tests.web.support.cockpit import Cockpit, Home, a_cockpit

MUTATING = {path for path, methods in ENDPOINTS.items() if methods - {"get"}}
PHONE = {"/devices/phone", "/devices/phone/link", "/devices/phone/close"}


def found_changed(house: House) -> None:
    edit_record(house.harness.config.data_dir / "silas.db")
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


# the whole cockpit, as `silas start` serves it ---------------------------------------------------
def log_of(cockpit: Cockpit) -> KeptAuditLog:
    return cast(KeptAuditLog, cockpit.running.silas.audit)


def changed_behind(cockpit: Cockpit) -> None:
    """Somebody edits the record, and Silas notices."""
    edit_record(cockpit.config.data_dir / "silas.db")
    assert log_of(cockpit).look()


async def accepted(cockpit: Cockpit) -> None:
    """The owner looked, and goes on with the record as it was."""
    edit_record(cockpit.config.data_dir / "silas.db", "chord.", "record.")
    await log_of(cockpit).accept(await log_of(cockpit).head())


async def test_nobody_is_paired_until_the_owner_has_looked_and_the_link_is_not_used_up(
    tmp_path: Path,
) -> None:
    async with a_cockpit(Home(tmp_path)) as cockpit:
        token = (await cockpit.link()).partition("#")[2]
        changed_behind(cockpit)
        refused = await pair(cockpit, token, signer=a_signer("thief"))
        said = json.loads(refused.body)
        assert (refused.status, said["code"]) == (409, "E_STOPPED_RECORD")
        assert "set-cookie" not in refused.headers
        keyless = await cockpit.http("POST", "/pair", body={"token": token, "name": "a program"})
        assert json.loads(keyless.body)["code"] == "E_STOPPED_RECORD"
        # who has no link is not told how the record stands
        stranger = await pair(cockpit, "0" * 64, signer=a_signer("thief"))
        assert json.loads(stranger.body)["code"] == "E_CHANNEL_PAIRING_LINK"
        assert cockpit.running.door.devices() == []
        assert (await cockpit.events()).count("pairing.refused") == 2  # one of each reason
        await accepted(cockpit)
        assert (await pair(cockpit, token, signer=a_signer("phone"))).status == 200


async def test_every_endpoint_that_is_served_is_refused_or_in_the_table(tmp_path: Path) -> None:
    async with a_cockpit(Home(tmp_path)) as cockpit:
        first, second = await cockpit.link(), await cockpit.running.door.link(cockpit.origin)
        ask = await let_in(cockpit, first.partition("#")[2], a_signer("phone"))
        listed = await ask("GET", "/openapi.json")
        paths: dict[str, dict[str, Any]] = json.loads(listed.body)["paths"]
        changing = {path for path, methods in paths.items() if methods.keys() - {"get"}}
        assert changing == MUTATING | PHONE | {"/pair"}
        changed_behind(cockpit)
        for path in sorted(changing - PASSES.keys() - {"/pair"}):
            answer = await ask("POST", re.sub(r"{\w+}", "1", path), {})
            assert json.loads(answer.body)["code"] == "E_STOPPED_RECORD", path
        answer = await pair(cockpit, second.partition("#")[2], signer=a_signer("thief"))
        assert json.loads(answer.body)["code"] == "E_STOPPED_RECORD"
        assert (await ask("GET", "/activity")).status == 200


def test_every_frame_is_in_the_table_with_a_reason() -> None:
    union = get_args(get_args(Inbound)[0])
    names = {get_args(one.model_fields["type"].annotation)[0] for one in union}
    assert FRAMES.keys() == names
    assert all(FRAMES.values())


async def test_a_frame_that_is_not_in_the_table_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with (
        a_cockpit(Home(tmp_path)) as cockpit,
        a_page(cockpit.origin, await cockpit.link()) as page,
    ):
        await page.connect()
        monkeypatch.delitem(cast(dict[str, str], FRAMES), "message")
        name = await page.say("help")
        assert (await page.next("ack"))["id"] == name  # nothing is wrong with the record
        changed_behind(cockpit)
        await page.say("help")
        assert (await page.next("error"))["code"] == "E_STOPPED_RECORD"


async def test_what_is_said_on_a_live_connection_is_answered_and_changes_nothing(
    tmp_path: Path,
) -> None:
    async with (
        a_cockpit(Home(tmp_path)) as cockpit,
        a_page(cockpit.origin, await cockpit.link()) as page,
    ):
        await page.connect()
        changed_behind(cockpit)
        for words, said in (
            ("remind me tomorrow at nine to drink tea", "No reminder was made or changed"),
            ("remember that I like green tea", "Not remembered: The record was changed"),
        ):
            await page.say(words)
            while said not in (told := (await page.next("message")))["text"]:
                assert told["sender"] in ("owner", "silas")
        reminders = await page.get("/reminders")
        assert reminders.json()["reminders"] == []
        assert "green tea" not in (await page.get("/memory")).text


async def test_a_cockpit_that_starts_on_a_changed_record_offers_no_link(tmp_path: Path) -> None:
    home = Home(tmp_path)
    async with a_cockpit(home) as cockpit:
        assert cockpit.running.refused == ""
    edit_record(cockpit.config.data_dir / "silas.db")
    async with a_cockpit(home) as cockpit:
        assert cockpit.running.link == ""
        assert "The record was changed outside Silas" in cockpit.running.refused
