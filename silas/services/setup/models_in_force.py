"""The models that answer now, of which others may take the place while Silas runs."""

from collections.abc import Callable
from contextlib import AsyncExitStack
from typing import TYPE_CHECKING, NamedTuple

from silas.agents.choice import RUNBOOK, ModelChoice, ModelsConfig
from silas.home.runtime import Runtime
from silas.services.setup.who_answers import busy_error
from silas.services.tools.look_tools import describe_viewers

if TYPE_CHECKING:
    from pydantic_ai.models import Model

    from silas.agents import ExecutorAgent, PlannerAgent, ProxyAgent, ScorerAgent
    from silas.agents.call_meter import CallMeter, RecordedCalls
    from silas.tools.toolset import ToolRun


class OpenModels(NamedTuple):
    """The model of each role."""

    proxy: "Model"
    planner: "Model"
    executor: "Model"
    scorer: "Model"


class Agents(NamedTuple):
    """Who talks, who plans, and who does work for which no worker is named."""

    proxy: "ProxyAgent"
    planner: "PlannerAgent"
    executor: "ExecutorAgent[ToolRun]"


class Models:
    """The models that answer now, and the agents that ask them; others may take their place.

    What depends on who answers asks for `choices` when it needs it, and keeps none of it.

    Attributes:
        opened: The models as they were opened at the start.
        meter: Counts the requests of every agent.
    """

    def __init__(
        self,
        choices: ModelsConfig,
        opened: OpenModels,
        runtime: Runtime,
        stack: AsyncExitStack,
        meter: "CallMeter",
    ) -> None:
        self._choices = choices
        self.opened = opened
        self.meter = meter
        self._runtime = runtime
        self._stack = stack
        self._agents: list[Agents] = []
        self._scorers: list[ScorerAgent] = []

    def choices(self) -> ModelsConfig:
        """Which model serves which role."""
        return self._choices

    def executor_choice(self) -> ModelChoice:
        """Which model does work whose worker names none."""
        return self._choices.executor

    def runbook_executes(self) -> bool:
        """Whether the built-in model does such work now."""
        return self._choices.executor.name == RUNBOOK

    def runbook_plans(self) -> bool:
        """Whether the built-in model plans now."""
        return self._choices.planner.name == RUNBOOK

    def shown_to(self) -> str:
        """Who outside this machine is shown what they are shown; empty where nobody is."""
        return describe_viewers(self._choices)

    def asked_by(self, agents: Agents) -> None:
        """These agents ask whichever models are in force."""
        self._agents.append(agents)

    def make_scorer(self, meter: "RecordedCalls") -> "ScorerAgent":
        """Who scores what may leave a full context, by whichever model is in force; it has no tool.

        Args:
            meter: Counts its requests, and puts on record those that are refused.
        """
        from silas.agents import ScorerAgent  # noqa: PLC0415 - PydanticAI

        output = self._choices.scorer.output
        scorer = ScorerAgent(
            self.opened.scorer, self._runtime.clock, output=output, capabilities=[meter]
        )
        self._scorers.append(scorer)
        return scorer

    async def take(self, choices: ModelsConfig, busy: Callable[[], bool]) -> None:
        """Put these in force: all of them, or none.

        Args:
            choices: One for each role.
            busy: Whether something is under way, which began with the models before. It was
                approved, and shown what it reads, as theirs.

        Raises:
            ConfigError: One of them cannot be made as configured, or something is under way;
                the models before are in force still.
        """
        async with AsyncExitStack() as opening:
            opened = await open_choices(choices, self._runtime, opening)
            if busy():
                raise busy_error()
            # nothing is waited for between the question and the change
            for agents in self._agents:
                agents.proxy.ask_from_now_on(opened.proxy, choices.proxy.output)
                agents.planner.ask_from_now_on(opened.planner, choices.planner.output)
                agents.executor.ask_from_now_on(opened.executor, choices.executor.output)
            for scorer in self._scorers:
                scorer.ask_from_now_on(opened.scorer, choices.scorer.output)
            self._choices = choices
            self._stack.push_async_exit(opening.pop_all())


async def open_choices(
    choices: ModelsConfig, runtime: Runtime, stack: AsyncExitStack
) -> OpenModels:
    """The model of each role; the stack closes them.

    Raises:
        ConfigError: One of them cannot be made as configured.
    """
    import pydantic_ai  # noqa: PLC0415 - costs half a second

    from silas.agents.providers.factory import at_low_temperature  # noqa: PLC0415 - PydanticAI

    pydantic_ai.BANNER_ENABLED = False  # the terminal belongs to Silas and its owner

    return OpenModels(
        *[
            await stack.enter_async_context(runtime.make_model(at_low_temperature(choice, role)))
            for role, choice in choices
        ]
    )
