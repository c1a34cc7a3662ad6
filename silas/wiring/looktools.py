"""The tools that look into Silas's own rooms, and the one that asks the owner."""

from silas.context import ContextKeeper
from silas.memory import Memory
from silas.tools import ToolRegistry
from silas.tools.ask_owner import AskOwner, AskOwnerTool
from silas.tools.looking import LOOKING
from silas.tools.recall import ContextInspectionTool, MemorySearchTool


def add_looking_tools(
    registry: ToolRegistry, memory: Memory, context: ContextKeeper, ask: AskOwner
) -> None:
    """Register them."""
    for tool in (MemorySearchTool(memory), ContextInspectionTool(context), AskOwnerTool(ask)):
        registry.register(tool, LOOKING)
