"""How one run answers the questions of its toolsets; given with the run, gone with it."""

from collections.abc import Generator, Sequence
from contextlib import contextmanager
from typing import Final

from silas.approval import ApprovalDecision, ApprovalVerdict
from silas.plans import WorkItem
from silas.tools import RunApprovalMode, RunApprovalPolicy
from silas.work.models import AlreadyRunning, AskCalls, CallQuestion

PROMPT: Final = RunApprovalPolicy()
"""What holds for a run that nobody said anything about: whoever is there is asked."""


class RunPolicies:
    """The policies of the runs under way, by work item: an item has one run at a time.

    A run that is resumed after a crash has none, so it asks.
    """

    def __init__(self) -> None:
        self._given: dict[str, RunApprovalPolicy] = {}

    @contextmanager
    def hold_policy(self, work_item_id: str, policy: RunApprovalPolicy) -> Generator[None]:
        """The policy of a run, from now to its end.

        Raises:
            AlreadyRunning: The item has one already; nothing of it was changed.
        """
        if work_item_id in self._given:
            raise AlreadyRunning(f"{work_item_id} is running already.", work_item_id=work_item_id)
        self._given[work_item_id] = policy
        try:
            yield
        finally:
            del self._given[work_item_id]

    def of(self, work_item_id: str) -> RunApprovalPolicy:
        """What holds for the run of an item."""
        return self._given.get(work_item_id, PROMPT)


async def decline(item: WorkItem, questions: Sequence[CallQuestion]) -> Sequence[ApprovalDecision]:
    """The answer of a run that rejects everything: nobody is shown a card."""
    del item
    return [ApprovalDecision(verdict=ApprovalVerdict.declined) for _ in questions]


def asking(policy: RunApprovalPolicy, ask: AskCalls) -> AskCalls:
    """Who is asked in a run. To approve everything is no signature, so it still asks the owner."""
    return decline if policy.mode is RunApprovalMode.reject_all else ask
