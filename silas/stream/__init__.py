"""The permanent session: connections, turns in order, plans proposed and dispatched."""

from silas.stream.modes import InteractionConfig, resolve_interaction_mode

__all__ = ["InteractionConfig", "resolve_interaction_mode"]
