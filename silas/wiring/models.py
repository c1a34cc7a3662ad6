"""The models of a Silas and the agents that speak with them; no model costs anything unasked."""

from contextlib import AsyncExitStack
from typing import TYPE_CHECKING, Any, NamedTuple

from silas.config import SilasConfig
from silas.home.runtime import Runtime

if TYPE_CHECKING:
    from pydantic_ai.models import Model

    from silas.agents import ExecutorAgent, PlannerAgent, ProxyAgent, ScorerAgent
    from silas.tools.toolset import ToolRun
    from silas.wiring.parts import Parts


class Models(NamedTuple):
    """The model of each role; whoever scores needs no tool, and is an agent already."""

    proxy: "Model"
    planner: "Model"
    executor: "Model"
    scorer: "ScorerAgent"


class Agents(NamedTuple):
    """Who talks, who plans, and who does work for which no worker is named."""

    proxy: "ProxyAgent"
    planner: "PlannerAgent"
    executor: "ExecutorAgent[ToolRun]"


async def open_models(config: SilasConfig, runtime: Runtime, stack: AsyncExitStack) -> Models:
    """The configured models; the stack closes them.

    Raises:
        ConfigError: One of them cannot be made as configured.
    """
    import pydantic_ai  # noqa: PLC0415 - costs half a second

    from silas.agents import ScorerAgent  # noqa: PLC0415 - PydanticAI
    from silas.agents.providers.factory import at_low_temperature  # noqa: PLC0415 - PydanticAI

    pydantic_ai.BANNER_ENABLED = False  # the terminal belongs to Silas and its owner
    roles = config.models
    proxy, planner, executor, scorer = [
        await stack.enter_async_context(runtime.make_model(at_low_temperature(choice, role)))
        for role, choice in roles
    ]
    scoring = ScorerAgent(scorer, runtime.clock, output=roles.scorer.output)
    return Models(proxy, planner, executor, scoring)


def pausing(parts: "Parts") -> list[Any]:
    """What lets a run of an agent pause for a question about a call."""
    from silas.tools.toolset import approval_handler  # noqa: PLC0415 - PydanticAI

    return [approval_handler(parts.door, parts.registry)]


def agents_of(parts: "Parts") -> Agents:
    """The agents over the models that were opened."""
    from silas.agents import ExecutorAgent, PlannerAgent, ProxyAgent  # noqa: PLC0415 - PydanticAI

    roles, clock, capabilities = parts.config.models, parts.runtime.clock, pausing(parts)
    return Agents(
        proxy=ProxyAgent(
            parts.models.proxy,
            clock,
            output=roles.proxy.output,
            default_profile=parts.config.context.default_profile,
            capabilities=capabilities,
            listen=parts.drafts.listener,
        ),
        planner=PlannerAgent(
            parts.models.planner,
            clock,
            output=roles.planner.output,
            capabilities=capabilities,
            listen=parts.drafts.listener,
        ),
        executor=ExecutorAgent(
            parts.models.executor,
            clock,
            output=roles.executor.output,
            capabilities=capabilities,
        ),
    )
