"""`silas devices` as a user meets it, and that what it does counts for a Silas that runs."""

import json
import re
from pathlib import Path

import pytest
from click.testing import CliRunner

from silas import load_config
from silas.main import cli
from silas.services.devices import open_door
from tests.support.command import environment, run, silas


@pytest.fixture
def home(tmp_path: Path) -> dict[str, str]:
    env = environment(tmp_path / "home")
    assert run(silas("init"), env).code == 0
    return env


async def paired(env: dict[str, str], token: str, name: str) -> str:
    """Redeem a link as the server does; the id of the device."""
    async with open_door(load_config(environ=env)) as door:
        return (await door.pair(token, name, None, None)).session.device_id


async def test_a_link_is_made_a_device_paired_listed_and_revoked(home: dict[str, str]) -> None:
    assert "No device is paired" in run(silas("devices", "list"), home).out
    made = run(silas("devices", "link"), home)
    found = re.fullmatch(r"http://127\.0\.0\.1:8420/pair#([0-9a-f]{64})\n", made.out)
    assert found is not None, made.err
    device = await paired(home, found[1], "Firefox on a phone")
    [facts] = json.loads(run(silas("devices", "list", "--json"), home).out)
    assert (facts["id"], facts["name"], facts["level"]) == (device, "Firefox on a phone", "auth")
    assert run(silas("devices", "revoke", device), home).out == f"Revoked {device}.\n"
    zoned = {**home, "SILAS_SCHEDULER__TIMEZONE": "Asia/Kathmandu"}
    listed = run(silas("devices", "list"), zoned).out
    told = r"revoked, paired \w+day [\w ]+, seen .+ \(Asia/Kathmandu, UTC\+05:45\)"
    assert re.fullmatch(rf"{device}  Firefox on a phone: {told}\n", listed)
    again = run(silas("devices", "revoke", "device-0"), home)
    assert (again.code, again.err.count("\n")) == (2, 1)
    assert "silas devices list" in again.err
    record = run(silas("audit", "show"), zoned).out
    assert record.splitlines()[0].endswith(", +0545")  # the day of the owner's zone
    for words in (
        "A pairing link was made.",
        "The device Firefox on a phone was paired",
        "The device Firefox on a phone is not paired any more",
    ):
        assert words in " ".join(record.split())
    assert found[1] not in record


async def test_what_the_command_line_revokes_is_out_of_a_running_server_at_once(
    home: dict[str, str],
) -> None:
    async with open_door(load_config(environ=home)) as door:
        token = (await door.link(door.base)).partition("#")[2]
        browser = await door.pair(token, "lost phone", None, None)
        assert door.session(browser.cookie) == browser.session
        done = run(silas("devices", "revoke", browser.session.device_id), home)
        assert done.code == 0, done.err
        assert door.session(browser.cookie) is None
        assert not door.alive(browser.session)


def test_devices_can_be_revoked_while_silas_is_stopped(home: dict[str, str]) -> None:
    assert run(silas("stop", "--now"), home).code == 0
    done = run(silas("devices", "list"), home)
    assert (done.code, "No device is paired" in done.out) == (0, True)


def test_without_a_home_there_is_one_sentence(bare: Path) -> None:
    done = CliRunner().invoke(cli, ["devices", "link"])
    assert done.exit_code == 2
    assert "silas init" in done.stderr


def test_a_lost_phone_is_revoked_without_unlocking_the_key(home: dict[str, str]) -> None:
    (Path(home["SILAS_HOME"]) / "data" / "keys" / "unlock.key").write_bytes(b"another one")
    assert run(silas("devices", "link"), home).code == 0
    again = run(silas("devices", "revoke", "device-0"), home)
    assert (again.code, "silas devices list" in again.err) == (2, True)
    assert run(silas("audit", "witness"), home).code != 0  # which needs the key
