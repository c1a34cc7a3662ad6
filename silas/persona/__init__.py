"""How Silas speaks. What must not go in: anything that decides what Silas may do."""

from silas.persona.models import PersonalityConfig
from silas.persona.port import Persona, SpeakingStyle, TurnSummary
from silas.persona.state import PersonaEvent, PersonaState

__all__ = [
    "Persona",
    "PersonaEvent",
    "PersonaState",
    "PersonalityConfig",
    "SpeakingStyle",
    "TurnSummary",
]
