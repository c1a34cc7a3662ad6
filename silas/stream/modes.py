"""How assertively a turn proceeds: one pure function, and the `interaction:` section."""

from pydantic import Field, model_validator

from silas.types import FrozenModel, InteractionMode, InteractionRegister


class InteractionConfig(FrozenModel):
    """The `interaction:` section (spec 11).

    Attributes:
        high_initiative_min: From which initiative on, 0 to 1, Silas acts first.
        default_mode_by_register: What applies where nothing else decides; names every register.
        require_confirmation_on_material_ambiguity: Ask where a request means two different things.
    """

    high_initiative_min: float = Field(default=0.65, ge=0.0, le=1.0)
    default_mode_by_register: dict[InteractionRegister, InteractionMode] = Field(
        default_factory=lambda: {
            InteractionRegister.exploration: InteractionMode.default_and_offer,
            InteractionRegister.execution: InteractionMode.act_and_report,
            InteractionRegister.review: InteractionMode.confirm_only_when_required,
            InteractionRegister.status: InteractionMode.default_and_offer,
        }
    )
    require_confirmation_on_material_ambiguity: bool = True

    @model_validator(mode="after")
    def _every_register_has_a_mode(self) -> "InteractionConfig":
        missing = [r.value for r in InteractionRegister if r not in self.default_mode_by_register]
        if missing:
            raise ValueError(f"default_mode_by_register lacks {', '.join(missing)}")
        return self


def resolve_interaction_mode(
    proxy_mode: InteractionMode | None,
    planner_override: InteractionMode | None,
    work_item_mode: InteractionMode | None,
    risk_requires_confirmation: bool,
    initiative_level: float,
    interaction_register: InteractionRegister,
    high_initiative_min: float,
    default_mode_by_register: dict[InteractionRegister, InteractionMode],
) -> InteractionMode:
    """The mode of a turn or a work item; nothing sets one without it (spec 5.1.0).

    Risk forces confirmation. Otherwise the first that is given decides: the planner's override,
    the work item's own mode, the proxy's mode, high initiative, the register's default.
    """
    if risk_requires_confirmation:
        return InteractionMode.confirm_only_when_required
    given = (planner_override, work_item_mode, proxy_mode)
    chosen = next((mode for mode in given if mode is not None), None)
    if chosen is not None:
        return chosen
    if initiative_level >= high_initiative_min:
        if interaction_register is InteractionRegister.execution:
            return InteractionMode.act_and_report
        if interaction_register is InteractionRegister.exploration:
            return InteractionMode.default_and_offer
    return default_mode_by_register.get(interaction_register, InteractionMode.default_and_offer)
