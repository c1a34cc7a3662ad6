"""What Silas remembers from one conversation to the next.

What must not go in: what the model sees now (context), and what happened (audit).
"""

from silas.memory.models import (
    MemoryConfig,
    MemoryItem,
    MemoryType,
    RankedMemory,
    ReingestionTier,
    TrustLevel,
)
from silas.memory.port import (
    MemoryOperations,
    MemoryRetriever,
    MemoryStore,
    NoVectors,
    OpBasis,
    Query,
    Vectors,
)

__all__ = [
    "MemoryConfig",
    "MemoryItem",
    "MemoryOperations",
    "MemoryRetriever",
    "MemoryStore",
    "MemoryType",
    "NoVectors",
    "OpBasis",
    "Query",
    "RankedMemory",
    "ReingestionTier",
    "TrustLevel",
    "Vectors",
]
