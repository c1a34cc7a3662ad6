"""Questions that running work asks the owner, as cards (spec 5.2.1 c2, d).

What one answer of a model asks for stands on one card, each call whole, at most eight. In a turn
nothing that acts is asked about: it takes a plan.
"""

import json
from collections.abc import Awaitable, Callable, Mapping, Sequence

from silas.approval import ApprovalDecision, ApprovalVerdict
from silas.audit import Audit
from silas.autonomy import Decision
from silas.canonical import canonical_json
from silas.cards import Action, CardChannel, Detail, ToolCallCard
from silas.cards.models import BatchAnswer, BatchReviewCard, BatchRow
from silas.clock import Clock
from silas.gates import GateResult
from silas.language import as_part, tr, tr_later
from silas.plans import WorkItem, show, show_lines
from silas.plans.characters import show_exactly
from silas.stream.ask_reasons import describe_reasons
from silas.stream.held_card import held_card
from silas.stream.owner import Owner
from silas.stream.turn_gates import gate_card
from silas.tools import RiskLevel, ValidatedCall
from silas.types import OWNER, Origin, OriginKind, Risk
from silas.work.changes.held_store import HeldAnswer, HeldChanges
from silas.work.models import CallQuestion, UntrustedArgument

MOST_AT_ONCE = 8
"""Calls on one card; of more nobody reads each."""

_CLAIMED = 600  # characters of what a tool says itself

Claim = Callable[[ValidatedCall], str]
"""What a tool's own code says that a call would do; empty where it says nothing."""

CallNoted = Callable[[WorkItem, str, Decision], Awaitable[None]]
"""(work item, tool, decision): takes note of what the owner said of a call; never fails."""

REFUSED = BatchAnswer(verdict="decline")

_VERDICTS = {True: ApprovalVerdict.approved, False: ApprovalVerdict.declined}

_CARD_RISK = {
    RiskLevel.low: Risk.medium,  # a call that asks at all is worth a second look
    RiskLevel.medium: Risk.medium,
    RiskLevel.high: Risk.high,
    RiskLevel.critical: Risk.irreversible,
}


def tool_call_card(why: str, question: CallQuestion, claimed: str = "") -> ToolCallCard:
    """The exact call, arguments whole, what of them is from elsewhere first; silence declines."""
    call, doubts, asked_by = question.call, question.doubts, question.asked_by
    tool, action = canonical_json(call.tool_name), canonical_json(call.action)
    arguments = json.dumps(call.args, indent=2, ensure_ascii=False, sort_keys=True)
    return ToolCallCard(
        intent=tr("Allow one call of {call}", call=show_exactly(call.tool_name)),
        risk=_CARD_RISK[question.risk],
        rationale=_why(describe_reasons(why, [question.reason]), doubts, asked_by),
        details=(
            Detail(heading=tr("Arguments"), lines=tuple(show_lines(arguments))),
            *_foreign(doubts),
            *_details_of_claims(claimed),
            Detail(
                heading=tr("Call"),
                lines=(tr("tool: {tool}", tool=tool), tr("action: {action}", action=action)),
            ),
        ),
        actions=(
            Action(label=tr("Allow exactly this call, once"), value="approve", role="recommended"),
            Action(
                label=tr("Refuse; the work goes on without it"), value="decline", role="decline"
            ),
        ),
        safe="decline",
        tool_name=call.tool_name,
        call_digest=call.digest,
        asked_by=asked_by,
    )


IN_A_TURN = tr_later("Answering you takes this look-up")


def for_work(item: WorkItem) -> str:
    """Who asks for a call of work."""
    return tr("'{title}' asks for this", title=show(item.title))


def _why(why: str, doubts: Sequence[UntrustedArgument], asked_by: str = "") -> str:
    if asked_by:
        why = tr(
            "{why}. The worker {asked_by} wants this", why=why, asked_by=show_exactly(asked_by)
        )
    if not doubts:
        return f"{why}."
    return tr("{why}. Look at what of it is neither yours nor the plan's.", why=why)


def _foreign(doubts: Sequence[UntrustedArgument]) -> tuple[Detail, ...]:
    """What of the arguments was read where; marked by argument, with its words."""
    if not doubts:
        return ()
    lines = [
        line
        for doubt in doubts
        for line in (
            f"{show_exactly(doubt.path)}: {place_of(doubt.origin)}",
            *(f"  | {shown}" for shown in show_lines(doubt.text)),
        )
    ]
    return (Detail(heading=tr("Not yours and not the plan's"), lines=tuple(lines)),)


def _details_of_claims(words: str) -> tuple[Detail, ...]:
    """What the tool's own code says; below the arguments, which are what an answer binds."""
    if not words:
        return ()
    lines = tuple(show_lines(words[:_CLAIMED]))
    return (Detail(heading=tr("What the tool says itself, unchecked"), lines=lines),)


_PLACES: Mapping[OriginKind, str] = {
    OriginKind.owner: tr_later("what you said"),
    OriginKind.plan: tr_later("the plan"),
    OriginKind.message: tr_later("a message"),
    OriginKind.tool: tr_later("a result"),
    OriginKind.file: tr_later("the file"),
    OriginKind.memory: tr_later("a memory"),
    OriginKind.web: tr_later("the page"),
    OriginKind.model: tr_later("the model's own words"),
}


