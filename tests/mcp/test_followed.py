"""What a terminal adds, trusts or removes reaches a Silas that is open, and nothing more does."""

import asyncio
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
import yaml

from silas.testing import CallTool
from tests.cockpit.house import a_house
from tests.cockpit.program_page import ProgramPage, a_page
from tests.mcp.house import ENVIRONMENT, PYTHON, SERVER, Fake, a_tool, house, service, trust
from tests.support.command import environment, person, python, run, silas
from tests.support.waits import SECONDS

ACT = CallTool("fake__act", {"what": "it"})
SILAS = tuple(silas())
PLAIN = {"sandbox": {"tools": {"discover": False}}}


def _write(home: Path, settings: dict[str, Any]) -> None:
    """The file as another process leaves it: put in the place of the former one."""
    new = home / "config.yaml.new"
    new.write_text(yaml.safe_dump({"silas": {**PLAIN, **settings}}), encoding="utf-8")
    new.replace(home / "config.yaml")


_WRITTEN_WHILE_IT_OPENS = """
import os, sys
import silas.services.setup.initialise as room
later = sys.argv.pop()
initialise = room.initialise
async def meanwhile(config):
    os.replace(later, os.path.join(os.environ["SILAS_HOME"], "config.yaml"))
    return await initialise(config)
room.initialise = meanwhile
from silas.main import cli
cli()
"""
"""Silas, whose configuration is written anew once it has read it."""


@asynccontextmanager
async def _opened(
    env: dict[str, str], program: Sequence[str] = SILAS, *further: str
) -> AsyncGenerator[ProgramPage]:
    """A page of `silas start`."""
    with person([*program, "start", "--port", "0", *further], env) as owner:
        owner.waits_for("-C ")  # Ctrl-C, Strg-C
        link = next(word for word in owner.seen.split() if "/pair#" in word)
        async with a_page(link.partition("/pair")[0], link) as page:
            yield page
        owner.types("\x03")
        assert owner.leaves() == 0


async def _row(page: ProgramPage) -> dict[str, Any]:
    [row] = (await page.get("/connections")).json()["servers"]
    return row


@pytest.mark.parametrize("language", ["en", "de"])
async def test_what_a_terminal_adds_and_trusts_is_in_the_open_page(
    tmp_path: Path, language: str
) -> None:
    fake, home = Fake(tmp_path / "fake"), tmp_path / "home"
    env = environment(home, SILAS_LANGUAGE=language)
    home.mkdir()
    _write(home, {})
    assert run(silas("init"), env).code == 0
    reads = [part for path in (*ENVIRONMENT, str(SERVER)) for part in ("--read", path)]
    program = [PYTHON, str(SERVER), *(str(fake.folder / n) for n in ("script.json", "log.jsonl"))]
    options = [*reads, "--write", str(fake.folder), "--", *program]

    async def says_yes(*words: str) -> str:
        seen = (await asyncio.to_thread(run, silas(*words), env)).out.splitlines()[0]
        at = words.index("--") if "--" in words else len(words)
        approved = [*words[:3], "--approve", seen, *words[3:at], *words[at:]]
        done = await asyncio.to_thread(run, silas(*approved), env)
        assert done.code == 0, done
        return done.out

    async with _opened(env) as page:
        assert (await page.get("/connections")).json()["servers"] == []
        await says_yes("mcp", "add", "fake", *options)
        assert (await _row(page))["standing"] == "untrusted"
        assert fake.heard == []
        told = await says_yes("mcp", "trust", "fake")
        when = {
            "en": "The Silas that is open has them from its next message or work on.",
            "de": "Das offene Silas hat sie ab seiner nächsten Nachricht oder Arbeit.",
        }
        assert when[language] in told
        row = await _row(page)
        assert row["standing"] == "connected"
        assert [one["name"] for one in row["tools"]] == ["fake__act"]
        assert (await asyncio.to_thread(run, silas("mcp", "remove", "fake"), env)).code == 0
        assert (await page.get("/connections")).json()["servers"] == []
    assert when[language] not in run(silas("mcp", "list"), env).out


async def test_a_server_that_is_added_while_silas_opens_is_in_its_page(tmp_path: Path) -> None:
    home = tmp_path / "home"
    env = environment(home)
    home.mkdir()
    _write(home, {})
    assert run(silas("init"), env).code == 0
    later = tmp_path / "later.yaml"
    server = {"far": {"url": "https://a.example/mcp"}}
    later.write_text(yaml.safe_dump({"silas": {**PLAIN, "mcpServers": server}}), encoding="utf-8")
    async with _opened(env, python(_WRITTEN_WHILE_IT_OPENS), str(later)) as page:
        row = await _row(page)
        assert (row["name"], row["standing"]) == ("far", "untrusted")


