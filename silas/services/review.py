"""The review queue of a Silas: what it may show, and where what the owner picks goes (5.1.6)."""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from datetime import datetime
from functools import cache, partial
from zoneinfo import ZoneInfo

from silas.agents.choice import RUNBOOK, ModelsConfig
from silas.approval import ApprovalVerifier
from silas.audit import Audit
from silas.autonomy.calibrate import AutonomyCalibrator
from silas.autonomy.ideas import (
    UNFINISHED,
    Asked,
    StoppedGoal,
    SuggestionIdea,
    failing_ideas,
    repeated_ideas,
    unfinished_ideas,
)
from silas.autonomy.preferences import Preferences, PreferencesFit
from silas.autonomy.signals import (
    STANDING_FAMILY,
    Decision,
    Signal,
    plan_family,
    started_alone,
    tool_family,
)
from silas.autonomy.store import SqlAutonomyStore
from silas.autonomy.suggest import Able, Ideas, SuggestionEngine
from silas.cards import CardChannel, ChannelMessage
from silas.clock import Clock
from silas.config import SilasConfig
from silas.db import Database
from silas.errors import SilasError
from silas.language import tr
from silas.memory import MemoryStore
from silas.plans import PlanLibrary, WorkItem
from silas.plans.store import SqlWorkItemStore
from silas.services.schedules.standing import configured_knobs
from silas.stream.models import SUGGESTED, Incoming
from silas.stream.owner import Owner
from silas.stream.review import AfterWork, ReviewQueue, ReviewRooms, ScopeOf, Wish
from silas.stream.stream import Stream
from silas.stream.turn_place import asks_beside, somebody_looks
from silas.tools.policy import within_hours
from silas.types import OWNER

_RECENT = 100  # work items that are looked at for something to suggest


def review_queue(
    config: SilasConfig,
    db: Database,
    clock: Clock,
    audit: Audit,
    channel: CardChannel,
    approval: ApprovalVerifier,
    memory: MemoryStore,
    rules_fit: PreferencesFit,
    scope_of: ScopeOf,
    after_work: AfterWork,
    wish: Wish,
    able: Able,
) -> ReviewQueue:
    """The queue over its tables; `stop` it before the Stream ends."""
    store, items = SqlAutonomyStore(db), SqlWorkItemStore(db, clock)

    zone, hours = config.scheduler.zone, config.quiet_hours

    def quiet(now: datetime) -> bool:
        return within_hours(hours.start, hours.end, now.astimezone(zone).time())

    settings = configured_knobs(config)
    limits = config.limits
    return ReviewQueue(
        ReviewRooms(
            suggestions=SuggestionEngine(
                config.suggestions,
                limits.suggestions_per_hour_per_scope,
                store,
                ideas_from(items, db, scope_of, asking_anew(config), zone),
                able,
                quiet,
                audit,
                clock,
            ),
            calibrator=AutonomyCalibrator(
                config.autonomy,
                limits.autonomy_proposals_per_week_per_scope,
                settings,
                store,
                approval,
                audit,
                clock,
            ),
            preferences=Preferences(
                config.behavior_preferences, store, memory, rules_fit, audit, clock
            ),
            scope_of=scope_of,
            owner=Owner(channel, audit, clock),
            wish=wish,
            after_work=after_work,
            audit=audit,
            clock=clock,
            asks_beside=asks_beside(channel),
            looked_at=partial(somebody_looks, channel),
            zone=zone,
        )
    )


def able_to_plan(config: SilasConfig, models: Callable[[], ModelsConfig], clock: Clock) -> Able:
    """Whether words can become a plan: any can with a language model, few with the built-in one.

    Args:
        config: Where runbooks are.
        models: Which model serves which role now.
        clock: What words such as “every day” are read by.
    """

    @cache  # read where the built-in model answers and something is suggested
    def library() -> PlanLibrary:
        return PlanLibrary.of_owner(config.plans_dirs)

    def able(words: str) -> bool:
        roles = models()
        if RUNBOOK not in (roles.proxy.name, roles.planner.name):
            return True
        from silas.agents.runbook.prepared import proposes  # noqa: PLC0415 - as `library`

        return proposes(words, library(), clock.now(), config.scheduler.zone)

    return able


