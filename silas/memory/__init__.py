"""What Silas remembers; its store comes with a later version."""

from silas.memory.models import MemoryType

__all__ = ["MemoryType"]
