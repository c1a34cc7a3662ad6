"""An answer that comes in pieces, over the real WebSocket of a real cockpit."""

import asyncio
import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from websockets.asyncio.client import ClientConnection, connect
from websockets.typing import Origin

from silas.channels.web.answer_stream import AnswerStream, join_deltas
from silas.channels.web.events import MessageDelta, MessageEvent
from silas.channels.web.pages import CROWD, ConnectedPage, Pages
from silas.channels.web.session import WebSession
from silas.testing.approval import a_signer
from tests.channels.web.test_the_whole_house import cookie_of, pair
from tests.support.speaking import Speaker, direct, pieces
from tests.support.waits import SECONDS
from tests.web.support.cockpit import Cockpit, Home, a_cockpit

Event = dict[str, Any]


class Wire:
    """A live connection of a paired page."""

    def __init__(self, live: ClientConnection) -> None:
        self._live = live
        self._waiting: list[Event] = []

    async def next(self) -> Event:
        while not self._waiting:
            received = json.loads(await asyncio.wait_for(self._live.recv(), SECONDS))
            self._waiting += received if isinstance(received, list) else [received]
        return self._waiting.pop(0)

    async def until(self, kind: str, sender: str = "") -> Event:
        while (event := await self.next())["type"] != kind or event.get("sender", "") != sender:
            pass
        return event

    async def say(self, text: str) -> None:
        message = {"type": "message", "id": "m-1", "text": text}
        more = {"sender_id": None, "reply_to": None, "proof": None}
        await self._live.send(json.dumps({**message, **more}))


@asynccontextmanager
async def wires(cockpit: Cockpit, many: int) -> AsyncGenerator[list[Any]]:
    """So many pages of one paired browser, each a way to connect."""
    answer = await pair(cockpit, (await cockpit.link()).partition("#")[2], signer=a_signer("phone"))
    token = json.loads(answer.body)["page_token"]

    @asynccontextmanager
    async def page() -> AsyncGenerator[Wire]:
        async with connect(
            cockpit.origin.replace("http", "ws") + "/ws",
            origin=Origin(cockpit.origin),
            additional_headers={"Cookie": cookie_of(answer)},
            proxy=None,
        ) as live:
            await live.send(json.dumps({"type": "auth", "token": token, "after": 0}))
            yield Wire(live)

    yield [page] * many


async def test_a_page_sees_the_answer_grow_and_one_that_comes_later_sees_as_much(
    tmp_path: Path,
) -> None:
    speaker = Speaker(pieces(direct("Good morning. \x1b[31mIt is nine.\x1b[0m"), 3), paced=True)
    async with (
        a_cockpit(Home(tmp_path), models={"proxy": speaker.model}) as cockpit,
        wires(cockpit, 2) as (first, second),
        first() as early,
    ):
        await early.until("stream_state")
        await early.say("what time is it?")
        speaker.release(30)
        seen = await early.until("message_delta")
        assert seen["begins"]
        assert "Good morning. ".startswith(seen["text"])
        async with second() as late:
            state = await late.until("stream_state")
            (so_far,) = state["coming"]
            assert so_far["turn_id"] == seen["turn_id"]
            assert so_far["text"].startswith(seen["text"])
            speaker.release(300)
            for wire, shown in ((early, seen["text"]), (late, so_far["text"])):
                said = await grown(wire, shown)
                assert said.turn_id == seen["turn_id"]
                assert said.text == "Good morning. \x1b[31mIt is nine.\x1b[0m"


async def grown(wire: Wire, shown: str) -> MessageEvent:
    """The message at the end of the pieces, of which they are the beginning."""
    while (event := await wire.next())["type"] != "message" or event["sender"] != "silas":
        if event["type"] == "message_delta":
            shown = ("" if event["begins"] else shown) + event["text"]
    assert event["text"].startswith(shown)
    return MessageEvent.model_validate(event)


async def test_half_a_character_in_an_answer_ends_no_connection(tmp_path: Path) -> None:
    broken = direct("Hello there, who?").replace("there", "\\ud800")
    answers = [[broken], [broken]]
    speaker = Speaker(*answers)
    async with (
        a_cockpit(Home(tmp_path), models={"proxy": speaker.model}) as cockpit,
        wires(cockpit, 1) as (page,),
        page() as wire,
    ):
        await wire.until("stream_state")
        await wire.say("hello")
        said = await wire.until("message", "silas")
    assert "could not make sense" in said["text"]


async def test_what_a_turn_waits_for_is_said_and_gone_before_its_answer(tmp_path: Path) -> None:
    speaker = Speaker([direct("Hello.")])
    async with (
        a_cockpit(Home(tmp_path), models={"proxy": speaker.model}) as cockpit,
        wires(cockpit, 1) as (page,),
        page() as wire,
    ):
        await wire.until("stream_state")
        await wire.say("hello")
        waits = await wire.until("in_passing")
        speaker.release(300)
        seen = [waits["words"]]
        while (event := await wire.next())["type"] != "message" or event["sender"] != "silas":
            seen += [event["words"]] if event["type"] == "in_passing" else []
    assert seen == ["waiting for the model (proxy)", ""]


def _page() -> ConnectedPage:
    return ConnectedPage(WebSession(id="s-1", device_id="d-1", device="phone", level="owner"))


async def test_a_page_that_reads_slowly_has_one_frame_of_pieces_waiting() -> None:
    page, pages = _page(), Pages()
    pages.enter(page)
    for number in range(10_000):
        pages.draft(MessageDelta(turn_id="turn-1", text=".", begins=number == 0))
    pages.all(MessageDelta(turn_id="turn-2", text="after").model_dump_json())
    assert page.closing is None
    (piece,) = json.loads(await page.next() or "")
    assert (piece["text"], piece["begins"]) == ("." * 10_000, True)
    assert json.loads(await page.next() or "")["text"] == "after"


async def test_two_turns_that_wait_for_a_page_are_both_told() -> None:
    page = _page()
    page.draft(MessageDelta(turn_id="turn-1", text="a", begins=True))
    page.draft(MessageDelta(turn_id="turn-1", text="", begins=True))
    page.draft(MessageDelta(turn_id="turn-2", text="b", begins=True))
    told = [(one["turn_id"], one["text"]) for one in json.loads(await page.next() or "")]
    assert told == [("turn-1", ""), ("turn-2", "b")]


def test_a_crowd_of_pages_gets_answers_whole() -> None:
    pages = Pages()
    for _ in range(CROWD + 1):
        pages.enter(_page())
    pages.draft(MessageDelta(turn_id="turn-1", text="a", begins=True))


def test_what_is_withdrawn_is_shown_to_nobody_who_comes_later() -> None:
    coming = AnswerStream()
    coming.add("turn-1", "Wro", begins=True, conversation="")
    coming.add("turn-1", "ng", begins=False, conversation="")
    assert [one.text for one in coming.all] == ["Wrong"]
    coming.add("turn-1", "", begins=True, conversation="")
    assert coming.all == ()
    piece = MessageDelta(turn_id="t", text="new", begins=True)
    assert join_deltas(MessageDelta(turn_id="t", text="old"), piece) == piece
