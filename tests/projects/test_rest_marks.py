"""The rest of a project tells which of its words came from elsewhere, as the first card did."""

import sqlite3
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, closing
from pathlib import Path
from typing import Any

import pytest

from silas.cards import PlanCard
from silas.plans.source_marks import HEADING
from silas.services.mcp_server import Services
from silas.testing import Harness, ScriptedChannel
from tests.projects.kit import PROJECT, Ran, project_text
from tests.projects.rest_doors import (
    REST,
    Door,
    fails,
    planning,
    press_button,
    run_rest,
    say_words,
)
from tests.stream.kit import answering, plans_of, saying_yes, soon

WORDS = "Rename every invoice to the number of its customer."
ORDER = "Count the letters of March by hand."
CLIENT = "a message from an MCP client on mcp (external)"


def _text(**changes: Any) -> str:
    tasks: dict[str, dict[str, Any]] = {
        "a": {"body": f"{ORDER}\n\n```sh\ndo-a\n```"},
        "b": {"body": f"{WORDS}\n\n```sh\ndo-b\n```", "depends_on": ["a"]},
        "c": {"depends_on": ["b"]},
    }
    own = {"body": WORDS, "title": "Tidy the invoices of March"}
    return project_text(tasks, **{**own, **changes})


@asynccontextmanager
async def failed(
    tmp_path: Path, ran: Ran, channel: ScriptedChannel, *, said: str = f"{WORDS} {ORDER}"
) -> AsyncGenerator[Harness]:
    """A project that an MCP client asked for and the owner approved; its second task failed."""
    ran.failing.add("check-b")
    async with Harness(channel, sandbox=ran.sandbox, models=planning(_text()), home=tmp_path) as h:
        asked = {"text": f"Tidy the invoices of March: {said}", "workspace": str(tmp_path)}
        await Services(h.silas, h.silas.ahead).ask(asked)
        await fails(h, ran)
        yield h


def marks_on(card: PlanCard) -> tuple[str, ...]:
    parts = [part for part in card.details if part.heading == HEADING]
    assert all(part.open for part in parts)
    return tuple(line for part in parts for line in part.lines)


async def _again(h: Harness) -> None:
    """Kept as a plan that waits, and answered at the command line."""
    rest = await h.silas.undoing.rests.of(PROJECT)
    await h.silas.runs.proposer.keep(rest.item, rest.words)
    await soon(h.silas.runs.answer(REST))


def _lose_marks(folder: Path) -> None:
    (found,) = folder.rglob("silas.db")
    with closing(sqlite3.connect(found)) as db:
        db.execute("DELETE FROM project_marks")
        db.commit()


CARRIED = (
    f"title: {CLIENT}",
    "  | Tidy the invoices of March",
    f"body, b-rest body: {CLIENT}",
    f"  | {WORDS}",
)


@pytest.mark.parametrize("door", [run_rest, press_button, say_words, _again])
async def test_the_card_of_a_rest_tells_what_of_it_was_read_elsewhere(
    tmp_path: Path, door: Door
) -> None:
    ran, channel = Ran(), ScriptedChannel(saying_yes)
    async with failed(tmp_path, ran, channel) as h:
        (first,) = plans_of(channel)
        assert f"a body: {CLIENT}" in marks_on(first)
        await door(h)
        card = plans_of(channel)[-1]
        assert card.work_item_id == REST
        assert marks_on(card) == CARRIED
        assert "look at what is marked" in card.rationale
        assert ran.done == ["a", "b", "b", "c"]


async def test_the_marks_go_on_to_the_rest_of_a_rest(tmp_path: Path) -> None:
    ran, channel = Ran(), ScriptedChannel(saying_yes)
    async with failed(tmp_path, ran, channel) as h:
        ran.failing.add("check-b")
        await run_rest(h)
        ran.failing.clear()
        await soon(h.silas.run(await h.silas.rest_of(REST)))
        card = plans_of(channel)[-1]
        assert card.work_item_id == f"{REST}-2"
        assert marks_on(card) == tuple(line.replace("b-rest", "b-rest-2") for line in CARRIED)


