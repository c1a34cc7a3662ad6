"""Bounded patience with a model provider: backoff, and the cost ceiling (spec 18.1)."""

from dataclasses import dataclass, field, fields
from decimal import Decimal
from typing import Any

from pydantic_ai import RunContext
from pydantic_ai.capabilities import AbstractCapability
from pydantic_ai.exceptions import (
    ContentFilterError,
    ModelConnectionError,
    ModelHTTPError,
    ModelQuotaExceededError,
    ModelRateLimitError,
    ModelRequestRejectedError,
    ModelRequestTimeout,
    ModelServerError,
    ModelTimeoutError,
    ModelUnavailableError,
    RetryModelRequest,
    UsageLimitExceeded,
)
from pydantic_ai.messages import ModelResponse
from pydantic_ai.models import ModelRequestContext
from pydantic_ai.usage import UsageLimits

from silas.agents.providers.model_errors import kind_of, refuses_tools
from silas.clock import Clock

_PASSING = (
    ModelRateLimitError,
    ModelUnavailableError,
    ModelServerError,
    ModelConnectionError,
    ModelRequestTimeout,
)
_TIMEOUTS = (ModelTimeoutError, ModelRequestTimeout)
"""Repeated once at most: who waited twice has waited long."""

_LASTING = (ModelQuotaExceededError, ModelRequestRejectedError, ContentFilterError)
_PASSING_STATUS = frozenset({408, 425, 429, 500, 502, 503, 504, 529})


def passes(error: BaseException) -> bool:
    """Whether waiting may help: rate limits, overload, server errors, timeouts, the network."""
    if refuses_tools(error) or issubclass(kind_of(error), _LASTING):
        return False
    if isinstance(error, _PASSING):
        return True
    return isinstance(error, ModelHTTPError) and error.status_code in _PASSING_STATUS


@dataclass(frozen=True)
class Backoff:
    """How often and how long to wait.

    Attributes:
        attempts: Requests in all, the first included.
        first_seconds: The first wait; it doubles from there.
        longest_seconds: No wait is longer. A provider that asks for more is not waited for.
    """

    attempts: int = 3
    first_seconds: float = 1.0
    longest_seconds: float = 30.0

    def wait(self, attempt: int, asked: float | None) -> float | None:
        """Seconds to wait after this attempt (from 1) failed; None to give up."""
        if attempt >= self.attempts or (asked is not None and asked > self.longest_seconds):
            return None
        own = min(self.first_seconds * 2 ** (attempt - 1), self.longest_seconds)
        return max(own, asked or 0.0)


@dataclass(repr=False, kw_only=True)
class CeiledLimits(UsageLimits):
    """PydanticAI's limits, with a cost ceiling that `ProviderRetry` keeps in place of its own.

    Its own warns at every request to a model whose price it does not know; such a run is flagged
    (`cost_known`) instead.
    """

    ceiling: Decimal | None = None

    @classmethod
    def of(cls, limits: UsageLimits) -> "CeiledLimits":
        """The same limits, the cost limit as the ceiling."""
        given: dict[str, Any] = {f.name: getattr(limits, f.name) for f in fields(UsageLimits)}
        ceiling = given.pop("cost_limit")
        return cls(**given, ceiling=ceiling)


@dataclass(kw_only=True)
class ProviderRetry(AbstractCapability[Any]):
    """Repeats a failed model request inside its run, so that no tool call is ever repeated for it.

    One serves every run of a role; what belongs to a run is in its limits.
    """

    clock: Clock
    backoff: Backoff = field(default_factory=Backoff)

    async def on_model_request_error(
        self, ctx: RunContext[Any], *, request_context: ModelRequestContext, error: Exception
    ) -> ModelResponse:
        """Wait and try again, or let the error out."""
        if not passes(error):
            raise error
        if isinstance(error, _TIMEOUTS) and request_context.attempt > 1:
            raise error
        asked = getattr(error, "retry_after", None)
        seconds = self.backoff.wait(request_context.attempt, asked)
        if seconds is None:
            raise error
        await self.clock.sleep(seconds)
        raise RetryModelRequest from error

    async def after_model_request(
        self, ctx: RunContext[Any], *, request_context: ModelRequestContext, response: ModelResponse
    ) -> ModelResponse:
        """Stop at the cost ceiling."""
        limits, spent = ctx.usage_limits, ctx.usage.cost
        ceiling = limits.ceiling if isinstance(limits, CeiledLimits) else None
        if spent is not None and ceiling is not None and spent > ceiling:
            raise UsageLimitExceeded(f"the cost limit of {ceiling} USD is exceeded")
        return response
