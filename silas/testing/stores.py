"""In-memory stand-ins for stores, one per port, each run through the port's contract tests."""

from typing import Any

from silas.audit.models import ChainVerdict
from silas.canonical import canonical_json
from silas.types import new_id


class MemoryAudit:
    """An audit log in a list; refuses what is not JSON, as the real one does."""

    def __init__(self) -> None:
        self.entries: list[tuple[str, dict[str, Any]]] = []

    def events(self) -> list[str]:
        """The event names in order."""
        return [event for event, _ in self.entries]

    def log_now(self, event: str, **data: Any) -> str:
        """Append."""
        canonical_json(data)
        self.entries.append((event, data))
        return new_id("audit")

    async def log(self, event: str, **data: Any) -> str:
        """Append."""
        return self.log_now(event, **data)

    async def verify_chain(self) -> ChainVerdict:
        """A list cannot be tampered with from outside."""
        return ChainVerdict(True, len(self.entries))

    async def write_checkpoint(self) -> str:
        """Nothing to sign; the id names the length."""
        return f"checkpoint-{len(self.entries)}"

    async def verify_from_checkpoint(self, checkpoint_id: str | None = None) -> ChainVerdict:
        """As `verify_chain`."""
        return ChainVerdict(True, len(self.entries), checkpoint_id or "")

    def require_whole(self) -> None:
        """As `verify_chain`: it always is."""
