"""Less of what Silas may do without asking, each in one act; never more of anything (spec 5.9).

What was signed does not change, so a smaller approval is a new one, signed by the owner's key over
the same plan and the same bindings. It takes the place of the former one, which is taken back in
the same transaction: at no moment do both authorise anything.
"""

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from datetime import datetime
from typing import NamedTuple
from zoneinfo import ZoneInfo

from silas.approval import (
    ApprovalDecision,
    ApprovalScope,
    ApprovalToken,
    ApprovalVerdict,
    ApprovalVerifier,
    NonceStore,
)
from silas.approval.earlier_uses import noted_uses
from silas.approval.revocation import revoke
from silas.approval.verdict_words import verdict_words
from silas.audit import Audit
from silas.autonomy.calibrate import TunableSetting
from silas.autonomy.questions import setting_words
from silas.autonomy.signals import NARROWED
from silas.autonomy.store import SqlAutonomyStore
from silas.clock import Clock
from silas.db import at_once
from silas.errors import ApprovalError
from silas.language import tr, tr_later, tr_many
from silas.language.calendar import moment_words
from silas.plans import WorkItem, WorkItemStatus, WorkItemStore, subject_of
from silas.plans.binding import BINDS
from silas.plans.characters import show
from silas.types import OWNER

_UNDER_WAY = frozenset({WorkItemStatus.pending, WorkItemStatus.running, WorkItemStatus.paused})


class NarrowedApproval(NamedTuple):
    """A standing approval as it is now.

    Attributes:
        goal_id, title: Of whose work.
        uses: How often more it starts work without asking.
        until: When it ends, in UTC.
        zone: Its owner's.
        ends: The work under way that was started under the former one: it goes on no further.
    """

    goal_id: str
    title: str
    uses: int
    until: datetime
    zone: ZoneInfo
    ends: tuple[str, ...] = ()

    @property
    def words(self) -> str:
        """What is left of it, in one sentence, and one about the work that it ends."""
        times = tr_many(self.uses, "once more", "{count} times more")
        left = tr(
            "“{goal}” may start its work {times} without asking, until {until}.",
            goal=show(self.title),
            times=times,
            until=moment_words(self.until, self.zone),
        )
        if not self.ends:
            return left
        ended = tr(
            "Under way under the larger approval, and ended before its next effect: {tasks}.",
            tasks=", ".join(self.ends),
        )
        return f"{left} {ended}"


class TightenedSetting(NamedTuple):
    """A setting of how much Silas asks, before and after."""

    key: str
    before: str
    after: str


class TightenedSettings(NamedTuple):
    """What asks more often again; nothing where nothing was widened."""

    changed: tuple[TightenedSetting, ...]

    @property
    def words(self) -> str:
        """The same in one sentence."""
        if not self.changed:
            return tr("Silas asks as often as it is configured to; nothing was widened.")
        rows = ", ".join(
            tr(
                "{what} (`{key}`): {before} is {after} again",
                what=setting_words(one.key),
                **one._asdict(),
            )
            for one in self.changed
        )
        return tr("Silas asks more often from now on: {rows}.", rows=rows)


