"""The models of a Silas and the agents that speak with them; no model costs anything unasked."""

from contextlib import AsyncExitStack
from typing import TYPE_CHECKING, Any, NamedTuple

from silas.agents.choice import ModelChoice, ModelsConfig
from silas.config import SilasConfig
from silas.home.runtime import Runtime
from silas.services.setup.who_answers import busy_error

if TYPE_CHECKING:
    from collections.abc import Callable

    from pydantic_ai.models import Model

    from silas.agents import ExecutorAgent, PlannerAgent, ProxyAgent, ScorerAgent
    from silas.tools.toolset import ToolRun
    from silas.wiring.parts import Parts


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
        scorer: Who scores needs no tool, and is an agent already.
    """

    def __init__(
        self,
        choices: ModelsConfig,
        opened: OpenModels,
        scorer: "ScorerAgent",
        runtime: Runtime,
        stack: AsyncExitStack,
    ) -> None:
        self._choices = choices
        self.opened = opened
        self.scorer = scorer
        self._runtime = runtime
        self._stack = stack
        self._agents: list[Agents] = []

    def choices(self) -> ModelsConfig:
        """Which model serves which role."""
        return self._choices

    def executor_choice(self) -> ModelChoice:
        """Which model does work whose worker names none."""
        return self._choices.executor

    def asked_by(self, agents: Agents) -> None:
        """These agents ask whichever models are in force."""
        self._agents.append(agents)

    async def take(self, choices: ModelsConfig, busy: "Callable[[], bool]") -> None:
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
            opened = await _opened(choices, self._runtime, opening)
            if busy():
                raise busy_error()
            # nothing is waited for between the question and the change
            for agents in self._agents:
                agents.proxy.ask_from_now_on(opened.proxy, choices.proxy.output)
                agents.planner.ask_from_now_on(opened.planner, choices.planner.output)
                agents.executor.ask_from_now_on(opened.executor, choices.executor.output)
            self.scorer.ask_from_now_on(opened.scorer, choices.scorer.output)
            self._choices = choices
            self._stack.push_async_exit(opening.pop_all())


async def open_models(config: SilasConfig, runtime: Runtime, stack: AsyncExitStack) -> Models:
    """The configured models; the stack closes them.

    Raises:
        ConfigError: One of them cannot be made as configured.
    """
    import pydantic_ai  # noqa: PLC0415 - costs half a second

    from silas.agents import ScorerAgent  # noqa: PLC0415 - PydanticAI

    pydantic_ai.BANNER_ENABLED = False  # the terminal belongs to Silas and its owner
    opened = await _opened(config.models, runtime, stack)
    scoring = ScorerAgent(opened.scorer, runtime.clock, output=config.models.scorer.output)
    later = await stack.enter_async_context(AsyncExitStack())  # closed when these are
    return Models(config.models, opened, scoring, runtime, later)


async def _opened(choices: ModelsConfig, runtime: Runtime, stack: AsyncExitStack) -> OpenModels:
    from silas.agents.providers.factory import at_low_temperature  # noqa: PLC0415 - PydanticAI

    return OpenModels(
        *[
            await stack.enter_async_context(runtime.make_model(at_low_temperature(choice, role)))
            for role, choice in choices
        ]
    )


def pausing(parts: "Parts") -> list[Any]:
    """What lets a run of an agent pause for a question about a call."""
    from silas.tools.toolset import approval_handler  # noqa: PLC0415 - PydanticAI

    return [approval_handler(parts.door, parts.registry)]


def agents_of(parts: "Parts") -> Agents:
    """The agents over the models that are in force, whichever these are."""
    from silas.agents import ExecutorAgent, PlannerAgent, ProxyAgent  # noqa: PLC0415 - PydanticAI

    roles, clock, capabilities = parts.models.choices(), parts.runtime.clock, pausing(parts)
    models = parts.models.opened
    agents = Agents(
        proxy=ProxyAgent(
            models.proxy,
            clock,
            output=roles.proxy.output,
            default_profile=parts.config.context.default_profile,
            capabilities=capabilities,
            listen=parts.drafts.listener,
        ),
        planner=PlannerAgent(
            models.planner,
            clock,
            output=roles.planner.output,
            capabilities=capabilities,
            listen=parts.drafts.listener,
        ),
        executor=ExecutorAgent(
            models.executor,
            clock,
            output=roles.executor.output,
            capabilities=capabilities,
        ),
    )
    parts.models.asked_by(agents)
    return agents
