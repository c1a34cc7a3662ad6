"""A server that is there is changed in the cockpit: asked before and after, and trusted anew."""

import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from silas.canonical import canonical_json
from silas.channels.web.wire import Proof, command_bytes
from silas.language import speak
from tests.cockpit.house import House, a_house, proof
from tests.cockpit.test_servers import NOTHING, Owning
from tests.mcp.house import Fake, service, trust

BY_HAND = "written-by-hand-4711"


@pytest.fixture
def fake(tmp_path: Path) -> Fake:
    return Fake(tmp_path / "fake", variable="PLAIN")


@pytest.fixture
def settings(tmp_path: Path, fake: Fake) -> dict[str, Any]:
    """Of a home whose file names the fake server, with a variable written by hand."""
    found: dict[str, Any] = fake.settings()
    found["mcpServers"]["fake"]["env"] = {"PLAIN": BY_HAND}
    text = json.dumps({"silas": {"sandbox": {"tools": {"discover": False}}, **found}})
    (tmp_path / "config.yaml").write_text(text, encoding="utf-8")
    return found


async def _row(house: House) -> dict[str, Any]:
    (row,) = (await house.get("/connections"))["servers"]
    return row


async def _form(house: House, **more: Any) -> dict[str, Any]:
    """The form as it is filled, with something else written into it."""
    return {**NOTHING, "name": "fake", **(await _row(house))["form"], **more}


async def test_a_server_is_changed_on_a_signed_yes_ended_and_trusted_anew(
    tmp_path: Path, fake: Fake, settings: dict[str, Any]
) -> None:
    await trust(tmp_path, settings, "fake")
    channel = Owning(*["recommended"] * 3)
    async with a_house(channel, home=tmp_path, settings=settings) as house:
        assert (await _row(house))["standing"] == "connected"
        assert BY_HAND not in json.dumps(await house.get("/connections"))
        body = await _form(house, hosts=["a.example"])
        assert (body["kept"], body["env"]) == (["PLAIN"], [])
        asked = await house.signed("/connections/fake/change", **body)
        assert asked.status_code == 200, asked.text
        made = Proof.model_validate(proof())
        assert house.door.proved == [command_bytes("change_server", canonical_json(body), made)]
        await channel.hears()
        assert "before: reaches: no host" in channel.lines
        assert "after: reaches: a.example" in channel.lines
        assert BY_HAND not in " ".join(channel.lines)
        assert "is changed, and ended" in await channel.hears()
        row = await _row(house)
        assert (row["standing"], row["reaches"]) == ("untrusted", ["a.example"])
        assert "fake__act" not in {one["name"] for one in await house.get("/tools")}
        assert (await house.signed("/connections/fake/trust")).status_code == 200
        await channel.hears()
        await channel.hears()
        assert (await _row(house))["standing"] == "connected"
        assert fake.given[-1] == BY_HAND  # what was not changed is there
        said = [entry["event"] for entry in await house.said()]
    order = ["mcp.trusted", "mcp.changing", "mcp.changed", "mcp.distrusted", "mcp.trusted"]
    assert [one for one in said if one in order] == order


async def test_nothing_to_change_or_another_server_meanwhile_is_a_sentence_and_no_card(
    tmp_path: Path, settings: dict[str, Any]
) -> None:
    file, channel = tmp_path / "config.yaml", Owning()
    async with a_house(channel, home=tmp_path, settings=settings) as house:
        for change, words in (
            ({}, "There is nothing to change."),
            ({"seen": "0" * 64, "hosts": ["a.example"]}, "fake was changed meanwhile"),
            ({"kept": ["PLAIN", "MORE"]}, "fake was changed meanwhile"),
            ({"env": [{"name": "PLAIN", "scheme": "", "secret": "GH"}]}, "PLAIN is there twice"),
            ({"hosts": ["http://odd"]}, "http://odd is no host"),
        ):
            before = file.read_text(encoding="utf-8")
            refused = await house.signed("/connections/fake/change", **await _form(house, **change))
            assert (refused.status_code, words in refused.json()["message"]) == (400, True), words
            assert (file.read_text(encoding="utf-8"), channel.cards) == (before, [])
        form = await _form(house, hosts=["a.example"])
        none = await house.signed("/connections/none/change", **form)
        assert (none.status_code, "names no server 'none'" in none.json()["message"]) == (400, True)
        forged = await house.client.post(
            "/connections/fake/change", json={**form, "proof": proof(b"no")}
        )
        assert (forged.status_code, channel.cards) == (403, [])


