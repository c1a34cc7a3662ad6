"""The tools that look: into Silas's own rooms and the owner's workspace; and who is shown it."""

import os
from collections.abc import Callable, Iterable, Sequence
from ipaddress import ip_address
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from silas.agents.choice import RUNBOOK, ModelChoice, ModelsConfig
from silas.agents.workers import Workers
from silas.plans import WorkItem
from silas.plans.binding import READS, SERVER, Facts, ShownTo
from silas.stream.look_answers import TAKE_BACK, LookAnswers
from silas.tools import ToolRegistry
from silas.tools.builtin.ask_owner import AskOwner, AskOwnerTool
from silas.tools.builtin.read_only import LOOKING
from silas.tools.builtin.recall import (
    REMEMBERED,
    ContextInspectionTool,
    LookAtContext,
    MemorySearchTool,
    SearchMemory,
)

if TYPE_CHECKING:
    from silas.tools.mcp.settings import MCPEntry


def add_looking_tools(
    registry: ToolRegistry, search: SearchMemory, look: LookAtContext, ask: AskOwner
) -> None:
    """Register them."""
    registry.register(MemorySearchTool(search), REMEMBERED)
    for tool in (ContextInspectionTool(look), AskOwnerTool(ask)):
        registry.register(tool, LOOKING)


def describe_viewers(models: ModelsConfig, *others: ModelChoice) -> str:
    """Who outside this machine is shown what models are shown; empty where nobody is.

    A model of the owner's own code counts as outside, because nobody knows whom it asks.

    Args:
        models: The models of the roles.
        others: Those of workers.
    """
    return ", ".join(_outside(models, others))


def _outside(models: ModelsConfig, others: Sequence[ModelChoice]) -> tuple[str, ...]:
    roles = (models.proxy, models.planner, models.executor, models.scorer, *others)
    choices = (one for role in roles for one in (role, role.fallback) if one is not None)
    return tuple(sorted({_whom(one) for one in choices} - {""}))


def shown_by_work(
    models: Callable[[], ModelsConfig],
    workers: Workers,
    servers: Callable[[], Iterable["MCPEntry"]],
) -> ShownTo:
    """Who outside this machine is shown what work reads, by the roles and by its worker's team; and
    the hosts of the servers whose tools its plan grants.

    Args:
        models: The models of the roles that are in force when it is asked.
        workers: Where teams are found.
        servers: The servers of others in force, as the owner configured them.
    """

    def models_of_work(item: WorkItem) -> tuple[str, ...]:
        team = [] if item.worker is None else list(workers.team(item.worker).members.values())
        return _outside(models(), [one.model for one in team if one.model is not None])

    def facts_shown(item: WorkItem) -> Facts:
        whom = models_of_work(item)
        reads = bool(item.workspace or item.read)
        of_servers = _hosts_of_granted(item, servers())
        return {**(dict.fromkeys(whom, READS) if reads else {}), **of_servers}

    return facts_shown


def _hosts_of_granted(item: WorkItem, servers: Iterable["MCPEntry"]) -> Facts:
    granted = [str(grant["tool"]) for grant in item.tools if "tool" in grant]
    return {
        f"{SERVER}{one.name}": list(one.hosts)
        for one in servers
        if one.hosts and any(tool.startswith(f"{one.name}__") for tool in granted)
    }


def refused_showing(shown: ShownTo, answers: LookAnswers) -> Callable[[WorkItem], str]:
    """Why work may not read its directories: the owner said never to who would be shown them."""

    def why_refused(item: WorkItem) -> str:
        for path in (*filter(None, (item.workspace,)), *item.read):
            never = set(shown(item)) & answers.names_refused(os.path.realpath(path))
            if never:
                return (
                    f"You said that nothing in {path} may be shown to "
                    f"{', '.join(sorted(never))}; use another model or another directory, or "
                    f"`silas approvals showing` and `{TAKE_BACK} DIRECTORY`."
                )
        return ""

    return why_refused


def _whom(choice: ModelChoice) -> str:
    if choice.name == RUNBOOK:
        return ""
    from silas.agents.providers.factory import server_of  # noqa: PLC0415 - PydanticAI
    from silas.agents.providers.hosted import hosted_by  # noqa: PLC0415 - PydanticAI
    from silas.services.doctor.reachability import proxy_for  # noqa: PLC0415 - with them

    server = urlsplit(server_of(choice))
    if server.hostname and _here(server.hostname):
        if choice.name.lower().endswith("cloud"):  # Ollama's names for what it passes on
            return f"the cloud behind {choice.name}"
        proxy = proxy_for(server)
        return "" if proxy is None else f"the proxy {proxy.hostname}"
    provider = hosted_by(choice)
    return server.hostname or (provider.company if provider else choice.name)


def _here(host: str) -> bool:
    try:
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False
