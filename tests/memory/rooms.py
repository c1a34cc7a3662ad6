"""The rooms of memory as they are wired, on a database of their own."""

import json
from collections.abc import Awaitable, Callable, Generator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from silas.audit.log import AuditLog
from silas.audit.reader import AuditReader, ReadEntry
from silas.config import SilasConfig
from silas.db import Database
from silas.home.database import migrate
from silas.keys import KeyRing
from silas.memory import MemoryItem
from silas.memory.bundle import Bundles
from silas.memory.bundle_lines import BundleLimits
from silas.services.memory import MemoryPorts, MemoryRooms, is_owners, memory_rooms
from silas.testing import MockClock, a_signer


class Asked:
    """An owner who is asked about memories, and what he says."""

    def __init__(self, yes: bool = False) -> None:
        self.yes = yes
        self.about: list[MemoryItem] = []
        self.meanwhile: Callable[[], Awaitable[object]] | None = None

    async def __call__(self, item: MemoryItem) -> bool:
        self.about.append(item)
        if self.meanwhile is not None:
            await self.meanwhile()
        return self.yes


class House(NamedTuple):
    """One Silas's memory."""

    rooms: MemoryRooms
    db: Database
    clock: MockClock
    audit: AuditLog
    asked: Asked

    def told(self, event: str) -> list[ReadEntry]:
        return list(AuditReader(self.db).since(0, {event}))

    def everything(self) -> list[tuple[Any, ...]]:
        """All that is remembered, byte for byte: rows, indexes, sources, counters."""
        tables = ("memory_items", "memory_sources", "memory_scopes")
        with self.db.read() as tx:
            return [
                row
                for table in tables
                for row in tx.driver.execute(f"SELECT * FROM {table} ORDER BY 1, 2, 3")
            ]


def anything_fits(rules: Sequence[MemoryItem]) -> bool:
    del rules
    return True


@contextmanager
def a_house(
    directory: Path,
    *,
    owner: str = "owner",
    clock: MockClock | None = None,
    ring: KeyRing | None = None,
    rules_fit: Callable[[Sequence[MemoryItem]], bool] = anything_fits,
    **memory: Any,
) -> Generator[House]:
    clock, signer, asked = clock or MockClock(), a_signer(owner), Asked()
    directory.mkdir(exist_ok=True)
    config = SilasConfig.model_validate({"data_dir": directory, "memory": memory})
    db = Database(directory / "silas.db", clock)
    migrate(db, ("silas.audit", "silas.memory"))
    audit = AuditLog(db, clock, signer)
    around = MemoryPorts(signer, ring or KeyRing.alone(signer.public_key), asked, len, rules_fit)
    try:
        yield House(memory_rooms(config, db, clock, audit, around), db, clock, audit, asked)
    finally:
        db.close()


def limited(house: House, **limits: int) -> Bundles:
    """Bundles that take less."""
    signer = a_signer()
    ring = KeyRing.alone(signer.public_key)
    return Bundles(
        house.db,
        house.clock,
        signer,
        lambda key, digest: is_owners(ring, AuditReader(house.db), key, digest),
        anything_fits,
        house.audit,
        BundleLimits(**limits),
    )


def lines_of(bundle: bytes) -> list[dict[str, Any]]:
    return [json.loads(line) for line in bundle.splitlines()]
