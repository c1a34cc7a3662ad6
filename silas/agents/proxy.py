"""The proxy: classifies every turn, and answers most of them itself (spec 7.1)."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from silas.agents.choice import OutputSetting
from silas.agents.listener import Listen, nobody_listens
from silas.agents.models import RouteDecision
from silas.agents.outcome import StructuredRun
from silas.agents.prompt import TurnRequest
from silas.clock import Clock

if TYPE_CHECKING:
    from pydantic_ai.capabilities import AbstractCapability
    from pydantic_ai.models import Model
    from pydantic_ai.toolsets import AbstractToolset
    from pydantic_ai.usage import UsageLimits

_REQUESTS = 14  # model requests of one routing decision: as many looks as a turn has, and two


class ProxyAgent:
    """Routes a turn to a direct answer or to the planner.

    Args:
        model: Any PydanticAI model.
        clock: Waits between attempts.
        output: How the model is made to answer in form.
        default_profile: The context profile of the honest answer when the model fails.
        capabilities: What resolves calls that pause for approval, and counts requests.
        listen: Who hears the answer of a run while it comes.
    """

    def __init__(
        self,
        model: "Model",
        clock: Clock,
        *,
        output: OutputSetting,
        default_profile: str,
        capabilities: "Sequence[AbstractCapability[Any]]" = (),
        listen: Listen = nobody_listens,
    ) -> None:
        from silas.agents.role import Role  # noqa: PLC0415 - PydanticAI is heavy

        def role_on(on: "Model", form: OutputSetting) -> Role:
            return Role(on, clock, form, "proxy", capabilities)

        self._role_on = role_on
        self._role = self._role_on(model, output)
        self._default_profile = default_profile
        self._listen = listen

    def ask_from_now_on(self, model: "Model", output: OutputSetting) -> None:
        """Let another model answer; what is under way goes on with the one that it began with."""
        self._role = self._role_on(model, output)

    async def route(
        self,
        request: TurnRequest,
        *,
        toolset: "AbstractToolset[Any]",
        deps: Any,
        limits: "UsageLimits | None" = None,
    ) -> StructuredRun[RouteDecision]:
        """Decide where the turn goes.

        Args:
            request: The turn; its profiles are the only ones a decision may name.
            toolset: The wrapped tool chain, for looking things up.
            deps: What the chain needs to know about this run.
            limits: Fourteen model requests where nothing else is said.

        Raises:
            LLMError: The model cannot be reached or refuses; the turn answers that directly.
        """
        from pydantic_ai.usage import UsageLimits  # noqa: PLC0415 - heavy

        from silas.agents.calls import PROXY  # noqa: PLC0415 - with run
        from silas.agents.run import CallContext, run_structured_agent  # noqa: PLC0415 - heavy

        prompt = request.render()
        asking = CallContext(
            deps=deps,
            toolsets=(toolset,),
            limits=limits or UsageLimits(request_limit=_REQUESTS),
            profiles=request.profiles,
            default_profile=self._default_profile,
            listener=self._listen(deps),
            earlier=prompt.earlier,
        )
        return await run_structured_agent(self._role, prompt.text, PROXY, asking)
