"""The owner's tools for work in the sandbox, as the configuration and this machine have them."""

import asyncio
import os
from collections.abc import Callable
from pathlib import Path

from silas.agents.choice import RUNBOOK, ModelsConfig
from silas.config import SilasConfig
from silas.home.findings import DoctorFinding
from silas.home.other_tools import describe_other_tools, name_other_tools
from silas.home.prompt_facts import UNASKED
from silas.language import ENGLISH, LANGUAGE_NAMES, spoken_language
from silas.sandbox import Sandbox
from silas.sandbox.mounts import Roots
from silas.sandbox.toolchains.mounts import MachineTools, NoTools, ToolSearch, tool_words
from silas.sandbox.toolchains.probe import ToolProbe, describe_versions, missing_habits
from silas.sandbox.toolchains.search import SearchPlace
from silas.tools import ToolRegistry

_OFF = "not looked for (`sandbox.tools.discover` is false)"
_CONTAINER = "those of the image; a container is not shown the tools of this machine"


def tool_search(config: SilasConfig) -> ToolSearch:
    """What looks for them, or says why it does not."""
    settings = config.sandbox
    if settings.backend == "docker":
        return NoTools(_CONTAINER)
    if not settings.tools.discover:
        return NoTools(_OFF)
    roots = roots_of(config)
    home = Path(os.path.realpath(Path.home()))
    return MachineTools(SearchPlace(home, dict(os.environ), roots, settings.tools.add))


class SandboxFacts:
    """What runs in the sandbox, in words for models; asked inside when one needs to know it.

    The built-in model follows runbooks and reads none of this, so nothing is asked for it.
    """

    def __init__(
        self,
        config: SilasConfig,
        models: Callable[[], ModelsConfig],
        sandbox: Sandbox,
        tools: ToolSearch,
        registry: ToolRegistry,
    ) -> None:
        self._registry = registry
        self._config = config
        self._models = models
        self._probe = probe_of(config, sandbox, tools)

    async def facts(self, workspace: str) -> dict[str, str]:
        """For the planner: `runs_there`, in `not_there` what plans name by habit, and in
        `tools_to_grant` the tools outside the sandbox, which a plan may grant.
        """
        model = self._models().planner.name
        told = await self._ask_probe(workspace, model) or UNASKED
        others = "" if model == RUNBOOK else describe_other_tools(self._registry)
        return {**told, "tools_to_grant": others} if others else told

    def for_proxy(self) -> str:
        """The tools of servers and plugins that a plan can call; mostly none."""
        if self._models().proxy.name == RUNBOOK:
            return ""
        return name_other_tools(self._registry)

    async def briefing(self, workspace: str | None) -> str:
        """For the executor: what runs there, where that was asked, and what the owner reads."""
        model = self._models().executor.name
        told = await self._ask_probe(workspace or "", model)
        lines = [f"- {name.replace('_', ' ')}: {words}" for name, words in told.items()]
        parts = ["\n".join(("# What runs here", "", *lines))] if lines else []
        language = LANGUAGE_NAMES[spoken_language()]
        if model != RUNBOOK and language != LANGUAGE_NAMES[ENGLISH]:
            parts.append(f"# Who reads the summary\n\nThe owner reads {language}.")
        return "\n\n".join(parts)

    async def _ask_probe(self, workspace: str, model: str) -> dict[str, str]:
        if model == RUNBOOK or not self._config.sandbox.tools.discover:
            return {}
        versions = await self._probe.versions(workspace or None)
        told = {"runs_there": describe_versions(versions), "not_there": missing_habits(versions)}
        return {name: words for name, words in told.items() if words} if versions else {}


def probe_of(config: SilasConfig, sandbox: Sandbox, tools: ToolSearch) -> ToolProbe:
    """What asks inside; its answers are kept beside the database."""
    data = config.data_dir
    return ToolProbe(sandbox, tools, data / "tools", data / "scratch" / "masks")


async def tool_findings(config: SilasConfig, sandbox: Sandbox) -> list[DoctorFinding]:
    """For `silas doctor`: the tools of the directory that it is run in, and what runs there."""
    tools, here = tool_search(config), str(Path.cwd())
    facts = await asyncio.to_thread(tools.find_tools, here)
    found = [DoctorFinding("sandbox tools", "ok", tools.words or tool_words(facts))]
    for sentence in await asyncio.to_thread(tools.left_out, here):
        found.append(DoctorFinding("sandbox tools", "ok", sentence))
    versions = await probe_of(config, sandbox, tools).versions(here)
    if versions:
        words = f"runs there: {describe_versions(versions)}"
        absent = missing_habits(versions)
        found.append(
            DoctorFinding("commands", "ok", f"{words}; not there: {absent or 'nothing usual'}")
        )
    return found


def roots_of(config: SilasConfig) -> Roots:
    """What is never shown; see `sandbox_of`."""
    return Roots.of((config.data_dir, *config.keys.places), (config.data_dir / "scratch",))
