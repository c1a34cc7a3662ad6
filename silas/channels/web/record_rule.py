"""What the cockpit's endpoints may still do while the record is found changed: one table."""

from collections.abc import Callable, Mapping
from typing import Protocol

from fastapi import Depends, Request
from fastapi.params import Depends as Dependency

from silas.channels.web.proofs import Session

_ENDS = "it ends what is under way; nothing of it is applied"
_TAKES_AWAY = "it takes away what could do harm, and lets nothing new in"

PASSES: Mapping[str, str] = {
    "/answers/{message_id}/stop": _ENDS,
    "/approvals/tighten": _TAKES_AWAY,
    "/connections/{name}/distrust": _TAKES_AWAY,
    "/connections/{name}/remove": _TAKES_AWAY,
    "/devices/phone/close": _TAKES_AWAY,
    "/devices/{device_id}/revoke": _TAKES_AWAY,
    "/goals/{goal_id}/pause": _TAKES_AWAY,
    "/goals/{goal_id}/take-back": _TAKES_AWAY,
    "/memory/{memory_id}/forget": _TAKES_AWAY,
    "/reminders/{reminder_id}/cancel": _TAKES_AWAY,
    "/secrets/{ref_id}/remove": _TAKES_AWAY,
    "/stop": _ENDS,
    "/work/{work_item_id}/cancel": _ENDS,
}
"""Each endpoint that changes something and is not refused, and why; any other is refused.

`/pair` has no session yet, so the door refuses it, once it knows that the link is good.
"""

_ANSWERS = "it may be a no; what a yes would sign, keep or set off is refused by the record"

FRAMES: Mapping[str, str] = {
    "auth": "it shows how things stand; a device's newest head can only find a change",
    "message": "it is answered; every approval and effect inside it is refused by the record",
    "ping": "it is acknowledged, and does nothing else",
    "secure_input_completed": "it closes a form, and is believed of no secret",
    **dict.fromkeys(
        (
            "approval_response",
            "autonomy_threshold_response",
            "batch_review_response",
            "checkpoint",
            "connection_failure_response",
            "connection_setup_response",
            "decision_response",
            "draft_review_response",
            "gate_response",
            "held_response",
            "permission_escalation_response",
            "suggestion_response",
            "tool_call_response",
        ),
        _ANSWERS,
    ),
}
"""Each frame of a live connection that is not refused, and why; any other is refused."""

_LOOKING = frozenset({"GET", "HEAD"})


class WholeRecord(Protocol):
    """What the rule needs of the record."""

    def require_whole(self) -> None:
        """Raise `Stopped` where the record was changed outside Silas."""
        ...


def refused_while_changed(record: WholeRecord) -> Dependency:
    """A dependency of every endpoint with data: what changes something is refused, until the owner
    has looked. Who has no session is told so first.
    """

    async def require_unchanged(request: Request, session: Session) -> None:
        del session
        if request.method not in _LOOKING and _path(request) not in PASSES:
            record.require_whole()

    checked: Callable[..., object] = require_unchanged
    return Depends(checked)


def _path(request: Request) -> str:
    return str(getattr(request.scope.get("route"), "path", ""))
