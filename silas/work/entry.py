"""What must hold before a task starts; the enforcement point of "no approval, no execution"."""

from collections.abc import Callable
from pathlib import Path

from silas.approval import ApprovalToken, ApprovalVerifier
from silas.plans import WorkItem, WorkItemType, subject_of
from silas.plans.binding import PlanBinding
from silas.plans.reach import hosts_of, hosts_of_check
from silas.sandbox.names import Refused
from silas.skills import Skills
from silas.work.models import MissingSecrets


async def refuse_entry(
    item: WorkItem,
    approval: ApprovalVerifier,
    binding: PlanBinding,
    skills: Skills,
    secrets: MissingSecrets,
    grants: Callable[[WorkItem], str],
    workers: Callable[[WorkItem], str],
    copied: tuple[int, int] | None,
) -> str | None:
    """The reason why this item may not run, or None (5.2.1 step 0).

    Everything is asked afresh: the signature, the hash over the item as it is now, the expiry,
    that a use was spent on it, that everything the plan names can be honoured, and that all of it
    is what the approval binds. `copied` is the directory that the work has copied, if it has begun.
    """
    if item.type is not WorkItemType.task:
        return f"This version runs tasks; {item.id} is a {item.type}."
    unclear = _unclear_host(item)
    if unclear:
        return f"The plan names what cannot be reached by name: {unclear}"
    missing = skills.missing(item.skills)
    if missing:
        return f"The plan needs skills that are not installed: {', '.join(missing)}."
    unmet = grants(item) or workers(item)
    if unmet:
        return unmet
    withheld = secrets(item.credential_refs)
    if withheld:
        return f"The plan asks for a secret that it cannot have: {withheld}."
    if item.approval_token is None:
        return "There is no approval for this plan."
    if not _counters_agree(item.approval_token):
        return "The approval does not hold: its counters were edited."
    verdict = await approval.check(item.approval_token, subject_of(item))
    verdict = verdict and await binding.check(item, copied)
    return None if verdict else f"The approval does not hold: {verdict.reason.rstrip('.')}."


class EntryCheck:
    """Asks whether an item may run, and goes on asking while it does."""

    def __init__(
        self,
        approval: ApprovalVerifier,
        binding: PlanBinding,
        skills: Skills,
        secrets: MissingSecrets,
        grants: Callable[[WorkItem], str],
        workers: Callable[[WorkItem], str],
    ) -> None:
        self._approval = approval
        self._binding = binding
        self._rest = skills, secrets, grants, workers

    async def refuse(self, item: WorkItem, copied: tuple[int, int] | None) -> str | None:
        """See `refuse_entry`."""
        return await refuse_entry(item, self._approval, self._binding, *self._rest, copied)

    async def unbound(
        self, item: WorkItem, copied: tuple[int, int] | None, copy: Path | None = None
    ) -> str | None:
        """Why what is there is not what the approval binds, or None; see `PlanBinding.check`."""
        verdict = await self._binding.check(item, copied, copy)
        return verdict.reason if not verdict else None

    async def taken_back(self, item: WorkItem) -> str | None:
        """See `taken_back`."""
        return await taken_back(item, self._approval)


async def taken_back(item: WorkItem, approval: ApprovalVerifier) -> str | None:
    """That the owner revoked the approval while the work was done or checked, or None.

    Time that ran out while it was checked is no reason to throw the work away; his word is.
    """
    if item.approval_token is None:
        return "There is no approval for this plan."
    verdict = await approval.check(item.approval_token, subject_of(item))
    if verdict.code != "E_APPROVAL_REVOKED":
        return None
    return f"The approval does not hold: {verdict.reason.rstrip('.')}."


def _counters_agree(token: ApprovalToken) -> bool:
    """Whether the view of a token's uses agrees with itself; the nonce store alone counts them."""
    return token.executions_used == len(set(token.execution_nonces)) <= token.max_executions


def _unclear_host(item: WorkItem) -> str:
    """What is wrong with the first host that is no plain name; nothing if all are."""
    try:
        hosts_of(item.network)
        for check in item.verify:
            hosts_of_check(check.network, check.run, item.network)
    except Refused as refusal:
        return refusal.message
    return ""
