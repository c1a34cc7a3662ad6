"""Why a token does not authorise: one pure function a reason (spec 5.11)."""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, Final, NamedTuple
from zoneinfo import ZoneInfo

from silas.approval.models import (
    ApprovalScope,
    ApprovalToken,
    ApprovalVerdict,
    Subject,
    token_bytes,
    token_id_of,
)
from silas.keys.port import FormerKey, FormerKeys, Signer
from silas.language import tr_later

CLOCK_SKEW = timedelta(seconds=30)
"""How far in the future a token may have been issued: clocks step back a little when corrected."""

SPAWN_POLICY = "spawn_policy_hash"
LIMITS = "limits"
STOPS = "stops"
"""How often Silas had been stopped when the token was signed; left out while it never was."""

NOT_APPROVED: Final = tr_later(
    "This is not what was approved: it was changed afterwards, or it is something else."
)
"""That a plan is not the one that its approval signed."""

RESERVED = frozenset({SPAWN_POLICY, LIMITS, STOPS})
"""Conditions that are computed, never given."""


class ApprovalRefusal(NamedTuple):
    """Why not: a code of the family `E_APPROVAL`, and a sentence."""

    code: str
    reason: str


def authentic(
    token: ApprovalToken, signer: Signer, former: FormerKeys, zone: ZoneInfo
) -> ApprovalRefusal | None:
    """Refuse what the owner did not sign exactly so, and an id that does not follow from it.

    What a key signed that was replaced meanwhile is the owner's, and authorises nothing any more.
    """
    return _refuse_former_key(token, signer, former, zone)[0]


def authentic_for_check(
    token: ApprovalToken, signer: Signer, former: FormerKeys, zone: ZoneInfo
) -> ApprovalRefusal | None:
    """As `authentic`; but work that was under way when its key was replaced may go on.

    Only what the new key vouched for by its id: the old key alone, perhaps in other hands,
    authorises nothing, whatever date it writes on an approval.
    """
    refusal, key = _refuse_former_key(token, signer, former, zone)
    return None if key is not None and token.token_id in key.running else refusal


def _refuse_former_key(
    token: ApprovalToken, signer: Signer, former: FormerKeys, zone: ZoneInfo
) -> tuple[ApprovalRefusal | None, FormerKey | None]:
    """Why the key in force does not stand behind a token, and the former key that did, if any."""
    try:
        signed = token_bytes(token)
    except (ValueError, TypeError):
        signed = b""  # what has no canonical bytes was never signed
    key: FormerKey | None = None
    if not signed or not signer.verify(signed, token.signature):
        key = former.signed_by(signed, token.signature) if signed else None
        if key is None or token.issued_at > key.retired_at:
            return ApprovalRefusal(
                "E_APPROVAL_SIGNATURE",
                tr_later(
                    "The signature does not match: the token was changed, or another key signed it."
                ),
            ), None
    if token.token_id != token_id_of(signed):
        return ApprovalRefusal("E_APPROVAL_TOKEN_ID", "The token's id is not its own."), None
    if key is None:
        return None, None
    at = key.retired_at.astimezone(zone)
    return ApprovalRefusal(
        "E_APPROVAL_KEY_RETIRED",
        "The approval was signed with a key that was replaced on "
        f"{at:%A %-d %B %Y, %H:%M} ({zone.key}); ask again.",
    ), key


def refuse_unless_yes(token: ApprovalToken) -> ApprovalRefusal | None:
    """Refuse every verdict that is not a yes."""
    if token.verdict in (ApprovalVerdict.approved, ApprovalVerdict.conditional):
        return None
    return ApprovalRefusal(
        "E_APPROVAL_VERDICT", f"The owner did not approve this: {token.verdict.value}."
    )


def refuse_other_subject(
    token: ApprovalToken, subject: Subject, spawned: Subject | None
) -> ApprovalRefusal | None:
    """Refuse another subject than the one that was approved, and what it did not spawn."""
    if token.plan_hash != subject.digest or token.work_item_id != subject.id:
        return ApprovalRefusal(
            "E_APPROVAL_SUBJECT",
            NOT_APPROVED,
        )
    if token.scope is not ApprovalScope.standing:
        if spawned is None:
            return None
        return ApprovalRefusal(
            "E_APPROVAL_SPAWN_UNEXPECTED",
            "Only a standing approval covers a spawned task; ask for an approval of its own.",
        )
    if subject.kind != "goal" or not subject.policy or subject.policy != _spawn_policy(token):
        return ApprovalRefusal(
            "E_APPROVAL_SPAWN_POLICY",
            tr_later("The goal may no longer spawn what was approved; ask again."),
        )
    if spawned is None:
        return ApprovalRefusal(
            "E_APPROVAL_SPAWN_REQUIRED", "Standing verification requires spawned_task."
        )
    return refuse_unspawned(token, spawned)


