"""Plans as files, as documents and as cards, for the commands about them."""

import json
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from silas.cards import PlanCard
from silas.clock import SystemClock
from silas.config import SilasConfig
from silas.db import Database
from silas.errors import PlanFamilyError
from silas.home.database import database_path, open_existing_database
from silas.home.sandbox_tools import tool_search
from silas.plans import PlanError, PlanParser, WorkItem, WorkItemType, plan_bytes, plan_hash
from silas.plans.card import effective_mode
from silas.plans.card_preview import PlanLook, preview_card, preview_hash
from silas.plans.goals.clock_fault import why_not_by_clock
from silas.plans.goals.limits import TIDIES
from silas.plans.places import require_places
from silas.plans.projects.document import join_project
from silas.plans.projects.limits import MOST_TASKS
from silas.plans.projects.taken_ids import why_ids_taken
from silas.plans.store import SqlWorkItemStore
from silas.services.gates import require_supported
from silas.services.schedules.standing import standing_limit_here
from silas.services.tools.look_tools import shown_by_work
from silas.services.tools.plan_ability import ability_here
from silas.services.workers import worker_library
from silas.work.batches.plan import plan_named_folder
from silas.work.dependencies import inherited_work


class PlanFile(NamedTuple):
    """A plan as it stands in a file, and what it says."""

    text: str
    item: WorkItem


def read_plan(path: Path) -> PlanFile:
    """Read and parse a plan; of a project with its tasks, of which those that do not stand in it
    are files beside it, each named by its id.

    Raises:
        PlanFamilyError: `E_PLAN_FILE`, the file cannot be read; or what is wrong with the plan,
            with the file, the line and the column.
    """
    text, beside = _read(path), list[tuple[str, str]]()
    try:
        item = PlanParser().parse(text)
        beside = _beside(path, item)
        if beside:
            text = join_project(text, beside)
            item = PlanParser().parse(text)
        return PlanFile(text, item)
    except PlanError as error:
        place = _place_of(error, path, text, beside)
        raise PlanFamilyError(f"{place}: {error.reason}", code=error.code) from error


def _place_of(error: PlanError, path: Path, text: str, beside: list[tuple[str, str]]) -> str:
    """Where a fault stands: in the file of the project, or in that of a task beside it."""
    line, file, lines = error.line, path, text.split("\n")
    for name, given in beside:
        head = lines.index(f"=== task: {name} ===") + 1
        if head <= error.line:
            left_out = given[: len(given) - len(given.lstrip())].count("\n")
            line, file = max(error.line - head, 1) + left_out, path.parent / f"{name}.md"
    return f"{file}, line {line}, column {error.column}"


def _beside(path: Path, item: WorkItem) -> list[tuple[str, str]]:
    """The tasks of a project that its own text does not have, and that are there as files."""
    if item.type is not WorkItemType.project or len(item.tasks) > MOST_TASKS:
        return []
    given = {child.id for child in item.children}
    files = [(name, path.parent / f"{name}.md") for name in item.tasks if name not in given]
    return [(name, _read(file)) for name, file in files if file.exists()]


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except OSError as error:
        reason = error.strerror or "it cannot be opened"
    except UnicodeDecodeError:
        reason = "it is not UTF-8 text"
    raise PlanFamilyError(f"The plan {path} cannot be read: {reason}.", code="E_PLAN_FILE")


def digest_of(item: WorkItem) -> str:
    """What an approval of this plan binds: the hex sha256 of its canonical bytes (spec 3.3)."""
    return plan_hash(item)


def approve_hash(item: WorkItem) -> str:
    """What `--approve` takes: over the plan and the files that it runs, as its approval binds them,
    or as they are now.
    """
    return f"sha256:{preview_hash(item)}"


def plan_document(item: WorkItem) -> dict[str, Any]:
    """The hash of a plan, how it is asked about, and the plan as it is hashed."""
    tasks = [plan_document(child) for child in item.children]
    return {
        "plan_hash": plan_hash(item),
        "interaction_mode": effective_mode(item).value,
        "plan": json.loads(plan_bytes(item)),
        **({"tasks": tasks} if tasks else {}),
    }


def plan_card(item: WorkItem, rationale: str, look: PlanLook) -> PlanCard:
    """The card of a plan as it would be shown here."""
    return preview_card(item, rationale=rationale, look=look)


def plan_look(config: SilasConfig) -> PlanLook:
    """What a card shows beside its plan, as things are configured and found here."""
    return PlanLook(
        tool_search(config),
        shown_by_work(lambda: config.models, worker_library(config), lambda: config.mcp_entries),
        partial(standing_limit_here, config),
    )


async def require_runnable(item: WorkItem, config: SilasConfig) -> None:
    """Refuse a plan before its card for what a run would refuse it for, in its words: that nothing
    here can run it, that a skill, tool, worker or secret is not there, that its moment is past or
    its yes goes too far, that its folder cannot be tidied, that it has the id of other work or
    needs other work that is not done, or that it is about places that do not exist.

    Raises:
        PlanFamilyError: Why.
        BatchRefused: Why its folder cannot be tidied.
    """
    require_supported(item)
    clock = SystemClock()
    if not database_path(config).exists():  # nothing is taken where Silas was not set up
        _require_clock(item, config, clock)
    else:
        with open_existing_database(config, clock) as db:
            await _require_able(item, config, db)
            _require_clock(item, config, clock)
            await _require_place_among_others(item, SqlWorkItemStore(db, clock))
    for one in (item, *item.children):
        require_places(one)


async def _require_able(item: WorkItem, config: SilasConfig, db: Database) -> None:
    async with ability_here(config, db, item) as ability:
        found = ability.find(item)
    if found is not None:
        raise PlanFamilyError(found.words, code=found.code, work_item_id=item.id)


def _require_clock(item: WorkItem, config: SilasConfig, clock: SystemClock) -> None:
    scheduler = config.scheduler
    why = why_not_by_clock(
        item,
        clock.now(),
        scheduler.zone,
        config.autonomy.standing_caps,
        enabled=scheduler.enabled,
    )
    if why:
        raise PlanFamilyError(why, code="E_PLAN_CLOCK", work_item_id=item.id)
    if item.cycle == TIDIES and item.workspace is not None:
        plan_named_folder(Path(item.workspace), (config.data_dir, *config.keys.places), clock.now())


async def _require_place_among_others(item: WorkItem, store: SqlWorkItemStore) -> None:
    missing = (await inherited_work(item, store)).missing
    if missing:
        raise PlanFamilyError(missing, code="E_PLAN_DEPENDS", work_item_id=item.id)
    taken = await why_ids_taken(item, store)
    if taken:
        raise PlanFamilyError(
            f"The plan cannot be approved: {taken}", code="E_PLAN_TAKEN", work_item_id=item.id
        )