async def test_the_next_work_has_the_tools_that_were_trusted_meanwhile(tmp_path: Path) -> None:
    fake = Fake(tmp_path / "fake")
    _write(tmp_path, {})
    async with house(tmp_path, {}, "nothing", ACT) as at:
        await at.work()
        assert "fake__act" not in at.offered
        _write(tmp_path, fake.settings())
        await trust(tmp_path, fake.settings(), "fake")
        at.model.requests.clear()
        await at.work()
        assert "fake__act" in at.offered
        assert len(fake.calls) == 1
        fake.becomes(a_tool(description="Acts otherwise."))
        await trust(tmp_path, fake.settings(), "fake")
        at.model.requests.clear()
        await at.work()
        assert "Acts otherwise." in str(at.offered["fake__act"].description)


async def test_a_server_whose_entry_changed_is_out_of_use_until_it_is_trusted_anew(
    tmp_path: Path,
) -> None:
    fake = Fake(tmp_path / "fake")
    _write(tmp_path, fake.settings())
    await trust(tmp_path, fake.settings(), "fake")
    async with house(tmp_path, {}, ACT, "nothing") as at:
        await at.work()
        assert len(fake.calls) == 1
        heard = len(fake.heard)
        _write(tmp_path, fake.settings(network=["a.example"]))
        at.model.requests.clear()
        await at.work()
        assert "fake__act" not in at.offered
        assert len(fake.heard) == heard
        [absent] = at.h.silas.registry.absent().values()
        assert "its entry in the configuration changed" in absent


async def test_a_file_that_cannot_be_read_changes_nothing(tmp_path: Path) -> None:
    fake = Fake(tmp_path / "fake")
    _write(tmp_path, fake.settings())
    await trust(tmp_path, fake.settings(), "fake")
    async with house(tmp_path, {}, ACT) as at:
        (tmp_path / "config.yaml").write_text("silas: [", encoding="utf-8")
        await at.work()
        assert len(fake.calls) == 1


async def test_a_call_that_is_under_way_is_left_to_end(tmp_path: Path) -> None:
    fake = Fake(tmp_path / "fake", call="wait")
    _write(tmp_path, fake.settings())
    await trust(tmp_path, fake.settings(), "fake")
    async with house(tmp_path, {}, ACT, "nothing") as at:
        first = asyncio.create_task(at.work())
        async with asyncio.timeout(SECONDS):
            while not fake.calls:
                await asyncio.sleep(0.01)
        _write(tmp_path, {})
        async with service(tmp_path, fake.settings()) as elsewhere:
            await elsewhere.distrust("fake")
        await at.h.silas.ask("What time is it?")
        assert not first.done()
        (fake.folder / "go").touch()
        result = await first
        assert result.status.value == "done", result
        await at.h.silas.ask("What time is it?")
        assert at.h.silas.registry.get("fake__act") is None


async def test_while_silas_is_stopped_nothing_is_begun(tmp_path: Path) -> None:
    fake = Fake(tmp_path / "fake")
    _write(tmp_path, {})
    await trust(tmp_path, fake.settings(), "fake")
    heard = len(fake.heard)
    async with a_house(home=tmp_path) as page:
        assert (await page.post("/stop")).status_code == 200
        _write(tmp_path, fake.settings())
        assert (await page.get("/connections"))["servers"] == []
        assert len(fake.heard) == heard
        assert (await page.signed("/resume")).status_code == 200
        [row] = (await page.get("/connections"))["servers"]
        assert row["standing"] == "connected"


async def test_a_secret_that_a_terminal_changes_reaches_the_server_in_the_open_page(
    tmp_path: Path,
) -> None:
    fake, home = Fake(tmp_path / "fake", variable="TOKEN"), tmp_path / "home"
    env = environment(home)
    home.mkdir()
    settings = fake.settings()
    settings["mcpServers"]["fake"]["env"] = {"TOKEN": "${secret:GH}"}
    _write(home, settings)

    async def does(*words: str, stdin: str = "") -> str:
        done = await asyncio.to_thread(run, silas(*words), env, stdin=stdin)
        return done.out

    await does("init")
    await does("secrets", "add", "GH", stdin="the-old-value-5f0c\n")
    seen = (await does("mcp", "trust", "fake")).splitlines()[0]
    await does("mcp", "trust", "fake", "--approve", seen)
    async with _opened(env) as page:
        assert (await _row(page))["standing"] == "connected"
        assert "it ends, and does not start" in await does("secrets", "remove", "GH")
        row = await _row(page)
        assert (row["standing"], row["given"][0]["missing"]) == ("down", ["GH"])
        await does("secrets", "add", "GH", stdin="the-new-value-77aa\n")
        assert (await _row(page))["standing"] == "connected"
        assert fake.given[-1] == "the-new-value-77aa"
