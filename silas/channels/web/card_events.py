"""Cards as events for a page, and what a page's answer means (spec 8.1).

An answer counts only if it is one that the card offered; a table names each kind of answer.
"""

from collections.abc import Callable
from datetime import datetime
from typing import Any, NamedTuple

from silas.canonical import canonical_bytes, sha256_hex
from silas.cards import Card, GateCard, HeldCard, PlanAnswer, PlanCard, ToolCallCard
from silas.cards.models import (
    AutonomyThresholdCard,
    BatchAnswer,
    BatchReviewCard,
    BatchRow,
    CheckpointCard,
    ConnectionFailureCard,
    ConnectionSetupCard,
    DecisionAnswer,
    DecisionCard,
    DraftAnswer,
    DraftReviewCard,
    PermissionEscalationCard,
    SecureInputAnswer,
    SecureInputCard,
    SetupAnswer,
    SuggestionCard,
)
from silas.channels.web import questions, wire
from silas.channels.web.questions import CardAction, CardDetail, CardEvent, CardFace
from silas.plans.characters import as_shown

_UNSIGNED = {"digest", "asked_at", "expires_at"}


class CardAsked(NamedTuple):
    """When a card was asked, until when, and under which name."""

    request_id: str
    asked_at: datetime
    expires_at: datetime


def card_event(card: Card[Any], asked: CardAsked) -> CardEvent:
    """The question as a page gets it, with the digest that an answer is signed with."""
    for kind, fields in _FIELDS:
        if isinstance(card, kind):
            made = _EVENTS[kind](card=face_of(card), **asked._asdict(), **fields(card))
            return made.model_copy(update={"digest": digest_of(made)})
    raise AssertionError(f"no page shows a {type(card).__name__}")


def digest_of(event: CardEvent) -> str:
    """Hex SHA-256 of everything of a question that its answer is bound to."""
    return sha256_hex(canonical_bytes(event.model_dump(mode="json", exclude=_UNSIGNED)))


def face_of(card: Card[Any]) -> CardFace:
    """The anatomy every card shares; hidden characters become visible."""
    return CardFace(
        intent=as_shown(card.intent),
        risk_level=card.risk.value,
        rationale=as_shown(card.rationale),
        affected=as_shown(card.affected),
        effect=as_shown(card.effect),
        actions=_actions(card),
        details=tuple(
            CardDetail(
                heading=as_shown(d.heading), lines=tuple(map(as_shown, d.lines)), open=d.open
            )
            for d in card.details
        ),
    )


def _actions(card: Card[Any]) -> tuple[CardAction, ...]:
    return tuple(
        CardAction(label=as_shown(a.label), value=_word_of(card, a.value), role=a.role)
        for a in card.actions
    )


_NOTHING_CHOSEN: dict[type[Card[Any]], str] = {
    PermissionEscalationCard: "deny",
    ConnectionFailureCard: "skip",
}
"""The word of an answer that chooses nothing, where the protocol has one."""


def _word_of(card: Card[Any], value: Any) -> str | None:
    """An answer as a page sends it back: its one deciding word."""
    match value:
        case PlanAnswer(verdict=word) | BatchAnswer(verdict=word) | DraftAnswer(verdict=word):
            return word
        case SecureInputAnswer(success=done):
            return "stored" if done else "cancel"
        case SetupAnswer(action=word):
            return word
        case DecisionAnswer(selected_value=word):
            return _NOTHING_CHOSEN.get(type(card)) if word is None else word
        case _:
            return str(value)


def _section(card: Card[Any], heading: str) -> tuple[str, ...]:
    return next((detail.lines for detail in card.details if detail.heading == heading), ())


def _checks(lines: tuple[str, ...]) -> tuple[str, ...]:
    """One line a check; what each runs stands in the card's details, whole."""
    return tuple(line for line in lines if line.startswith("check ")) or lines


