"""What says whether a plan could run here: for a Silas that runs, and for a look at a file."""

from collections.abc import AsyncGenerator, Iterator
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Final

from silas.approval.grants import GrantRefused, grants_of
from silas.clock import SystemClock
from silas.config import SilasConfig
from silas.db import Database
from silas.home.sandbox_tools import roots_of
from silas.home.secret_store import secrets_of
from silas.plans import WorkItem
from silas.services.gates import PROVIDERS
from silas.services.mcp import open_mcp
from silas.services.skills.catalogue import owners_key, skill_loader
from silas.services.tools.look_tools import ShownTo, refused_showing, shown_by_work
from silas.services.tools.registry import configured_tools
from silas.services.workers import nobody_works, offer_delegation, tools_of, worker_library
from silas.skills import Skills
from silas.stream.look_answers import LookAnswers
from silas.tools import AutonomyLevel, ToolRegistry
from silas.work.authority.grant_uses import GrantAbility
from silas.work.authority.place_ability import PlaceAbility
from silas.work.authority.plan_ability import PlanAbility
from silas.work.authority.worker_ability import WorkerAbility
from silas.work.models import MissingSecrets

AUTONOMY: Final = AutonomyLevel.A2
"""Of every execution (decision table C); no configuration changes it."""


def plan_ability(
    skills: Skills,
    secrets: MissingSecrets,
    registry: ToolRegistry,
    workers: WorkerAbility,
    shown: ShownTo,
    answers: LookAnswers,
    places: PlaceAbility,
) -> PlanAbility:
    """What refuses plans that could not run: before their card, when they start, and as files."""
    return PlanAbility(
        skills,
        secrets,
        GrantAbility(registry, AUTONOMY).refuse,
        workers.refuse,
        refused_showing(shown, answers),
        places.refuse,
        PROVIDERS,
    )


@asynccontextmanager
async def ability_here(
    config: SilasConfig, db: Database, item: WorkItem
) -> AsyncGenerator[PlanAbility]:
    """The same where nothing else is open, for one plan. No key is unlocked, no secret is opened,
    and a server of others is started only where the plan grants a tool that nothing else has.
    """
    library, skills = worker_library(config), skill_loader(config, owners_key(config))
    async with AsyncExitStack() as stack:
        registry = await configured_tools(config)
        offer_delegation(config, registry, nobody_works)
        if config.mcp_entries and any(registry.get(name) is None for name in _granted_tools(item)):
            service = await stack.enter_async_context(open_mcp(config))
            await stack.enter_async_context(service.offering(registry))
        limit = config.limits.max_delegation_depth
        yield plan_ability(
            skills,
            secrets_of(config).missing,
            registry,
            WorkerAbility(library, skills, tools_of(registry), limit),
            shown_by_work(lambda: config.models, library, lambda: config.mcp_entries),
            LookAnswers(db, SystemClock()),
            PlaceAbility(roots_of(config)),
        )


def _granted_tools(item: WorkItem) -> Iterator[str]:
    """The tools that a plan and its tasks grant."""
    for one in (item, *item.children):
        try:
            yield from (grant.tool for grant in grants_of(one.tools))
        except GrantRefused:
            continue  # said of the plan itself
