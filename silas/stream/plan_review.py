"""Whether a plan could succeed, asked before its owner is; what is wrong goes back to the planner.

What the built-in model proposes comes from the plan library, whose plans are Silas's own: nothing
of it is sent back (`TrustedPlans`). See decision D431.
"""

from collections.abc import Callable
from functools import partial
from typing import Final, Protocol

from silas.agents import PlanActionType
from silas.audit import Audit
from silas.language import tr
from silas.plans import WorkItem, WorkItemType
from silas.stream.drafts import DraftWaits
from silas.stream.propose import Proposer
from silas.stream.state import PlanReview, Turn
from silas.types import OWNER, TaintLevel
from silas.work.checks.preflight import Preflight, already_done, faults, preflight_note

PROPOSALS: Final = frozenset({PlanActionType.propose, PlanActionType.revise})
"""Actions that bring a plan."""

MOST_RETURNS: Final = 2
"""How often a plan goes back before the owner is told that there is none."""

_SOURCE: Final = "preflight"
_SHOWN: Final = 20  # mistakes that are told at once
_SIZE: Final = 400  # characters of one
_STATUS: Final = 80  # characters of what is done now


class ReviewPlans(Protocol):
    """Looks at what a planner proposes before anybody else does."""

    @property
    def marks(self) -> bool:
        """Whether words of its plans may be those of somebody else, and are marked then."""
        ...

    async def review(self, turn: Turn, markdown: str) -> PlanReview:
        """What is wrong with this plan, proposed in this turn."""
        ...


class TrustedPlans:
    """For a planner that instantiates the plans of the library."""

    marks = False

    async def review(self, turn: Turn, markdown: str) -> PlanReview:
        """Nothing is asked: what is wrong is told to the owner."""
        del turn, markdown
        return PlanReview()


class ModelPlans:
    """For a planner that is a language model.

    Args:
        waits: Where it is said in passing which check is tried.
    """

    marks = True

    def __init__(
        self, proposer: Proposer, preflight: Preflight, audit: Audit, waits: DraftWaits
    ) -> None:
        self._proposer = proposer
        self._preflight = preflight
        self._audit = audit
        self._waits = waits

    async def review(self, turn: Turn, markdown: str) -> PlanReview:
        """Everything that keeps this plan from being asked about, or from succeeding."""
        found = await self._review_plan(turn, markdown)
        if found.mistakes:
            await self._audit.log("plan_faulty", turn_id=turn.id, reasons=list(found.mistakes))
        return found

    async def _review_plan(self, turn: Turn, markdown: str) -> PlanReview:
        draft = self._proposer.draft(markdown)
        if draft.item is None:
            told = [one.message[:_SIZE] for one in draft.mistakes[:_SHOWN]]
            return PlanReview(tuple(told))
        unable = await self._proposer.hindrance(draft.item, look=False)
        owners = is_owners(turn)
        if not unable and owners:
            # which files there are, and what runs here, is only told where the owner asks
            unable = await self._proposer.hindrance(draft.item, look=True)
            unable = unable if not unable or await _may_tell(turn) else ""
        if unable:
            return PlanReview((unable,))
        tried = await self._try_checks(turn, draft.item) if owners else PlanReview()
        if (tried.mistakes or tried.hint) and not await _may_tell(turn):
            return PlanReview(trial=tried.trial)  # the owner sees it on the card, and nobody else
        return tried

    async def _try_checks(self, turn: Turn, item: WorkItem) -> PlanReview:
        """What its checks say before the work; of a project, whose checks come after work that
        nobody has done yet, nothing.
        """
        if item.type is WorkItemType.project:
            return PlanReview()
        say = partial(self._waits, turn.message.incoming.connection_id, _SOURCE)
        try:
            trial = await self._preflight.trial(
                item, turn.message.incoming.workspace, lambda words: say(_checking(words))
            )
        finally:
            say("")
        if trial.tried:
            await self._audit.log(
                "plan_tried",
                turn_id=turn.id,
                work_item_id=item.id,
                checks={one.name: one.state for one in trial.checks},
                seconds=round(trial.seconds, 3),
            )
        return PlanReview(faults(item, trial), already_done(item, trial), preflight_note(trial))


class PlansInForce:
    """Trusted where the built-in model plans now, else reviewed.

    Args:
        built_in: Whether it does; asked each time.
    """

    def __init__(
        self, built_in: Callable[[], bool], trusted: ReviewPlans, reviewed: ReviewPlans
    ) -> None:
        self._built_in = built_in
        self._trusted = trusted
        self._reviewed = reviewed

    @property
    def marks(self) -> bool:
        """See `ReviewPlans.marks`."""
        return self._now.marks

    async def review(self, turn: Turn, markdown: str) -> PlanReview:
        """See `ReviewPlans.review`."""
        return await self._now.review(turn, markdown)

    @property
    def _now(self) -> ReviewPlans:
        return self._trusted if self._built_in() else self._reviewed


async def _may_tell(turn: Turn) -> bool:
    """Whether a planner elsewhere may learn what its plan met in the workspace.

    A check is its own words: "`x` is not there" can be made to say a word of a file.
    """
    if not turn.message.incoming.workspace:
        return True
    return turn.shown.looks.of_workspace and not await turn.shown.looks.why_unpermitted()


def _checking(words: str) -> str:
    """One line of at most so many characters; a check's name is a model's words."""
    return tr("Checking the plan: {words}", words=" ".join(words.split())[:_STATUS])


def is_owners(turn: Turn) -> bool:
    """Whether the words of a turn are the owner's, in his own conversation."""
    return turn.scope_id == OWNER and turn.message.taint is TaintLevel.owner
