"""How Silas speaks. What must not go in: anything that decides what Silas may do."""

from silas.persona.models import PersonalityConfig
from silas.persona.port import Happened, Manner, Persona
from silas.persona.state import PersonaEvent, PersonaState

__all__ = [
    "Happened",
    "Manner",
    "Persona",
    "PersonaEvent",
    "PersonaState",
    "PersonalityConfig",
]
