"""One role's PydanticAI agents, made once for each output they are asked for."""

from typing import Any

from pydantic_ai import Agent
from pydantic_ai.models import Model

from silas.agents.calls import Call
from silas.agents.choice import OutputSetting
from silas.agents.form import OutputForm, OutputMode, output_type


class Role:
    """A model in a role: its instructions, its output form, and an agent for every call and mode.

    Agents are kept, because making the schema of an output costs more than a whole run.

    Args:
        model: Any PydanticAI model.
        output: How it is made to answer in form.
        name: `proxy`, `planner`, `executor`.
        instructions: The system prompt; never changes, so that providers can keep it.
    """

    def __init__(self, model: Model, output: OutputSetting, name: str, instructions: str) -> None:
        self.form = OutputForm(model, output)
        self._model = model
        self._name = name
        self._instructions = instructions
        self._agents: dict[tuple[str, OutputMode, tuple[str, ...]], Agent[Any, Any]] = {}

    def agent(
        self, call: Call[Any], mode: OutputMode, profiles: tuple[str, ...]
    ) -> Agent[Any, Any]:
        """The agent that answers a call in a mode.

        Args:
            call: What is asked.
            mode: The output mode.
            profiles: Context profiles an answer may name; a schema cannot know what is
                configured, so they are part of the validation. Empty: not checked.
        """
        key = (call.name, mode, profiles)
        if key not in self._agents:
            context = {"context_profiles": frozenset(profiles)} if profiles else None
            self._agents[key] = Agent(
                self._model,
                name=self._name,
                instructions=self._instructions,
                output_type=output_type(call, mode),
                validation_context=context,
                # the one retry is run_structured_agent's; a tool may be corrected a few times
                retries={"output": 0, "tools": _TOOL_CORRECTIONS},
            )
        return self._agents[key]


_TOOL_CORRECTIONS = 3  # times a model may correct the arguments of one tool before the run ends