def _plan(card: PlanCard) -> dict[str, Any]:
    return {
        "work_item_id": card.work_item_id,
        "plan_hash": card.plan_hash,
        "title": card.intent,
        "body": "\n".join(_section(card, "What it does")),
        "budget": _section(card, "Budget"),
        "verify": _checks(_section(card, "What verifies it")),
    }


_ROW_WORDS = frozenset({"title", "group", "reason"})


def _batch(card: BatchReviewCard) -> dict[str, Any]:
    """One row an item; what stands out starts unchecked (0.5.4)."""
    return {
        "batch": {
            "batch_id": card.batch_id,
            "items": [
                {name: as_shown(v) if name in _ROW_WORDS else v for name, v in row}
                for row in _rows(card)
            ],
        }
    }


def _rows(card: BatchReviewCard) -> tuple[BatchRow, ...]:
    rows = card.rows or tuple(BatchRow(item_id=one, title=one) for one in card.item_ids)
    return tuple(row.model_copy(update={"item_id": _on_a_page(row.item_id)}) for row in rows)


def _on_a_page(item_id: str) -> str:
    """What a page calls an item: by its digest where its id is longer than a frame's may be."""
    return item_id if len(item_id) <= wire.LONGEST_ID else sha256_hex(item_id.encode())


_EVENTS: dict[type[Card[Any]], Callable[..., CardEvent]] = {
    PlanCard: questions.ApprovalRequest,
    GateCard: questions.GateApproval,
    ToolCallCard: questions.ToolCallRequest,
    HeldCard: questions.HeldRequest,
    CheckpointCard: questions.CheckpointQuestion,
    BatchReviewCard: questions.BatchReview,
    DraftReviewCard: questions.DraftReview,
    DecisionCard: questions.DecisionQuestion,
    SuggestionCard: questions.Suggestion,
    AutonomyThresholdCard: questions.AutonomyThresholdReview,
    SecureInputCard: questions.SecureInputRequest,
    ConnectionSetupCard: questions.ConnectionSetupStep,
    PermissionEscalationCard: questions.PermissionEscalation,
    ConnectionFailureCard: questions.ConnectionFailure,
}

_FIELDS: tuple[tuple[type[Card[Any]], Callable[[Any], dict[str, Any]]], ...] = (
    (PlanCard, _plan),
    (GateCard, lambda c: {"gate_name": c.gate_name, "context": c.rationale}),
    (
        ToolCallCard,
        lambda c: {
            "tool_name": c.tool_name,
            "call_digest": c.call_digest,
            "asked_by": c.asked_by,
        },
    ),
    (HeldCard, lambda c: {"work_item_id": c.work_item_id, "changes_digest": c.digest}),
    (CheckpointCard, lambda c: {"message": c.rationale, "options": _actions(c)}),
    (BatchReviewCard, _batch),
    (DraftReviewCard, lambda c: {"context": c.rationale, "draft": c.draft}),
    (
        DecisionCard,
        lambda c: {
            "question": c.intent,
            "options": _actions(c),
            "allow_freetext": c.allow_freetext,
        },
    ),
    (
        SuggestionCard,
        lambda c: {"suggestion": {"suggestion_id": c.suggestion_id, "intent": c.intent}},
    ),
    (
        AutonomyThresholdCard,
        lambda c: {"proposal": {"proposal_id": c.proposal_id, "rationale": c.rationale}},
    ),
    (
        SecureInputCard,
        lambda c: {
            "ref_id": c.ref_id,
            "label": c.label,
            "input_hint": c.input_hint or None,
            "guidance": {"instructions": c.rationale, "help_url": None},
        },
    ),
    (ConnectionSetupCard, lambda c: {"step_type": c.step_type, "step": dict(c.step)}),
    (
        PermissionEscalationCard,
        lambda c: {
            "connection_name": c.connection_name,
            "current_permissions": c.current,
            "requested_permissions": c.requested,
            "reason": c.rationale,
            "risk_level": c.risk.value,
        },
    ),
    (
        ConnectionFailureCard,
        lambda c: {
            "failure_type": c.failure_type,
            "service": c.service,
            "message": c.rationale,
            "recovery_options": _actions(c),
        },
    ),
)
"""Which fields of spec 8.1 each card gives its event, beside the anatomy that all share."""


