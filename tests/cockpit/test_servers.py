"""Servers of tools are added, trusted and removed from the cockpit; what widens needs a yes."""

import asyncio
import json
from datetime import timedelta
from pathlib import Path
from typing import Any, cast

import pytest

from silas.canonical import canonical_json
from silas.cards import Card
from silas.channels.web.wire import Proof, command_bytes
from silas.clock import SystemClock
from silas.config import load_config
from silas.testing import MockClock, ScriptedChannel
from tests.cockpit.house import House, a_house, proof
from tests.cockpit.program_page import ProgramPage, a_page
from tests.mcp.house import ENVIRONMENT, PYTHON, SERVER, Fake, a_tool, service, trust
from tests.support.waits import SECONDS
from tests.web.support.cockpit import Home, a_cockpit

NOTHING: dict[str, Any] = {
    "command": "",
    "args": [],
    "url": "",
    "hosts": [],
    "read": [],
    "write": [],
    "env": [],
    "headers": [],
}


class Owning(ScriptedChannel):
    """Answers each card by its role, and says when something was told."""

    def __init__(self, *roles: str) -> None:
        super().__init__()
        self._roles = list(roles)
        self.heard: asyncio.Queue[str] = asyncio.Queue()

    async def ask(self, to: str, card: Card[Any]) -> Any:
        self.cards.append(card)
        role = self._roles.pop(0)
        self.heard.put_nowait(role)
        return next(one.value for one in card.actions if one.role == role)

    async def send(self, recipient_id: str, text: str, reply_to: str | None = None) -> None:
        await super().send(recipient_id, text, reply_to)
        self.heard.put_nowait(text)

    async def hears(self) -> str:
        """The next answer given or sentence told; bounded."""
        return await asyncio.wait_for(self.heard.get(), SECONDS)

    @property
    def lines(self) -> list[str]:
        """Every line of the last card's details."""
        return [line for part in self.cards[-1].details for line in part.lines]


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A home with a configuration as people write it."""
    text = "silas:\n  # mine\n  sandbox: { tools: { discover: false } }\n"
    (tmp_path / "config.yaml").write_text(text, encoding="utf-8")
    return tmp_path


def wanted(fake: Fake, **more: Any) -> dict[str, Any]:
    """The fake server as the form sends it."""
    args = [str(SERVER), str(fake.folder / "script.json"), str(fake.folder / "log.jsonl")]
    paths = {"read": [*ENVIRONMENT, str(SERVER)], "write": [str(fake.folder)]}
    return {**NOTHING, "name": "fake", "command": PYTHON, "args": args, **paths, **more}


def _file(home: Path) -> str:
    return (home / "config.yaml").read_text(encoding="utf-8")


def _entries(home: Path) -> dict[str, Any]:
    return dict(load_config(home / "config.yaml", {"SILAS_HOME": str(home)}).mcpServers)


async def _row(house: House) -> dict[str, Any]:
    (row,) = (await house.get("/connections"))["servers"]
    return row


async def test_a_server_is_added_trusted_changed_looked_at_again_and_removed(home: Path) -> None:
    fake = Fake(home / "fake", a_tool(description="Acts on what you say."))
    channel = Owning(*["recommended"] * 3)
    before = _file(home)
    async with a_house(channel, home=home) as house:
        asked = await house.signed("/connections", **wanted(fake))
        assert asked.status_code == 200, asked.text
        made = Proof.model_validate(proof())
        about = canonical_json(wanted(fake))
        assert house.door.proved == [command_bytes("add_server", about, made)]
        assert await channel.hears() == "recommended"
        shown = " ".join(channel.lines)
        for part in (PYTHON, str(SERVER), str(fake.folder), "no host", "sha256:"):
            assert part in shown
        assert "is added, and not started" in await channel.hears()
        assert fake.heard == []
        assert _entries(home).keys() == {"fake"}
        assert (await _row(house))["standing"] == "untrusted"

        assert (await house.signed("/connections/fake/trust")).status_code == 200
        assert await channel.hears() == "recommended"
        assert "Acts on what you say." in channel.lines
        assert "are trusted, and it is started" in await channel.hears()
        row = await _row(house)
        assert (row["standing"], [one["name"] for one in row["tools"]]) == (
            "connected",
            ["fake__act"],
        )

        fake.becomes(a_tool(description="<b>Acts</b> otherwise."), a_tool("more"))
        assert (await house.signed("/connections/fake/trust")).status_code == 200
        assert await channel.hears() == "recommended"
        for part in (
            "act said: Acts on what you say.",
            "act says now: <b>Acts</b> otherwise.",
            "more is new",
        ):
            assert part in channel.lines
        await channel.hears()
        tools = [one["name"] for one in (await _row(house))["tools"]]
        assert tools == ["fake__act", "fake__more"]
        assert {one["name"] for one in await house.get("/tools")} >= set(tools)

        gone = await house.signed("/connections/fake/remove")
        assert gone.status_code == 200, gone.text
        assert (await house.get("/connections"))["servers"] == []
        said = [entry["event"] for entry in await house.said()]
    assert _file(home) == before
    order = ["mcp.added", "mcp.trusted", "mcp.trusted", "mcp.distrusted", "mcp.removed"]
    assert [one for one in said if one in order] == order


async def test_a_no_adds_nothing_and_trusts_nothing(home: Path) -> None:
    fake = Fake(home / "fake")
    channel = Owning("decline", "recommended", "decline")
    async with a_house(channel, home=home) as house:
        before = _file(home)
        await house.signed("/connections", **wanted(fake))
        await channel.hears()
        assert _file(home) == before
        async with asyncio.timeout(SECONDS):
            while (await house.get("/connections"))["asks"]:
                pass
        await house.signed("/connections", **wanted(fake))
        await channel.hears()
        await channel.hears()
        await house.signed("/connections/fake/trust")
        await channel.hears()
        await house.rooms.close()
        assert (await _row(house))["standing"] == "untrusted"
        said = [entry["event"] for entry in await house.said()]
    assert "mcp.not_trusted" in said
    assert "mcp.trusted" not in said


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"name": "a__b", "command": "cat"}, "A server's name is 1 to 31 letters"),
        ({"name": "git", "command": "no-such-program"}, "There is no program no-such-program in"),
        ({"name": "git", "command": "/nowhere/git"}, "/nowhere/git does not exist"),
        ({"name": "git", "command": "bin/git"}, "bin/git is no whole path"),
        ({"name": "git"}, "Write either the command of a program or an address."),
        ({"name": "git", "command": "cat", "url": "https://a.example"}, "Write either"),
        ({"name": "git", "url": "http://a.example/mcp"}, "The address must be https://"),
        ({"name": "git", "url": "ftp://a.example"}, "The address must be https://"),
        ({"name": "git", "url": "https://me:key@a.example"}, "The address must be https://"),
        ({"name": "git", "url": "https://a.example", "hosts": ["b.example"]}, "an address has"),
        ({"name": "git", "command": "cat", "hosts": ["http://b"]}, "http://b is no host"),
        ({"name": "git", "command": "cat", "read": ["notes"]}, "notes is no whole path"),
        ({"name": "git", "command": "cat", "read": ["/nowhere"]}, "/nowhere does not exist."),
        ({"name": "git", "command": "cat", "write": ["/"]}, "/ is shown to no program"),
        ({"name": "git", "command": "cat", "read": ["HOME/data"]}, "is shown to no program"),
        ({"name": "git", "command": "cat", "write": ["HOME/config.yaml"]}, "is shown to no"),
        ({"name": "git", "command": "cat", "read": ["HOME/config.yaml.bak"]}, "is shown to no"),
        ({"name": "git", "command": "cat", "read": ["/etc"]}, "/etc is shown to no program"),
        ({"name": "git", "url": "https://a.example:https/mcp"}, "The address must be https://"),
        ({"name": "git", "url": "https://a.example:0/mcp"}, "The address must be https://"),
        ({"name": "git", "command": "cat", "args": ["${HOME}"]}, "Write plain text"),
        ({"name": "git", "command": "cat", "args": ["a\nb"]}, "Write plain text"),
        ({"name": "git", "command": "HOME/run"}, "let it read HOME"),
    ],
    ids=lambda one: one if isinstance(one, str) else "",
)
async def test_what_cannot_work_is_refused_in_one_sentence_before_anything_is_asked(
    home: Path, given: dict[str, Any], words: str
) -> None:
    (home / "run").write_text("#!/bin/sh\n", encoding="utf-8")
    (home / "run").chmod(0o700)
    (home / "config.yaml.bak").write_text("silas: {}\n", encoding="utf-8")
    before = _file(home)

    def here(value: Any) -> Any:
        if isinstance(value, list):
            return [here(one) for one in cast(list[Any], value)]
        return value.replace("HOME/", f"{home}/") if isinstance(value, str) else value

    channel = Owning()
    async with a_house(channel, home=home) as house:
        sent = {**NOTHING, **{name: here(value) for name, value in given.items()}}
        refused = await house.signed("/connections", **sent)
        assert refused.status_code == 400, refused.text
        assert words.replace("HOME", str(home)) in refused.json()["message"]
        assert "\n" not in refused.json()["message"]
        assert channel.cards == []
    assert _file(home) == before


async def test_what_is_not_signed_by_the_device_changes_nothing(home: Path) -> None:
    fake = Fake(home / "fake")
    before = _file(home)
    channel = Owning()
    async with a_house(channel, home=home) as house:
        for path, body in (
            ("/connections", wanted(fake)),
            ("/connections/fake/trust", {}),
            ("/connections/fake/remove", {}),
        ):
            forged = await house.client.post(path, json={**body, "proof": proof(b"no")})
            assert (forged.status_code, forged.json()["code"]) == (403, "E_CHANNEL_PROOF")
            assert (await house.client.post(path, json=body)).status_code == 400
        house.guard.session = None
        unpaired = await house.signed("/connections", **wanted(fake))
        assert unpaired.status_code == 401
    assert (_file(home), channel.cards, fake.heard) == (before, [], [])


async def test_a_server_that_cannot_be_started_is_one_sentence_and_no_card(home: Path) -> None:
    channel = Owning("recommended")
    async with a_house(channel, home=home) as house:
        await house.signed("/connections", **{**NOTHING, "name": "odd", "command": "false"})
        await channel.hears()
        await channel.hears()
        refused = await house.signed("/connections/odd/trust")
        assert refused.status_code == 409, refused.text
        assert "cannot be used" in refused.json()["message"]
        assert len(channel.cards) == 1
        unknown = await house.signed("/connections/other/trust")
        assert unknown.status_code == 400


FAR = {**NOTHING, "name": "far", "url": "https://a.example/mcp"}


async def _adds(page: ProgramPage, subject: dict[str, Any]) -> int:
    about = canonical_json(subject)
    answer = await page.command(
        "/connections", "add_server", about, name="far", url="https://a.example/mcp"
    )
    return answer.status_code


async def test_only_a_paired_devices_own_fresh_signature_adds_a_server(tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.write_by_hand()
    file = home.home / "config.yaml"
    before = file.read_text(encoding="utf-8")
    old = MockClock(SystemClock().now() - timedelta(hours=1))
    async with a_cockpit(home) as cockpit:
        async with a_page(cockpit.origin, await cockpit.link(), clock=old) as stale:
            assert await _adds(stale, FAR) == 403
        link = await cockpit.running.door.link(cockpit.origin)
        async with a_page(cockpit.origin, link) as page:
            await page.connect()
            assert await _adds(page, {**FAR, "url": "https://b.example/mcp"}) == 403
            assert await _adds(page, FAR) == 200
            card = await page.next("decision")
            yes = {"type": "decision_response", "selected_value": "yes"}
            await page.answer({**card, "digest": "0" * 64}, **yes)  # signed over another card
            await page.next("error")
            keyless = await cockpit.running.door.link(cockpit.origin)
            async with a_page(cockpit.origin, keyless, key=False) as other:
                await other.connect()
                await other.answer(card, **yes)
                await other.next("error")
            assert file.read_text(encoding="utf-8") == before
            await page.answer(card, **yes)
            while "is added, and not started" not in (await page.next("message"))["text"]:
                pass
        assert "https://a.example/mcp" in file.read_text(encoding="utf-8")
        assert "mcp.added" in await cockpit.events()


async def test_a_server_that_is_removed_while_it_is_being_ended_is_gone(home: Path) -> None:
    fake = Fake(home / "fake")
    await trust(home, fake.settings(), "fake")
    (home / "config.yaml").write_text(json.dumps({"silas": fake.settings()}), encoding="utf-8")
    async with a_house(Owning(), home=home, settings=fake.settings()) as house:
        assert (await _row(house))["standing"] == "connected"
        async with service(home, fake.settings()) as elsewhere:  # as `silas mcp distrust` does
            await elsewhere.distrust("fake")
        looked, removed = await asyncio.gather(
            house.client.get("/connections"), house.signed("/connections/fake/remove")
        )
        assert (looked.status_code, removed.status_code) == (200, 200), removed.text
        assert (await house.get("/connections"))["servers"] == []
        assert "fake__act" not in {one["name"] for one in await house.get("/tools")}


async def test_at_the_start_it_is_told_in_german_why_a_server_is_out_of_use(home: Path) -> None:
    settings = {**Fake(home / "fake").settings(), "language": "de"}
    channel = Owning()
    async with a_house(channel, home=home, settings=settings) as house:
        told = await channel.hears()
        assert "Der MCP-Server fake ist außer Betrieb: du hast ihm nie vertraut;" in told
        assert "Alles andere geht" in told
        [row] = [one for one in await house.get("/tools") if one["name"] == "mcp.fake"]
        assert "du hast ihm nie vertraut" in row["last_error"]
