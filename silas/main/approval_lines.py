"""What commands about approvals print: lines for a person, documents for a program."""

from typing import TYPE_CHECKING, Any

from silas.language import tr, tr_later
from silas.main.output import ASKED, HELD, state_word

if TYPE_CHECKING:
    from zoneinfo import ZoneInfo

    from silas.plans import WaitingPlan
    from silas.services.approvals import SignedApproval
    from silas.work.changes.held_store import HeldChanges

_WORDS = (
    *(tr_later("approved"), tr_later("declined"), tr_later("edit_requested")),
    *(tr_later("conditional"), tr_later("full_plan"), tr_later("standing")),
    *(tr_later("budget"), tr_later("single_step"), tr_later("step_range"), tr_later("tool_type")),
    *(tr_later("skill_install"), tr_later("credential_use"), tr_later("self_update")),
    *(tr_later("yes"), tr_later("never"), tr_later("unreadable")),
)
"""What was answered, and for what it counts; a document for programs has them as they are."""
_OVER = ("used", "expired", "revoked", "void", "declined")


def term_words(word: str) -> str:
    """A word of an approval as the owner reads it."""
    return tr(word) if word in _WORDS else word


def held_document(one: "HeldChanges") -> dict[str, Any]:
    """Changes that wait for an answer."""
    return {
        "work_item": one.work_item_id,
        "title": one.title,
        "changes_hash": one.kept.digest,
        "approve": f"sha256:{one.kept.digest}",
        "state": HELD,
        "paths": [{"path": held.path, "why": held.why} for held in one.paths],
        "sources": list(one.sources),
    }


def is_worth_listing(one: "SignedApproval") -> bool:
    """Whether it still allows something; a goal's approval stands in the row of the goal alone."""
    return one.state not in _OVER and not (one.of_a_goal and one.state != "at work")


def uses_words(one: "SignedApproval", zone: "ZoneInfo") -> str:
    """How often it was used, of how many, and until when; of a goal that only asks, that."""
    from silas.language.calendar import moment_words

    if one.asks_each_time:
        return tr("asks you batch by batch, each time")
    until = moment_words(one.token.expires_at, zone)
    return tr("used {used} of {uses}, until {until}", used=one.used, uses=one.of_all, until=until)


def approval_lines(one: "SignedApproval", zone: "ZoneInfo") -> list[str]:
    """What a person is told of one approval."""
    from silas.language.calendar import moment_words

    token = one.token
    return [
        tr("Approval: {name}", name=token.token_id),
        tr("State: {state}; {uses}", state=state_word(one.state), uses=uses_words(one, zone)),
        *([tr("Lapsed: {why}", why=one.why)] if one.why else []),
        tr(
            "Answer: {verdict}, scope {scope}",
            verdict=term_words(token.verdict.value),
            scope=term_words(token.scope.value),
        ),
        tr("Signed: {moment}", moment=moment_words(token.issued_at, zone)),
    ]


def waiting_document(one: "WaitingPlan") -> dict[str, Any]:
    """A plan that waits for an answer."""
    from silas.services.plans import approve_hash, digest_of

    return {
        "work_item": one.item.id,
        "title": one.item.title,
        "plan_hash": digest_of(one.item),
        "approve": approve_hash(one.item),
        "state": ASKED,
        "changes_wanted": one.changes_wanted,
    }


def approval_document(one: "SignedApproval") -> dict[str, Any]:
    """An approval that was given."""
    from silas.services.plans import approve_hash

    token = one.token
    return {
        "work_item": one.item.id,
        "title": one.item.title,
        "plan_hash": token.plan_hash,
        "approve": approve_hash(one.item),
        "state": one.state,
        "why": one.why,
        "token": token.token_id,
        "scope": token.scope.value,
        "verdict": token.verdict.value,
        "issued_at": token.issued_at.isoformat(),
        "expires_at": token.expires_at.isoformat(),
        "uses": one.uses,
        "max_executions": token.max_executions,
        "used_before": one.used - one.uses,
    }
