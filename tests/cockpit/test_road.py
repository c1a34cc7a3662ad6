"""The main job over the cockpit's own protocol, from pairing to undo, without a browser."""

import asyncio
from pathlib import Path

import httpx
import pytest
from pydantic_ai.messages import ModelResponse
from pydantic_ai.models.function import FunctionModel

from silas.channels.web.app import StartingApp
from silas.channels.web.serve import PlainHttp, run_server
from silas.clock import SystemClock
from silas.keys.signer import Ed25519Signer
from tests.cockpit.program_page import ProgramPage, a_page
from tests.support.waits import SECONDS
from tests.web.support.cockpit import Home, a_cockpit
from tests.web.support.library import COPY

_YES = {"type": "approval_response", "verdict": "approved"}
_NO = {"type": "approval_response", "verdict": "declined"}


@pytest.mark.proves("B7-SIGNED-ON-DEVICE")
async def test_a_request_is_asked_approved_done_verified_and_taken_back(tmp_path: Path) -> None:
    home = Home(tmp_path)
    async with a_cockpit(home) as cockpit, a_page(cockpit.origin, await cockpit.link()) as page:
        state = await page.connect()
        assert (state["level"], state["cards"], state["runbook"]) == ("owner", [], True)
        await page.say(COPY)
        assert (await page.next("message"))["sender"] == "owner"
        plan = await page.next("approval_request")
        assert not home.result.exists()
        await page.answer(plan, **_YES)
        ended = await page.next("post_execution")
        assert (ended["status"], [check["passed"] for check in ended["checks"]]) == ("done", [True])
        assert home.result.read_text() == "as it was\n"
        assert "result.txt" in ended["diff"]
        name = ended["work_item_id"]
        forged = await page.command(f"/work/{name}/undo", "undo", "another item")
        assert forged.status_code == 403
        assert home.result.exists()
        taken_back = await page.command(f"/work/{name}/undo", "undo", name)
        assert taken_back.status_code == 200
        assert (await page.next("undone"))["work_item_id"] == name
        assert not home.result.exists()
        assert "plan_approved" in await cockpit.events()
        assert (await cockpit.running.silas.audit.verify_chain()).valid


async def test_a_no_runs_nothing_and_the_words_are_there_after_a_restart(tmp_path: Path) -> None:
    home = Home(tmp_path)
    key = Ed25519Signer.from_seed(b"r" * 32)
    async with a_cockpit(home) as cockpit:
        page = ProgramPage(cockpit.origin, key)
        await page.pair(await cockpit.link())
        await page.connect()
        await page.say(COPY)
        await page.answer(await page.next("approval_request"), **_NO)
        while "nothing was run" not in (said := await page.next("message"))["text"]:
            pass
        seen = page.seq
        port = int(cockpit.origin.rpartition(":")[2])
        await page.gone()
    async with a_cockpit(home, port=port):
        state = await page.connect(after=0)
        assert [kept["seq"] for kept in state["transcript"]] == list(range(1, seen + 1))
        assert state["transcript"][-1]["text"] == said["text"]
        assert not home.result.exists()
        await page.gone()
        assert (await page.connect(after=seen))["transcript"] == []
        await page.end()


async def test_a_page_without_a_key_asks_as_a_known_person_and_approves_nothing(
    tmp_path: Path,
) -> None:
    home = Home(tmp_path)
    async with a_cockpit(home) as cockpit:
        async with a_page(cockpit.origin, await cockpit.link(), key=False) as page:
            assert (await page.connect())["level"] == "auth"
            await page.say(COPY)
            assert (await page.next("message"))["sender"] == "auth"
            plan = await page.next("approval_request")
            await page.answer(plan, **_YES)
            assert (await page.next("error"))["code"] == "E_CHANNEL_PROOF"
            await page.answer(plan, **_NO)
            assert (await page.next("card_closed"))["outcome"] == "answered"
        assert not home.result.exists()
        assert "plan_approved" not in await cockpit.events()


async def test_a_message_sent_again_after_a_lost_connection_is_one_turn(tmp_path: Path) -> None:
    async with a_cockpit(Home(tmp_path)) as cockpit:
        async with a_page(cockpit.origin, await cockpit.link()) as page:
            await page.connect()
            name = await page.say("what can you do?", "message-1")
            await page.next("ack")
            await page.gone()
            state = await page.connect()
            assert name in [kept["id"] for kept in state["transcript"]]
            await page.say("what can you do?", name)
            assert (await page.next("ack"))["id"] == name
            await page.say("and now?", "message-2")
            while (await page.next("message"))["id"] != "message-2":
                pass
            await page.next("message")
        assert (await cockpit.events()).count("turn_finished") <= 2


