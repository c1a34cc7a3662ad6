"""One Silas, two conversations, and everything that one of them gets to see.

Whatever is random or counted at a port is made from who is speaking and how much he said before, so
that what is left to differ between two runs is what one conversation lets the other notice.
"""

import asyncio
import hashlib
import json
import sqlite3
import tempfile
from collections import defaultdict
from collections.abc import AsyncGenerator, Callable, Generator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, closing, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import patch

from pydantic import BaseModel
from pydantic_ai.messages import ModelMessage, ModelRequest, ModelResponse, TextPart, ToolCallPart
from pydantic_ai.models import Model, ModelRequestParameters
from pydantic_ai.profiles import ModelProfile
from pydantic_ai.settings import ModelSettings
from pydantic_ai.usage import RequestUsage

from silas.agents.calls import CALLS
from silas.agents.models import AgentResponse, RouteDecision
from silas.audit.log import AuditLog
from silas.cards import Card, ChannelMessage, message_bytes
from silas.context import ContextManager
from silas.persona.engine import PersonalityEngine
from silas.stream.models import Incoming
from silas.testing import FakeSandbox, Harness, MockClock, ScriptedChannel
from silas.testing.tools import exit_result
from silas.types import OWNER, InteractionMode, InteractionRegister

NOBODY = "nobody"
SPEAKING: ContextVar[str] = ContextVar("speaking", default=NOBODY)
"""Whose turn it is; a task that a turn starts inherits it."""

_UNSENT = frozenset({"id", "timestamp", "tool_call_id", "provider_details"})
"""What of a part is about the run and not said to a model."""

_PAUSES = 3
_PLACES = frozenset({"place", "seq", "number", "active_last", "raw_last"})
"""Columns that count rows of all conversations together; nobody is shown what is in them."""

Answer = AgentResponse | BaseModel | str
Decide = Callable[[Card[Any]], Any]


@dataclass(frozen=True)
class Says:
    """Something that a conversation says, and what the stubbed models answer to it.

    Attributes:
        text: The message.
        answer: What the model answers; with a plan in it the planner is asked.
        signed: Signed by the owner's key; only his own connection can.
        profile: The context profile that the model chooses.
        register: The register that the model chooses.
    """

    text: str
    answer: AgentResponse
    signed: bool = True
    profile: str = "conversation"
    register: InteractionRegister = InteractionRegister.status


@dataclass
class Seen:
    """Everything of one conversation that leaves Silas, in order."""

    requests: list[str] = field(default_factory=list[str])
    sent: list[str] = field(default_factory=list[str])
    cards: list[str] = field(default_factory=list[str])
    log: list[str] = field(default_factory=list[str])
    on_behalf: list[str] = field(default_factory=list[str])


class _Channel(ScriptedChannel):
    """Records what is sent and asked for each conversation apart."""

    def __init__(self, seen: Mapping[str, Seen], decide: Decide) -> None:
        super().__init__(decide)
        self._seen = seen

    async def send(self, recipient_id: str, text: str, reply_to: str | None = None) -> None:
        self._seen[recipient_id].sent.append(text)
        await super().send(recipient_id, text, reply_to)

    async def ask(self, to: str, card: Card[Any]) -> Any:
        # what another conversation wants done is asked of the owner in its name (`on_behalf`)
        cards = self._seen[to].cards if SPEAKING.get() == to else self._seen[to].on_behalf
        cards.append(f"{type(card).__name__}: {card!r}")
        return await super().ask(to, card)


