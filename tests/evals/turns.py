"""One turn of a wired Silas, as an evaluation sees it: what was decided, proposed, asked, said."""

import json
import re
import tempfile
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager, chdir
from dataclasses import dataclass
from pathlib import Path

from pydantic_ai.models import Model

from silas.audit.log import AuditLog
from silas.cards import PlanCard
from silas.plans import WorkItem
from silas.testing import FakeSandbox, Harness, ScriptedChannel
from silas.testing.tools import exited

PLACE = "{place}"
"""Stands in a message for a project directory that is made for the turn."""

_ASKS = re.compile(
    r"\?\s*$|\bstill need\b|\bplease (?:tell|say|clarify|specify|provide)\b", re.I | re.M
)

Models = Mapping[str, Model]
"""By role; those that are missing are the built-in runbook model."""


@dataclass(frozen=True)
class Said:
    """What an evaluation says: a message, after others, standing in a directory or not."""

    text: str
    before: tuple[str, ...] = ()
    stands_there: bool = False


@dataclass(frozen=True)
class Heard:
    """What became of it.

    Attributes:
        route, register, mode: As the record has them.
        plan: What was proposed, if anything was.
        place: The project directory of the turn.
        asked: A question came back, in the text or as a card that is no plan's.
        text: The answer.
    """

    route: str
    register: str
    mode: str
    plan: WorkItem | None
    place: str
    asked: bool
    text: str


async def turn(said: Said, models: Models) -> Heard:
    """Say it to a Silas of its own, whose owner approves nothing, so that nothing runs."""
    channel = ScriptedChannel()
    with tempfile.TemporaryDirectory(prefix="project-") as made:
        place = Path(made).resolve()
        (place / "app.py").write_text("def answer():\n    return 41\n", encoding="utf-8")
        (place / "test_app.py").write_text("def test_it():\n    assert True\n", encoding="utf-8")
        stands = place if said.stands_there else None
        sandbox = FakeSandbox(lambda run: exited(stdout=""))
        # whoever stands in the root stands nowhere, as far as a plan is concerned
        async with Harness(channel, models=models, sandbox=sandbox) as harness, _at(Path("/")):
            for text in said.before:
                await harness.silas.ask(text, workspace=stands)
            channel.cards.clear()
            reply = await harness.silas.ask(said.text.replace(PLACE, str(place)), workspace=stands)
            routed = await _last_routing(harness)
        assert not sandbox.runs
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
