"""A whole Silas with MCP servers: those that were trusted, and a model that plays a script."""

import asyncio
import json
import sys
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from silas.agents.models import ExecutorAgentOutput
from silas.audit.log import AuditLog
from silas.cards import Card, PlanCard, ToolCallCard
from silas.cards.models import PlanAnswer
from silas.config import SilasConfig
from silas.db import Database
from silas.home.database import migrate
from silas.keys.secret_registry import SecretRegistry
from silas.keys.secrets import SecretVault
from silas.plans import WorkItemResult
from silas.sandbox import SandboxConfig, default
from silas.services.mcp import MCPService, ServerInspection
from silas.stop import Sentinel
from silas.testing import Harness, MockClock, ScriptedChannel, ScriptedModel, plan_text
from silas.testing.approval import a_signer
from silas.testing.models import Step
from silas.tools.mcp.trust import SqlTrust
from tests.support.waits import SECONDS

REPORT = ExecutorAgentOutput(summary="did what I could")
CHECK = [{"name": "checked", "run": "true", "expect": {"exit_code": 0}}]

PYTHON = str(Path(sys.executable).resolve())
SHOWN_ANYWAY = {"/usr"}  # every sandbox shows the system's programs; nothing is mounted over them
ENVIRONMENT = sorted({sys.prefix, str(Path(sys.base_prefix).resolve())} - SHOWN_ANYWAY)
"""What a server of this very environment needs to see, whoever's Python it was made with."""

SERVER = Path(__file__).with_name("fake_server.py")


def a_tool(name: str = "act", description: str = "Acts.", **more: Any) -> dict[str, Any]:
    """A tool as a server lists it."""
    schema = {"type": "object", "properties": {"what": {"type": "string"}}}
    return {"name": name, "description": description, "inputSchema": schema, **more}


class Fake:
    """A fake server's script and log, and the configuration that starts it."""

    def __init__(self, folder: Path, *tools: dict[str, Any], **script: Any) -> None:
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)
        self._script = {"tools": list(tools or (a_tool(),)), **script}
        self._write()

    def becomes(self, *tools: dict[str, Any], **script: Any) -> None:
        """From the next request on."""
        self._script = {**self._script, **({"tools": list(tools)} if tools else {}), **script}
        self._write()

    def _write(self) -> None:
        (self.folder / "script.json").write_text(json.dumps(self._script), encoding="utf-8")

    @property
    def heard(self) -> list[dict[str, Any]]:
        """What it received."""
        log = self.folder / "log.jsonl"
        if not log.exists():
            return []
        return [json.loads(line) for line in log.read_text(encoding="utf-8").splitlines()]

    @property
    def calls(self) -> list[dict[str, Any]]:
        """The calls of its tools."""
        return [one for one in self.heard if one.get("method") == "tools/call"]

    @property
    def given(self) -> list[str | None]:
        """The variable that its script names, once for each time that it was started."""
        return [one["given"] for one in self.heard if "given" in one]

    def settings(self, **handling: Any) -> dict[str, Any]:
        """The configuration, under the name `fake`."""
        args = [str(SERVER), str(self.folder / "script.json"), str(self.folder / "log.jsonl")]
        held = {"read": [*ENVIRONMENT, str(SERVER)], "write": [str(self.folder)], **handling}
        return {"mcpServers": {"fake": {"command": PYTHON, "args": args}}, "mcp": {"fake": held}}


def a_vault(config: SilasConfig) -> SecretVault:
    """The secrets of a harness's home."""
    place = config.data_dir / "keys" / "secrets"
    return SecretVault("file", place, lambda _: b"nobody has to type this", lambda: None)


@asynccontextmanager
async def service(home: Path, settings: Mapping[str, Any]) -> AsyncGenerator[MCPService]:
    """The desk of the commands, on a harness's home."""
    config = SilasConfig.model_validate({"data_dir": home / "data", **settings})
    config.data_dir.mkdir(parents=True, exist_ok=True)
    clock = MockClock()
    db = Database(config.data_dir / "silas.db", clock)
    try:
        migrate(db)
        audit = AuditLog(db, clock, a_signer())
        sandbox = default(SandboxConfig(), forbidden=())
        secrecy = SecretRegistry(a_vault(config), clock.now)
        yield MCPService(config, sandbox, db, audit, SqlTrust(db, clock), secrecy)
        await audit.write_checkpoint()  # entries that nobody ever signed stop every effect
    finally:
        db.close()


async def trust(home: Path, settings: Mapping[str, Any], *names: str) -> list[ServerInspection]:
    """Trust servers as they are now."""
    async with service(home, settings) as at:
        looks = [await at.look(name) for name in names]
        for look in looks:
            await at.trust(look)
    return looks


class House:
    """A harness with a scripted executor."""

    def __init__(self, h: Harness, model: ScriptedModel, channel: ScriptedChannel) -> None:
        self.h, self.model, self.channel = h, model, channel

    async def work(self, **front_matter: Any) -> WorkItemResult:
        """Run a plan whose agent plays the script."""
        given = {"budget": {"max_attempts": 1}, "verify": CHECK, **front_matter}
        return await self.h.silas.run(plan_text(**given))

    async def events(self, *names: str) -> list[dict[str, Any]]:
        """The audit's facts of these events, in order."""
        log = self.h.silas.audit
        assert isinstance(log, AuditLog)
        bodies = [json.loads(entry.body) for entry in await log.entries()]
        return [{**b["data"], "event": b["event"]} for b in bodies if b["event"] in names]

    @property
    def questions(self) -> list[ToolCallCard]:
        """Cards about single calls."""
        return [card for card in self.channel.cards if isinstance(card, ToolCallCard)]

    @property
    def offered(self) -> dict[str, Any]:
        """The tools that the model was offered first, by name."""
        return {t.name: t for t in self.model.requests[0].parameters.function_tools}

    @property
    def last_said(self) -> str:
        """What the model was told last."""
        return self.model.requests[-1].text

    async def until(self, name: str, count: int = 1, *, passing: float = 0) -> None:
        """Wait until an event was recorded so often, while Silas's own time passes; bounded."""
        async with asyncio.timeout(SECONDS):
            while len(await self.events(name)) < count:
                self.h.clock.advance(passing)
                await asyncio.sleep(0.01)

    def stop(self) -> None:
        """The emergency stop, as a file."""
        Sentinel(self.h.config.data_dir).place()

    def health(self, tool: str) -> tuple[str, str]:
        """A tool's health and last error."""
        rows = {row["name"]: row for row in self.h.silas.tool_rows()}
        return rows[tool]["health"], rows[tool]["last_error"] or ""


@asynccontextmanager
async def house(
    home: Path,
    settings: Mapping[str, Any],
    *steps: Step | Sequence[Step],
    calls: str = "approve",
) -> AsyncGenerator[House]:
    """A Silas on this home; its owner approves plans, and answers single calls as told."""

    def answer(card: Card[Any]) -> Any:
        return PlanAnswer(verdict="approved") if isinstance(card, PlanCard) else calls

    channel = ScriptedChannel(answer)
    model = ScriptedModel([*steps, REPORT])  # type: ignore[list-item]
    async with Harness(channel, models={"executor": model}, settings=settings, home=home) as h:
        yield House(h, model, channel)