class _Stub(Model):
    """Answers for whoever speaks what he said it would, and records every byte it is asked."""

    def __init__(self, seen: Mapping[str, Seen], saying: Mapping[str, Says]) -> None:
        super().__init__(profile=ModelProfile(supports_json_schema_output=True))
        self._seen = seen
        self._saying = saying

    @property
    def model_name(self) -> str:
        return "stub"

    @property
    def system(self) -> str:
        return "silas-testing"

    async def request(
        self,
        messages: list[ModelMessage],
        model_settings: ModelSettings | None,
        model_request_parameters: ModelRequestParameters,
    ) -> ModelResponse:
        _, asked = self.prepare_request(model_settings, model_request_parameters)
        for _ in range(_PAUSES):  # so that two turns at once really run into each other
            await asyncio.sleep(0)
        who = SPEAKING.get()
        self._seen[who].requests.append(_as_sent(messages, asked))
        name = next(
            (c.name for c in CALLS.values() for t in asked.output_tools if t.name == c.form), ""
        )
        output = self._answer(name, self._saying[who])
        return ModelResponse(
            parts=[_part(output, asked)], usage=RequestUsage(input_tokens=7, output_tokens=3)
        )

    def _answer(self, call: str, says: Says) -> Answer:
        planned = says.answer.plan_action is not None
        if call == "proxy":
            return RouteDecision(
                route="planner" if planned else "direct",
                reason="as the script has it",
                response=None if planned else says.answer,
                interaction_register=says.register,
                interaction_mode=InteractionMode.act_and_report,
                context_profile=says.profile,
            )
        if call == "planner":
            return says.answer
        return CALLS[call].fallback("conversation", call) if call in CALLS else "Done."


def _part(output: Answer, asked: ModelRequestParameters) -> TextPart | ToolCallPart:
    if isinstance(output, BaseModel) and asked.output_tools:
        plain = output.model_dump(mode="json")
        return ToolCallPart(asked.output_tools[0].name, plain, "the-answer")
    return TextPart(output if isinstance(output, str) else output.model_dump_json())


def _as_sent(messages: Sequence[ModelMessage], asked: ModelRequestParameters) -> str:
    """What a provider would be sent: instructions, parts, tools; no times or ids of the run."""
    told: list[Any] = []
    for message in messages:
        told.append(getattr(message, "instructions", None))
        for part in message.parts:
            fields: dict[str, Any] = vars(part)
            names = sorted(name for name in fields if name not in _UNSENT)
            told.append([type(part).__name__, {name: repr(fields[name]) for name in names}])
    tools = [[t.name, t.description, t.parameters_json_schema] for t in asked.function_tools]
    outputs = [[t.name, t.description, t.parameters_json_schema] for t in asked.output_tools]
    assert any(isinstance(message, ModelRequest) for message in messages)
    return json.dumps([told, tools, outputs], default=str, sort_keys=True)


class _Chance:
    """Ids and marks from who speaks and how many he had, instead of from the system."""

    def __init__(self) -> None:
        self._drawn: dict[str, int] = defaultdict(int)

    def hex(self, octets: int) -> str:
        who = SPEAKING.get()
        self._drawn[who] += 1
        name = f"{who} {self._drawn[who]}".encode()
        return hashlib.shake_128(name).hexdigest(octets)


@contextmanager
def _determined(seen: Mapping[str, Seen]) -> Generator[None]:
    """Chance at the ports made from who speaks, and the log read as it is written."""
    chance, log, log_now = _Chance(), AuditLog.log, AuditLog.log_now

    def note(event: str, data: Mapping[str, Any]) -> None:
        entry = json.dumps([event, data], default=str, sort_keys=True)
        seen[SPEAKING.get()].log.append(entry)

    async def logged(self: AuditLog, event: str, **data: Any) -> str:
        note(event, data)
        return await log(self, event, **data)

    def logged_now(self: AuditLog, event: str, **data: Any) -> str:
        note(event, data)
        return log_now(self, event, **data)

    with (
        # the names in that module alone: the libraries below draw as they like
        patch("silas.types.secrets", SimpleNamespace(token_hex=chance.hex)),
        patch.object(AuditLog, "log", logged),
        patch.object(AuditLog, "log_now", logged_now),
    ):
        yield


