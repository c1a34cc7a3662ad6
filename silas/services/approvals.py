"""The owner's approvals beside a running Silas: what waits, what is in force, taking it back."""

from collections import Counter
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

from silas.approval import ApprovalScope, ApprovalToken, ApprovalVerdict, NonceStore, Stops
from silas.approval.earlier_uses import used_before
from silas.approval.effective_clock import ClockState, EffectiveClock
from silas.approval.nonces import SqlNonceStore
from silas.approval.revocation import revoke
from silas.approval.rules import NOT_APPROVED, current
from silas.autonomy.signals import started_alone
from silas.clock import SystemClock
from silas.config import SilasConfig
from silas.errors import ApprovalError
from silas.goals.goal_names import goal_name, goals_named, the_one
from silas.home.effective_clock import effective_time
from silas.language import tr
from silas.plans import (
    WaitingPlan,
    WaitingPlans,
    WorkItem,
    WorkItemStatus,
    WorkItemStore,
    WorkItemType,
)
from silas.plans.goals.lapsed import Lapsed, lapse_words
from silas.plans.goals.limits import TIDIES
from silas.plans.projects.kept import waiting_project, with_tasks
from silas.plans.store import SqlWorkItemStore, missing_item
from silas.plans.subject import plan_hash
from silas.plans.waiting_plans import SqlWaitingPlans
from silas.services.owner_key import settle_succession
from silas.services.record import open_record, warn_if_changed
from silas.services.tools.bindings import lapsed_here
from silas.services.work import scope_work
from silas.stop import Sentinel
from silas.stop.epochs import StopEpochs
from silas.stream.look_answers import LookAnswers, ShownAnswer
from silas.stream.scope_work import ScopeWork
from silas.work.changes.held_store import HeldChanges, HeldStore, drop_changes
from silas.work.changes.recovery import RecoveryAudit
from silas.work.projects.ending import ProjectEnding
from silas.work.record import TaskRecord

_AT_WORK = frozenset({WorkItemStatus.pending, WorkItemStatus.running})
"""Work whose spent use still authorises its next effect."""

_YES = frozenset({ApprovalVerdict.approved, ApprovalVerdict.conditional})


class SignedApproval(NamedTuple):
    """An approval that was signed, and how it stands now.

    Attributes:
        item: What it is for; its token is there.
        state: `in force`, `at work` (its last use is being made), `lapsed` (what it binds is not as
            it was signed), or why it authorises nothing more: `used`, `expired`, `revoked`, `void`
            (an emergency stop), `declined`.
        uses: How many of its own uses were spent, since it was narrowed where it was.
        why: Of one that lapsed what is not as it was, and what to do.
    """

    item: WorkItem
    token: ApprovalToken
    state: str
    uses: int
    why: str = ""

    @property
    def used(self) -> int:
        """How many uses were spent, those before it was narrowed included."""
        return self.uses + used_before(self.token)

    @property
    def of_all(self) -> int:
        """How many there were to spend, those before it was narrowed included."""
        return self.token.max_executions + used_before(self.token)

    @property
    def asks_each_time(self) -> bool:
        """Whether it spends nothing: its goal looks at a folder, and asks about each batch."""
        return self.item.cycle == TIDIES

    @property
    def of_a_goal(self) -> bool:
        """Whether it is a goal's, on work that the goal started: the goal has a row of its own."""
        return started_alone(self.item)


