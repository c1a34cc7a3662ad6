"""Remembering with the built-in model, from the outside: across processes, and going on."""

from pathlib import Path

from click.testing import CliRunner

from silas.main.app import cli
from silas.plans import WorkItemStatus
from silas.testing import Harness, ScriptedChannel
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


async def test_again_proposes_the_plan_of_the_last_work_once_more_and_links_it(
    tmp_path: Path,
) -> None:
    channel = ScriptedChannel(saying_yes)
    async with Harness(channel, sandbox=done_sandbox()) as h:
        first = await soon(h.silas.ask("list the files", workspace=tmp_path))
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
