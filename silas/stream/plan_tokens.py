"""The approvals that one yes to a plan mints: one, and of a project one for each task as well (spec
5.1.2, 13.5, decision D530).

A project's hash has the ids of its tasks only, so its token carries the digest of each, and each
task's token the id of the project's: neither is of use without the other.
"""

import json
from collections.abc import Callable, Mapping
from typing import Any, Final

from silas.approval import (
    ApprovalDecision,
    ApprovalScope,
    ApprovalToken,
    ApprovalVerdict,
    ApprovalVerifier,
)
from silas.approval.verdict_words import verdict_words
from silas.cards import PlanCard
from silas.errors import ApprovalError
from silas.plans import WorkItem, WorkItemType, plan_bytes, plan_card, plan_hash, subject_of
from silas.plans.binding import (
    BEFORE_YES,
    BINDS,
    PlanBinding,
    difference,
    files_signed,
    shown_signed,
    tools_signed,
)
from silas.plans.goals.card_part import recurs
from silas.plans.goals.standing import StandingLimit, limit_asked
from silas.plans.projects.card import BoundPlan, project_card
from silas.plans.projects.signed_tasks import of_project, of_task

Binds = Mapping[str, dict[str, Any]]
"""What an approval of each item binds, by the item's id."""

_YES: Final = ApprovalDecision(verdict=ApprovalVerdict.approved)
_DAY: Final = 24 * 60
"""Minutes that the approvals of a project hold, for a task of it may wait for its owner's answer
overnight; it is also the most that a signer apart signs."""


class PlanTokens:
    """Reads what a plan binds, shows it and signs it; asks nobody.

    Args:
        approval: Signs, and spends the one use of what it signed.
        binding: Reads what a plan would run.
        standing_limit: How often and how long one yes to a goal starts work without asking.
    """

    def __init__(
        self,
        approval: ApprovalVerifier,
        binding: PlanBinding,
        standing_limit: Callable[[], StandingLimit],
    ) -> None:
        self._approval = approval
        self._binding = binding
        self._standing_limit = standing_limit

    async def bind(self, item: WorkItem) -> Binds:
        """What approvals of a plan and of its tasks bind, as things are now.

        Raises:
            ApprovalError: It names what is not there.
        """
        return {one.id: await self._binding.of(one) for one in (item, *item.children)}

    def card(self, item: WorkItem, binds: Binds, rationale: str) -> PlanCard:
        """The one question about all of it."""
        own = _bind_plan(item, binds)
        if item.type is WorkItemType.project:
            return project_card(
                own, [_bind_plan(child, binds) for child in item.children], rationale
            )
        return plan_card(
            own.canonical,
            rationale=rationale,
            files=own.files,
            tools=own.tools,
            shown=own.shown,
            standing=self._limit(item),
        )

    def _limit(self, item: WorkItem) -> StandingLimit:
        return limit_asked(self._standing_limit(), item.standing)

    async def sign(self, item: WorkItem, card: PlanCard, binds: Binds) -> None:
        """Give a plan and its tasks the verified tokens for what was shown, or none of them.

        Raises:
            ApprovalError: Something differs from what was shown, or a signer apart was told no.
        """
        children = item.children
        if plan_hash(item) != card.plan_hash or tuple(map(plan_hash, children)) != card.task_hashes:
            raise ApprovalError("the plan changed after it was shown", code="E_APPROVAL_SUBJECT")
        await self._require_as_shown(item, binds)
        limit = self._limit(item)
        if any(shown not in card.details for shown in recurs(json.loads(plan_bytes(item)), limit)):
            raise ApprovalError(
                "how often it may run changed after it was shown", code="E_APPROVAL_SUBJECT"
            )
        if item.type is WorkItemType.goal:  # its uses are for what it spawns, each spent then
            standing = await self._standing(item, binds[item.id], limit)
            await self._require_as_shown(item, binds)
            item.approval_token = standing
            return
        minutes = _DAY if children else 0
        further = of_project(children) if children else {}
        token = await self._once(item, {**binds[item.id], **further}, minutes)
        part = of_task(token)
        tokens = [await self._once(one, {**binds[one.id], **part}, minutes) for one in children]
        await self._require_as_shown(item, binds)  # a signer apart has its own question
        item.approval_token = token
        for child, own in zip(children, tokens, strict=True):
            child.approval_token = own

    async def _require_as_shown(self, item: WorkItem, binds: Binds) -> None:
        """Raises `ApprovalError`: something that the plan or a task names is not as on the card."""
        for one in (item, *item.children):
            now = (await self._binding.of(one))[BINDS]
            if differs := difference(binds[one.id][BINDS], now, BEFORE_YES):
                raise ApprovalError(differs, code="E_APPROVAL_BINDING")

    async def _once(
        self, item: WorkItem, conditions: dict[str, Any], minutes: int
    ) -> ApprovalToken:
        token = await self._approval.issue_token(
            subject_of(item),
            _YES,
            scope=ApprovalScope.full_plan,
            conditions=conditions,
            ttl_minutes=minutes,
        )
        await self._approval.require(token, subject_of(item))
        return token

    async def _standing(
        self, goal: WorkItem, conditions: dict[str, Any], limit: StandingLimit
    ) -> ApprovalToken:
        token = await self._approval.issue_token(
            subject_of(goal),
            _YES,
            ApprovalScope.standing,
            limit.uses,
            conditions,
            ttl_minutes=limit.days * 24 * 60,
            until=limit.end,
        )
        verdict = await self._approval.stands(token, subject_of(goal))
        if not verdict:
            raise ApprovalError(verdict_words(verdict), code=verdict.code, work_item_id=goal.id)
        return token


def _bind_plan(item: WorkItem, binds: Binds) -> BoundPlan:
    conditions = binds[item.id]
    return BoundPlan(
        plan_bytes(item),
        files_signed(conditions),
        tools_signed(conditions),
        shown_signed(conditions),
    )