class House:
    """A wired Silas in which several converse; it can be closed and opened again in its place."""

    harness: Harness

    def __init__(self, home: Path, decide: Decide, settings: Mapping[str, Any]) -> None:
        self.seen: Mapping[str, Seen] = defaultdict(Seen)
        self.clock = MockClock()
        self._home = home
        self._settings = settings
        self._saying: dict[str, Says] = {}
        self._nonces: dict[str, int] = defaultdict(int)
        self._channel = _Channel(self.seen, decide)
        self._open = AsyncExitStack()

    async def begin(self) -> None:
        """Open it."""
        stub = _Stub(self.seen, self._saying)
        self.harness = Harness(
            self._channel,
            models=dict.fromkeys(("proxy", "planner", "executor", "scorer"), stub),
            sandbox=FakeSandbox(lambda run: exit_result(stdout="done")),
            settings=self._settings,
            home=self._home,
            clock=self.clock,
        )
        await self._open.enter_async_context(self.harness)

    async def end(self) -> None:
        """Close it."""
        await self._open.aclose()

    async def say(self, who: str, says: Says) -> None:
        """One turn of a conversation, to its end and to the end of the work it started."""
        with speaking(who):
            self._saying[who] = says
            await self.harness.silas.stream.handle(self._incoming(who, says))
            await self._settled()

    async def _settled(self) -> None:
        """Until no work is under way, and no plan in place of work that failed is asked about."""
        silas, seen = self.harness.silas, set[str]()
        await silas.wait_for_work()
        while fresh := {one.id for one in await silas.work_items()} - seen:
            for one in sorted(fresh):
                await silas.wait_for_revision(one)
            seen |= fresh
            await silas.wait_for_work()

    async def forget(self, who: str, source: str) -> None:
        """What `silas memory forget` does, for one conversation."""
        with speaking(who):
            await self.harness.ports["memory"].forget(source, who)
            await self.harness.ports["chronicle"].forget(who, source)
            context = self.harness.ports["context"]
            assert isinstance(context, ContextManager)
            context.forget(who, source)

    async def tune(self, who: str, preset: str, warmth: float) -> None:
        """What the page's room for the personality does, for one conversation."""
        with speaking(who):
            engine = self.harness.ports["persona"]
            assert isinstance(engine, PersonalityEngine)
            await engine.set_preset(who, preset)
            await engine.adjust_axes(who, {"warmth": warmth}, trusted=True)

    def kept(self, who: str) -> list[str]:
        """Every row that is his, of every table that says whose its rows are."""
        path = self.harness.config.data_dir / "silas.db"
        found: list[str] = []
        with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as database:
            database.row_factory = sqlite3.Row
            for (table,) in database.execute("SELECT name FROM sqlite_schema WHERE type = 'table'"):
                columns = {row["name"] for row in database.execute(f"PRAGMA table_info({table})")}
                if "scope_id" not in columns:
                    continue
                rows = database.execute(f"SELECT * FROM {table} WHERE scope_id = ?", (who,))
                for row in rows:
                    shown = {key: row[key] for key in tuple(row.keys()) if key not in _PLACES}
                    found.append(f"{table} {json.dumps(shown, default=repr, sort_keys=True)}")
        return sorted(found)

    def _incoming(self, who: str, says: Says) -> Incoming:
        message = ChannelMessage(
            channel="cli" if who == OWNER else "web",
            sender_id=who,
            text=says.text,
            timestamp=self.clock.now(),
        )
        if who != OWNER or not says.signed:
            return Incoming(message, who)
        self._nonces[who] += 1
        nonce = f"{who}-{self._nonces[who]}"
        signature = self.harness.signer.sign(message_bytes(message, nonce))
        return Incoming(message, who, signature, nonce)


@contextmanager
def speaking(who: str) -> Generator[None]:
    """Whoever causes what happens now."""
    before = SPEAKING.set(who)
    try:
        yield
    finally:
        SPEAKING.reset(before)


@asynccontextmanager
async def house(decide: Decide, settings: Mapping[str, Any]) -> AsyncGenerator[House]:
    """A Silas with stubbed models, and what each conversation saw of it so far."""
    with tempfile.TemporaryDirectory(prefix="silas-") as home:
        made = House(Path(home), decide, settings)
        with _determined(made.seen):
            await made.begin()
            try:
                yield made
            finally:
                await made.end()
