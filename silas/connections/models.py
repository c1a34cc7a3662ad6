"""The `connections:` and `batch_review:` sections of the configuration (spec 11)."""

from pydantic import Field, model_validator

from silas.schedule import Cron
from silas.types import FrozenModel


class ConnectionsConfig(FrozenModel):
    """How connections to services are kept alive.

    Attributes:
        health_check_default: When connections are checked, as a cron expression.
        auto_recovery_enabled: Whether a failed connection is set right without asking.
        recovery_max_attempts: How often that is tried.
    """

    health_check_default: Cron = "*/30 * * * *"
    auto_recovery_enabled: bool = True
    recovery_max_attempts: int = Field(default=3, ge=0)


class ConfidenceConfig(FrozenModel):
    """From which confidence on an item counts as high or medium, 0 to 1."""

    high_min: float = Field(default=0.85, ge=0.0, le=1.0)
    medium_min: float = Field(default=0.50, ge=0.0, le=1.0)

    @model_validator(mode="after")
    def _medium_below_high(self) -> "ConfidenceConfig":
        if self.medium_min > self.high_min:
            raise ValueError("medium_min is greater than high_min")
        return self


class BatchReviewConfig(FrozenModel):
    """How many items one review shows, and how sure Silas must be of them.

    Attributes:
        default_size: Items on one card.
        confidence: From when on Silas counts as sure.
        undo_minutes: So long after its items were moved a batch can be taken back (spec 0.5.5).
    """

    default_size: int = Field(default=10, ge=1)
    confidence: ConfidenceConfig = ConfidenceConfig()
    undo_minutes: int = Field(default=5, ge=1, le=24 * 60)
