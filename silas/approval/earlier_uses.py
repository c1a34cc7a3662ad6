"""What was spent of a standing approval before it was narrowed: told, and never counted as a use.

A narrowed approval is a new one, whose own uses begin at none. So it carries how many were spent of
those before it; its limit is that of its own uses alone.
"""

from typing import Any, Final

from silas.approval.models import ApprovalToken

USED_BEFORE: Final = "used_before"
"""The signed condition that says it; it allows and forbids nothing."""


def used_before(token: ApprovalToken) -> int:
    """How many uses were spent of the approvals whose place this one took."""
    found: object = token.conditions.get(USED_BEFORE)
    return found if type(found) is int and found > 0 else 0


def noted_uses(token: ApprovalToken, spent: int) -> dict[str, Any]:
    """The condition of the approval that takes the place of this one, of which `spent` are used."""
    before = used_before(token) + spent
    return {USED_BEFORE: before} if before else {}
