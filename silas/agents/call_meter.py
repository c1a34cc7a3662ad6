"""How many requests to models a minute are made, for each scope and in all (spec 18.5).

The owner waits for the next one, and so does his work: nothing of his is lost. Anybody else is told
to come back; work that the owner approved for somebody else waits, too, for the limit of whoever
asked for it. The built-in model costs nothing and is not counted.

Where several of the owner's wait, the requests for a message of his own go first, and after them
those of work and jobs; among equals, who came first. Work is passed over `PASSED_OVER` times in a
row at most, so that a tenth of all requests is left to it, however much he says.
"""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from math import ceil
from typing import Any, Final

from pydantic_ai import RunContext
from pydantic_ai.capabilities import AbstractCapability
from pydantic_ai.models import ModelRequestContext

from silas.agents.call_scope import CallScope, limit_wait, scope_of_calls
from silas.audit.refusals import LIMIT_EXCEEDED, RefusalRecord
from silas.clock import Clock
from silas.errors import LLMError
from silas.language import tr, tr_later
from silas.token_buckets import TokenBuckets
from silas.types import OWNER

OTHERS_TOGETHER: Final = 4
"""How many scopes besides the owner's may ask as often as one of them may."""

PASSED_OVER: Final = 9
"""How many requests for messages of the owner's go before one of work that waits."""

_BUILT_IN: Final = "silas"  # the `system` of `RunbookModel`
_ALL: Final = "all"
_TOO_MANY: Final = tr_later(
    "Silas has asked its model as often as it may within a minute; try again in a minute."
)

_WAITS: Final = tr_later(
    "waiting for the limit of requests to the model ({limit} a minute), about {seconds} s"
)


class CallMeter(AbstractCapability[Any]):
    """Counts every request of every agent before it is made; one serves a whole Silas.

    Args:
        per_minute: Requests a minute of one scope.
        clock: Waits for the next one.
    """

    def __init__(self, per_minute: int, clock: Clock) -> None:
        self._per_minute = per_minute
        self._scopes = TokenBuckets(per_minute, clock)
        self._others = TokenBuckets(per_minute * OTHERS_TOGETHER, clock)
        self._clock = clock
        self._line = _Line()

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

    def recording(self, refusals: RefusalRecord) -> "RecordedCalls":
        """The same, with an entry in the record for what is refused."""
        return RecordedCalls(self, refusals)

    async def _take(self, scope: CallScope) -> None:
        if scope.scope_id == OWNER:
            await self._take_in_line(first=scope.first)
        elif scope.waits:
            await self._wait_as_another(scope.scope_id)
        elif not (self._scopes.take(scope.scope_id) and self._others.take(_ALL)):
            raise LLMError(_TOO_MANY, code="E_LLM_CALLS_A_MINUTE")

    async def _wait_as_another(self, scope_id: str) -> None:
        """Take one of somebody else's and one of all others', as soon as there are both."""

        def seconds() -> float:
            own = self._scopes.seconds_to_next(scope_id)
            return max(own, self._others.seconds_to_next(_ALL))

        if wait := seconds():
            with limit_wait(self._words(wait)):
                while wait := seconds():
                    await self._clock.sleep(wait)
        self._scopes.take(scope_id)
        self._others.take(_ALL)

    def _words(self, seconds: float) -> str:
        return tr(_WAITS, limit=self._per_minute, seconds=ceil(seconds))

    async def _take_in_line(self, *, first: bool) -> None:
        async with self._line.place(first=first) as place:
            if self._line.is_next(place) and self._scopes.take(OWNER):
                return
            before = self._line.before(place)
            seconds = self._scopes.seconds_to_next(OWNER) + before * 60 / self._per_minute
            with limit_wait(self._words(seconds)):
                await self._wait(place)

    async def _wait(self, place: "_Place") -> None:
        while not (self._line.is_next(place) and self._scopes.take(OWNER)):
            if self._line.is_next(place):
                await self._clock.sleep(self._scopes.seconds_to_next(OWNER))
            else:
                place.moved.clear()
                await place.moved.wait()


class RecordedCalls(AbstractCapability[Any]):
    """A meter, and in the record whom it refused.

    Args:
        meter: Counts.
        refusals: The record.
    """

    def __init__(self, meter: CallMeter, refusals: RefusalRecord) -> None:
        self._meter = meter
        self._refusals = refusals

    async def before_model_request(
        self, ctx: RunContext[Any], request_context: ModelRequestContext
    ) -> ModelRequestContext:
        """See `CallMeter.before_model_request`."""
        try:
            return await self._meter.before_model_request(ctx, request_context)
        except LLMError:
            whose = scope_of_calls().scope_id
            await self._refusals.note(LIMIT_EXCEEDED, "requests to models", whose)
            raise


class _Place:
    """One request that waits, or is about to be made."""

    def __init__(self, *, first: bool) -> None:
        self.first = first
        self.moved = asyncio.Event()


class _Line:
    """The requests of the owner's that wait, in the order in which they came."""

    def __init__(self) -> None:
        self._places: list[_Place] = []
        self._passed_over = 0

    @asynccontextmanager
    async def place(self, *, first: bool) -> AsyncGenerator[_Place]:
        """A place in the line, until its request is made or given up."""
        mine = _Place(first=first)
        self._places.append(mine)
        try:
            yield mine
            self._count(mine)
        finally:
            self._places.remove(mine)
            if self._places:
                self._in_order()[0].moved.set()

    def is_next(self, place: _Place) -> bool:
        """Whether nobody goes before it."""
        return self._in_order()[0] is place

    def before(self, place: _Place) -> int:
        """How many go before it, if nobody else comes."""
        return self._in_order().index(place)

    def _in_order(self) -> list[_Place]:
        messages = [one for one in self._places if one.first]
        work = [one for one in self._places if not one.first]
        if work and self._passed_over >= PASSED_OVER:
            return [work[0], *messages, *work[1:]]
        return [*messages, *work]

    def _count(self, gone: _Place) -> None:
        if not gone.first:
            self._passed_over = 0
        elif any(not one.first for one in self._places):
            self._passed_over += 1
