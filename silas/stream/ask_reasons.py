"""Why a tool call asks, in words: one sentence for each reason that the tool door names."""

from collections.abc import Mapping, Sequence

from silas.tools.pending_call import AskReason

REASONS: Mapping[AskReason, str] = {
    AskReason.plan: "its plan does not cover it",
    AskReason.approval: "the approval of its plan no longer holds",
    AskReason.risk: "Silas makes a call of this risk only with your word or under a plan that "
    "grants it",
    AskReason.secrets: "it could use a secret, and no plan that you approved grants it",
    AskReason.quiet_hours: "these are your quiet hours, and no plan that you approved grants it",
    AskReason.toolset: "its tool asks before such a call, whatever the plan grants",
    AskReason.gate: "a gate wants you to look at it, whatever the plan grants",
    AskReason.taint: "it rests on text that may be neither yours nor the plan's, so you look at it "
    "whatever the plan grants",
    AskReason.worker_policy: "the worker's own rules ask before it, whatever the plan grants",
}
"""Ends a sentence that begins with who asks; true in work and in a turn."""


def because(why: str, reasons: Sequence[AskReason]) -> str:
    """Who asks and what decided it; of several calls with different reasons, each by number."""
    if len(set(reasons)) == 1:
        return f"{why}, because {REASONS[reasons[0]]}"
    each = (f"{number}: {REASONS[reason]}" for number, reason in enumerate(reasons, 1))
    return f"{why}, because of {'; '.join(each)}"
