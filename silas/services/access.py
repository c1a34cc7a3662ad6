"""What a connection may use: everything for the owner, for anybody else nothing yet (spec 5.6)."""

from silas.audit import Audit
from silas.clock import Clock
from silas.config import SilasConfig
from silas.gates import AccessController, OwnerAccess, read_customer
from silas.stream.ports import Access, MakeAccess
from silas.tools import ToolRegistry
from silas.types import OWNER


def access_of(
    config: SilasConfig, registry: ToolRegistry, clock: Clock, audit: Audit
) -> MakeAccess:
    """Every tool for the owner; nothing for anybody else, as no goal grants levels yet."""
    folder = config.sandbox.customer_context_dir

    def access(connection_id: str) -> Access:
        if connection_id == OWNER:
            return OwnerAccess(lambda: [tool.tool_name for tool in registry.all()])
        return AccessController(
            {}, connection_id, lambda: read_customer(folder, connection_id), clock, audit
        )

    return access
