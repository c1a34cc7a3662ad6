"""In the cockpit: a folder is shown to a model elsewhere after one question, whose answer stays."""

import os
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from silas.channels.web.wire import Proof, command_bytes
from silas.stream.look_answers import LookAnswers
from silas.testing import ScriptedModel
from silas.tools.builtin.git_look import WORKSPACE_TOOL_NAMES
from tests.cockpit.house import House, a_house, proof
from tests.cockpit.program_page import ProgramPage, a_page
from tests.stream.test_looking import calling, direct
from tests.web.support.cockpit import Cockpit, Home, a_cockpit

THEM = "python:test:proxy"
SHOWN = "input.txt"  # in the workspace of a cockpit's home
PATH, COMMAND = "/showing/ask-again", "ask_again"


def looking(*turns: bool) -> ScriptedModel:
    """A model elsewhere, which lists the folder first in each turn that says so."""
    steps: list[Any] = []
    for looks in turns:
        steps += [calling("list"), direct()] if looks else [direct()]
    return ScriptedModel(steps)


@asynccontextmanager
async def started(home: Home, model: ScriptedModel) -> AsyncGenerator[tuple[Cockpit, ProgramPage]]:
    """A cockpit of this home, as after each restart, with a page that is connected."""
    async with (
        a_cockpit(home, models={"proxy": model}) as cockpit,
        a_page(cockpit.origin, await cockpit.link()) as page,
    ):
        await page.connect()
        yield cockpit, page


async def says(page: ProgramPage, answer: str = "") -> None:
    """Say something that the model looks for; answer the question about it where there is one."""
    await page.say("what is here?")
    if answer:
        card = await page.next("decision")
        assert THEM in card["card"]["rationale"]
        await page.answer(card, type="decision_response", selected_value=answer)
    while (await page.next("message"))["sender"] == "owner":
        pass


async def kept(page: ProgramPage) -> list[tuple[str, str]]:
    """Directories with what was answered about them, as the page has them."""
    rows = (await page.get("/showing")).json()["directories"]
    return [(row["workspace"], each["answer"]) for row in rows for each in row["answers"]]


def seen(model: ScriptedModel) -> bool:
    return any(SHOWN in request.text for request in model.requests)


def offered(model: ScriptedModel) -> bool:
    """Whether the last request offered to look."""
    tools = model.requests[-1].parameters.function_tools
    return bool({tool.name for tool in tools} & WORKSPACE_TOOL_NAMES)


async def test_a_yes_is_asked_for_once_and_kept_over_a_restart(tmp_path: Path) -> None:
    home, first, again = Home(tmp_path), looking(True, True), looking(True)
    async with started(home, first) as (cockpit, page):
        await says(page, "yes")
        await says(page)
        assert (await cockpit.events()).count("workspace_look_asked") == 1
        assert seen(first)
    async with started(home, again) as (cockpit, page):
        await says(page)
        assert seen(again)
        assert (await cockpit.events()).count("workspace_look_asked") == 1
        assert await kept(page) == [(str(home.workspace), "yes")]


async def test_a_never_holds_over_a_restart_and_another_wish(tmp_path: Path) -> None:
    home, first, again = Home(tmp_path), looking(True, False), looking(False)
    async with started(home, first) as (cockpit, page):
        await says(page, "no")
        await says(page)
        assert not seen(first)
        assert not offered(first)
    async with started(home, again) as (cockpit, page):
        await says(page)
        assert not seen(again)
        assert not offered(again)
        assert (await cockpit.events()).count("workspace_look_asked") == 1
        assert await kept(page) == [(str(home.workspace), "never")]


