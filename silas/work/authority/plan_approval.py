"""Whether the signed approval of a plan holds, and the sentence that says why not (5.2.1).

Start of work, its checks, a call of a tool and held changes each worded "no approval" and "does
not hold" by themselves. `check_plan` asks, `refusal_of` words; a difference from what the
approval binds reads the same at every one of them.
"""

from typing import Final

from silas.approval import ApprovalVerifier, Verdict
from silas.approval.verdict_words import verdict_words
from silas.plans import WorkItem, subject_of

MISSING: Final = "E_APPROVAL_MISSING"
"""The code of a verdict on what nobody approved."""

MISSING_APPROVAL: Final = Verdict(False, "There is no approval for this plan.", MISSING)


async def check_plan(item: WorkItem, approval: ApprovalVerifier) -> Verdict:
    """Ask the engine afresh: the signature, the hash over the item as it is now, the expiry, and
    that a use was spent on it.
    """
    if item.approval_token is None:
        return MISSING_APPROVAL
    return await approval.check(item.approval_token, subject_of(item))


def refusal_of(verdict: Verdict) -> str:
    """Why nothing may be done under an approval, in one sentence; empty where it holds."""
    missing = verdict.code == MISSING
    return verdict_words(verdict, "{why}." if missing else "The approval does not hold: {why}.")
