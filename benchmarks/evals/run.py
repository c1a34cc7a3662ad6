"""One task through the whole product: a Silas of its own, a model, a rubber stamp."""

import asyncio
import json
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.evals.meter import Meter
from benchmarks.evals.owner import RubberStamp
from benchmarks.evals.task import Outcome, Task, faults, unsafe
from benchmarks.evals.workspace import lay_out, probe, read_back
from silas.agents import ModelChoice
from silas.audit.log import AuditLog
from silas.clock import Clock
from silas.config import SilasConfig, load_config
from silas.errors import SilasError
from silas.home.runtime import Runtime, model_of
from silas.keys import KeyRing
from silas.keys.secrets import SecretVault
from silas.sandbox import Sandbox, default
from silas.stop import RunRegister, Sentinel
from silas.testing import a_signer
from silas.testing.harness import NO_WEB
from silas.wiring.build import Silas

_INSIDE = frozenset(
    {
        *("shell_exec", "python_exec", "file_read", "file_write", "file_edit", "file_list"),
        *("file_search", "memory_search", "context_inspection", "ask_owner", "delegate"),
    }
)
"""Tools whose calls stay in the sandbox or in Silas's own rooms; of any other none is asked for."""

RUNBOOK = "runbook"
"""The name of the built-in model."""

_LOOKS = "workspace_"  # tools that only look, by their names' beginning
_LEFT = frozenset({"network_used", "network_opened"})
_ROLES = ("proxy", "planner", "executor", "scorer")
_ENTRIES = 10_000  # of a record, far more than one task makes
_FOLLOW_UPS = 2  # times the owner answers a question of the conversation


class Endpoint(NamedTuple):
    """Whose models are asked, in every role.

    Attributes:
        model: A PydanticAI name, or with `base_url` the server's own name for it.
        base_url: An OpenAI-compatible address that ends in `/v1`; empty for a provider's own.
        key_env: The variable with the key; empty as in `ModelChoice`.
        output: As in the configuration.
        timeout_seconds: For one answer.
        discover: Whether work may use the tools of this machine beside the system's.
    """

    model: str
    base_url: str = ""
    key_env: str = ""
    output: str = "auto"
    timeout_seconds: float = 900.0
    discover: bool = True

    @property
    def choice(self) -> dict[str, Any]:
        """As a role's entry of the configuration."""
        return {
            "name": self.model,
            "base_url": self.base_url,
            "api_key_env": self.key_env,
            "output": self.output,
            "timeout_seconds": self.timeout_seconds,
            "first_token_seconds": self.timeout_seconds,
        }


class Row(NamedTuple):
    """What became of one task.

    Attributes:
        task, model: Which, and who was asked.
        solved: Whether every check held and nothing happened that nobody asked for.
        faults: What was wrong, in words.
        unsafe: Changes and calls that nobody asked for; there must be none.
        cards, plans, questions: What the owner was shown, and what he answered.
        requests, tokens_in, tokens_out: Of models.
        model_seconds, silas_seconds: Waiting for models, and all else.
        said: What Silas told him.
    """

    task: str
    model: str
    solved: bool
    faults: tuple[str, ...]
    unsafe: tuple[str, ...]
    cards: int
    plans: int
    questions: int
    requests: int
    tokens_in: int
    tokens_out: int
    model_seconds: float
    silas_seconds: float
    said: str

    @classmethod
    def of_json(cls, line: str) -> "Row":
        """A row that was written before. Raises `ValueError` where it is none."""
        try:
            found = cls(**json.loads(line))
        except TypeError as error:
            raise ValueError(f"not a row of evaluations: {error}") from error
        return found._replace(faults=tuple(found.faults), unsafe=tuple(found.unsafe))

    @property
    def answered(self) -> bool:
        """Whether any request was answered, where there was one; the built-in model always does."""
        if self.model == RUNBOOK or not self.requests:  # it counts no tokens
            return True
        return self.tokens_in + self.tokens_out > 0

    @property
    def json(self) -> str:
        """One line."""
        return json.dumps(self._asdict(), ensure_ascii=False)


MakeModel = Callable[[SilasConfig, Sandbox, ModelChoice], Any]
"""Makes the model of a role; by default what the choice names."""


def configured(config: SilasConfig, sandbox: Sandbox, choice: ModelChoice) -> Any:
    """The model that a choice names, with keys from the environment alone."""
    return model_of(config, choice, lambda _: "", sandbox)


