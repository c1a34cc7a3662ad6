"""The channel of docs/channels.md, run as it stands there, beside a real cockpit."""

import asyncio
import re
import sys
from pathlib import Path

import pytest
import yaml

from tests.cockpit.program_page import a_page
from tests.support.waits import SECONDS
from tests.web.support.cockpit import Home, a_cockpit, refusing_port
from tests.web.support.library import COPY

PAGE = (Path(__file__).parents[2] / "docs" / "channels.md").read_text(encoding="utf-8")
KEY = "the-key-of-the-line"


def _block(language: str) -> str:
    found = re.search(rf"^```{language}\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    assert found is not None
    return found[1]


class Line:
    """Somebody at the other end of the line."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader, self._writer = reader, writer

    @classmethod
    async def open(cls, port: int, key: str = KEY) -> "Line":
        while True:
            try:
                line = cls(*await asyncio.open_connection("127.0.0.1", port))
            except ConnectionRefusedError:
                await asyncio.sleep(0)  # it listens when its task has begun
                continue
            line.say(key)
            return line

    def say(self, text: str) -> None:
        self._writer.write(f"{text}\n".encode())

    async def until(self, words: str) -> str:
        """What came until a line with these words."""
        got = ""
        while words not in (line := (await self._next())):
            got += line
        return got + line

    async def _next(self) -> str:
        read = await asyncio.wait_for(self._reader.readline(), SECONDS)
        assert read, "the line was closed"
        return read.decode()

    async def rest(self) -> bytes:
        """Everything until the other end closes the line."""
        return await asyncio.wait_for(self._reader.read(), SECONDS)

    def close(self) -> None:
        self._writer.close()


@pytest.fixture
def line_channel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> int:
    """The module of the page, importable, and the port in its settings."""
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / "line_channel.py").write_text(_block("python"), encoding="utf-8")
    monkeypatch.setattr(sys, "path", [str(tmp_path / "site"), *sys.path])
    monkeypatch.delitem(sys.modules, "line_channel", raising=False)
    monkeypatch.setenv("LINE_KEY", KEY)
    with refusing_port() as port:
        return port


def _home(tmp_path: Path, port: int) -> Home:
    home = Home(tmp_path)
    file = home.home / "config.yaml"
    settings = yaml.safe_load(file.read_text(encoding="utf-8"))
    settings["silas"]["channels"] = yaml.safe_load(_block("yaml"))["silas"]["channels"]
    settings["silas"]["channels"]["others"]["line"]["config"]["port"] = port
    file.write_text(yaml.safe_dump(settings), encoding="utf-8")
    return home


def test_the_channel_of_the_page_is_at_most_sixty_lines() -> None:
    assert len(_block("python").splitlines()) <= 60


async def test_a_message_in_an_answer_out_a_no_counts_and_a_yes_is_for_the_cockpit(
    tmp_path: Path, line_channel: int
) -> None:
    home = _home(tmp_path, line_channel)
    async with a_cockpit(home) as cockpit, a_page(cockpit.origin, await cockpit.link()) as page:
        line = await Line.open(line_channel)
        line.say("what is 17 % of 240")
        assert "40.8" in await line.until("40.8")

        line.say(COPY)
        assert "Copy the notes" in await line.until("A no counts here.")
        line.say("no")
        await line.until("Answered on line")
        await line.until("nothing was run")

        await page.connect()
        line.say(COPY)
        plan = await page.next("approval_request")
        await line.until("A no counts here.")
        line.say("yes")
        await line.until("say yes in the cockpit")
        assert not home.result.exists()
        assert not cockpit.running.silas.executor.running()
        await page.answer(plan, type="approval_response", verdict="approved")
        await line.until("Answered on web: ")
        await line.until("done: ")
        assert home.result.read_text() == "as it was\n"

        events = await cockpit.events()
        assert events.count("plan_approved") == 1
        assert "channel.answered" in events
        assert "channel.refused" in events
        said = "".join(await cockpit.record())
        assert KEY not in said
        line.close()


async def test_a_built_in_answer_there_names_what_holds_there(
    tmp_path: Path, line_channel: int
) -> None:
    home = _home(tmp_path, line_channel)
    async with a_cockpit(home) as cockpit, a_page(cockpit.origin, await cockpit.link()) as page:
        line = await Line.open(line_channel)
        for said, words in {
            "forget everything": "“Memory” under “More” in the cockpit, or `silas memory search",
            "undo that": "“Work” under “More” in the cockpit",
            "stop": "`silas stop --now`",
            "sing a song": "under “More” in the cockpit, or `silas setup`, connects",
        }.items():
            line.say(said)
            assert words in await line.until(words)
        await page.connect()
        await page.say("forget everything")
        while "“Memory” under “More” finds" not in (await page.next("message"))["text"]:
            pass  # what was said on the line stands there, too
        line.close()


async def test_who_has_not_the_key_is_let_go_and_the_end_of_silas_ends_the_line(
    tmp_path: Path, line_channel: int
) -> None:
    async with a_cockpit(_home(tmp_path, line_channel)):
        thief = await Line.open(line_channel, "guess")
        assert await thief.rest() == b""
        line = await Line.open(line_channel)
        line.say("what is 2 + 3")
        await line.until("5")
    await line.rest()
    line.close()
    thief.close()
