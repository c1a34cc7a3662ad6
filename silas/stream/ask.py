"""Questions that running work asks the owner, as cards (spec 5.2.1 c2, d)."""

import json
from collections.abc import Mapping, Sequence

from silas.approval import ApprovalDecision, ApprovalVerdict
from silas.audit import Audit
from silas.canonical import canonical_json
from silas.cards import Action, CardChannel, Detail, ToolCallCard
from silas.clock import Clock
from silas.gates import GateResult
from silas.plans import WorkItem, show, show_lines
from silas.plans.characters import show_exactly
from silas.stream.gating import gate_card
from silas.stream.owner import Owner
from silas.tools import RiskLevel, ValidatedCall
from silas.types import Origin, OriginKind, Risk
from silas.work.models import Doubt

_CARD_RISK = {
    RiskLevel.low: Risk.medium,  # a call that asks at all is worth a second look
    RiskLevel.medium: Risk.medium,
    RiskLevel.high: Risk.high,
    RiskLevel.critical: Risk.irreversible,
}


def tool_call_card(
    item: WorkItem, call: ValidatedCall, risk: RiskLevel, doubts: Sequence[Doubt] = ()
) -> ToolCallCard:
    """The exact call, arguments whole, what of them is from elsewhere first; silence declines."""
    tool, action = canonical_json(call.tool_name), canonical_json(call.action)
    arguments = json.dumps(call.args, indent=2, ensure_ascii=False, sort_keys=True)
    return ToolCallCard(
        intent=f"Allow one call of {show_exactly(call.tool_name)}",
        risk=_CARD_RISK[risk],
        rationale=_why(item, doubts),
        details=(
            Detail(heading="Arguments", lines=tuple(show_lines(arguments))),
            *_foreign(doubts),
            Detail(heading="Call", lines=(f"tool: {tool}", f"action: {action}")),
        ),
        actions=(
            Action(label="Allow exactly this call, once", value="approve", role="recommended"),
            Action(label="Refuse; the work goes on without it", value="decline", role="decline"),
        ),
        safe="decline",
        tool_name=call.tool_name,
        call_digest=call.digest,
    )


def _why(item: WorkItem, doubts: Sequence[Doubt]) -> str:
    uncovered = f"'{show(item.title)}' asks for this, and its plan does not cover it"
    if not doubts:
        return f"{uncovered}."
    return f"{uncovered} word for word: look at what of it is from elsewhere."


def _foreign(doubts: Sequence[Doubt]) -> tuple[Detail, ...]:
    """What of the arguments was read where; marked by argument, with its words."""
    if not doubts:
        return ()
    lines = [
        line
        for doubt in doubts
        for line in (
            f"{show_exactly(doubt.path)}: {_place(doubt.origin)}",
            *(f"  | {shown}" for shown in show_lines(doubt.text)),
        )
    ]
    return (Detail(heading="Not yours and not the plan's", lines=tuple(lines)),)


_PLACES: Mapping[OriginKind, str] = {
    OriginKind.owner: "what you said",
    OriginKind.plan: "the plan",
    OriginKind.message: "a message",
    OriginKind.tool: "a result",
    OriginKind.file: "the file",
    OriginKind.memory: "a memory",
    OriginKind.web: "the page",
    OriginKind.model: "the model's own words",
}


def _place(origin: Origin) -> str:
    name = f" {show_exactly(origin.name)}" if origin.name else ""
    tool = f" of {show_exactly(origin.tool)}" if origin.tool else ""
    return f"{_PLACES[origin.kind]}{name}{tool}"


class OwnerQuestions:
    """Asks on the owner's channel; the tool door records what becomes of a call."""

    def __init__(self, channel: CardChannel, audit: Audit, clock: Clock) -> None:
        self._owner = Owner(channel, audit, clock)
        self._audit = audit

    async def call(
        self, item: WorkItem, call: ValidatedCall, risk: RiskLevel, doubts: Sequence[Doubt]
    ) -> ApprovalDecision:
        """The owner's decision about one tool call; anything but a clear yes declines."""
        answer = await self._owner.ask(tool_call_card(item, call, risk, doubts))
        yes = answer == "approve"
        return ApprovalDecision(
            verdict=ApprovalVerdict.approved if yes else ApprovalVerdict.declined
        )

    async def gate(self, work_item_id: str, result: GateResult) -> bool:
        """Whether the owner lets a gate pass this once."""
        answer = await self._owner.ask(gate_card(result))
        await self._audit.log(
            "gate_answered", gate=result.gate_name, answer=answer, work_item_id=work_item_id
        )
        return answer == "approve"
