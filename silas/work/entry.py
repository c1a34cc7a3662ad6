"""What must hold before a task starts; the enforcement point of "no approval, no execution"."""

from collections.abc import Callable
from pathlib import Path

from silas.approval import ApprovalToken, ApprovalVerifier, Verdict
from silas.plans import WorkItem
from silas.plans.binding import PlanBinding
from silas.work.authority.plan_ability import PlanAbility
from silas.work.authority.plan_approval import MISSING, check_plan, refusal_of

_EDITED = Verdict(False, "its counters were edited")


class FirstRefusal:
    """Asks several whether an item could run; the first that says why not is heard.

    Args:
        asked: Each says why, in one sentence, or nothing.
    """

    def __init__(self, *asked: Callable[[WorkItem], str]) -> None:
        self._asked = asked

    def __call__(self, item: WorkItem) -> str:
        """Why this item could not run, or nothing."""
        return next((why for ask in self._asked if (why := ask(item))), "")


class EntryCheck:
    """Asks whether an item may run, before anybody is asked about it and as long as it does.

    Args:
        approval: Says whether the plan's approval holds.
        binding: Says whether what is there is what the approval binds.
        ability: Whether what the plan needs is there; asked before a card is made, so that nobody
            is asked in vain, and again at every entry.
    """

    def __init__(
        self,
        approval: ApprovalVerifier,
        binding: PlanBinding,
        ability: PlanAbility,
    ) -> None:
        self._approval = approval
        self._binding = binding
        self.ability = ability

    async def refuse(self, item: WorkItem, copied: tuple[int, int] | None) -> str:
        """Why this item may not run as it is now, or nothing (5.2.1 step 0).

        Everything is asked afresh: what `ability` asks, what `check_plan` asks, that the token's
        counters agree, and that all of it is what the approval binds.

        Args:
            item: With its token.
            copied: The directory that the work has copied, if it has begun.
        """
        if unable := self.ability.unable(item):
            return unable
        if item.approval_token is not None and not _counters_agree(item.approval_token):
            return refusal_of(_EDITED)
        verdict = await check_plan(item, self._approval)
        verdict = verdict and await self._binding.check(item, copied)
        return refusal_of(verdict)

    async def unbound(self, item: WorkItem, copied: tuple[int, int] | None) -> str:
        """Why what is there is not what the approval binds, or nothing; see `PlanBinding.check`."""
        return refusal_of(await self._binding.check(item, copied))

    async def unbound_copy(self, item: WorkItem, copied: tuple[int, int], copy: Path) -> str:
        """The same of the copy before the work changes it; see `PlanBinding.check_copy`."""
        return refusal_of(await self._binding.check_copy(item, copied, copy))

    async def has_expired(self, item: WorkItem) -> bool:
        """Whether the time of its approval is over, and nothing else is wrong with it."""
        return (await check_plan(item, self._approval)).code == "E_APPROVAL_EXPIRED"

    async def taken_back(self, item: WorkItem) -> str:
        """See `taken_back`."""
        return await taken_back(item, self._approval)


async def taken_back(item: WorkItem, approval: ApprovalVerifier) -> str:
    """That the owner revoked the approval while the work was done or checked, or nothing.

    Time that ran out while it was checked is no reason to throw the work away; his word is.
    """
    verdict = await check_plan(item, approval)
    gone = verdict.code in (MISSING, "E_APPROVAL_REVOKED")
    return refusal_of(verdict) if gone else ""


def _counters_agree(token: ApprovalToken) -> bool:
    """Whether the view of a token's uses agrees with itself; the nonce store alone counts them."""
    return token.executions_used == len(set(token.execution_nonces)) <= token.max_executions
