"""The `autonomy:`, `suggestions:` and `behavior_preferences:` sections (spec 11)."""

from pydantic import Field, model_validator

from silas.plans.goals.standing import MOST_STANDING_DAYS, MOST_STANDING_USES, StandingCaps
from silas.schedule import Cron
from silas.types import FrozenModel


class AutonomyConfig(FrozenModel):
    """When Silas proposes to ask less or more; it never changes that by itself (spec 5.9).

    Attributes:
        enabled: Whether proposals are made.
        min_samples: Fewest decisions before one is made.
        window_actions, window_days: How far back decisions count.
        widen_correction_rate_max: At most so many corrections to propose asking less.
        tighten_correction_rate_min: At least so many to propose asking more.
        hysteresis_delta: Distance to the last proposal's rate before another is made.
        max_standing_executions: Most uses of one standing approval.
        max_standing_days: Longest that one lasts.
        max_batch_review_size: Most items in one review.
        min_high_confidence: Lowest threshold that may be proposed.
    """

    enabled: bool = True
    min_samples: int = Field(default=30, ge=1)
    window_actions: int = Field(default=50, ge=1)
    window_days: int = Field(default=14, ge=1)
    widen_correction_rate_max: float = Field(default=0.05, ge=0.0, le=1.0)
    tighten_correction_rate_min: float = Field(default=0.20, ge=0.0, le=1.0)
    hysteresis_delta: float = Field(default=0.05, ge=0.0, le=1.0)
    max_standing_executions: int = Field(default=MOST_STANDING_USES, ge=1)
    max_standing_days: int = Field(default=MOST_STANDING_DAYS, ge=1, le=MOST_STANDING_DAYS)
    max_batch_review_size: int = Field(default=50, ge=1)
    min_high_confidence: float = Field(default=0.70, ge=0.0, le=1.0)

    @property
    def standing_caps(self) -> StandingCaps:
        """The most that one yes to a goal can be."""
        return StandingCaps(self.max_standing_executions, self.max_standing_days)

    @model_validator(mode="after")
    def _hysteresis(self) -> "AutonomyConfig":
        if self.widen_correction_rate_max >= self.tighten_correction_rate_min:
            raise ValueError(
                "widen_correction_rate_max must be less than tighten_correction_rate_min"
            )
        return self


class SuggestionsConfig(FrozenModel):
    """When Silas suggests something by itself.

    Attributes:
        enabled: Whether it does; needs the scheduler.
        heartbeat_cron: When it looks for something to suggest.
        cooldown_minutes: Quiet time after a suggestion.
        max_pending_per_scope: Suggestions waiting at most.
        dedupe_window_minutes: The same suggestion is not made again for so long.
    """

    enabled: bool = True
    heartbeat_cron: Cron = "*/15 * * * *"
    cooldown_minutes: int = Field(default=120, ge=0)
    max_pending_per_scope: int = Field(default=5, ge=1)
    dedupe_window_minutes: int = Field(default=180, ge=0)


class BehaviorPreferencesConfig(FrozenModel):
    """What Silas learns about how its owner likes things done.

    Attributes:
        enabled: Whether it learns.
        promotion_requires_confirmation: Whether a preference asks before it becomes a rule.
        max_new_inferences_per_day: At most so many new ones.
    """

    enabled: bool = True
    promotion_requires_confirmation: bool = True
    max_new_inferences_per_day: int = Field(default=20, ge=0)
