"""How many requests to models a minute are made, for each scope and in all (spec 18.5).

The owner waits for the next one, and so does his work: nothing of his is lost. Anybody else is told
to come back. The built-in model costs nothing and is not counted.
"""

import asyncio
from typing import Any, Final

from pydantic_ai import RunContext
from pydantic_ai.capabilities import AbstractCapability
from pydantic_ai.models import ModelRequestContext

from silas.agents.call_scope import scope_of_calls
from silas.clock import Clock
from silas.errors import LLMError
from silas.language import tr_later
from silas.token_buckets import TokenBuckets
from silas.types import OWNER

OTHERS_TOGETHER: Final = 4
"""How many scopes besides the owner's may ask as often as one of them may."""

_BUILT_IN: Final = "silas"  # the `system` of `RunbookModel`
_ALL: Final = "all"
_TOO_MANY: Final = tr_later(
    "Silas has asked its model as often as it may within a minute; try again in a minute."
)


class CallMeter(AbstractCapability[Any]):
    """Counts every request of every agent before it is made; one serves a whole Silas.

    Args:
        per_minute: Requests a minute of one scope.
        clock: Waits for the next one.
    """

    def __init__(self, per_minute: int, clock: Clock) -> None:
        self._scopes = TokenBuckets(per_minute, clock)
        self._others = TokenBuckets(per_minute * OTHERS_TOGETHER, clock)
        self._clock = clock
        self._in_order = asyncio.Lock()

    async def before_model_request(
        self, ctx: RunContext[Any], request_context: ModelRequestContext
    ) -> ModelRequestContext:
        """Let it be made, at once or as soon as it may be.

        Raises:
            LLMError: Somebody else than the owner has asked too often; nothing was requested.
        """
        if request_context.model.system != _BUILT_IN:
            await self._take(scope_of_calls())
        return request_context

    async def _take(self, scope_id: str) -> None:
        if scope_id == OWNER:
            async with self._in_order:  # who came first asks first
                while not self._scopes.take(scope_id):
                    await self._clock.sleep(self._scopes.seconds_to_next(scope_id))
        elif not (self._scopes.take(scope_id) and self._others.take(_ALL)):
            raise LLMError(_TOO_MANY, code="E_LLM_CALLS_A_MINUTE")
