"""The live connection as served: who is let go, with which word, and that nobody stays behind."""

import asyncio
import json
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed
from websockets.typing import Origin

from silas.channels.web.pages import UNAUTHENTICATED
from silas.testing.approval import a_signer
from tests.channels.web.test_the_whole_house import cookie_of, pair
from tests.support.waits import SECONDS
from tests.web.support.cockpit import Cockpit, Home, a_cockpit


@asynccontextmanager
async def two_pages(tmp_path: Path) -> AsyncGenerator[tuple[Cockpit, Any, Any]]:
    """A cockpit with two pages of one browser, both greeted."""
    async with a_cockpit(Home(tmp_path)) as cockpit:
        token = (await cockpit.link()).partition("#")[2]
        answer = await pair(cockpit, token, signer=a_signer("phone"))
        page_token = json.loads(answer.body)["page_token"]

        def live() -> connect:
            return connect(
                cockpit.origin.replace("http", "ws") + "/ws",
                origin=Origin(cockpit.origin),
                additional_headers={"Cookie": cookie_of(answer)},
                proxy=None,
            )

        async with live() as one, live() as other:
            for page in (one, other):
                await page.send(json.dumps({"type": "auth", "token": page_token, "after": 0}))
                assert json.loads(await page.recv())["type"] == "stream_state"
            yield cockpit, one, other


async def until(holds: Callable[[], bool]) -> None:
    async with asyncio.timeout(SECONDS):
        while not holds():
            await asyncio.to_thread(lambda: None)


async def code_of(page: ClientConnection) -> tuple[int, list[str]]:
    """The code that a page is closed with, and the kinds of what it was told before."""
    kinds = list[str]()
    async with asyncio.timeout(SECONDS):
        try:
            while True:
                kinds.append(json.loads(await page.recv())["type"])
        except ConnectionClosed as closed:
            return (closed.rcvd.code if closed.rcvd else 1006), kinds


async def test_a_page_of_nothing_but_mistakes_is_told_each_and_let_go(tmp_path: Path) -> None:
    async with two_pages(tmp_path) as (cockpit, one, other):
        for _ in range(20):
            await one.send('{"type": "gibberish"}')
        assert await code_of(one) == (1008, ["error"] * 20)
        await until(lambda: len(cockpit.channel.pages) == 1)
        said = {"type": "message", "id": "m-1", "text": "still here?"}
        await other.send(json.dumps(said))
        assert json.loads(await asyncio.wait_for(other.recv(), SECONDS)) == {
            "type": "ack",
            "id": "m-1",
        }


async def test_a_page_that_silas_lets_go_is_not_there_any_more_and_one_that_goes_neither(
    tmp_path: Path,
) -> None:
    async with two_pages(tmp_path) as (cockpit, one, other):
        pages = cockpit.channel.pages
        await one.close()
        await until(lambda: len(pages) == 1)
        pages.close(UNAUTHENTICATED)
        assert await code_of(other) == (UNAUTHENTICATED, [])
        await until(lambda: len(pages) == 0)


async def test_a_page_that_asks_for_a_word_gets_it_and_nobody_else(tmp_path: Path) -> None:
    async with two_pages(tmp_path) as (cockpit, one, other):
        for page in (one, other):
            await page.send(json.dumps({"type": "ping", "id": "ping"}))
            assert json.loads(await asyncio.wait_for(page.recv(), SECONDS)) == {
                "type": "ack",
                "id": "ping",
            }
        assert cockpit.channel.transcript.newest() == 0
