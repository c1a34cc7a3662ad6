"""What models were asked: requests, tokens, seconds; counted where they leave Silas."""

import time
from collections.abc import Callable
from dataclasses import dataclass

from pydantic_ai.messages import ModelMessage, ModelResponse
from pydantic_ai.models import Model, ModelRequestParameters
from pydantic_ai.models.wrapper import WrapperModel
from pydantic_ai.settings import ModelSettings

from silas.agents import ModelChoice
from silas.agents.providers.factory import ConfiguredModel, add_cost


@dataclass
class Meter:
    """What all roles of one task used together.

    Attributes:
        requests: Of all roles.
        tokens_in, tokens_out: As the server counts, or estimated where it does not.
        seconds: Waiting for models; requests that overlap count twice.
    """

    requests: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    seconds: float = 0.0

    def around(self, make_model: Callable[[ModelChoice], Model]) -> Callable[[ModelChoice], Model]:
        """The same models, counted."""

        def make(choice: ModelChoice) -> Model:
            model = make_model(choice)
            if not isinstance(model, ConfiguredModel):
                return _Metered(model, self)
            model.wrapped = _Metered(model.wrapped, self)  # its settings stand around the count
            return model

        return make


class _Metered(WrapperModel):
    """A model whose requests are counted; it is asked whole answers, for nobody listens."""

    def __init__(self, model: Model, meter: Meter) -> None:
        super().__init__(model)
        self._meter = meter

    async def request(
        self,
        messages: list[ModelMessage],
        model_settings: ModelSettings | None,
        model_request_parameters: ModelRequestParameters,
    ) -> ModelResponse:
        """One request, counted though it fails."""
        self._meter.requests += 1
        began = time.monotonic()
        try:
            answer = await super().request(messages, model_settings, model_request_parameters)
        finally:
            self._meter.seconds += time.monotonic() - began
        response = add_cost(answer, messages)
        self._meter.tokens_in += response.usage.input_tokens
        self._meter.tokens_out += response.usage.output_tokens
        return response
