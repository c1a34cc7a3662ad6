"""Why a tool call asks, in words: one sentence for each reason that the tool door names."""

from collections.abc import Mapping, Sequence

from silas.language import tr, tr_later
from silas.tools.pending_call import AskReason

REASONS: Mapping[AskReason, str] = {
    AskReason.plan: tr_later("its plan does not cover it"),
    AskReason.approval: tr_later("the approval of its plan no longer holds"),
    AskReason.risk: tr_later(
        "Silas makes a call of this risk only with your word or under a plan that grants it"
    ),
    AskReason.secrets: tr_later("it could use a secret, and no plan that you approved grants it"),
    AskReason.quiet_hours: tr_later(
        "these are your quiet hours, and no plan that you approved grants it"
    ),
    AskReason.toolset: tr_later("its tool asks before such a call, whatever the plan grants"),
    AskReason.gate: tr_later("a gate wants you to look at it, whatever the plan grants"),
    AskReason.taint: tr_later(
        "it rests on text that may be neither yours nor the plan's, so you look at "
        "it whatever the plan grants"
    ),
    AskReason.worker_policy: tr_later(
        "the worker's own rules ask before it, whatever the plan grants"
    ),
}
"""Ends a sentence that begins with who asks; true in work and in a turn."""


def describe_reasons(why: str, reasons: Sequence[AskReason]) -> str:
    """Who asks and what decided it; of several calls with different reasons, each by number."""
    if len(set(reasons)) == 1:
        return tr("{why}, because {reason}", why=why, reason=tr(REASONS[reasons[0]]))
    each = (f"{number}: {tr(REASONS[reason])}" for number, reason in enumerate(reasons, 1))
    return tr("{why}, because of {join}", why=why, join="; ".join(each))
