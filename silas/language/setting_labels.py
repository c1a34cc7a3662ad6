"""What each setting that can be changed is called, by its dotted name."""

from collections.abc import Mapping
from typing import Final

from silas.language.catalogue import tr_later

SETTING_LABELS: Final[Mapping[str, str]] = {
    "language": tr_later("Language of cards and results"),
    "quiet_hours.start": tr_later("Quiet hours from"),
    "quiet_hours.end": tr_later("Quiet hours until"),
    "suggestions.enabled": tr_later("Silas suggests something by itself"),
    "memory.raw_reingestion_enabled": tr_later("What was said before may be looked through"),
    "interaction.require_confirmation_on_material_ambiguity": tr_later(
        "Ask where a request means two different things"
    ),
    "sandbox.default_memory_mb": tr_later("Memory for one run"),
    "sandbox.default_cpu_seconds": tr_later("Processor time for one run"),
    "limits.max_delegation_depth": tr_later("How often work may be handed on"),
    "limits.max_memory_ops_per_turn": tr_later("Memories that one answer may change"),
    "audit.checkpoint_minutes": tr_later("Time from one signature of the record to the next"),
}
"""The page, the cards and the record name them alike."""
