"""The mode that a turn, or the work that it proposes, proceeds in (spec 5.1.0, step 12)."""

from collections.abc import Mapping
from typing import Protocol

from silas.language import tr
from silas.plans import WorkItem, plan_bytes, plan_card
from silas.plans.card import forced_mode, why_forced
from silas.stream.modes import resolve_interaction_mode
from silas.stream.state import Turn, need
from silas.types import InteractionMode, InteractionRegister


class Interaction(Protocol):
    """The `interaction:` section that modes are resolved with."""

    @property
    def high_initiative_min(self) -> float:
        """From which initiative on Silas acts first."""
        ...

    @property
    def default_mode_by_register(self) -> Mapping[InteractionRegister, InteractionMode]:
        """What applies where nothing else decides."""
        ...


class TurnModes:
    """Resolves modes; no other place sets one."""

    def __init__(self, interaction: Interaction) -> None:
        self._interaction = interaction

    def mode(self, turn: Turn, item: WorkItem | None, *, confirm: bool = False) -> InteractionMode:
        """The effective mode of the turn, or of the work it proposes (precedence: step 12).

        Risk forces confirmation: a gate that asked in this turn, or a plan whose card is of high
        risk. So does `confirm`, for work that nobody asked for in these words.
        """
        route = need(turn.answer.route, "routing")
        action = (
            turn.answer.response.plan_action if item is not None and turn.answer.response else None
        )
        preset = item is not None and "interaction_mode" in item.model_fields_set
        return resolve_interaction_mode(
            proxy_mode=route.interaction_mode,
            planner_override=action.interaction_mode_override if action else None,
            work_item_mode=item.interaction_mode if item is not None and preset else None,
            risk_requires_confirmation=confirm
            or turn.proposal.asked
            or (item is not None and bool(_forcing(item))),
            initiative_level=turn.shown.manner.initiative,
            interaction_register=route.interaction_register,
            high_initiative_min=self._interaction.high_initiative_min,
            default_mode_by_register=dict(self._interaction.default_mode_by_register),
        )

    def why_forced(self, turn: Turn, item: WorkItem) -> str:
        """That the work proceeds in another mode than its plan asks for, and why; or nothing."""
        if "interaction_mode" not in item.model_fields_set:
            return ""
        asked = tr("a rule asked in this turn") if turn.proposal.asked else ""
        return forced_mode(item.interaction_mode, _forcing(item) or asked)


def _forcing(item: WorkItem) -> str:
    """Why the risk of a plan forces confirmation; nothing where it does not."""
    return why_forced(plan_card(plan_bytes(item), rationale="risk").risk)
