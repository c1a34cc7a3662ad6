"""The door of the whole cockpit, wired and served as `silas start` does it."""

import asyncio
import base64
import json
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from websockets.asyncio.client import connect
from websockets.typing import Origin

from silas.channels.web import serve
from silas.channels.web.pages import ConnectedPage
from silas.channels.web.pairing import ENROL_DOMAIN
from silas.channels.web.session import WebSession
from silas.channels.web.waiting_plans import SECONDS_BETWEEN
from silas.channels.web.wire import Proof, command_bytes
from silas.clock import SystemClock
from silas.keys import Ed25519Signer
from silas.services.devices import open_door
from silas.testing.approval import a_signer
from silas.types import new_nonce
from tests.support.waits import SECONDS
from tests.web.support.cockpit import Answered, Cockpit, Home, a_cockpit

Ask = Callable[..., Awaitable[Answered]]


class SleepCounter(SystemClock):
    """Counts who goes to sleep until the next look at what pages show."""

    def __init__(self) -> None:
        self.looks = 0
        self.three = asyncio.Event()

    async def sleep(self, seconds: float) -> None:
        if seconds == SECONDS_BETWEEN:
            self.looks += 1
            if self.looks == 3:
                self.three.set()
        await super().sleep(seconds)


PUBLIC = {"/pair", "/health", "/healthz", "/readyz"}


@pytest.fixture
async def cockpit(tmp_path: Path) -> AsyncIterator[Cockpit]:
    async with a_cockpit(Home(tmp_path)) as running:
        yield running


async def pair(
    cockpit: Cockpit, token: str, *, signer: Ed25519Signer, cookie: str = ""
) -> Answered:
    """What the server says to a browser that pairs with this token and key."""
    body = {
        "token": token,
        "name": "a phone",
        "public_key": base64.b64encode(bytes.fromhex(signer.public_key)).decode(),
        "signature": base64.b64encode(signer.sign(ENROL_DOMAIN + token.encode())).decode(),
    }
    return await cockpit.http("POST", "/pair", cookie=cookie, body=body)


async def let_in(cockpit: Cockpit, token: str, signer: Ed25519Signer) -> Ask:
    """A paired browser, as what it asks with: cookie and page token."""
    answer = await pair(cockpit, token, signer=signer)
    cookie, page = cookie_of(answer), str(json.loads(answer.body)["page_token"])

    async def ask(method: str, path: str, body: Mapping[str, Any] | None = None) -> Answered:
        return await cockpit.http(method, path, cookie=cookie, token=page, body=body)

    return ask


def cookie_of(answer: Answered) -> str:
    found = re.match(
        r"(silas_session_\d+=[0-9a-f]{64}); Max-Age=\d+; Path=/; HttpOnly; SameSite=Strict$",
        answer.headers["set-cookie"],
    )
    assert found is not None, answer.headers["set-cookie"]
    return found[1]


