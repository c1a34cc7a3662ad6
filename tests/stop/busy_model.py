"""A model that blocks the event loop: what `models.executor: python:...` may be, at its worst."""

import os
from pathlib import Path

from pydantic_ai.messages import ModelMessage, ModelResponse
from pydantic_ai.models import ModelRequestParameters
from pydantic_ai.settings import ModelSettings

from silas.testing import ScriptedModel


class Busy(ScriptedModel):
    """Says that it was asked, and computes for ever."""

    async def request(
        self,
        messages: list[ModelMessage],
        model_settings: ModelSettings | None,
        model_request_parameters: ModelRequestParameters,
    ) -> ModelResponse:
        Path(os.environ["BUSY_SIGN"]).touch()
        while True:
            pass


def make() -> Busy:
    """The factory."""
    return Busy([])