async def test_a_no_changes_nothing_and_trust_stays(
    tmp_path: Path, settings: dict[str, Any]
) -> None:
    await trust(tmp_path, settings, "fake")
    channel, file = Owning("decline"), tmp_path / "config.yaml"
    async with a_house(channel, home=tmp_path, settings=settings) as house:
        before = file.read_text(encoding="utf-8")
        body = await _form(house, kept=[])
        assert (await house.signed("/connections/fake/change", **body)).status_code == 200
        await channel.hears()
        assert "before: is given the variables: PLAIN" in channel.lines
        assert (await _row(house))["standing"] == "connected"
    assert file.read_text(encoding="utf-8") == before
    async with service(tmp_path, settings) as at:
        assert at.trusted.of("fake").source


async def test_an_argument_that_is_shown_without_its_secret_is_saved_as_it_is(
    tmp_path: Path, settings: dict[str, Any]
) -> None:
    server = settings["mcpServers"]["fake"]
    server["args"] = [*server["args"], f"--key={BY_HAND}"]
    text = json.dumps({"silas": {"sandbox": {"tools": {"discover": False}}, **settings}})
    (tmp_path / "config.yaml").write_text(text, encoding="utf-8")
    channel = Owning("recommended")
    async with a_house(channel, home=tmp_path, settings=settings) as house:
        body = await _form(house, hosts=["a.example"])
        assert BY_HAND not in json.dumps(body)
        assert (await house.signed("/connections/fake/change", **body)).status_code == 200
        while "is changed" not in await channel.hears():
            pass
    saved = json.loads((tmp_path / "config.yaml").read_text(encoding="utf-8"))["silas"]
    assert saved["mcpServers"]["fake"] == server
    assert saved["mcp"]["fake"]["network"] == ["a.example"]


@pytest.mark.parametrize("language", ["en", "de"])
@pytest.mark.parametrize(
    ("fault", "words"),
    [
        (
            "BEFORE DELETE ON mcp_tools",
            {"en": "fake is changed, and is not started", "de": "fake ist geändert und startet"},
        ),
        (
            "BEFORE INSERT ON audit_log WHEN NEW.body LIKE '%mcp.changed%'",
            {"en": "It is done, and that could not", "de": "Es ist getan, und das konnte nicht"},
        ),
    ],
)
async def test_a_change_that_cannot_be_recorded_whole_is_not_told_as_none(
    tmp_path: Path, settings: dict[str, Any], fault: str, words: dict[str, str], language: str
) -> None:
    await trust(tmp_path, settings, "fake")
    channel, file = Owning("recommended"), tmp_path / "config.yaml"
    async with a_house(channel, home=tmp_path, settings=settings) as house:
        assert (await _row(house))["standing"] == "connected"
        body = await _form(house, hosts=["a.example"])
        with closing(sqlite3.connect(next(tmp_path.rglob("silas.db")))) as driver:
            driver.execute(f"CREATE TRIGGER broken {fault} BEGIN SELECT RAISE(ABORT, 'no'); END")
            driver.commit()
        speak(language)
        try:
            assert (await house.signed("/connections/fake/change", **body)).status_code == 200
            await channel.hears()
            told = await channel.hears()
        finally:
            speak("en")
        assert told.startswith(words[language]), told
        assert "a.example" in file.read_text(encoding="utf-8")
        row = await _row(house)
        assert (row["standing"], row["reaches"]) == ("untrusted", ["a.example"])
