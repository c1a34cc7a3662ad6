"""The models of a Silas and the agents that speak with them; no model costs anything unasked."""

from contextlib import AsyncExitStack
from typing import TYPE_CHECKING, Any

from silas.config import SilasConfig
from silas.home.runtime import Runtime
from silas.services.setup.models_in_force import Agents, Models, open_choices

if TYPE_CHECKING:
    from silas.wiring.parts import Parts


async def open_models(config: SilasConfig, runtime: Runtime, stack: AsyncExitStack) -> Models:
    """The configured models; the stack closes them.

    Raises:
        ConfigError: One of them cannot be made as configured.
    """
    from silas.agents.call_meter import CallMeter  # noqa: PLC0415 - PydanticAI

    opened = await open_choices(config.models, runtime, stack)
    meter = CallMeter(config.limits.llm_calls_per_minute_per_scope, runtime.clock)
    later = await stack.enter_async_context(AsyncExitStack())  # closed when these are
    return Models(config.models, opened, runtime, later, meter)


def run_capabilities(parts: "Parts") -> list[Any]:
    """What lets a run of an agent pause for a question about a call, and counts its requests."""
    from silas.tools.toolset import approval_handler  # noqa: PLC0415 - PydanticAI

    return [approval_handler(parts.door, parts.registry), parts.meter]


def agents_of(parts: "Parts") -> Agents:
    """The agents over the models that are in force, whichever these are."""
    from silas.agents import ExecutorAgent, PlannerAgent, ProxyAgent  # noqa: PLC0415 - PydanticAI

    roles, clock = parts.models.choices(), parts.runtime.clock
    capabilities = run_capabilities(parts)
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
