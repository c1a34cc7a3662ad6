"""The test kit that ships with Silas: fakes at the ports, builders, scripted actors."""

from silas.testing.clock import MockClock
from silas.testing.stores import MemoryAudit

__all__ = ["MemoryAudit", "MockClock"]