def for_goal(token: ApprovalToken, goal: Subject) -> ApprovalRefusal | None:
    """As `refuse_other_subject`, for a standing token before a spawn; any other is refused."""
    if token.scope is not ApprovalScope.standing:
        return ApprovalRefusal(
            "E_APPROVAL_SCOPE", tr_later("This is no standing approval; approve the goal again.")
        )
    refusal = refuse_other_subject(token, goal, None)
    return None if refusal and refusal.code == "E_APPROVAL_SPAWN_REQUIRED" else refusal


def bound_for_check(token: ApprovalToken, subject: Subject) -> ApprovalRefusal | None:
    """As `refuse_other_subject`, before execution, where a standing token meets a spawned task."""
    if token.scope is ApprovalScope.standing:
        return refuse_unspawned(token, subject)
    return refuse_other_subject(token, subject, None)


def refuse_unspawned(token: ApprovalToken, task: Subject) -> ApprovalRefusal | None:
    """Refuse a task that is not the product of the approved goal, or may use more than it."""
    if task.kind != "task" or not task.parent or task.parent != token.work_item_id:
        return ApprovalRefusal(
            "E_APPROVAL_SPAWN_FOREIGN", "The task was not spawned by the approved goal."
        )
    # From here the conditions are those the engine signed: a policy is there, and so are limits.
    if not task.policy or task.policy != _spawn_policy(token):
        return ApprovalRefusal(
            "E_APPROVAL_SPAWN_POLICY", "The spawned task is not what the approved goal spawns."
        )
    if not _within(task.limits, token.conditions[LIMITS]):
        return ApprovalRefusal(
            "E_APPROVAL_SPAWN_LIMITS", "The spawned task's budget exceeds its goal's."
        )
    return None


def timely(token: ApprovalToken, now: datetime) -> ApprovalRefusal | None:
    """Refuse before it was issued and from the moment it expires."""
    if token.issued_at > now + CLOCK_SKEW:
        return ApprovalRefusal(
            "E_APPROVAL_NOT_YET",
            tr_later("The token was issued in the future; check this machine's clock."),
        )
    if now >= token.expires_at:
        return ApprovalRefusal(
            "E_APPROVAL_EXPIRED", tr_later("The approval has expired; ask again.")
        )
    return None


def current(token: ApprovalToken, stops: int) -> ApprovalRefusal | None:
    """Refuse what was approved before an emergency stop, whatever the clock says."""
    if token.conditions.get(STOPS, 0) == stops:
        return None
    return ApprovalRefusal(
        "E_APPROVAL_VOID",
        tr_later(
            "The approval is void: Silas was stopped, or its clock jumped, after it was given; "
            "ask again."
        ),
    )


def conditions_met(token: ApprovalToken, now: datetime) -> ApprovalRefusal | None:
    """Refuse where a condition does not hold.

    What an `approved` token binds besides (digests, for example) is for whoever bound it to check.
    A `conditional` token authorises nothing by a condition that nobody here can evaluate, nor
    without any.
    """
    if not token.conditions and token.verdict is not ApprovalVerdict.conditional:
        return None
    given = {k: v for k, v in token.conditions.items() if k not in RESERVED}
    unknown = given.keys() - _CONDITIONS.keys()
    if token.verdict is ApprovalVerdict.conditional and (unknown or not given):
        named = ", ".join(sorted(unknown)) or "none is named"
        return ApprovalRefusal(
            "E_APPROVAL_CONDITIONS", f"A condition cannot be evaluated: {named}."
        )
    for name in sorted(given.keys() - unknown):
        if not _CONDITIONS[name](given[name], now):
            return ApprovalRefusal(
                "E_APPROVAL_CONDITIONS", f"The condition `{name}` does not hold."
            )
    return None


def uses_allowed(token: ApprovalToken) -> int:
    """How often a token may be used: more than once only where it is standing."""
    return token.max_executions if token.scope is ApprovalScope.standing else 1


def _spawn_policy(token: ApprovalToken) -> object:
    return token.conditions.get(SPAWN_POLICY)


def _within(limits: Sequence[float], ceiling: Sequence[float]) -> bool:
    # `<=` is false for NaN, so that a limit that is no number is over the limit.
    return len(ceiling) == len(limits) and all(a <= b for a, b in zip(limits, ceiling, strict=True))


def _moment(value: Any) -> datetime | None:
    try:
        moment = datetime.fromisoformat(value)
    except (TypeError, ValueError):
        return None
    return moment if moment.tzinfo is not None else None


def _not_before(value: Any, now: datetime) -> bool:
    moment = _moment(value)
    return moment is not None and now >= moment


def _not_after(value: Any, now: datetime) -> bool:
    moment = _moment(value)
    return moment is not None and now <= moment


_CONDITIONS: Mapping[str, Callable[[Any, datetime], bool]] = {
    "not_before": _not_before,
    "not_after": _not_after,
}
"""What the engine can evaluate itself: ISO 8601 moments with a timezone."""
