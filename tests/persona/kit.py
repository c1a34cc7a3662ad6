"""A personality over a real database, with a clock that waits to be told."""

from pathlib import Path
from typing import Any

from silas.audit.log import AuditLog
from silas.context import TokenCounter
from silas.db import Database
from silas.home.database import migrate
from silas.persona.engine import PersonalityEngine
from silas.persona.models import PersonalityConfig
from silas.persona.store import SqlPersonaStore
from silas.testing import MockClock
from silas.testing.approval import a_signer


class Room:
    """One personality, and everything it stands on."""

    def __init__(self, home: Path, **config: Any) -> None:
        self.clock = MockClock()
        self.db = Database(home / "silas.db", self.clock)
        migrate(self.db, ("silas.audit", "silas.persona"))
        self.audit = AuditLog(self.db, self.clock, a_signer())
        self.store = SqlPersonaStore(self.db)
        self.config = PersonalityConfig.model_validate(config)
        self.engine = PersonalityEngine(
            self.config, self.store, TokenCounter().count, self.audit, self.clock
        )