class ApprovalNarrowing:
    """Makes standing approvals smaller, takes them back, and undoes what was widened.

    Args:
        approval: Signs the smaller one.
        nonces: Counts what was spent, and takes the former one back.
        store: Keeps the goal with its approval.
        audit: The record.
        clock: Effective time.
        together: Opens a transaction that survives power loss.
        kept: The settings that the owner changed by cards.
        settings: The same as configured.
        zone: The owner's, in which moments are told.
    """

    def __init__(
        self,
        approval: ApprovalVerifier,
        nonces: NonceStore,
        store: WorkItemStore,
        audit: Audit,
        clock: Clock,
        together: Callable[[], AbstractContextManager[object]],
        kept: SqlAutonomyStore,
        settings: Mapping[str, TunableSetting],
        zone: ZoneInfo,
    ) -> None:
        self._approval = approval
        self._nonces = nonces
        self._store = store
        self._audit = audit
        self._clock = clock
        self._together = together
        self._kept = kept
        self._settings = settings
        self._zone = zone

    async def narrow(
        self, goal_id: str, uses: int | None, until: datetime | None
    ) -> NarrowedApproval:
        """Leave a goal's approval fewer uses, an earlier end, or both.

        Args:
            goal_id: Whose approval.
            uses: How often more it may start work without asking; None leaves what is left.
            until: When it ends; None leaves the end.

        Raises:
            ApprovalError: It has no standing approval in force, or this would not make it smaller;
                nothing was changed.
            Stopped: Silas is stopped, or its record was changed.
        """
        self._audit.require_whole()  # it signs a new token
        goal, token = await self._standing(goal_id)
        spent = await self._nonces.uses(token.token_id)
        left = token.max_executions - spent
        wanted, end = left if uses is None else uses, until or token.expires_at
        if fault := self._fault(wanted, left, end, token.expires_at):
            raise ApprovalError(
                f"{fault} `silas approvals revoke {goal_id}` takes all of it back.",
                code="E_APPROVAL_NOT_NARROWER",
                work_item_id=goal_id,
            )
        smaller = await self._approval.issue_token(
            subject_of(goal),
            ApprovalDecision(verdict=ApprovalVerdict.approved),
            ApprovalScope.standing,
            wanted,
            {
                **({BINDS: token.conditions[BINDS]} if BINDS in token.conditions else {}),
                **noted_uses(token, spent),
            },
            until=end,
        )
        with self._together():
            if not self._is_unchanged(goal_id, token, spent):
                at_once(self._nonces.revoke(smaller.token_id, smaller.expires_at, _nothing))
                fresh = None
            else:
                fresh = self._exchange_tokens(goal, token, smaller)
        if fresh is None:
            raise ApprovalError(
                f"The approval of {goal_id} was used or changed meanwhile; try again.",
                code="E_APPROVAL_CHANGED",
                work_item_id=goal_id,
            )
        return fresh

    async def take_back(self, goal_id: str) -> None:
        """Take all of a goal's approval back. Raises `ApprovalError` where it has none."""
        _, token = await self._standing(goal_id)
        await revoke(token, self._nonces, self._audit)

    def tighten(self) -> TightenedSettings:
        """Every setting that lets Silas ask less than configured is as configured again.

        Returns:
            What changed, before and after; nothing where nothing was widened.
        """
        wider = tuple(
            TightenedSetting(key, value, f"{self._settings[key].configured:g}")
            for key, value in self._kept.thresholds(OWNER).items()
            if key in self._settings and self._is_wider(key, value)
        )

        def witness() -> None:
            changed = [f"{one.key} = {one.after}" for one in wider]
            self._audit.log_now("autonomy_tightened", changed=changed)

        if wider:
            self._kept.reset(OWNER, [one.key for one in wider], witness)
            self._kept.note(NARROWED, self._clock.now())
        return TightenedSettings(wider)

    def _is_wider(self, key: str, kept: str) -> bool:
        setting = self._settings[key]
        return setting.is_wider(setting.in_force(kept))

    def _fault(self, uses: int, left: int, end: datetime, ends: datetime) -> str:
        """Why this is no smaller approval; nothing where it is one."""
        if uses < 1 or end <= self._clock.now():
            return tr_later("That leaves nothing of it.")
        if uses > left:
            return f"It has {left} uses left, and narrowing adds none."
        if end > ends:
            at = ends.astimezone(self._zone)
            return (
                f"It ends on {at:%A %-d %B %Y, %H:%M} ({self._zone.key}), and narrowing puts no "
                "end off."
            )
        if (uses, end) == (left, ends):
            return tr_later("That changes nothing of it.")
        return ""

    async def _standing(self, goal_id: str) -> tuple[WorkItem, ApprovalToken]:
        goal = await self._store.get(goal_id)
        if goal is None:
            raise ApprovalError(
                f"There is no approval for {goal_id!r}; `silas approvals list` has the ids.",
                code="E_APPROVAL_UNKNOWN",
            )
        token = goal.approval_token
        if token is not None and token.scope is ApprovalScope.standing:
            if verdict := await self._approval.stands(token, subject_of(goal)):
                return goal, token
            why = verdict_words(verdict, "{why}")
        else:
            why = tr_later("there is none")
        raise ApprovalError(
            f"{goal_id} has no standing approval in force ({why}); nothing was changed.",
            code="E_APPROVAL_OVER",
            work_item_id=goal_id,
        )

    def _is_unchanged(self, goal_id: str, token: ApprovalToken, spent: int) -> bool:
        known = at_once(self._store.get(goal_id))
        same = known is not None and known.approval_token == token
        gone = at_once(self._nonces.is_used("revoked", token.token_id))
        return same and not gone and at_once(self._nonces.uses(token.token_id)) == spent

    def _exchange_tokens(
        self, goal: WorkItem, former: ApprovalToken, smaller: ApprovalToken
    ) -> NarrowedApproval:
        def witness() -> None:
            self._audit.log_now(
                "approval.narrowed",
                work_item_id=goal.id,
                token_id=smaller.token_id,
                former=former.token_id,
                max_executions=smaller.max_executions,
                expires_at=smaller.expires_at.isoformat(),
            )

        ends = tuple(
            one.id
            for one in at_once(self._store.list_by_parent(goal.id))
            if one.status in _UNDER_WAY
            and one.approval_token is not None
            and one.approval_token.token_id == former.token_id
        )
        goal.approval_token = smaller
        at_once(self._store.save(goal))
        at_once(self._nonces.revoke(former.token_id, former.expires_at, witness))
        self._kept.note(NARROWED, self._clock.now())
        return NarrowedApproval(
            goal.id, goal.title, smaller.max_executions, smaller.expires_at, self._zone, ends
        )


def _nothing() -> None:
    """Nothing is to be recorded: it never authorised anything."""
