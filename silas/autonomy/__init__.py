"""Suggestions and how much Silas asks. What must not go in: any way to widen by itself."""

from silas.autonomy.models import AutonomyConfig, BehaviorPreferencesConfig, SuggestionsConfig
from silas.autonomy.signals import Decision, Noted, Signal, ignore_signal, plan_family, tool_family

__all__ = [
    "AutonomyConfig",
    "BehaviorPreferencesConfig",
    "Decision",
    "Noted",
    "Signal",
    "SuggestionsConfig",
    "ignore_signal",
    "plan_family",
    "tool_family",
]
