"""Sections of the configuration: a value that makes no sense is refused."""

from typing import Any

import pytest
from pydantic import ValidationError

from silas.autonomy import AutonomyConfig
from silas.connections import BatchReviewConfig, ConnectionsConfig
from silas.context import ContextConfig, ContextProfile
from silas.memory import MemoryConfig
from silas.persona import PersonalityConfig
from silas.schedule import SchedulerConfig, cron_fault


@pytest.mark.proves("S3.5-PROFILE-RANGES")
@pytest.mark.parametrize(
    ("shares", "valid"),
    [
        ((0.45, 0.20, 0.15), True),
        ((0.1, 0.2, 0.5), True),
        ((0.7, 0.05, 0.05), True),
        ((0.0, 0.0, 0.0), True),
        ((0.8, 0.0, 0.0), True),
        ((0.8, 0.0, 0.001), False),
        ((0.81, 0.0, 0.0), False),
        ((-0.1, 0.2, 0.2), False),
        ((0.2, 1.1, 0.2), False),
        ((float("nan"), 0.0, 0.0), False),
    ],
)
def test_a_context_profile_leaves_a_fifth_free(
    shares: tuple[float, float, float], valid: bool
) -> None:
    fields = dict(zip(("chronicle_pct", "memory_pct", "workspace_pct"), shares, strict=True))
    if valid:
        assert ContextProfile.model_validate(fields)
        return
    with pytest.raises(ValidationError):
        ContextProfile.model_validate(fields)


@pytest.mark.parametrize(
    ("model", "fields"),
    [
        (ContextConfig, {"profiles": {}}),
        (ContextConfig, {"total_tokens": 0}),
        (MemoryConfig, {"portability_bundle_format": "zip"}),
        (PersonalityConfig, {"baseline": {"warmth": 1.1}}),
        (PersonalityConfig, {"baseline": {"charm": 0.5}}),
        (PersonalityConfig, {"contexts": {"x": {"humor": -1.5}}}),
        (PersonalityConfig, {"decay_rate_per_hour": 2}),
        (AutonomyConfig, {"min_samples": 0}),
        (BatchReviewConfig, {"confidence": {"high_min": 0.4, "medium_min": 0.5}}),
        (ConnectionsConfig, {"health_check_default": "always"}),
        (SchedulerConfig, {"timezone": "../etc/passwd"}),
        (SchedulerConfig, {"timezone": ""}),
    ],
)
def test_a_value_that_makes_no_sense_is_refused(model: Any, fields: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        model.model_validate(fields)


@pytest.mark.parametrize(
    ("expression", "valid"),
    [
        ("*/15 * * * *", True), ("0 7 * * 1-5", True), ("0,30 6-22/2 1 1 0", True),
        ("59 23 31 12 7", True), ("1-59/2 * * * *", True),
        ("60 * * * *", False), ("* 24 * * *", False), ("* * 0 * *", False), ("* * * 13 *", False),
        ("* * * * 8", False), ("5-1 * * * *", False), ("*/0 * * * *", False),
        ("* * * *", False), ("* * * * * *", False), ("@daily", False), ("", False),
        ("a * * * *", False), ("1, * * * *", False), ("\u0661 * * * *", False),
    ],
)  # fmt: skip
def test_a_cron_expression_has_five_fields_in_their_ranges(expression: str, valid: bool) -> None:
    assert (cron_fault(expression) == "") is valid
