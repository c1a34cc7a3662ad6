"""The owner's workers: where they are read from, and what the commands say about them."""

from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

from silas.agents.workers import WorkerLibrary, WorkerLookup
from silas.config import SilasConfig
from silas.home.runtime import Runtime
from silas.plans.binding import TeamFacts, TeamOf
from silas.tools import ToolCallContext, ToolRegistry, ToolResult
from silas.tools.offers import BUILT_IN, ToolOffers
from silas.tools.plugins.spec import read_spec

if TYPE_CHECKING:
    from pydantic_ai.capabilities import AbstractCapability

    from silas.agents import ExecutorAgent, ModelChoice
    from silas.agents.worker_file import Worker
    from silas.tools.toolset import ToolRun
    from silas.work.authority.worker_ability import ToolsOf
    from silas.work.delegation import Delegated
    from silas.work.worker_runner import Hire


class WorkerFinding(NamedTuple):
    """One line of `silas doctor` about a worker."""

    part: str
    ok: bool
    words: str


def worker_library(config: SilasConfig) -> WorkerLibrary:
    """The `.worker` files of this configuration."""
    mounted = read_spec(config.toolsets, config.toolset_profiles)
    names = frozenset(one.name for one in mounted) - BUILT_IN.keys()
    return WorkerLibrary(config.worker_files, ToolOffers(names))


def tools_of(registry: ToolRegistry) -> "ToolsOf":
    """The tools of mounted toolsets, by the connector that they were registered under."""

    def tools(mounted: frozenset[str]) -> frozenset[str]:
        connectors = {f"toolset.{name}" for name in mounted}
        return frozenset(t.tool_name for t in registry.all() if t.connector_id in connectors)

    return tools


def teams_of(workers: WorkerLibrary) -> TeamOf:
    """What an approval binds of a worker: the files, as they are when it is asked."""

    def team(name: str) -> TeamFacts:
        found = workers.team(name)
        return TeamFacts(found.digests(), found.skills())

    return team


def make_hire(
    runtime: Runtime,
    usual: "Callable[[], ModelChoice]",
    capabilities: "Sequence[AbstractCapability[ToolRun]]",
) -> "Hire":
    """Makes a worker's agent for one run, on the model that its file names or else the usual one.

    Every run has its own: nothing that one run did to it can be seen by the next.
    """

    @asynccontextmanager
    async def hire_worker(worker: "Worker") -> "AsyncGenerator[ExecutorAgent[ToolRun]]":
        from silas.agents import ExecutorAgent  # noqa: PLC0415 - PydanticAI
        from silas.agents.providers.factory import at_low_temperature  # noqa: PLC0415 - PydanticAI

        choice = usual() if worker.model is None else worker.model
        async with runtime.make_model(at_low_temperature(choice, "executor")) as model:
            yield ExecutorAgent(
                model,
                runtime.clock,
                output=choice.output,
                capabilities=capabilities,
                own=worker.instructions,
            )

    return hire_worker


def offer_delegation(config: SilasConfig, registry: ToolRegistry, delegated: "Delegated") -> None:
    """Register `delegate` where there may be workers; only workers are shown it."""
    if not config.worker_files.is_dir():
        return
    from silas.work.delegation import DELEGATE_CONFIG, DelegateTool  # noqa: PLC0415 - PydanticAI

    registry.register(DelegateTool(delegated), DELEGATE_CONFIG)


async def nobody_works(context: ToolCallContext, name: str, task: str) -> ToolResult:
    """Where no work is done, nobody can be asked to do any."""
    del context, name, task
    return ToolResult(ok=False, error="No worker is at work here, so nobody can delegate.")


def worker_rows(config: SilasConfig) -> list[dict[str, Any]]:
    """Every worker's name, description, model, tools, delegates and skills, or its fault."""
    return [_row(found, config.models.executor.name) for found in worker_library(config).all()]


def worker_findings(config: SilasConfig) -> list[WorkerFinding]:
    """What `silas doctor` says: one line a file, nothing where there is none."""
    return [
        WorkerFinding(
            f"worker {found.name}",
            found.worker is not None,
            found.fault or f"{found.path} is usable",
        )
        for found in worker_library(config).all()
    ]


def _row(found: WorkerLookup, usual_model: str) -> dict[str, Any]:
    worker = found.worker
    if worker is None:
        return {"name": found.name, "file": str(found.path), "fault": found.fault}
    return {
        "name": worker.name,
        "file": str(found.path),
        "fault": "",
        "description": worker.description,
        "model": usual_model if worker.model is None else worker.model.name,
        "tools": sorted(worker.offer.tools)
        + [f"{name}.*" for name in sorted(worker.offer.mounted)],
        "delegates": list(worker.delegates),
        "skills": list(worker.skills),
        "digest": worker.digest,
    }
