"""Wiring: the one room that knows concrete classes (spec 12 `build_stream`)."""

from silas.wiring.build import Silas, build
from silas.wiring.ground import Ground, ground
from silas.wiring.upkeep import AuditDesk, Finding, diagnose, initialise, open_audit

__all__ = [
    "AuditDesk",
    "Finding",
    "Ground",
    "Silas",
    "build",
    "diagnose",
    "ground",
    "initialise",
    "open_audit",
]