def asking_anew(config: SilasConfig) -> Asked:
    """How work is asked for anew: as its runbook is where one made it, else by its title.

    A runbook with values besides its folder is not: neither its title nor its example says them.
    """

    @cache  # read where something was asked for again and again
    def library() -> PlanLibrary:
        return PlanLibrary.of_owner(config.plans_dirs)

    def request_anew(item: WorkItem) -> str:
        plan = library().plan_titled(item.title)
        if plan is not None and plan.wants_values:
            return ""
        request, folder = item.title if plan is None else plan.example, item.workspace
        if not folder:
            return request
        named = f'"{folder}"' if " " in folder else folder
        return tr("{request} in {folder}", request=request, folder=named)

    return request_anew


def ideas_from(
    items: SqlWorkItemStore, db: Database, scope_of: ScopeOf, asked: Asked, zone: ZoneInfo
) -> Ideas:
    """What the owner's own work and goals suggest; anybody else's says nothing to him here."""

    async def ideas(now: datetime) -> list[SuggestionIdea]:
        from silas.goals.models import GoalState  # noqa: PLC0415 - only who looks for something
        from silas.goals.store import SqlGoalStore  # noqa: PLC0415 - as above

        recent = [item for item in await items.newest(_RECENT) if scope_of(item.id) == OWNER]
        ended = [item.id for item in recent if item.status in UNFINISHED]
        followed = {one for one in ended if await items.list_by_follow_up(one)}
        kept = [(goal, await items.get(goal.id)) for goal in SqlGoalStore(db).all()]
        titled = [(goal, item.title) for goal, item in kept if item is not None]
        stopped = (
            StoppedGoal(goal.id, title, goal.why)
            for goal, title in titled
            if goal.state is GoalState.paused and goal.why  # without a reason the owner did it
        )
        known = {title.casefold() for _, title in titled}
        return [
            *failing_ideas(stopped),
            *unfinished_ideas(recent, followed, now),
            *repeated_ideas(recent, known, asked, zone, now),
        ]

    return ideas


class Learning:
    """Lets the queue learn from what the owner says of his own work.

    Args:
        review: The queue.
        scope_of: Whose a work item is.
    """

    def __init__(self, review: ReviewQueue, scope_of: ScopeOf) -> None:
        self._review = review
        self._scope_of = scope_of

    async def call(self, item: WorkItem, tool_name: str, decision: Decision) -> None:
        """What he said of a call."""
        await self._note_decision(item, tool_family(tool_name), decision)

    async def learn_from_undo(self, item: WorkItem) -> None:
        """He took back what it changed."""
        await self._note_decision(item, plan_family(item), "undo")
        if started_alone(item):
            await self._note_decision(item, STANDING_FAMILY, "undo")

    async def _note_decision(self, item: WorkItem, family: str, decision: Decision) -> None:
        await self._review.note_signal(Signal(family, decision, self._scope_of(item.id)))


def suggestion_message(words: str, clock: Clock) -> Incoming:
    """Words that the owner picked from a card, as a message: unsigned, of no known channel, and so
    external, whoever picked them.
    """
    message = ChannelMessage(
        channel=SUGGESTED, sender_id="silas", text=words, timestamp=clock.now()
    )
    return Incoming(message, OWNER)


async def plan_picked(picks: "asyncio.Queue[str]", stream: Stream, clock: Clock) -> None:
    """Hand what the owner picked to the Stream, one after the other, until this is cancelled.

    What cannot be planned is on record already, and what comes after it is planned all the same.
    """
    while True:
        with suppress(SilasError):
            await stream.handle(suggestion_message(await picks.get(), clock))
