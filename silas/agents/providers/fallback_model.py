"""A model that answers in another one's place, where that one is away (`fallback:`)."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from contextvars import ContextVar
from types import TracebackType
from typing import Any, Final, Self

from pydantic_ai import RunContext
from pydantic_ai.exceptions import (
    ModelAPIError,
    ModelAuthenticationError,
    ModelConnectionError,
    ModelNotFoundError,
    ModelQuotaExceededError,
    ModelRateLimitError,
    ModelRequestTimeout,
    ModelServerError,
    ModelUnavailableError,
)
from pydantic_ai.messages import ModelMessage, ModelResponse
from pydantic_ai.models import Model, ModelRequestParameters, StreamedResponse
from pydantic_ai.models.wrapper import WrapperModel
from pydantic_ai.settings import ModelSettings, merge_model_settings

from silas.agents.providers.model_errors import kind_of

AWAY: Final = (
    ModelAuthenticationError,
    ModelConnectionError,
    ModelNotFoundError,
    ModelQuotaExceededError,
    ModelRateLimitError,
    ModelRequestTimeout,
    ModelServerError,
    ModelUnavailableError,
)
"""It cannot be reached, is overloaded, or refuses who asks. What it refuses of a request itself, as
its form or its length, is not here: another model is no answer to that."""

stood_in: Final[ContextVar[list[str]]] = ContextVar("stood_in")
"""Collects, for the run that sets it, a sentence for each model that was away."""


class FallbackModel(WrapperModel):
    """Asks the first model, and the other one with the same request where the first is away.

    The first is asked again with every request: it may be back. What it had streamed until it
    failed is told anew by whoever repeats the request, not here.

    Args:
        wrapped: The model of the role.
        other: Who answers in its place.
    """

    def __init__(self, wrapped: Model, other: Model) -> None:
        super().__init__(wrapped)
        self._other = other

    async def __aenter__(self) -> Self:
        """Open the clients of both."""
        await super().__aenter__()
        await self._other.__aenter__()
        return self

    async def __aexit__(
        self,
        exc_type: type[BaseException] | None,
        exc_val: BaseException | None,
        exc_tb: TracebackType | None,
    ) -> bool | None:
        """Close the clients of both."""
        try:
            await self._other.__aexit__(exc_type, exc_val, exc_tb)
        finally:
            await super().__aexit__(exc_type, exc_val, exc_tb)
        return None

    async def request(
        self,
        messages: list[ModelMessage],
        model_settings: ModelSettings | None,
        model_request_parameters: ModelRequestParameters,
    ) -> ModelResponse:
        """One request, to whoever is there."""
        try:
            return await self.wrapped.request(messages, model_settings, model_request_parameters)
        except ModelAPIError as error:
            self._tell(error)
        settings = merge_model_settings(model_settings, self._other.settings)
        return await self._other.request(messages, settings, model_request_parameters)

    @asynccontextmanager
    async def request_stream(
        self,
        messages: list[ModelMessage],
        model_settings: ModelSettings | None,
        model_request_parameters: ModelRequestParameters,
        run_context: RunContext[Any] | None = None,
    ) -> AsyncGenerator[StreamedResponse]:
        """One request for pieces; only what fails before the first one changes who answers."""
        asked = (model_request_parameters, run_context)
        stream = self.wrapped.request_stream(messages, model_settings, *asked)
        try:
            first = await stream.__aenter__()
        except ModelAPIError as error:
            self._tell(error)
        else:
            try:
                yield first
            except BaseException as error:
                if not await stream.__aexit__(type(error), error, error.__traceback__):
                    raise
            else:
                await stream.__aexit__(None, None, None)
            return
        settings = merge_model_settings(model_settings, self._other.settings)
        async with self._other.request_stream(messages, settings, *asked) as other:
            yield other

    def _tell(self, error: ModelAPIError) -> None:
        kind = kind_of(error)
        if not issubclass(kind, AWAY):
            raise error
        why = next(words for kinds, words in _WHY if issubclass(kind, kinds))
        said = (
            f"The model {self.wrapped.model_name} {why}; {self._other.model_name} answered instead."
        )
        heard = stood_in.get([])
        if said not in heard:
            heard.append(said)


_WHY: Final[tuple[tuple[tuple[type[Exception], ...], str], ...]] = (
    ((ModelAuthenticationError,), "refused the API key"),
    ((ModelNotFoundError,), "is not known to its server"),
    ((ModelQuotaExceededError,), "has no credit left"),
    ((ModelRateLimitError, ModelUnavailableError), "was busy"),
    ((ModelRequestTimeout,), "did not answer in time"),
    ((ModelServerError,), "failed"),
    ((ModelConnectionError,), "could not be reached"),
)
