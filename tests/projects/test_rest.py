"""What a project did not come to is asked for again, as a new project (spec 5.2.2)."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from silas.cards import Card
from silas.errors import PlanFamilyError
from silas.language import speak
from silas.plans import WorkItem, WorkItemStatus, plan_hash
from silas.services.mcp_server import Services
from silas.testing import Harness, ScriptedChannel
from tests.projects.kit import PROJECT, Ran, chain, project_text
from tests.stream.kit import answering, plans_of, saying_yes, soon

REST = f"{PROJECT}-rest"
SHORT = {"max_wall_time_seconds": 150}
_FOUR = chain("a", "b", "c", "d")


@asynccontextmanager
async def used_up(
    ran: Ran, channel: ScriptedChannel | None = None, **more: Any
) -> AsyncGenerator[Harness]:
    """A project of four tasks, each of 74.6 seconds, whose budget of 150 has room for two."""
    async with Harness(channel or ScriptedChannel(saying_yes), sandbox=ran.sandbox, **more) as h:
        ran.before = lambda word: h.clock.advance(74.6) if word.startswith("do-") else None
        result = await soon(h.silas.run(project_text(_FOUR, budget=SHORT)))
        assert result.status is WorkItemStatus.stuck, result
        yield h


async def kept(h: Harness, name: str) -> WorkItem:
    found = await h.store.get(name)
    assert found is not None
    return found


async def test_the_rest_of_a_used_up_budget_is_a_new_project_with_a_card_of_its_own() -> None:
    channel, ran = ScriptedChannel(saying_yes), Ran()
    async with used_up(ran, channel) as h:
        result = await soon(h.silas.run(await h.silas.rest_of(PROJECT)))
        assert result.status is WorkItemStatus.done, result
        assert ran.done == ["a", "b", "c", "d"]
        first, card = plans_of(channel)
        assert card.work_item_id == REST
        assert card.approves != first.approves
        assert any("Done before: a, b." in line for part in card.details for line in part.lines)
        old, new = await kept(h, PROJECT), await kept(h, REST)
        assert new.tasks == ["c-rest", "d-rest"]
        c, d = [await kept(h, name) for name in new.tasks]
        assert (c.depends_on, d.depends_on) == ([], ["c-rest"])
        assert new.budget == old.budget
        assert new.budget_used.wall_time_seconds < 150
        tokens = [one.approval_token for one in (old, new, c, d)]
        assert len({None if one is None else one.token_id for one in tokens}) == 4
        for one in (c, d):
            assert one.approval_token is not None
            assert one.approval_token.plan_hash == plan_hash(one)
        assert (old.status, (await kept(h, "c")).status) == (
            WorkItemStatus.stuck,
            WorkItemStatus.blocked,
        )


class Deciding:
    """An owner whose answer to plans may change."""

    def __init__(self) -> None:
        self.verdict = "approved"

    def __call__(self, card: Card[Any]) -> Any:
        return answering(self.verdict)(card)


async def test_without_a_yes_nothing_of_the_rest_runs() -> None:
    ran, owner = Ran(), Deciding()
    async with used_up(ran, ScriptedChannel(owner)) as h:
        owner.verdict = "declined"
        result = await soon(h.silas.run(await h.silas.rest_of(PROJECT)))
        assert result.status is WorkItemStatus.blocked
        assert ran.done == ["a", "b"]
        assert await h.store.get(REST) is None
        assert "=== task: c-rest ===" in await h.silas.rest_of(PROJECT)  # it can be asked again


async def refused(h: Harness, name: str) -> str:
    with pytest.raises(PlanFamilyError) as raised:
        await h.silas.rest_of(name)
    return raised.value.message


async def test_what_was_approved_as_a_rest_is_not_done_twice_and_has_a_rest_of_its_own() -> None:
    ran = Ran()
    ran.failing.add("check-d")
    async with used_up(ran) as h:
        result = await soon(h.silas.run(await h.silas.rest_of(PROJECT)))
        assert result.status is WorkItemStatus.failed
        assert f"`silas projects rest {REST}`" in result.summary
        assert (await refused(h, PROJECT)).startswith(
            f"The rest of {PROJECT} was approved as {REST}; "
        )
        ran.failing.clear()
        result = await soon(h.silas.run(await h.silas.rest_of(REST)))
        assert result.status is WorkItemStatus.done, result
        assert ran.done == ["a", "b", "c", "d", "d"]
        new = await kept(h, f"{REST}-2")
        assert (new.title, new.tasks) == ("Deploy it (the rest)", ["d-rest-2"])
        assert await refused(h, new.id) == (
            f"Every task of {new.id} is done, so there is no rest of it."
        )


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (f"Run the rest of {PROJECT}.", "This is the rest of the project"),
        (f"Bitte führe den Rest des Projekts {PROJECT} aus", "Das ist der Rest des Projekts"),
    ],
)
async def test_it_is_asked_for_in_a_conversation(words: str, told: str) -> None:
    channel, ran = ScriptedChannel(saying_yes), Ran()
    language = "de" if told.startswith("Das") else "en"
    try:
        async with used_up(ran, channel, settings={"language": language}) as h:
            reply = await soon(h.silas.ask(words))
            assert reply.outcome == "dispatched", reply
            assert reply.plan is not None
            assert reply.plan.id == REST
            assert reply.text.startswith(told)
            result = await soon(h.silas.wait(REST))
            assert result is not None
            assert result.status is WorkItemStatus.done
            assert ran.done == ["a", "b", "c", "d"]
            assert plans_of(channel)[-1].rationale.startswith(told)
    finally:
        speak("en")


async def test_a_client_cannot_ask_for_it() -> None:
    channel, ran = ScriptedChannel(saying_yes), Ran()
    async with used_up(ran, channel) as h:
        told = await Services(h.silas, h.silas.ahead).ask({"text": f"run the rest of {PROJECT}"})
        assert told.startswith("Only Silas's owner can ask for the rest of a project")
        assert len(plans_of(channel)) == 1


async def test_the_rest_of_what_runs_cannot_be_asked_for_and_of_what_was_stopped_can() -> None:
    ran, begun, stopping = Ran(), asyncio.Event(), list[asyncio.Future[bool]]()

    def stops(word: str) -> None:
        if word == "do-b" and not begun.is_set():
            begun.set()
            stopping.append(asyncio.ensure_future(h.silas.cancel(PROJECT)))

    async with Harness(ScriptedChannel(saying_yes), sandbox=ran.sandbox) as h:
        ran.before = stops
        running = asyncio.create_task(h.silas.run(project_text(chain("a", "b", "c"))))
        await soon(begun.wait())
        assert await refused(h, PROJECT) == (f"{PROJECT} has not ended, so there is no rest of it.")
        await asyncio.wait([running])
        assert (await kept(h, PROJECT)).status is WorkItemStatus.paused
        text = await h.silas.rest_of(PROJECT)
        assert "Done before: a. Begun before, and not brought to an end: b." in text
        result = await soon(h.silas.run(text))
        assert result.status is WorkItemStatus.done, result
        assert ran.done == ["a", "b", "b", "c"]


async def test_the_plan_of_a_rest_keeps_all_that_its_tasks_had(tmp_path: Path) -> None:
    """Its plan says what the old one said, but for ids, what is done and the words about it."""
    for name in ("x", "y"):
        (tmp_path / name).mkdir()
    fields: dict[str, Any] = {
        "workspace": str(tmp_path / "x"),
        "read": [str(tmp_path / "y")],
        "writes": ["out.txt"],
        "body": "Do it.\n\n```sh\ndo-b\n```\n\n# Not a heading: 'x'",
        "budget": {"max_attempts": 2, "max_cost_usd": 0.5},
        "on_stuck": "report",
    }
    ran = Ran()
    ran.failing.add("check-a")
    tasks = {
        "a": {},
        "b": {**fields, "depends_on": ["a"]},
        "c": {"writes": "none", **_at(tmp_path)},
    }
    check = {"name": "whole", "run": "check-whole", "expect": {"contains": "a: 'b'"}}
    async with Harness(ScriptedChannel(saying_yes), sandbox=ran.sandbox) as h:
        await soon(h.silas.run(project_text(tasks, verify=[check])))
        project = await h.silas.undoing.rests.find(PROJECT)
        assert project is not None
        old = {one.id: one for one in project.children}
        new = h.silas.parse(await h.silas.rest_of(PROJECT))
        assert new.verify == project.verify
        for one in new.children:
            same = old[one.id.removesuffix("-rest")].model_copy(
                update={"id": one.id, "parent": new.id, "depends_on": one.depends_on}
            )
            assert plan_hash(one) == plan_hash(same)


def _at(tmp_path: Path) -> dict[str, Any]:
    return {"workspace": str(tmp_path / "y")}


async def test_a_program_keeps_it_as_a_plan_that_waits_and_shows_its_card(tmp_path: Path) -> None:
    ran = Ran()
    async with used_up(ran, home=tmp_path) as h:
        assert await h.silas.ask_for_rest(PROJECT) == REST
        await soon(h.silas.runs.stream.questions.wait_for_answer(REST))
        result = await soon(h.silas.wait(REST))
        assert result is not None
        assert result.status is WorkItemStatus.done
        assert f"approved as {REST}" in await refused(h, PROJECT)
