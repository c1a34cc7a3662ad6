"""What is taken back beside a running Silas, as `silas memory forget` does it from a terminal."""

from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from silas.agents.models import MemoryOp, MemoryOpType
from silas.damage import damaged_rows
from silas.db import Database
from silas.errors import DatabaseError
from silas.home.row_forms import check_forms
from silas.keys import KeyRing
from silas.memory import MemoryType
from silas.memory.store import SqlMemoryStore
from silas.services.memory import KeylessSigner, MemoryService, service_on
from silas.testing import (
    CallTool,
    FakeTool,
    Harness,
    MockClock,
    ScriptedChannel,
    ScriptedModel,
    plan_text,
)
from silas.tools import RiskLevel, ToolConfig, ToolResult
from silas.types import OWNER, TaintLevel
from tests.stream.kit import (
    House,
    direct,
    done_sandbox,
    everything,
    proposing,
    ran,
    said,
    saying_yes,
    soon,
    to_planner,
)

PAGE = "tool:look c.org"


@contextmanager
def beside(h: Harness) -> Generator[MemoryService]:
    """What a command in another process has: connections of its own to the same database."""
    database = Database(h.config.data_dir / "silas.db", h.clock)
    try:
        yield service_on(h.config, database, h.clock, KeylessSigner(), KeyRing.alone("0" * 64))
    finally:
        database.close()


async def forget(h: Harness, source: str, scope_id: str = OWNER) -> None:
    with beside(h) as service:
        await service.forget_source(source, scope_id)


def look_at_page(h: Harness, *, forgotten_meanwhile: bool = False) -> None:
    """A tool that reads a page; its source may be forgotten before the turn is over."""

    async def page(request: dict[str, object]) -> ToolResult:
        del request
        if forgotten_meanwhile:
            await forget(h, PAGE)
        return ToolResult(
            ok=True, return_value="The cat is Mia.", taint=TaintLevel.external, source="c.org"
        )

    look = FakeTool("look", page, capabilities=("proxy",))
    h.silas.registry.register(look, ToolConfig(connector_id="x", risk_default=RiskLevel.low))


@pytest.mark.parametrize("forgotten", [True, False])
async def test_what_is_forgotten_elsewhere_leaves_the_view_of_a_running_conversation(
    forgotten: bool,
) -> None:
    house = House([CallTool("look"), direct("Her name is Mia."), direct()])
    async with house.harness as h:
        look_at_page(h)
        await soon(h.silas.ask("what is the cat called?"))
        if forgotten:
            await soon(forget(h, PAGE))
        await soon(h.silas.ask("thank you"))
    last = house.proxy.requests[-1].text
    assert "what is the cat called?" in last
    assert ("Mia" in last) is not forgotten


async def test_what_is_forgotten_while_a_turn_reads_it_is_kept_of_that_turn_nowhere() -> None:
    note = MemoryOp(op=MemoryOpType.store, content="A cat Mia", memory_type=MemoryType.fact)
    house = House([CallTool("look"), direct("Her name is Mia.", memory_ops=[note]), direct()])
    async with house.harness as h:
        look_at_page(h, forgotten_meanwhile=True)
        await soon(h.silas.ask("what is the cat called?"))
        kept = [memory.content for memory in everything(h)]
        with beside(h) as service:
            lines = [line.content for line in await service.chronicle.get_recent(OWNER, 99)]
        await soon(h.silas.ask("thank you"))
    assert "what is the cat called?" in kept
    assert not [text for text in (*kept, *lines) if "Mia" in text]
    assert "Mia" not in house.proxy.requests[-1].text


