"""The built-in tools outside the sandbox, for who asks which there are and calls none."""

import ssl

from silas.clock import SystemClock
from silas.config import SilasConfig
from silas.context import ContextItem
from silas.home.secret_store import secrets_of
from silas.home.web_tools import Web, add_web_tools
from silas.memory import MemoryItem
from silas.sandbox.network.outside import NO_OUTSIDE
from silas.sandbox.network.traffic import record_nothing
from silas.services.tools.look_tools import add_looking_tools
from silas.tools import ToolRegistry


def add_uncalled(registry: ToolRegistry, config: SilasConfig) -> None:
    """Register them over a network that leads nowhere."""
    nowhere = Web(NO_OUTSIDE, ssl.create_default_context)
    clock, secrets = SystemClock(), secrets_of(config)
    add_web_tools(registry, config, clock, nowhere, secrets, lambda whose, tool: record_nothing)
    add_looking_tools(registry, _recall_nothing, _view_nothing, _nobody)


async def _recall_nothing(scope: str, query: str, most: int, raw: bool) -> list[MemoryItem]:
    """No memory is asked."""
    return []


def _view_nothing(scope: str) -> list[ContextItem]:
    """Nothing is in view."""
    return []


async def _nobody(whose: str, question: str, options: tuple[str, ...]) -> None:
    """Nobody is asked."""
