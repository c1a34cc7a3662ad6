"""One turn of a wired Silas, as an evaluation sees it: what was decided, proposed, asked, said."""

import json
import re
import tempfile
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager, chdir
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from pydantic_ai.models import Model

from silas.audit.log import AuditLog
from silas.cards import PlanCard
from silas.memory import MemoryItem, MemoryType, TrustLevel
from silas.plans import WorkItem
from silas.sandbox import SandboxFiles
from silas.testing import FakeSandbox, Harness, ScriptedChannel
from silas.testing.tools import exit_result
from silas.types import OWNER, TaintLevel

PLACE = "{place}"
"""Stands in a message for a project directory that is made for the turn."""

_ASKS = re.compile(
    r"\?\s*$|\bstill need\b|\bplease (?:tell|say|clarify|specify|provide)\b", re.I | re.M
)

_FIRST = 5  # memories that a turn brings into view

Models = Mapping[str, Model]
"""By role; those that are missing are the built-in runbook model."""


@dataclass(frozen=True)
class Said:
    """What an evaluation says: a message, after others, standing in a directory or not.

    Attributes:
        told: What is remembered before; then nothing is said but looked for.
    """

    text: str
    before: tuple[str, ...] = ()
    stands_there: bool = False
    told: tuple[str, ...] = ()


@dataclass(frozen=True)
class Heard:
    """What became of it.

    Attributes:
        route, register, mode: As the record has them.
        plan: What was proposed, if anything was.
        place: The project directory of the turn.
        asked: A question came back, in the text or as a card that is no plan's.
        text: The answer.
        recalled: What was found in memory, best first.
    """

    route: str
    register: str
    mode: str
    plan: WorkItem | None
    place: str
    asked: bool
    text: str
    recalled: tuple[str, ...] = ()


@asynccontextmanager
async def told(words: Sequence[str]) -> AsyncGenerator[Harness]:
    """A Silas that was told all of it; what was found before decides nothing of what is found."""
    async with Harness() as harness:
        for number, text in enumerate(words):
            await harness.ports["memory"].store(_memory(f"mem-{number}", text, harness.clock.now()))
        yield harness


async def recall(harness: Harness, said: Said) -> Heard:
    """Look for it in the memory of a Silas that was told all of it."""
    found = await harness.ports["retriever"].recall(said.text, OWNER, _FIRST)
    return Heard("", "", "", None, "", False, "", tuple(one.content for one, _ in found))


def _memory(name: str, text: str, now: datetime) -> MemoryItem:
    return MemoryItem(
        memory_id=name,
        content=text,
        memory_type=MemoryType.fact,
        trust_level=TrustLevel.verified,
        taint=TaintLevel.owner,
        source_kind="owner",
        created_at=now,
        updated_at=now,
    )


def _only_looks(files: SandboxFiles) -> bool:
    return not files.network and not any(mount.writable for mount in files.mounts)


async def turn(said: Said, models: Models) -> Heard:
    """Say it to a Silas of its own, whose owner approves nothing, so that nothing runs."""
    channel = ScriptedChannel()
    with tempfile.TemporaryDirectory(prefix="project-") as made:
        place = Path(made).resolve()
        (place / "app.py").write_text("def answer():\n    return 41\n", encoding="utf-8")
        (place / "test_app.py").write_text("def test_it():\n    assert True\n", encoding="utf-8")
        stands = place if said.stands_there else None
        sandbox = FakeSandbox(lambda run: exit_result(stdout=""))
        # whoever stands in the root stands nowhere, as far as a plan is concerned
        async with Harness(channel, models=models, sandbox=sandbox) as harness, _at(Path("/")):
            for text in said.before:
                await harness.silas.ask(text, workspace=stands)
            channel.cards.clear()
            reply = await harness.silas.ask(said.text.replace(PLACE, str(place)), workspace=stands)
            routed = await _last_routing(harness)
        assert all(_only_looks(run.files) for run in sandbox.runs)  # for what a runbook needs
    others = [card for card in channel.cards if not isinstance(card, PlanCard)]
    return Heard(
        route=routed.get("route", ""),
        register=routed.get("register", ""),
        mode=routed.get("mode", ""),
        plan=reply.plan,
        place=str(place),
        asked=bool(others) or bool(reply.plan is None and _ASKS.search(reply.text)),
        text=reply.text,
    )


@asynccontextmanager
async def _at(directory: Path) -> AsyncGenerator[None]:
    with chdir(directory):
        yield


async def _last_routing(harness: Harness) -> dict[str, str]:
    assert isinstance(harness.audit, AuditLog)
    bodies = [json.loads(entry.body) for entry in await harness.audit.entries(0, 10_000)]
    routed = [body["data"] for body in bodies if body["event"] == "turn_routed"]
    return routed[-1] if routed else {}
