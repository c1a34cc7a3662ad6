"""Remembering with the built-in model, from the outside: across processes, and going on."""

from pathlib import Path

import pytest
from click.testing import CliRunner

from silas.context import ContextItem
from silas.main.app import cli
from silas.plans import WorkItem, WorkItemStatus
from silas.testing import Harness, MockClock, ScriptedChannel
from silas.types import OWNER
from tests.stream.kit import done_sandbox, saying_yes, soon


def said(home: Path, *words: str) -> str:
    """What a process of its own prints."""
    done = CliRunner().invoke(cli, list(words), env={"SILAS_HOME": str(home)})
    assert done.exit_code == 0, done.output
    return done.output


def test_what_one_process_is_told_another_one_remembers(tmp_path: Path) -> None:
    said(tmp_path, "init")
    said(tmp_path, "ask", "remember that my landlord is called Odile Renard")
    known = said(tmp_path, "ask", "what do you remember about my landlord?")
    assert known == "I remember:\n- my landlord is called Odile Renard\n"
    every_word = said(tmp_path, "ask", "what did I say about my landlord?")
    assert "- remember that my landlord is called Odile Renard\n" in every_word
    assert "I remember nothing" in said(tmp_path, "ask", "what do you remember about the weir?")


@pytest.mark.parametrize("allowed", [True, False])
async def test_all_that_was_said_is_looked_through_only_where_the_owner_leaves_that_on(
    allowed: bool,
) -> None:
    settings = {"memory": {"raw_reingestion_enabled": allowed}}
    async with Harness(settings=settings) as h:
        await soon(h.silas.ask("My landlord is called Odile Renard, by the way."))
        reply = await soon(h.silas.ask("what did I say about my landlord?"))
    assert ("Odile Renard" in reply.text) is allowed


async def test_again_proposes_the_plan_of_the_last_work_once_more_and_links_it(
    tmp_path: Path,
) -> None:
    channel = ScriptedChannel(saying_yes)
    async with Harness(channel, sandbox=done_sandbox()) as h:
        first = await soon(h.silas.ask(f"list the files of {tmp_path}", workspace=tmp_path))
        assert first.plan is not None
        done = await soon(h.silas.wait(first.plan.id))
        second = await soon(h.silas.ask("again", workspace=tmp_path))
        assert second.plan is not None
        await soon(h.silas.wait(second.plan.id))
    assert done is not None
    assert done.status is WorkItemStatus.done
    assert second.plan.id != first.plan.id
    assert second.plan.follow_up_of == first.plan.id
    assert second.plan.body == first.plan.body
    assert len(channel.cards) == 2


async def test_again_goes_on_from_the_plan_after_a_restart_too(tmp_path: Path) -> None:
    here, home, clock = tmp_path / "here", tmp_path / "home", MockClock()
    for folder in (here, home):
        folder.mkdir()
    channel, plans = ScriptedChannel(saying_yes), list[WorkItem]()
    shown: list[ContextItem] = []
    for words in (f"list the files of {here}", "again", "again"):
        async with Harness(channel, sandbox=done_sandbox(), home=home, clock=clock) as h:
            reply = await soon(h.silas.ask(words, workspace=here))
            assert reply.plan is not None
            plans.append(reply.plan)
            await soon(h.silas.wait(reply.plan.id))
            await soon(h.silas.wait_for_work())
            shown = [one for one in h.context.in_view(OWNER) if one.kind == "plan"]
    assert [plan.follow_up_of for plan in plans] == [None, plans[0].id, plans[1].id]
    assert {plan.body for plan in plans} == {plans[0].body}
    assert [one.ctx_id for one in shown] == [f"plan:{plan.id}" for plan in plans]
    assert [one.pinned for one in shown] == [False] * 3, "what is over may leave"


async def test_a_plan_that_was_declined_does_not_come_back(tmp_path: Path) -> None:
    clock = MockClock()
    for words in (f"list the files of {tmp_path}", "again"):
        async with Harness(sandbox=done_sandbox(), home=tmp_path, clock=clock) as h:
            reply = await soon(h.silas.ask(words, workspace=tmp_path))
            plans = [one for one in h.context.in_view(OWNER) if one.kind == "plan"]
    assert reply.plan is None
    assert plans == []