@dataclass(frozen=True)
class ApprovalService:
    """For `silas approvals`: it signs nothing and runs nothing.

    Attributes:
        warnings: What the owner must be told, such as that the record was changed.
    """

    store: WorkItemStore
    asked: WaitingPlans
    held: HeldStore
    nonces: NonceStore
    audit: RecoveryAudit
    time: EffectiveClock
    stops: Stops
    work: ScopeWork
    warnings: list[str]
    looks: LookAnswers
    lapsed: Lapsed

    def showing(self) -> list[ShownAnswer]:
        """What the owner answered about showing directories to models, by directory."""
        return self.looks.all()

    def ask_again(self, workspace: str) -> list[ShownAnswer]:
        """Take the answers about a directory back; see `LookAnswers.take_back`."""
        return self.looks.take_back(workspace, self.audit.log_now)

    def clock(self) -> ClockState:
        """How the machine's clock stands to what approvals have come to."""
        return self.time.state()

    def confirm_clock(self) -> ClockState:
        """The owner says that the machine's clock is right; see `EffectiveClock.confirm`."""
        return self.time.confirm()

    async def waiting(self) -> list[WaitingPlan]:
        """Plans that the owner was asked about and has not answered, the oldest first."""
        return await self.asked.all()

    async def list_given(self) -> list[SignedApproval]:
        """Every approval that is kept with its work, the newest last."""
        items = [item for status in WorkItemStatus for item in await self._list_by_status(status)]
        given = [await with_tasks(item, self.store) for item in items if item.approval_token]
        found = [await self._stands(item, t) for item in given if (t := item.approval_token)]
        if any(one.state == "expired" for one in found):
            used = _used_on_record(self.audit)
            found = [one._replace(uses=max(one.uses, used[one.token.token_id])) for one in found]
        return sorted(found, key=lambda each: (each.token.issued_at, each.item.id))

    async def as_shown(self, held: HeldChanges) -> HeldChanges:
        """Changes that wait, without what rests on something that was forgotten."""
        return held._replace(result=await self.work.as_shown(held.result))

    def changes(self) -> list[HeldChanges]:
        """Changes of work that wait for the owner's yes, the oldest first."""
        return self.held.all()

    async def find(self, named: str) -> WaitingPlan | HeldChanges | SignedApproval:
        """What the owner names by the id of the work, or by that of its approval or its beginning.

        Raises:
            ApprovalError: There is none, or more than one.
        """
        waiting = [one for one in await self.waiting() if one.item.id == named]
        if waiting:
            return waiting[0]
        held = self.held.find(named)
        if held is not None:
            return held
        found = [
            each
            for each in await self.list_given()
            if named == each.item.id or (len(named) >= 8 and each.token.token_id.startswith(named))
        ]
        if len(found) == 1:
            return found[0]
        raise ApprovalError(
            f"There is no approval for {named!r}, and no question about it; `silas approvals list` "
            "has the ids."
            if not found
            else f"{named!r} begins the id of several approvals; give more of it.",
            code="E_APPROVAL_UNKNOWN",
        )

    async def deny(self, named: str) -> WorkItem:
        """Answer an open question with no, for good.

        Raises:
            ApprovalError: No question about it is open.
        """
        found = await self.find(named)
        if isinstance(found, HeldChanges):
            return await self._drop_changes(found)
        if isinstance(found, SignedApproval):
            stands = (
                f"`silas approvals revoke {found.item.id}` takes its approval back"
                if found.state in _STANDING
                else f"its approval authorises nothing any more ({found.state})"
            )
            raise ApprovalError(
                f"{found.item.id} does not wait for an answer; {stands}.",
                code="E_APPROVAL_NOT_WAITING",
                work_item_id=found.item.id,
            )
        await self.audit.log("plan_not_approved", work_item_id=found.item.id, verdict="declined")
        await self.asked.drop(found.item)
        return found.item

    async def _drop_changes(self, held: HeldChanges) -> WorkItem:
        item = await self.store.get(held.work_item_id)
        if item is None:
            raise missing_item(held.work_item_id)
        await drop_changes(held, item, self.held, TaskRecord(self.store, self.audit), self.audit)
        project = await waiting_project(item, self.store)
        if project is not None and project.status is WorkItemStatus.blocked:  # else it notices
            await ProjectEnding(self.store, self.audit).end_failed(project, item, "")
        return item

    async def revoke(self, named: str) -> SignedApproval:
        """Take an approval back: nothing of it begins, and what is under way ends.

        Args:
            named: As `find` takes it, or a goal by words of its title.

        Raises:
            ApprovalError: There is none, or it authorises nothing any more.
            GoalRefused: The words fit several goals.
        """
        found = await self._find_given(named)
        if isinstance(found, WaitingPlan | HeldChanges):
            raise ApprovalError(
                f"{named} was not approved yet; `silas approvals deny {named}` answers it with no.",
                code="E_APPROVAL_NOT_GIVEN",
                work_item_id=named,
            )
        taken = found.state in _STANDING
        if not taken or not await revoke(found.token, self.nonces, self.audit):
            raise ApprovalError(
                f"The approval of {found.item.id} authorises nothing any more "
                f"({found.state if not taken else 'revoked'}); nothing was changed.",
                code="E_APPROVAL_OVER",
                work_item_id=found.item.id,
            )
        return found

    async def _find_given(self, named: str) -> WaitingPlan | HeldChanges | SignedApproval:
        """As `find`; where there is nothing of that id, a goal whose title has these words."""
        try:
            return await self.find(named)
        except ApprovalError:
            given = [one for one in await self.list_given() if one.state in _STANDING]
            goals = [one.item for one in given if one.item.type is WorkItemType.goal]
            there = [goal_name(item.id, item) for item in goals]
            meant = the_one(named, goals_named(named, there))
            if meant is None:
                raise
        return await self.find(meant.id)

    async def _list_by_status(self, status: WorkItemStatus) -> list[WorkItem]:
        return await self.store.list_by_status(status)

    async def _stands(self, item: WorkItem, token: ApprovalToken) -> SignedApproval:
        now = self.time.now()  # first, since a jump that is noticed here voids the token
        return await how_it_stands(item, token, self.nonces, self.stops, now, self.lapsed)