async def test_what_could_not_be_forgotten_at_the_end_of_a_turn_is_before_the_next(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    house = House([CallTool("look"), direct("Her name is Mia."), direct()])
    forget_again = SqlMemoryStore.forget_again

    async def failing(self: SqlMemoryStore, source: str, scope_id: str = OWNER) -> int:
        if source != PAGE or "Mia" not in str(everything(house.harness)):
            return await forget_again(self, source, scope_id)  # the command itself
        raise DatabaseError("The disk is full.", code="E_DB_WRITE")

    async with house.harness as h:
        look_at_page(h, forgotten_meanwhile=True)
        with monkeypatch.context() as broken:
            broken.setattr(SqlMemoryStore, "forget_again", failing)
            await soon(h.silas.ask("what is the cat called?"))
        assert "Mia" in str(everything(h))
        await soon(h.silas.ask("thank you"))
        assert "Mia" not in str(everything(h))


async def test_one_conversation_forgets_and_another_keeps_its_view() -> None:
    house = House([direct("Good day.")] * 4)
    async with house.harness as h:
        for scope in ("a", "b"):
            await soon(h.silas.stream.handle(said(h, f"I am {scope}, hello", scope)))
        await soon(forget(h, "channel:cli", "a"))
        for scope in ("a", "b"):
            await soon(h.silas.stream.handle(said(h, "and now?", scope)))
    seen = [request.text for request in house.proxy.requests]
    assert "I am a, hello" not in seen[2]
    assert "I am b, hello" in seen[3]


async def test_one_memory_that_is_forgotten_leaves_the_view_alone() -> None:
    cat, dog = "My cat is called Mia.", "My dog is called Rex."
    ops = [
        MemoryOp(op=MemoryOpType.store, content=text, memory_type=MemoryType.fact)
        for text in (cat, dog)
    ]
    house = House([direct(memory_ops=ops), direct(), direct()])
    async with house.harness as h:
        await soon(h.silas.ask(f"remember: {cat} {dog}"))
        await soon(h.silas.ask("what are my cat and my dog called?"))
        recalled = {item.content for item in house.in_view("memory")}
        (mine,) = [one for one in everything(h) if one.content == cat]
        with beside(h) as service:
            await service.forget_one(mine.memory_id)
        await soon(h.silas.ask("and now?"))
        left = {item.content for item in house.in_view("memory")}
    assert {cat, dog} <= recalled
    assert cat not in left
    assert dog in left


def looking(
    *models: str, home: Path, clock: MockClock, reads: bool = True, **plan_too: Any
) -> Harness:
    """A Silas whose planned work looks at the page, or runs a command."""
    plan = plan_text(verify=None, budget={"max_attempts": 1}, on_stuck="report", **plan_too)
    look = [CallTool("look") if reads else CallTool("shell_exec", {"argv": ["true"]}), ran()]
    steps: dict[str, list[Any]] = {"proxy": [], "planner": [], "executor": []}
    for kind in models:
        steps["proxy"].append(direct() if kind == "talk" else to_planner())
        if kind == "work":
            steps["planner"].append(proposing(plan))
            steps["executor"] += look
    return Harness(
        ScriptedChannel(saying_yes),
        models={role: ScriptedModel(played) for role, played in steps.items()},
        sandbox=done_sandbox(),
        home=home,
        clock=clock,
    )


async def worked(h: Harness, *, ok: bool = False) -> str:
    """How work ended that looked at a page, which may answer with an error."""

    async def page(request: dict[str, object]) -> ToolResult:
        del request
        error = None if ok else "The cat is Mia."
        return ToolResult(ok=ok, error=error, taint=TaintLevel.external, source="c.org/cat")

    look = FakeTool("look", page)
    h.silas.registry.register(look, ToolConfig(connector_id="x", risk_default=RiskLevel.low))
    await soon(h.silas.ask("look at the page"))
    result = await soon(h.silas.wait("task-example"))
    assert result is not None
    return result.summary


def shown(h: Harness) -> str:
    """What a model is told of the work."""
    items = h.context.in_view(OWNER)
    return "\n".join(item.content for item in items if item.kind == "execution_result")


@pytest.mark.parametrize("source", ["tool:look c.org", "tool:look", "tool:loo", "tool:look d.org"])
async def test_what_work_rests_on_is_forgotten_with_its_result(tmp_path: Path, source: str) -> None:
    clock, gone = MockClock(), source in ("tool:look c.org", "tool:look")
    async with looking("work", "talk", home=tmp_path, clock=clock) as h:
        assert "Mia" in await worked(h)
        assert "Mia" in shown(h)
        await soon(forget(h, source))
        await soon(h.silas.ask("and now?"))
        assert ("Mia" in shown(h)) is not gone
    async with looking("talk", home=tmp_path, clock=clock) as h:
        await soon(h.silas.ask("and after a restart?"))
        assert "status: stuck" in shown(h)
        assert ("Mia" in shown(h)) is not gone


@pytest.mark.parametrize("damaged", ["{", "null", '{"tool:x": 1}', "[[]]", b"\xff"])
async def test_work_whose_sources_cannot_be_read_counts_as_made_from_what_was_forgotten(
    tmp_path: Path, damaged: str | bytes
) -> None:
    clock = MockClock()
    async with looking("work", home=tmp_path, clock=clock) as h:
        assert "Mia" in await worked(h)
        assert not damaged_rows(h.db)
        with h.db.write() as tx:
            tx.driver.execute("UPDATE scope_work SET sources = ?", (damaged,))
    async with looking("talk", home=tmp_path, clock=clock) as h:
        await soon(h.silas.ask("is it still there?"))
        assert "Mia" in shown(h)  # nothing was forgotten
        await soon(forget(h, "tool:mail inbox"))
    async with looking("talk", home=tmp_path, clock=clock) as h:
        await soon(h.silas.ask("and now?"))
        assert "status: stuck" in shown(h)
        assert "Mia" not in shown(h)
        check_forms(h.db)
        assert [row.place for row in damaged_rows(h.db)] == ["scope_work"]


async def test_work_that_reads_a_page_after_it_was_forgotten_says_what_it_read(
    tmp_path: Path,
) -> None:
    clock = MockClock()
    async with looking("talk", "work", home=tmp_path, clock=clock) as h:
        await soon(h.silas.ask("hello"))
        await soon(forget(h, PAGE))
        assert "Mia" in await worked(h)
    async with looking("talk", home=tmp_path, clock=clock) as h:
        await soon(h.silas.ask("what did you find?"))
        assert "Mia" in shown(h)


async def test_work_rests_on_what_the_work_that_it_goes_on_from_has_read(tmp_path: Path) -> None:
    clock = MockClock()
    async with looking("work", home=tmp_path, clock=clock, reads=True) as h:
        assert "Done" in await worked(h, ok=True)
    further = {"id": "task-further", "follow_up_of": "task-example"}
    async with looking("work", "talk", home=tmp_path, clock=clock, reads=False, **further) as h:
        await soon(h.silas.ask("go on from there"))
        await soon(h.silas.wait("task-further"))
        assert "work item task-further" in shown(h)
        await soon(forget(h, PAGE))
        await soon(h.silas.ask("and now?"))
        assert "task-further" not in shown(h)
