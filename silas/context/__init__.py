"""What the model gets to see: its size, its framing, and external text made harmless.

What must not go in: anything that calls a model or remembers for longer than a conversation.
"""

from silas.context.chronicle import ChronicleStore, SqlChronicleStore
from silas.context.conversation import NOTHING, ConversationSide, RenderedContext
from silas.context.errors import ContextError
from silas.context.framing import (
    FramedSection,
    content_of,
    fence,
    flatten_line,
    frame,
    frame_text,
    sections,
)
from silas.context.invisible import visible_text
from silas.context.manager import ContextManager
from silas.context.models import (
    ChronicleConfig,
    ContextConfig,
    ContextItem,
    ContextProfile,
    ContextSubscription,
    ContextZone,
)
from silas.context.scoring import Scorer, ScorerGroups, no_scorer
from silas.context.scrub import ContentKind, clean_text, cleaned_json, scrub, scrub_output
from silas.context.subscribe import (
    FoundMemory,
    ReadFile,
    SearchMemories,
    no_files,
    no_memories,
)
from silas.context.tokens import TokenCounter
from silas.context.view import ContextPressure

__all__ = [
    "NOTHING",
    "ChronicleConfig",
    "ChronicleStore",
    "ContentKind",
    "ContextConfig",
    "ContextError",
    "ContextItem",
    "ContextManager",
    "ContextPressure",
    "ContextProfile",
    "ContextSubscription",
    "ContextZone",
    "ConversationSide",
    "FoundMemory",
    "FramedSection",
    "ReadFile",
    "RenderedContext",
    "Scorer",
    "ScorerGroups",
    "SearchMemories",
    "SqlChronicleStore",
    "TokenCounter",
    "clean_text",
    "cleaned_json",
    "content_of",
    "fence",
    "flatten_line",
    "frame",
    "frame_text",
    "no_files",
    "no_memories",
    "no_scorer",
    "scrub",
    "scrub_output",
    "sections",
    "visible_text",
]