async def how_it_stands(
    item: WorkItem,
    token: ApprovalToken,
    nonces: NonceStore,
    stops: Stops,
    now: datetime,
    lapsed: Lapsed,
) -> SignedApproval:
    """How the approval of a piece of work stands at a moment of effective time."""
    uses = await nonces.uses(token.token_id)
    gone = await nonces.is_used("revoked", token.token_id)
    void = current(token, stops.stops()) is not None
    state = _state(item, token, uses, now, revoked=gone, void=void)
    # One yes to one piece of work is compared when that begins; a goal's waits for its clock.
    looks = state == "in force" and token.scope is ApprovalScope.standing
    why = await lapsed(item) if looks else ""
    if looks and not why and plan_hash(item) != token.plan_hash:
        why = lapse_words(tr(NOT_APPROVED))
    return SignedApproval(item, token, "lapsed" if why else state, uses, why)


def _used_on_record(audit: RecoveryAudit) -> Counter[str]:
    """How often each approval was used: of one that is over the nonces are forgotten."""
    entries = audit.newest_first("approval.used")
    return Counter(
        str(about.get("token_id")) for event, about in entries if event == "approval.used"
    )


_STANDING = ("in force", "at work", "lapsed")
"""The states in which an approval can be taken back."""


def _state(
    item: WorkItem, token: ApprovalToken, uses: int, now: datetime, *, revoked: bool, void: bool
) -> str:
    rules = (
        (token.verdict not in _YES, "declined"),
        (revoked, "revoked"),
        (void, "void"),
        (token.expires_at <= now, "expired"),
        (uses < token.max_executions, "in force"),
        (item.status in _AT_WORK, "at work"),
    )
    return next((state for holds, state in rules if holds), "used")


@asynccontextmanager
async def open_approvals(config: SilasConfig) -> "AsyncGenerator[ApprovalService]":
    """The approvals of an initialised Silas, without starting anything else."""
    warnings: list[str] = []
    with open_record(config, warnings) as (db, audit, ring):  # nothing is signed here
        warn_if_changed(audit, warnings)
        await settle_succession(db, audit, ring)
        clock = SystemClock()
        time = effective_time(db, clock, audit)
        yield ApprovalService(
            SqlWorkItemStore(db, clock),
            SqlWaitingPlans(db, clock),
            HeldStore(config.data_dir / "held"),
            SqlNonceStore(db, time, config.nonce_store),
            audit,
            time,
            StopEpochs(db, clock, Sentinel(config.data_dir, config.scheduler.zone)),
            scope_work(db, clock),
            warnings,
            LookAnswers(db, clock),
            lapsed_here(config, audit),
        )