async def test_words_that_its_owner_took_out_of_the_printed_rest_are_marked_no_more(
    tmp_path: Path,
) -> None:
    channel = ScriptedChannel(saying_yes)
    async with failed(tmp_path, Ran(), channel) as h:
        text = (await h.silas.rest_of(PROJECT)).replace(WORDS, "Do nothing of the kind.")
        await soon(h.silas.run(text))
        assert marks_on(plans_of(channel)[-1]) == CARRIED[:2]


async def test_where_nobody_knows_any_more_all_words_count_as_read_elsewhere(
    tmp_path: Path,
) -> None:
    channel = ScriptedChannel(saying_yes)
    async with failed(tmp_path, Ran(), channel) as h:
        _lose_marks(tmp_path)
        await run_rest(h)
        assert marks_on(plans_of(channel)[-1]) == (
            "cannot be told any more; take all of it as read elsewhere",
        )


async def test_the_rest_of_what_its_owner_wrote_himself_has_no_marks(tmp_path: Path) -> None:
    ran, channel = Ran(), ScriptedChannel(saying_yes)
    ran.failing.add("check-b")
    async with Harness(channel, sandbox=ran.sandbox, home=tmp_path) as h:
        await soon(h.silas.run(_text()))
        await run_rest(h)
        first, card = plans_of(channel)
        assert (first.work_item_id, card.work_item_id) == (PROJECT, REST)
        assert marks_on(first) == marks_on(card) == ()


async def _same(h: Harness) -> str:
    """The text of the approved project, as its owner has it in a file."""
    project = await h.silas.undoing.rests.find(PROJECT)
    assert project is not None
    mode = project.interaction_mode.value
    return _text(interaction_mode=mode, workspace=project.workspace)


async def test_a_project_that_runs_again_under_its_id_keeps_its_marks_and_so_does_its_rest(
    tmp_path: Path,
) -> None:
    ran, channel = Ran(), ScriptedChannel(saying_yes)
    async with failed(tmp_path, ran, channel) as h:
        (first,) = plans_of(channel)
        ran.failing.add("check-b")
        await soon(h.silas.run(await _same(h)))
        again = plans_of(channel)[-1]
        assert again.work_item_id == PROJECT
        assert marks_on(again) == marks_on(first)
        ran.failing.clear()
        await run_rest(h)
        assert marks_on(plans_of(channel)[-1]) == CARRIED


async def test_a_project_that_runs_again_and_whose_marks_nobody_knows_counts_as_read_elsewhere(
    tmp_path: Path,
) -> None:
    channel = ScriptedChannel(saying_yes)
    async with failed(tmp_path, Ran(), channel) as h:
        _lose_marks(tmp_path)
        await soon(h.silas.run(await _same(h)))
        assert marks_on(plans_of(channel)[-1]) == (
            "cannot be told any more; take all of it as read elsewhere",
        )


async def test_the_marks_of_a_plan_that_waits_stay_where_its_owner_runs_it_himself(
    tmp_path: Path,
) -> None:
    ran, channel = Ran(), ScriptedChannel(answering("edit_requested"))
    async with Harness(channel, sandbox=ran.sandbox, models=planning(_text()), home=tmp_path) as h:
        asked = {"text": f"Tidy the invoices of March: {WORDS}", "workspace": str(tmp_path)}
        await Services(h.silas, h.silas.ahead).ask(asked)
        await soon(h.silas.run(_text(title="Tidy what lies there")))
        first, card = plans_of(channel)
        assert f"body, b body: {CLIENT}" in marks_on(first)
        assert f"body, b body: {CLIENT}" in marks_on(card)
        assert f"title: {CLIENT}" not in marks_on(card)
