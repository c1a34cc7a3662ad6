"""A server that needs a key is added in the cockpit with a secret of the owner, by its name."""

from pathlib import Path
from typing import Any

import pytest

from silas.canonical import canonical_json
from silas.channels.web.wire import Proof, command_bytes
from tests.cockpit.house import House, a_house, proof
from tests.cockpit.test_servers import NOTHING, Owning, wanted
from tests.mcp.house import Fake

VALUE = "ghp-canary-5f0c9d1e"
FAR = {**NOTHING, "name": "far", "url": "https://a.example/mcp"}


def _line(name: str, secret: str = "GH", scheme: str = "") -> dict[str, str]:
    return {"name": name, "scheme": scheme, "secret": secret}


def _stores(house: House, name: str = "GH", value: str = VALUE) -> str:
    return house.harness.secrets.add(name, value, house.harness.clock.now()).ref_id


@pytest.fixture
def home(tmp_path: Path) -> Path:
    (tmp_path / "config.yaml").write_text("silas:\n  sandbox: {tools: {discover: false}}\n")
    return tmp_path


def _holds(home: Path) -> list[Path]:
    files = [path for path in home.rglob("*") if path.is_file() and "fake" not in path.parts]
    return [path for path in files if VALUE.encode() in path.read_bytes()]


async def test_a_server_is_added_with_a_secret_and_says_when_it_is_gone(home: Path) -> None:
    fake = Fake(home / "fake", variable="TOKEN")
    channel = Owning("recommended", "recommended")
    async with a_house(channel, home=home) as house:
        ref_id = _stores(house)
        assert (await house.get("/connections"))["secrets"] == ["GH"]
        body = wanted(fake, env=[_line("TOKEN")])
        asked = await house.signed("/connections", **body)
        assert asked.status_code == 200, asked.text
        made = Proof.model_validate(proof())
        assert house.door.proved == [command_bytes("add_server", canonical_json(body), made)]
        await channel.hears()
        line = "is given the variable TOKEN from your secret GH: ${secret:GH}"
        assert line in channel.lines
        await channel.hears()
        assert (await house.signed("/connections/fake/trust")).status_code == 200
        await channel.hears()
        assert line in channel.lines
        await channel.hears()
        [row] = (await house.get("/connections"))["servers"]
        assert row["standing"] == "connected"
        assert row["given"] == [{"name": "TOKEN", "secrets": ["GH"], "missing": []}]
        assert set(fake.given) == {VALUE}
        [secret] = (await house.get("/secrets"))["secrets"]
        assert secret["servers"] == ["fake"]
        assert secret["used_at"]
        gone = await house.signed(f"/secrets/{ref_id}/remove")
        assert (
            "The server of tools fake is given it: it ends, and does not start"
            in gone.json()["words"]
        )
        [row] = (await house.get("/connections"))["servers"]
        assert row["standing"] == "down"
        told = "The secret GH is not stored; store it first: “Secrets” under “More”."
        assert row["trouble"] == told
        assert row["given"] == [{"name": "TOKEN", "secrets": ["GH"], "missing": ["GH"]}]
        _stores(house, value="ghp-another-77aa0b3c")
        [row] = (await house.get("/connections"))["servers"]
        assert row["standing"] == "connected"  # what is trusted are names
        assert fake.given[-1] == "ghp-another-77aa0b3c"
        said = await house.said()
    [added] = [one["data"] for one in said if one["event"] == "mcp.added"]
    assert added["given"] == ["TOKEN: ${secret:GH}"]
    assert _holds(home) == []


