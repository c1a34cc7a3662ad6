"""Suggestions, preferences and proposals as cards: nothing on them runs anything (spec 0.5.3)."""

from zoneinfo import ZoneInfo

from silas.autonomy.preferences import Promotion
from silas.autonomy.proposals import AutonomyThresholdProposal, SuggestionProposal
from silas.cards import Action, Detail
from silas.cards.models import (
    AutonomyThresholdCard,
    DecisionAnswer,
    DecisionCard,
    SuggestionCard,
)
from silas.language import refusal_words, said_at, tr, tr_later, tr_many
from silas.language.calendar import moment_words
from silas.memory import MemoryItem
from silas.plans import show
from silas.types import Risk

_SETTINGS = {
    "batch_review.default_size": tr_later("how many files one question is about"),
    "batch_review.confidence.high_min": tr_later("how sure Silas is of what it puts together"),
    "standing.max_executions": tr_later("how often one yes to a goal starts work"),
    "standing.expires_at": tr_later("how many days one yes to a goal lasts"),
}

NO_ANSWER = DecisionAnswer()
DO_IT = DecisionAnswer(selected_value="do_it", approved=True)
NOT_NOW = DecisionAnswer(selected_value="not_now")
KEEP = DecisionAnswer(selected_value="rule", approved=True)
DROP = DecisionAnswer(selected_value="no_rule")

_TRUE = DecisionAnswer(selected_value="true", approved=True)

_LONGEST_SHOWN = 2_000  # characters of a memory on a card
_BESIDE_WORK = 600.0  # seconds: nothing waits for the answer
_SECONDS = 3600.0  # nobody waits for these, so they may stand for a while


def suggestion_card(proposal: SuggestionProposal) -> SuggestionCard:
    """A next step to plan, or not; a yes begins a plan, which has a card of its own."""
    models = proposal.source == "post_execution"  # the others are rules of Silas's own
    whose = tr(" The words are a model's, not yours.") if models else ""
    return SuggestionCard(
        intent=tr("Plan this next: {proposal}", proposal=show(proposal.intent)),
        risk=proposal.risk_level,
        rationale=tr(
            "{proposal} A yes runs nothing: you see its plan first.{whose}",
            proposal=show(proposal.rationale),
            whose=whose,
        ),
        actions=(
            Action(label=tr("Make a plan for it"), value=DO_IT, role="recommended"),
            Action(label=tr("Not now"), value=NOT_NOW, role="decline"),
        ),
        safe=NO_ANSWER,
        timeout_seconds=_SECONDS,
        suggestion_id=proposal.suggestion_id,
    )


def preference_card(promotion: Promotion) -> DecisionCard:
    """Whether what was learned from the owner's decisions becomes a standing rule."""
    return DecisionCard(
        intent=tr("Make this a standing rule: {promotion}", promotion=show(promotion.content)),
        risk=Risk.medium,
        rationale=(
            tr(
                "Your last decisions were all like this. As a rule it stands in "
                "every prompt; it approves nothing, and you can forget it like any memory."
            )
        ),
        actions=(
            Action(label=tr("Make it a rule"), value=KEEP, role="recommended"),
            Action(label=tr("Do not make it a rule"), value=DROP, role="decline"),
        ),
        safe=NO_ANSWER,
        timeout_seconds=_SECONDS,
    )


def setting_words(key: str) -> str:
    """What a setting of how much Silas asks is, for its owner."""
    return tr(_SETTINGS.get(key, key))


def threshold_card(proposal: AutonomyThresholdProposal, zone: ZoneInfo) -> AutonomyThresholdCard:
    """The exact settings before and after, and what speaks for it; moments in the owner's zone."""
    widen = proposal.changes[0].direction == "widen"
    return AutonomyThresholdCard(
        intent=tr("Let Silas ask less") if widen else tr("Let Silas ask more"),
        risk=Risk(proposal.risk_level),
        rationale=show(refusal_words(proposal.rationale)),
        affected=tr_many(len(proposal.changes), "1 setting", "{count} settings"),
        details=(
            Detail(
                heading=tr("Settings"),
                lines=tuple(
                    f"{setting_words(change.key)}: {change.current_value} -> "
                    f"{change.proposed_value} (`{change.key}`)"
                    for change in proposal.changes
                ),
            ),
            Detail(
                heading=tr("Evidence"),
                lines=(
                    tr("window: {window}", window=refusal_words(proposal.evidence_window)),
                    tr(
                        "corrected: {correction_rate:.2%} of {sample_size}",
                        correction_rate=proposal.correction_rate,
                        sample_size=proposal.sample_size,
                    ),
                    tr("offered until: {until}", until=moment_words(proposal.expires_at, zone)),
                ),
            ),
        ),
        actions=(
            Action(label=tr("Change these settings"), value="approve", role="recommended"),
            Action(label=tr("Tighten them instead"), value="tighten_now"),
            Action(label=tr("Leave them as they are"), value="decline", role="decline"),
        ),
        safe="decline",
        timeout_seconds=_SECONDS,
        proposal_id=proposal.proposal_id,
    )


def memory_card(item: MemoryItem, door: str = "") -> DecisionCard:
    """Whether a memory that is used often is true; silence leaves it as it is.

    Args:
        item: The memory.
        door: The channel on which it is asked.
    """
    said = item.content[:_LONGEST_SHOWN]
    rest = len(item.content) - len(said)
    whole = said_at(door, f"`silas memory show {item.memory_id}`").strip("`")
    more = (tr("({rest} more characters: {command})", rest=rest, command=whole),) if rest else ()
    return DecisionCard(
        intent=tr("Keep this memory as confirmed"),
        risk=Risk.medium,
        rationale=tr_many(
            item.access_count,
            "It was used {count} time, and you have not confirmed it yet.",
            "It was used {count} times, and you have not confirmed it yet.",
        ),
        details=(
            Detail(heading=tr("What is remembered"), lines=(*said.splitlines(), *more)),
            Detail(
                heading=tr("Where it came from"), lines=item.sources or (tr("nobody noted it"),)
            ),
        ),
        actions=(
            Action(label=tr("It is true, keep it so"), value=_TRUE),
            Action(label=tr("Leave it as it is"), value=NO_ANSWER, role="decline"),
        ),
        safe=NO_ANSWER,
        timeout_seconds=_BESIDE_WORK,
    )
