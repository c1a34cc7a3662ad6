"""What Silas remembers from one conversation to the next.

What must not go in: what the model sees now (context), and what happened (audit).
"""

from silas.memory.models import (
    MemoryConfig,
    MemoryItem,
    MemoryType,
    Ranked,
    ReingestionTier,
    TrustLevel,
)
from silas.memory.port import (
    Memory,
    MemoryOperations,
    MemoryRetriever,
    MemoryStore,
    NoMemory,
    NoVectors,
    OpBasis,
    Query,
    Remembered,
    Vectors,
)

__all__ = [
    "Memory",
    "MemoryConfig",
    "MemoryItem",
    "MemoryOperations",
    "MemoryRetriever",
    "MemoryStore",
    "MemoryType",
    "NoMemory",
    "NoVectors",
    "OpBasis",
    "Query",
    "Ranked",
    "ReingestionTier",
    "Remembered",
    "TrustLevel",
    "Vectors",
]