@pytest.mark.parametrize(
    ("line", "words"),
    [
        (_line("TOKEN", "NONE"), "There is no secret NONE for TOKEN; store it first"),
        (_line("TOKEN", ""), "Choose the secret for TOKEN by its name"),
        (_line("1ST"), "starts with no digit"),
        (_line("A B"), "starts with no digit"),
        (_line("PATH"), "PATH is given to no server"),
        (_line("LD_PRELOAD"), "LD_PRELOAD is given to no server"),
        (_line("PYTHONPATH"), "PYTHONPATH is given to no server"),
        (_line("NODE_OPTIONS"), "NODE_OPTIONS is given to no server"),
        (_line("https_proxy"), "https_proxy is given to no server"),
        (_line("TOKEN", scheme="Bearer"), "holds the secret alone"),
    ],
)
async def test_a_variable_that_cannot_be_given_is_refused_before_anybody_is_asked(
    home: Path, line: dict[str, str], words: str
) -> None:
    channel = Owning()
    async with a_house(channel, home=home) as house:
        _stores(house)
        body = {**NOTHING, "name": "git", "command": "cat", "env": [line]}
        refused = await house.signed("/connections", **body)
        assert (refused.status_code, channel.cards) == (400, []), refused.text
        assert words in refused.json()["message"]
        assert "mcp.adding" not in [one["event"] for one in await house.said()]


@pytest.mark.parametrize(
    ("line", "words"),
    [
        (_line("Authorization", "NONE", "Bearer"), "There is no secret NONE for Authorization"),
        (_line("X\r\nY"), "on one line"),
        (_line("X Y"), "on one line"),
        (_line("Host"), "The header Host belongs to the connection"),
        (_line("connection"), "The header connection belongs to the connection"),
        (_line("Transfer-Encoding"), "belongs to the connection"),
        (_line("Proxy-Authorization"), "belongs to the connection"),
        (_line("Mcp-Session-Id"), "belongs to the connection"),
        (_line("Authorization", "GH", VALUE), "may stand one of Bearer, Basic"),
    ],
)
async def test_a_header_that_cannot_be_sent_is_refused_before_anybody_is_asked(
    home: Path, line: dict[str, str], words: str
) -> None:
    channel = Owning()
    async with a_house(channel, home=home) as house:
        _stores(house)
        refused = await house.signed("/connections", **{**FAR, "headers": [line]})
        assert (refused.status_code, channel.cards) == (400, []), refused.text
        assert words in refused.json()["message"]
        assert VALUE not in refused.text


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ({**FAR, "env": [_line("TOKEN")]}, "Variables are for a program"),
        (
            {**NOTHING, "name": "git", "command": "cat", "headers": [_line("Authorization")]},
            "Headers are for an address",
        ),
        (
            {**FAR, "headers": [_line("Authorization"), _line("authorization")]},
            "authorization is there twice",
        ),
        ({**FAR, "headers": [_line(f"X-Key-{n}") for n in range(17)]}, "at most 16 secrets"),
    ],
)
async def test_what_belongs_elsewhere_or_is_there_twice_is_refused(
    home: Path, body: dict[str, Any], words: str
) -> None:
    channel = Owning()
    async with a_house(channel, home=home) as house:
        _stores(house)
        refused = await house.signed("/connections", **body)
        assert (refused.status_code, channel.cards) == (400, []), refused.text
        assert words in refused.json()["message"]


async def test_a_secret_that_goes_while_the_card_waits_is_said_and_nothing_is_written(
    home: Path,
) -> None:
    before = (home / "config.yaml").read_text()

    class Removing(Owning):
        async def ask(self, to: str, card: Any) -> Any:
            house.harness.secrets.remove("GH")
            return await super().ask(to, card)

    channel = Removing("recommended")
    async with a_house(channel, home=home) as house:
        _stores(house)
        body = {**FAR, "headers": [_line("Authorization", scheme="bearer")]}
        assert (await house.signed("/connections", **body)).status_code == 200
        await channel.hears()
        told = await channel.hears()
    assert any("secret GH: Bearer ${secret:GH}" in line for line in channel.lines)
    assert "There is no secret GH for Authorization" in told
    assert (home / "config.yaml").read_text() == before
