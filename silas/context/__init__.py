"""What the model gets to see: its size, its framing, and external text made harmless.

What must not go in: anything that calls a model or remembers for longer than a conversation.
"""

from silas.context.models import ContextConfig, ContextProfile, Evicted
from silas.context.port import ContextKeeper, InView, NoContext
from silas.context.scrub import scrub, scrub_output

__all__ = [
    "ContextConfig",
    "ContextKeeper",
    "ContextProfile",
    "Evicted",
    "InView",
    "NoContext",
    "scrub",
    "scrub_output",
]
