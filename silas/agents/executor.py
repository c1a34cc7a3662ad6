"""The executor: works through an approved briefing with tools (spec 7.3)."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Generic

from typing_extensions import TypeVar

from silas.agents.choice import OutputSetting
from silas.agents.models import ExecutorAgentOutput
from silas.agents.outcome import StructuredRun
from silas.agents.prompt import skill_blocks
from silas.clock import Clock
from silas.context import frame
from silas.skills import SkillText

if TYPE_CHECKING:
    from pydantic_ai.capabilities import AbstractCapability
    from pydantic_ai.models import Model
    from pydantic_ai.toolsets import AbstractToolset
    from pydantic_ai.usage import RunUsage, UsageLimits


Deps = TypeVar("Deps", default=Any)


class ExecutorAgent(Generic[Deps]):
    """Executes a briefing; every tool call goes through the toolset it is given.

    Args:
        model: Any PydanticAI model.
        clock: Waits between attempts.
        output: How the model is made to answer in form.
        capabilities: What resolves calls that pause for approval, and counts requests.
        own: A worker's instructions, below those that every executor has.
    """

    def __init__(
        self,
        model: "Model",
        clock: Clock,
        *,
        output: OutputSetting,
        capabilities: "Sequence[AbstractCapability[Deps]]",
        own: str = "",
    ) -> None:
        from silas.agents.role import Role  # noqa: PLC0415 - PydanticAI is heavy

        def role_on(on: "Model", form: OutputSetting) -> Role:
            return Role(on, clock, form, "executor", capabilities, own)

        self._role_on = role_on
        self._role = self._role_on(model, output)

    def ask_from_now_on(self, model: "Model", output: OutputSetting) -> None:
        """Let another model work; what is under way goes on with the one that it began with."""
        self._role = self._role_on(model, output)

    async def run(
        self,
        instructions: str,
        *,
        skills: Sequence[SkillText],
        toolset: "AbstractToolset[Deps]",
        deps: Deps,
        limits: "UsageLimits",
        usage: "RunUsage | None" = None,
    ) -> StructuredRun[ExecutorAgentOutput]:
        """One attempt.

        Args:
            instructions: The approved body, and on a retry what failed and what was advised.
            skills: What the approved plan's skills say; they advise and grant nothing.
            toolset: The wrapped tool chain; the only way to act.
            deps: What the chain needs to know about this run.
            limits: Tokens, cost and requests left for this attempt.
            usage: Counts for several runs that share the limits; by default one of its own.

        Raises:
            LLMError: The model cannot be reached, refuses, or the limits are reached.
        """
        from pydantic_ai.usage import RunUsage  # noqa: PLC0415 - heavy

        from silas.agents.calls import EXECUTOR  # noqa: PLC0415 - with run
        from silas.agents.run import CallContext, run_structured_agent  # noqa: PLC0415 - heavy

        asking = CallContext(
            deps=deps,
            toolsets=(toolset,),
            limits=limits,
            usage=RunUsage() if usage is None else usage,
        )
        # The briefing first: it is what was approved, and all that the runbook model follows.
        prompt = "\n\n".join([frame("briefing", instructions), *skill_blocks(skills)])
        return await run_structured_agent(self._role, prompt, EXECUTOR, asking)
