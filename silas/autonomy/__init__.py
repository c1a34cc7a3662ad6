"""Suggestions and how much Silas asks. What must not go in: any way to widen by itself."""

from silas.autonomy.models import AutonomyConfig, BehaviorPreferencesConfig, SuggestionsConfig
from silas.autonomy.port import NoSuggestions, Suggestions

__all__ = [
    "AutonomyConfig",
    "BehaviorPreferencesConfig",
    "NoSuggestions",
    "Suggestions",
    "SuggestionsConfig",
]
