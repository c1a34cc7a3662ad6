"""What the model gets to see: its size, its framing, and external text made harmless.

What must not go in: anything that calls a model or remembers for longer than a conversation.
"""

from silas.context.framing import Section, content_of, flat, frame, framed, sections
from silas.context.models import (
    ContextConfig,
    ContextItem,
    ContextProfile,
    ContextSubscription,
    ContextZone,
    Evicted,
)
from silas.context.port import ContextKeeper, InView, NoContext
from silas.context.scrub import ContentKind, cleaned, cleaned_json, scrub, scrub_output
from silas.context.unseen import visible

__all__ = [
    "ContentKind",
    "ContextConfig",
    "ContextItem",
    "ContextKeeper",
    "ContextProfile",
    "ContextSubscription",
    "ContextZone",
    "Evicted",
    "InView",
    "NoContext",
    "Section",
    "cleaned",
    "cleaned_json",
    "content_of",
    "flat",
    "frame",
    "framed",
    "scrub",
    "scrub_output",
    "sections",
    "visible",
]