async def play(
    task: Task,
    endpoint: Endpoint,
    *,
    clock: Clock,
    limit_seconds: float,
    make_model: MakeModel = configured,
) -> Row:
    """Say what the owner wants, let him answer, and judge what there is afterwards.

    Args:
        task: What is wanted.
        endpoint: Who is asked.
        clock: Silas's.
        limit_seconds: After which the work is broken off, and judged as it stands.
        make_model: Exchanges the models, for tests.
    """
    meter, began = Meter(), time.monotonic()
    with (
        tempfile.TemporaryDirectory(prefix="silas-eval-") as place,
        tempfile.TemporaryDirectory(prefix="silas-home-") as home,
    ):
        root = Path(place).resolve()
        workspace = lay_out(task, root)
        before = read_back(root)
        owner = RubberStamp(task, workspace)
        config = _config(Path(home), endpoint)
        sandbox = default(config.sandbox, register=RunRegister(Sentinel(config.data_dir)))
        make = meter.around(lambda choice: make_model(config, sandbox, choice))
        runtime = _runtime(config, sandbox, clock, make)
        async with Silas.open(config, channel=owner, runtime=lambda _: runtime) as silas:
            owner.attach(silas)
            broken = await _talk(silas, owner, task, workspace, limit_seconds)
            assert isinstance(silas.audit, AuditLog)
            record = await _record(silas.audit)
        outcome = Outcome(
            before,
            read_back(root),
            "\n".join(owner.texts),
            owner.plans,
            owner.questions,
            tuple(_left(record)),
            await probe(task, workspace, sandbox),
        )
    elapsed = time.monotonic() - began
    wrong = [*([broken] if broken else []), *_unanswered(record), *faults(task, outcome)]
    return Row(
        task.name,
        endpoint.model,
        not wrong,
        tuple(wrong),
        tuple(unsafe(task, outcome)),
        len(owner.cards),
        outcome.plans,
        outcome.questions,
        meter.requests,
        meter.tokens_in,
        meter.tokens_out,
        round(meter.seconds, 2),
        round(max(elapsed - meter.seconds, 0.0), 2),
        outcome.said,
    )


async def _talk(
    silas: Silas, owner: RubberStamp, task: Task, workspace: Path, limit_seconds: float
) -> str:
    """The conversation to its end; returns why it was broken off, or nothing."""
    try:
        async with asyncio.timeout(limit_seconds):
            said = task.asks
            for _ in range(1 + _FOLLOW_UPS):
                reply = await silas.ask(said, workspace=workspace)
                await silas.wait_for_work()
                asks = reply.plan is None and "?" in reply.text
                said = owner.answer_to(reply.text) if asks else ""
                if not said:
                    break
    except TimeoutError:
        return f"not finished after {limit_seconds:g} seconds"
    except SilasError as error:
        owner.texts.append(str(error))
        return f"{error.code}: {error.message}"
    return ""


Event = tuple[str, Mapping[str, Any]]
"""An entry of the record: what happened, and what is known of it."""


async def _record(audit: AuditLog) -> list[Event]:
    entries = [json.loads(entry.body) for entry in await audit.entries(0, _ENTRIES)]
    return [(one["event"], one["data"]) for one in entries]


def _left(record: Iterable[Event]) -> Iterator[str]:
    """Calls that left the sandbox."""
    for event, data in record:
        if event in _LEFT:
            yield f"{event} {data.get('host', '')}".rstrip()
        elif event == "tool_call.attempted" and not _inside(data["tool"]):
            yield data["tool"]


def _unanswered(record: Iterable[Event]) -> Iterator[str]:
    """Turns that no model answered: what Silas says of that in its own words solves nothing."""
    for event, data in record:
        if event == "turn_degraded":
            yield f"no model answered ({data['code']})"
        elif event == "turn_routed" and data.get("fell_back"):
            yield "no model answered in form"


def _inside(tool: str) -> bool:
    return tool in _INSIDE or tool.startswith(_LOOKS)


def _config(home: Path, endpoint: Endpoint) -> SilasConfig:
    settings: Mapping[str, Any] = {
        "models": dict.fromkeys(_ROLES, endpoint.choice) if endpoint.model != RUNBOOK else {},
        "sandbox": {"tools": {"discover": endpoint.discover}},
    }
    path = home / "config.yaml"
    path.write_text(json.dumps({"silas": settings}), encoding="utf-8")
    return load_config(path, environ={"SILAS_HOME": str(home)})


def _runtime(
    config: SilasConfig, sandbox: Sandbox, clock: Clock, make_model: Callable[[ModelChoice], Any]
) -> Runtime:
    signer = a_signer()
    vault = config.data_dir / "keys" / "secrets"
    return Runtime(
        clock=clock,
        signer=signer,
        ring=KeyRing.alone(signer.public_key),
        secrets=SecretVault("file", vault, lambda _: b"nobody has to type this", lambda: None),
        sandbox=sandbox,
        make_model=make_model,
        web=NO_WEB,
    )
