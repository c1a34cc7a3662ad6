"""Answers under way, each of which its owner may stop alone: nothing else ends with it."""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any, Final

STOPPED_WORDS: Final = "You stopped this answer; nothing came of it."
"""What stands in the place of an answer that was stopped."""


class RunningAnswers:
    """The turns of messages that have a name, by it."""

    def __init__(self) -> None:
        self._turns: dict[str, asyncio.Task[object]] = {}
        self._stopped: set[str] = set()

    def stop(self, message_id: str) -> bool:
        """End the turn that answers this message; False where none does any more."""
        turn = self._turns.get(message_id)
        if turn is None or turn.done():
            return False
        self._stopped.add(message_id)
        turn.cancel()
        return True

    def was_stopped(self, message_id: str) -> bool:
        """Whether the owner stopped the answer to this message, which now ends."""
        return message_id in self._stopped

    async def run(
        self,
        message_id: str,
        turn: Callable[[], Coroutine[Any, Any, object]],
        stopped: Callable[[], Awaitable[None]],
    ) -> None:
        """Run a turn, and `stopped` instead of its end where its owner stopped it.

        Args:
            message_id: What it answers; a message without a name cannot be stopped alone.
            turn: The turn.
            stopped: Says that it was stopped.
        """
        running = asyncio.create_task(turn())
        if message_id:
            self._turns[message_id] = running
        try:
            await running
        except asyncio.CancelledError:
            if not self.was_stopped(message_id):
                raise
            await stopped()
        finally:
            self._turns.pop(message_id, None)
            self._stopped.discard(message_id)