def place_of(origin: Origin) -> str:
    """Where something was read, in words for a card."""
    tool = show_exactly(origin.tool)
    if origin.kind is OriginKind.message and origin.name:
        sender = show_exactly(origin.name.removeprefix("channel:"))
        return tr("a message from {sender} ({taint})", sender=sender, taint=origin.taint)
    if origin.kind is OriginKind.file and origin.name == "." and tool:
        return tr("the list of the files, read by {tool}", tool=tool)
    if origin.name:
        read = tr(", read by {tool}", tool=tool) if tool else ""
        return f"{tr(_PLACES[origin.kind])} {show_exactly(origin.name)}{read}"
    return tr(_PLACES[origin.kind]) + (tr(" of {tool}", tool=tool) if tool else "")


def batch_card(why: str, questions: Sequence[CallQuestion], claim: Claim) -> BatchReviewCard:
    """Several calls of one step, each whole; silence declines all."""
    cards = [tool_call_card(why, question, claim(question.call)) for question in questions]
    many, order = len(cards), list(Risk)
    details = [
        Detail(
            heading=tr(
                "{number} of {many}: {tool}, {part}",
                number=number,
                many=many,
                tool=card.tool_name,
                part=as_part(detail.heading),
            ),
            lines=detail.lines,
        )
        for number, card in enumerate(cards, 1)
        for detail in card.details
    ]
    return BatchReviewCard(
        intent=tr("Allow {many} calls", many=many),
        risk=max((card.risk for card in cards), key=order.index),
        rationale=_why(
            describe_reasons(why, [question.reason for question in questions]),
            [doubt for question in questions for doubt in question.doubts],
        ),
        affected=", ".join(show_exactly(card.tool_name) for card in cards),
        details=tuple(details),
        actions=(
            Action(
                label=tr("Allow exactly these {many} calls, once each", many=many),
                value=BatchAnswer(verdict="approve"),
                role="recommended",
            ),
            Action(
                label=tr("Ask about each by itself"), value=BatchAnswer(verdict="edit_selection")
            ),
            Action(
                label=tr("Refuse all; the work goes on without them"), value=REFUSED, role="decline"
            ),
        ),
        safe=REFUSED,
        batch_id=cards[0].call_digest,
        item_ids=tuple(card.call_digest for card in cards),
        rows=tuple(
            BatchRow(
                item_id=card.call_digest,
                title=f"{number}. {show_exactly(card.tool_name)}",
                unusual=bool(question.doubts),
            )
            for number, (card, question) in enumerate(zip(cards, questions, strict=True), 1)
        ),
    )


class OwnerQuestions:
    """Asks on the owner's channel; the tool door records what becomes of a call."""

    def __init__(
        self, channel: CardChannel, audit: Audit, clock: Clock, claim: Claim, noted: CallNoted
    ) -> None:
        self._owner = Owner(channel, audit, clock)
        self._claim = claim
        self._noted = noted
        self._audit = audit

    async def calls(
        self, item: WorkItem, questions: Sequence[CallQuestion]
    ) -> list[ApprovalDecision]:
        """The owner's decision about each call of work; anything but a clear yes declines."""
        decisions = await self._decide_calls(for_work(item), questions)
        for question, decision in zip(questions, decisions, strict=True):
            yes = decision.verdict is ApprovalVerdict.approved
            await self._noted(item, question.call.tool_name, "approved" if yes else "declined")
        return decisions

    async def look_ups(self, to: str, questions: Sequence[CallQuestion]) -> list[ApprovalDecision]:
        """The owner's decision about each look-up of a turn; anything but a clear yes declines.

        Args:
            to: The conversation that the turn is part of, by its address.
            questions: The look-ups.
        """
        return await self._decide_calls(tr(IN_A_TURN), questions, to)

    async def _decide_calls(
        self, why: str, questions: Sequence[CallQuestion], to: str = OWNER
    ) -> list[ApprovalDecision]:
        answers: list[bool] = []
        for at in range(0, len(questions), MOST_AT_ONCE):
            answers += await self._together(why, questions[at : at + MOST_AT_ONCE], to)
        return [ApprovalDecision(verdict=_VERDICTS[yes]) for yes in answers]

    async def _together(self, why: str, questions: Sequence[CallQuestion], to: str) -> list[bool]:
        if len(questions) == 1:
            question = questions[0]
            card = tool_call_card(why, question, self._claim(question.call))
            return [await self._owner.ask(card, to) == "approve"]
        card = batch_card(why, questions, self._claim)
        answer = await self._owner.ask(card, to)
        if answer.verdict == "edit_selection" and not answer.selected_item_ids:
            return [(await self._together(why, [question], to))[0] for question in questions]
        chosen = card.item_ids if answer.verdict == "approve" else answer.selected_item_ids
        return [
            answer.verdict != "decline" and question.call.digest in chosen for question in questions
        ]

    async def ask_about_held(self, held: HeldChanges, diff: str) -> HeldAnswer:
        """The owner's word on changes that wait; `keep` on anything but a clear one."""
        return await self._owner.ask(held_card(held, diff))

    async def gate(self, work_item_id: str, result: GateResult) -> bool:
        """Whether the owner lets a gate pass this once."""
        answer = await self._owner.ask(gate_card(result))
        await self._audit.log(
            "gate_answered", gate=result.gate_name, answer=answer, work_item_id=work_item_id
        )
        return answer == "approve"
