"""The tools that look into Silas's own rooms, and the one that asks the owner."""

from silas.tools import ToolRegistry
from silas.tools.ask_owner import AskOwner, AskOwnerTool
from silas.tools.looking import LOOKING
from silas.tools.recall import (
    REMEMBERED,
    ContextInspectionTool,
    LookAtContext,
    MemorySearchTool,
    SearchMemory,
)


def add_looking_tools(
    registry: ToolRegistry, search: SearchMemory, look: LookAtContext, ask: AskOwner
) -> None:
    """Register them."""
    registry.register(MemorySearchTool(search), REMEMBERED)
    for tool in (ContextInspectionTool(look), AskOwnerTool(ask)):
        registry.register(tool, LOOKING)