@pytest.mark.proves("B6-LOOPBACK-NOT-TRUSTED")
async def test_every_endpoint_needs_the_session_and_the_page_token(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(serve, "STRANGERS_A_MINUTE", 1000)  # three tries at each endpoint
    async with a_cockpit(Home(tmp_path)) as cockpit:
        await _refused_everywhere(cockpit)


async def _refused_everywhere(cockpit: Cockpit) -> None:
    token = (await cockpit.link()).partition("#")[2]
    answer = await pair(cockpit, token, signer=a_signer("phone"))
    cookie, page = cookie_of(answer), json.loads(answer.body)["page_token"]
    listed = await cockpit.http("GET", "/openapi.json", cookie=cookie, token=page)
    paths: dict[str, dict[str, Any]] = json.loads(listed.body)["paths"]
    tried = 0
    for path in sorted(paths.keys() - PUBLIC):
        for method in paths[path]:
            filled = re.sub(r"\{\w+\}", "x", path)
            for name, guess in (("", ""), (cookie, ""), (cookie, "guess")):
                refused = await cockpit.http(
                    method.upper(), filled, cookie=name, token=guess, body={}
                )
                assert (method, path, refused.status) == (method, path, 401)
                tried += 1
    assert tried > 60
    assert (await cockpit.http("GET", "/work", cookie=cookie, token=page)).status == 200
    assert await cockpit.socket_says(cookie=cookie, token="guess") == 4001


async def test_a_link_pairs_one_browser_and_a_cookie_fixed_before_is_worth_nothing(
    cockpit: Cockpit,
) -> None:
    token, fixed = (
        (await cockpit.link()).partition("#")[2],
        f"silas_session_{cockpit.origin.rpartition(':')[2]}={'a' * 64}",
    )
    answer = await pair(cockpit, token, signer=a_signer("phone"), cookie=fixed)
    said = json.loads(answer.body)
    assert (answer.status, said["level"], said["device"]) == (200, "owner", "a phone")
    assert answer.headers["cache-control"] == "no-store"
    assert cookie_of(answer) != fixed
    assert (await cockpit.http("GET", "/", cookie=fixed)).status == 401
    assert (await cockpit.http("GET", "/", cookie=cookie_of(answer))).status == 200
    again = await pair(cockpit, token, signer=a_signer("thief"))
    assert (again.status, json.loads(again.body)["code"]) == (400, "E_CHANNEL_PAIRING_USED")
    assert "set-cookie" not in again.headers
    events = await cockpit.events()
    assert events.count("device.paired") == events.count("pairing.refused") == 1


async def test_a_device_lets_another_one_in_and_revokes_it_by_its_own_hand_alone(
    cockpit: Cockpit,
) -> None:
    phone, tablet = a_signer("phone"), a_signer("tablet")

    def body(command: str, subject: str, signer: Ed25519Signer) -> dict[str, Any]:
        bare = Proof(timestamp=datetime.now(UTC), nonce=new_nonce(), signature=b"")
        signature = signer.sign(command_bytes(command, subject, bare))
        proof = bare.model_copy(update={"signature": signature})
        return {"proof": proof.model_dump(mode="json")}

    mine = await let_in(cockpit, (await cockpit.link()).partition("#")[2], phone)
    assert (await mine("POST", "/devices/link", body("link", "devices", tablet))).status == 403
    signed = body("link", "devices", phone)
    made = await mine("POST", "/devices/link", signed)
    address, _, token = str(json.loads(made.body)["link"]).partition("#")
    assert (made.status, address) == (200, f"{cockpit.origin}/pair")
    assert (await mine("POST", "/devices/link", signed)).status == 403
    theirs = await let_in(cockpit, token, tablet)
    listed = json.loads((await mine("GET", "/devices")).body)
    other = next(one["id"] for one in listed if not one["this"])
    assert (await theirs("GET", "/work")).status == 200
    path = f"/devices/{other}/revoke"
    assert (await mine("POST", path, body("revoke", "device-0", phone))).status == 403
    assert (await mine("POST", path, body("revoke", other, phone))).status == 200
    assert (await theirs("GET", "/work")).status == 401
    assert (await mine("GET", "/work")).status == 200


async def test_two_silas_on_one_host_leave_each_other_their_cookies(tmp_path: Path) -> None:
    (tmp_path / "one").mkdir()
    (tmp_path / "two").mkdir()
    async with a_cockpit(Home(tmp_path / "one")) as one, a_cockpit(Home(tmp_path / "two")) as two:
        jar: dict[str, str] = {}  # as a browser keeps them: by name, for every port of the host
        for cockpit, name in ((one, "one"), (two, "two")):
            token = (await cockpit.link()).partition("#")[2]
            answer = await pair(
                cockpit, token, signer=a_signer(name), cookie="; ".join(jar.values())
            )
            cookie = cookie_of(answer)
            jar[cookie.partition("=")[0]] = cookie
        for cockpit in (one, two):
            assert (await cockpit.http("GET", "/", cookie="; ".join(jar.values()))).status == 200


async def test_a_link_that_is_made_beside_it_leads_to_where_the_server_really_is(
    cockpit: Cockpit,
) -> None:
    somewhere = cockpit.config.channels.web.model_copy(update={"port": 1, "host": "::1"})
    written = cockpit.config.channels.model_copy(update={"web": somewhere})
    config = cockpit.config.model_copy(update={"channels": written})
    async with open_door(config) as door:
        assert door.base == cockpit.origin
        token = (await door.link(door.base)).partition("#")[2]
    assert (await pair(cockpit, token, signer=a_signer("phone"))).status == 200


async def test_what_a_cockpit_left_behind_is_not_taken_for_one_that_runs(tmp_path: Path) -> None:
    async with a_cockpit(Home(tmp_path)) as cockpit:
        config = cockpit.config
        left = config.data_dir / "cockpit.address"
        said = left.read_bytes()
    left.write_bytes(said)
    other = config.channels.web.model_copy(update={"port": 1})
    elsewhere = config.model_copy(
        update={"channels": config.channels.model_copy(update={"web": other})}
    )
    async with open_door(elsewhere) as door:
        assert door.base == "http://127.0.0.1:1"


async def test_the_other_devices_are_told_when_one_more_is_paired(cockpit: Cockpit) -> None:
    page = ConnectedPage(WebSession(id="s-1", device_id="d-1", device="laptop", level="owner"))
    token = (await cockpit.link()).partition("#")[2]
    refused = await pair(cockpit, "0" * 64, signer=a_signer("thief"))
    cockpit.channel.pages.enter(page)
    assert refused.status == 400
    assert not page.has_something
    await pair(cockpit, token, signer=a_signer("phone"))
    told = json.loads(await asyncio.wait_for(page.next(), SECONDS) or "")
    assert told["type"] == "device_paired"
    assert "a phone was paired just now and can say yes for you" in told["words"]


@pytest.mark.proves("B11-IDLE-CALLS-NOTHING")
async def test_where_no_page_is_open_nothing_wakes_to_look_for_what_pages_show(
    tmp_path: Path,
) -> None:
    clock = SleepCounter()
    async with a_cockpit(Home(tmp_path), clock=clock) as cockpit:
        answer = await pair(
            cockpit, (await cockpit.link()).partition("#")[2], signer=a_signer("phone")
        )
        cookie, token = cookie_of(answer), json.loads(answer.body)["page_token"]
        assert (await cockpit.http("GET", "/work", cookie=cookie, token=token)).status == 200
        assert clock.looks == 0
        url = cockpit.origin.replace("http", "ws") + "/ws"
        async with connect(
            url, origin=Origin(cockpit.origin), additional_headers={"Cookie": cookie}, proxy=None
        ) as page:
            await page.send(json.dumps({"type": "auth", "token": token, "after": 0}))
            async with asyncio.timeout(SECONDS):
                await clock.three.wait()  # plans that wait, what was undone, what was forgotten
