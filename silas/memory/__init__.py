"""What Silas remembers from one conversation to the next.

What must not go in: what the model sees now (context), and what happened (audit).
"""

from silas.memory.models import MemoryConfig, MemoryType
from silas.memory.port import Memory, NoMemory, Query, Remembered

__all__ = ["Memory", "MemoryConfig", "MemoryType", "NoMemory", "Query", "Remembered"]
