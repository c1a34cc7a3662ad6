"""Suggestions and how much Silas asks. What must not go in: any way to widen by itself."""

from silas.autonomy.models import AutonomyConfig, BehaviorPreferencesConfig, SuggestionsConfig
from silas.autonomy.signals import Decision, Noted, Signal, not_noted, plan_family, tool_family

__all__ = [
    "AutonomyConfig",
    "BehaviorPreferencesConfig",
    "Decision",
    "Noted",
    "Signal",
    "SuggestionsConfig",
    "not_noted",
    "plan_family",
    "tool_family",
]
