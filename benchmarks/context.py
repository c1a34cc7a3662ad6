"""A conversation of ten thousand turns in one scope: cost per turn, stable beginning, memory."""

import asyncio
import gc
import statistics
import time
import tracemalloc
from collections.abc import Sequence
from datetime import UTC, datetime

from silas.context import (
    ContextConfig,
    ContextItem,
    ContextManager,
    ContextZone,
    TokenCounter,
    no_files,
    no_memories,
    no_scorer,
)
from silas.context.models import ItemKind
from silas.testing import MemoryAudit, MockClock
from silas.types import TaintLevel

TURNS = 10_000
_LOOKED_AT = 7  # every so many turns the beginning is compared with the turn before
NOW = datetime(2026, 1, 15, 12, tzinfo=UTC)
WORDS = (
    "Yesterday I went through all the settings and found that some files had been deleted by "
    "mistake; please restore the copy of last week and say when everything works again. "
)
OUTPUT = "\n".join(f"tests/unit/test_{n}.py::test_case_{n * 7} PASSED [{n}%]" for n in range(40))
SCOPE = "owner"
count = TokenCounter().count


def _manager(total: int) -> ContextManager:
    config = ContextConfig(total_tokens=total)
    manager = ContextManager(
        config, count, MockClock(), no_scorer, no_files, no_memories, MemoryAudit(), UTC
    )
    manager.reserve(2_000)
    return manager


def _item(
    ctx_id: str, turn: int, text: str, source: str, taint: TaintLevel, kind: ItemKind = "message",
    zone: ContextZone = ContextZone.chronicle, relevance: float = 1.0,
) -> ContextItem:  # fmt: skip
    return ContextItem(
        ctx_id=ctx_id, zone=zone, content=text, token_count=0, created_at=NOW, turn_number=turn,
        source=source, taint=taint, kind=kind, relevance=relevance, succeeded=True,
    )  # fmt: skip


def _say(manager: ContextManager, turn: int, *, tools: bool) -> None:
    owner, outside = TaintLevel.owner, TaintLevel.external
    words = f"[owner] me: {turn}. {WORDS * (1 + turn % 3)}"
    manager.add(SCOPE, _item(f"said-{turn}", turn, words, "channel:web", owner))
    for n in range(2):  # memories that were found for it
        number = (turn * 7 + n * 31) % 5_000
        manager.add(
            SCOPE,
            _item(f"mem-{number}", turn, f"Memory {number}: {WORDS}", f"memory:{number}", owner,
                  "memory", ContextZone.memory, (number % 97) / 97),
        )  # fmt: skip
    if tools:
        text = f"run {turn}\n{OUTPUT}"
        manager.add(
            SCOPE, _item(f"ran-{turn}", turn, text, "tool:shell_exec", outside, "tool_result")
        )


def _answer(manager: ContextManager, turn: int) -> None:
    words = f"Silas: {turn}. {WORDS * (1 + turn % 4)}"
    manager.add(SCOPE, _item(f"answer-{turn}", turn, words, "agent:proxy", TaintLevel.owner))


async def _talk(total: int, turns: int, *, tools: bool) -> tuple[list[float], list[float]]:
    """CPU seconds of each turn, and the share of its prompt that began as the one before."""
    manager, costs, shares, before = _manager(total), list[float](), list[float](), ""
    rules = "\n".join(f"- Rule {n}: never do {n}." for n in range(20))
    zone, owner = ContextZone.system, TaintLevel.owner
    manager.add(SCOPE, _item("rules", 0, rules, "memory:rules", owner, "system", zone))
    for turn in range(turns):
        started = time.process_time()
        _say(manager, turn, tools=tools)
        await manager.enforce_budget(SCOPE, turn)
        manner = f"Speak plainly, mood {turn % 5}."
        manager.add(
            SCOPE, _item("manner", turn, manner, "persona:directives", owner, "system", zone)
        )
        shown = manager.render(SCOPE, turn, frozenset({f"said-{turn}"}))
        text = "\n\n".join([shown.lasting, *(one.text for one in shown.said), shown.present])
        _answer(manager, turn)
        costs.append(time.process_time() - started)
        assert sum(manager.token_usage(SCOPE).values()) <= total
        if turn % _LOOKED_AT == 0:
            shares.append(_common(before, text) / len(text))
        before = text
    return costs, shares[1:]


def _common(one: str, other: str) -> int:
    """How long two texts are the same, to a hundred characters."""
    at, step = 0, 100
    while at + step <= len(one) and one[at : at + step] == other[at : at + step]:
        at += step
    return at


def _flat(costs: Sequence[float]) -> float:
    tenth = len(costs) // 10
    return statistics.median(costs[-tenth:]) / statistics.median(costs[tenth : 2 * tenth])


async def _idle(scopes: int) -> float:
    """Kilobytes that one scope keeps after twenty turns of some words each."""
    manager = _manager(180_000)
    gc.collect()
    tracemalloc.start()
    for number in range(scopes):
        for turn in range(20):
            text = f"{number} {turn}. {WORDS}"
            for who in ("channel:web", "agent:proxy"):
                name = f"{number}-{turn}-{who}"
                item = _item(name, turn, f"{who} {text}", who, TaintLevel.owner)
                manager.add(f"scope-{number}", item)
        await manager.enforce_budget(f"scope-{number}", 20)
        manager.render(f"scope-{number}", 20)
    gc.collect()
    used, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return used / scopes / 1024


def measure(turns: int = TURNS, scopes: int = 200) -> dict[str, float]:
    """Ratios of late turns to early ones, shares of the beginning that stay, kB of an idle scope.

    A small window is talked in a fifth as long.
    """
    figures = dict[str, float]()
    for total, talked, tools in (
        (180_000, turns, False),
        (180_000, turns, True),
        (8_000, turns // 5, True),
        (8_000, turns // 5, False),
    ):
        costs, shares = asyncio.run(_talk(total, talked, tools=tools))
        name = f"{total // 1000} K{', tools' if tools else ''}"
        figures[f"{name}: ms CPU per turn"] = statistics.median(costs) * 1000
        if talked == turns:
            figures[f"{name}: last tenth of turns : second tenth"] = _flat(costs)
        figures[f"{name}: share of the beginning kept, mean"] = statistics.mean(shares)
        figures[f"{name}: the same, median"] = statistics.median(shares)
    figures["kB per idle scope of 40 messages"] = asyncio.run(_idle(scopes))
    return figures
