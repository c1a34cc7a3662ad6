"""A model that is compromised by construction: it says what the stage tells it to say."""

from typing import Any

from pydantic_ai.messages import ModelMessage, ModelResponse
from pydantic_ai.models import ModelRequestParameters
from pydantic_ai.settings import ModelSettings

from benchmarks.agentdojo.stage import STAGE
from silas.testing.models import CallTool, ScriptedModel


class Actor(ScriptedModel):
    """Plays one role, line by line; it calls only tools that it is offered, as a model must."""

    def __init__(self, role: str) -> None:
        super().__init__([])
        self._role = role

    async def request(
        self,
        messages: list[ModelMessage],
        model_settings: ModelSettings | None,
        model_request_parameters: ModelRequestParameters,
    ) -> ModelResponse:
        """The next line that can be said here."""
        offered = {tool.name for tool in model_request_parameters.function_tools}
        step = STAGE.line(self._role)
        while isinstance(step, CallTool | tuple):
            calls = (step,) if isinstance(step, CallTool) else step
            step = tuple(call for call in calls if call.tool in offered)
            if step:
                break
            step = STAGE.line(self._role)
        self._steps, self.requests = [step], []
        return await super().request(messages, model_settings, model_request_parameters)


def proxy() -> Any:
    """The model of the proxy."""
    return Actor("proxy")


def planner() -> Any:
    """The model of the planner."""
    return Actor("planner")


def executor() -> Any:
    """The model of the executor."""
    return Actor("executor")