def answer_of(card: Card[Any], response: wire.Response) -> Any | None:
    """The answer that a page gave, or None where this card does not offer it."""
    match response, card:
        case wire.BatchReviewResponse(verdict="edit_selection"), BatchReviewCard():
            return _selection(card, response.selected_item_ids)
        case wire.DraftReviewResponse(), DraftReviewCard():
            return _draft(card, response)
        case (
            (wire.DecisionResponse() | wire.SuggestionResponse()),
            (DecisionCard() | SuggestionCard()),
        ):
            return _decision(card, response)
        case _ if isinstance(card, _ANSWERED_BY.get(type(response), ())):
            return _offered_value(card, _word(response))
        case _:
            return None


_ANSWERED_BY: dict[type[wire.Response], type[Card[Any]]] = {
    wire.ApprovalResponse: PlanCard,
    wire.GateResponse: GateCard,
    wire.ToolCallResponse: ToolCallCard,
    wire.HeldResponse: HeldCard,
    wire.CheckpointResponse: CheckpointCard,
    wire.BatchReviewResponse: BatchReviewCard,
    wire.AutonomyThresholdResponse: AutonomyThresholdCard,
    wire.ConnectionSetupResponse: ConnectionSetupCard,
    wire.PermissionEscalationResponse: PermissionEscalationCard,
    wire.ConnectionFailureResponse: ConnectionFailureCard,
}


def _word(response: wire.Response) -> str | None:
    match response:
        case wire.ConnectionSetupResponse():
            return response.action
        case wire.ConnectionFailureResponse():
            return response.selected_action
        case wire.DecisionResponse() | wire.SuggestionResponse():
            return response.selected_value
        case _:
            return response.verdict


def _offered_value(card: Card[Any], word: str | None) -> Any | None:
    """The value of the card's own action of that word; the first, where two have one word."""
    return next((a.value for a in card.actions if _word_of(card, a.value) == word), None)


def _selection(card: BatchReviewCard, chosen: tuple[str, ...]) -> BatchAnswer | None:
    """Some of the items; in the card's order, and none that is not on it."""
    called = {item: _on_a_page(item) for item in card.item_ids}
    if _offered_value(card, "edit_selection") is None or not set(chosen) <= set(called.values()):
        return None
    ordered = tuple(item for item in card.item_ids if called[item] in set(chosen))
    return BatchAnswer(verdict="edit_selection", selected_item_ids=ordered)


def _draft(card: DraftReviewCard, response: wire.DraftReviewResponse) -> DraftAnswer | None:
    """A draft's answer; words of the owner's own come with `edit` and with nothing else."""
    offered = _offered_value(card, response.verdict)
    if offered is None or (response.edited_text is not None) != (response.verdict == "edit"):
        return None
    return DraftAnswer(verdict=response.verdict, edited_text=response.edited_text)


def _decision(
    card: DecisionCard | SuggestionCard, response: wire.DecisionResponse | wire.SuggestionResponse
) -> DecisionAnswer | None:
    words = (response.freetext or "").strip() or None
    if words is not None and not (isinstance(card, DecisionCard) and card.allow_freetext):
        return None
    if response.selected_value is None and words:
        return DecisionAnswer(freetext=words, approved=True)
    offered = _offered_value(card, response.selected_value)
    return None if offered is None else offered.model_copy(update={"freetext": words})


def mark_proved(answer: Any) -> Any:
    """An answer that a device signed, marked so where it holds words of the owner's own."""
    words = isinstance(answer, DecisionAnswer) and answer.freetext
    return answer.model_copy(update={"signed": True}) if words else answer