@pytest.mark.proves("S18.2-SAFE-DECLINES")
async def test_a_model_that_never_answers_does_not_keep_silas_from_ending(tmp_path: Path) -> None:
    asked = asyncio.Event()

    async def never(*_: object) -> ModelResponse:
        asked.set()
        await asyncio.Event().wait()
        raise AssertionError("nobody ever sets it")

    models, home = {"proxy": FunctionModel(never)}, Home(tmp_path)
    async with asyncio.timeout(SECONDS):
        async with a_cockpit(
            home, models=models, SILAS_BACKPRESSURE__SHUTDOWN_GRACE_SECONDS=0
        ) as c:
            page = ProgramPage(c.origin, Ed25519Signer.from_seed(b"n" * 32))
            await page.pair(await c.link())
            await page.connect()
            await page.say("think about this for ever")
            await asked.wait()
        assert await page.closed() in (1001, 1012)  # ours, or the server's own where it was faster
        await page.end()


@pytest.mark.proves("S8.1-HEALTH")
async def test_health_says_how_many_pages_are_open_and_nothing_private(tmp_path: Path) -> None:
    async with a_cockpit(Home(tmp_path)) as cockpit:
        async with a_page(cockpit.origin, await cockpit.link()) as page:
            await page.connect()
            told = (await page.get("/health")).json()
        assert told == {"status": "ok", "connections": 1, "queue": 0}


@pytest.mark.proves("A25-HEALTH-FIRST")
async def test_health_answers_before_anything_else_is_loaded() -> None:
    front = StartingApp()
    serving = run_server(front, "127.0.0.1", 0, SystemClock(), front.knows, PlainHttp())
    async with serving as port, httpx.AsyncClient() as http:
        at = f"http://127.0.0.1:{port}"
        assert (await http.get(f"{at}/health")).json() == {"status": "starting", "connections": 0}
        assert (await http.get(f"{at}/healthz")).status_code == 200
        for path in ("/readyz", "/", "/work"):
            answer = await http.get(at + path)
            assert (answer.status_code, answer.json()["code"]) == (503, "E_CHANNEL_STARTING")


async def test_a_tab_that_is_loaded_while_silas_starts_says_so_and_opens_by_itself() -> None:
    front = StartingApp()
    serving = run_server(front, "127.0.0.1", 0, SystemClock(), front.knows, PlainHttp())
    async with serving as port, httpx.AsyncClient() as http:
        at, tab = f"http://127.0.0.1:{port}", {"accept": "text/html,*/*;q=0.8"}
        answer = await http.get(f"{at}/", headers=tab)
        assert (answer.status_code, answer.headers["cache-control"]) == (503, "no-store")
        assert answer.headers["content-type"] == "text/html; charset=utf-8"
        assert "Silas is starting. This page opens by itself in a moment." in answer.text
        assert "location.reload()" in answer.text
        assert "default-src 'none'" in answer.headers["content-security-policy"]
        for told in (await http.post(f"{at}/", headers=tab), await http.get(f"{at}/work")):
            assert told.json()["code"] == "E_CHANNEL_STARTING"
        assert (await http.get(f"{at}/health", headers=tab)).json()["status"] == "starting"


@pytest.mark.proves("S18.2-SAFE-DECLINES")
async def test_ending_answers_an_open_card_safely_and_lets_pages_go(tmp_path: Path) -> None:
    home = Home(tmp_path)
    async with a_cockpit(home) as cockpit:
        page = ProgramPage(cockpit.origin, Ed25519Signer.from_seed(b"e" * 32))
        await page.pair(await cockpit.link())
        await page.connect()
        await page.say(COPY)
        await page.next("approval_request")
        silas = cockpit.running.silas
    assert await page.closed() == 1001
    await page.end()
    assert not home.result.exists()
    assert silas.executor.running() == ()


async def test_a_plan_that_waits_when_silas_ends_waits_at_each_start_and_says_so_once(
    tmp_path: Path,
) -> None:
    home = Home(tmp_path)
    async with a_cockpit(home) as cockpit:
        page = ProgramPage(cockpit.origin, Ed25519Signer.from_seed(b"w" * 32))
        await page.pair(await cockpit.link())
        await page.connect()
        await page.say(COPY)
        asked = await page.next("approval_request")
        port = int(cockpit.origin.rpartition(":")[2])
    for starts in (2, 3):  # nobody is there to be asked
        async with a_cockpit(home, port=port) as cockpit, asyncio.timeout(SECONDS):
            while (await cockpit.events()).count("plan_waits") < starts:
                await asyncio.sleep(0)
    async with a_cockpit(home, port=port) as cockpit, asyncio.timeout(SECONDS):
        while (await cockpit.events()).count("plan_waits") < 4:
            await asyncio.sleep(0)
        said = [kept.get("text", "") for kept in (await page.connect(after=0))["transcript"]]
        assert len([text for text in said if "waits for its owner" in text]) == 1, said
        [plan] = await cockpit.running.silas.runs.proposer.waiting()
        assert plan.id in str(asked)
        async with a_page(cockpit.origin, await cockpit.link()) as other:
            await other.connect()
            assert not home.result.exists()
            await page.post(f"/work/{plan.id}/ask")
            again, there = [await one.next("approval_request") for one in (page, other)]
            assert again["request_id"] == there["request_id"] != asked["request_id"]
            await other.answer(there, **_YES)
            assert (await page.next("card_closed"))["outcome"] == "answered"
            assert (await page.next("post_execution"))["status"] == "done"
        await page.end()
    assert home.result.exists()
