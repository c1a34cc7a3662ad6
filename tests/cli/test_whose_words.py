"""Who said a thing does not depend on the door by which it came: the table of docs/memory.md."""

import sqlite3
from collections.abc import Awaitable, Callable
from contextlib import closing
from functools import partial
from pathlib import Path

import pytest

from silas import Silas, load_config
from silas.testing import ScriptedChannel
from tests.cockpit.program_page import a_page
from tests.mcp.test_serve import Served, said
from tests.support.client import client
from tests.support.command import environment, run, silas
from tests.web.support.cockpit import Home, a_cockpit

WORDS = "Remember that I like black coffee"


async def by_command(folder: Path, *words: str, typed: str = "") -> Path:
    """`silas ...` by the user who has the key."""
    env = environment(folder)
    assert run(silas("init"), env).code == 0
    told = run(silas(*words), env, stdin=typed)
    assert told.code == 0, told.err
    return folder


async def by_page(folder: Path, *, key: bool) -> Path:
    """A paired browser."""
    home = Home(folder)
    async with (
        a_cockpit(home) as cockpit,
        a_page(cockpit.origin, await cockpit.link(), key=key) as page,
    ):
        await page.connect()
        await page.say(WORDS)
        while (await page.next("message"))["sender"] != "silas":
            pass
    return home.home


async def by_program(folder: Path) -> Path:
    """A program that opens Silas."""
    env = environment(folder)
    assert run(silas("init"), env).code == 0
    config = load_config(environ=env)
    async with Silas.open(config, channel=ScriptedChannel(), resume=False) as opened:
        await opened.ask(WORDS)
    return folder


async def by_mcp(folder: Path) -> Path:
    """Another program, over MCP."""
    served = Served(folder)
    async with client(served.env) as session:
        await said(session, "ask", text=WORDS)
    return served.home


Door = Callable[[Path], Awaitable[Path]]
DOORS: dict[str, tuple[Door, set[tuple[str, str]]]] = {
    "ask": (lambda at: by_command(at, "ask", WORDS), {("verified", "owner")}),
    "chat": (lambda at: by_command(at, "chat", typed=f"{WORDS}\n"), {("verified", "owner")}),
    "device with a key": (partial(by_page, key=True), {("verified", "owner")}),
    "device without a key": (partial(by_page, key=False), {("working", "auth")}),
    "Python": (by_program, {("verified", "owner")}),
    "MCP": (by_mcp, {("working", "external")}),
}


@pytest.mark.parametrize("door", DOORS)
async def test_what_is_to_be_remembered_is_trusted_as_who_said_it_at_every_door(
    tmp_path: Path, door: str
) -> None:
    enter, trusted = DOORS[door]
    home = await enter(tmp_path)
    (database,) = home.rglob("silas.db")
    with closing(sqlite3.connect(database)) as driver:
        found = driver.execute(
            "SELECT trust_level, taint, content FROM memory_items WHERE source_kind = 'memory_op'"
        ).fetchall()
    assert {(trust, taint) for trust, taint, _ in found} == trusted
    assert all("I like black coffee" in content for *_, content in found)
