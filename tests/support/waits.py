"""How long a test waits for what has to happen."""

import asyncio

import pytest

SECONDS = 180.0
"""Until a wait has failed. A wait ends when what it waits for happens, so that the number costs
nothing in a green run, and a busy machine has time enough."""


def pass_seconds(patch: pytest.MonkeyPatch, seconds: float) -> None:
    """Let the running event loop's clock jump ahead, so that its timers are due at once."""
    loop = asyncio.get_running_loop()
    clock = loop.time
    patch.setattr(loop, "time", lambda: clock() + seconds)