async def test_whoever_asks_to_be_asked_again_is_asked_and_shows_nothing_before(
    tmp_path: Path,
) -> None:
    home, model = Home(tmp_path), looking(True, True)
    place = str(home.workspace)
    async with started(home, model) as (cockpit, page):
        await says(page, "no")
        other = await page.command(PATH, COMMAND, "/", workspace=place)
        assert (other.status_code, other.json()["code"]) == (403, "E_CHANNEL_PROOF")
        assert await kept(page) == [(place, "never")]
        done = await page.command(PATH, COMMAND, place, workspace=place)
        assert done.status_code == 200, done.text
        assert await kept(page) == []
        assert not seen(model)
        await says(page, "yes")
        assert seen(model)
        events = await cockpit.events()
        assert events.count("workspace_look_asked") == 2
        assert events.count("workspace_look_taken_back") == 1


def answers(house: House) -> LookAnswers:
    return LookAnswers(house.harness.db, house.harness.clock)


async def test_nothing_is_taken_back_without_a_proof_about_this_very_directory() -> None:
    async with a_house() as house:
        answers(house).keep("/srv/private", THEM, allowed=False)
        body = {"workspace": "/srv/private"}
        unsigned = await house.client.post(PATH, json=body)
        forged = await house.client.post(PATH, json={**body, "proof": proof(b"no")})
        assert (unsigned.status_code, forged.status_code) == (400, 403)
        assert house.door.proved == []
        assert answers(house).of("/srv/private", THEM) is False
        assert (await house.signed(PATH, **body)).status_code == 200
        made = Proof.model_validate(proof())
        assert house.door.proved == [command_bytes(COMMAND, "/srv/private", made)]
        assert answers(house).of("/srv/private", THEM) is None


@pytest.mark.parametrize("workspace", ["/nowhere/at/all", "/srv/\0private", "private", "\ud7ff"])
async def test_a_directory_that_nobody_asked_about_is_one_sentence(workspace: str) -> None:
    async with a_house() as house:
        answers(house).keep("/srv/private", THEM, allowed=False)
        refused = await house.signed(PATH, workspace=workspace)
        assert (refused.status_code, refused.json()["code"]) == (404, "E_APPROVAL_UNKNOWN")
        assert "\0" not in refused.json()["message"]
        assert len(answers(house).all()) == 1


async def test_what_is_kept_by_this_name_goes_alone_wherever_a_link_there_leads(
    tmp_path: Path,
) -> None:
    private, work = tmp_path / "private", tmp_path / "work"
    private.mkdir()
    async with a_house() as house:
        answers(house).keep(str(private), THEM, allowed=False)
        answers(house).keep(str(work), THEM, allowed=True)
        os.symlink(private, work)  # put there after the owner answered
        assert (await house.signed(PATH, workspace=str(work))).status_code == 200
        assert [(one.workspace, one.word) for one in answers(house).all()] == [
            (str(private), "never")
        ]
        # nothing is kept by this name any more, so it is another way to what it leads to
        assert (await house.signed(PATH, workspace=str(work))).status_code == 200
        assert answers(house).all() == []


async def test_each_directory_is_one_row_and_what_cannot_be_read_is_told() -> None:
    async with a_house() as house:
        for whom, allowed in (("a.example", True), ("b.example", False), ("c.example", True)):
            answers(house).keep("/srv/notes", whom, allowed=allowed)
        answers(house).keep("/srv/other", "a.example", allowed=True)
        with house.harness.db.write() as tx:
            tx.driver.execute(
                "UPDATE look_answers SET allowed = 'x', answered_at = 'y' WHERE shown_to LIKE 'c%'"
            )
        rows = (await house.get("/showing"))["directories"]
    assert [row["workspace"] for row in rows] == ["/srv/notes", "/srv/other"]
    said = [(each["answer"], each["words"].split(": ")[0]) for each in rows[0]["answers"]]
    assert said[:2] == [("yes", "Yes"), ("never", "Never")]
    assert rows[0]["answers"][2] == {
        "answer": "unreadable",
        "words": "Your answer cannot be read, so c.example is shown nothing of it.",
        "answered_at": None,
    }
