"""The planner: writes the briefing and its checks, and advises when work is stuck (spec 7.2)."""

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from silas.agents.choice import OutputSetting
from silas.agents.listener import Listen, nobody_listens
from silas.agents.models import AgentResponse, PlannerAdvice
from silas.agents.outcome import StructuredRun
from silas.agents.prompt import TurnRequest, skill_blocks
from silas.clock import Clock
from silas.context import frame, frame_text, scrub_output
from silas.skills import SkillText
from silas.types import Origin, OriginKind

if TYPE_CHECKING:
    from pydantic_ai.capabilities import AbstractCapability
    from pydantic_ai.models import Model
    from pydantic_ai.toolsets import AbstractToolset
    from pydantic_ai.usage import UsageLimits

    from silas.agents.run import CallContext
    from silas.plans import WorkItem

_REQUESTS = 16  # model requests of one plan: as many looks as a turn has, and four
_CHECKS = Origin(kind=OriginKind.tool, name="verification")
_TASK = "advise the executor of the work below, which failed its attempts; do not write a plan"


class PlannerAgent:
    """Turns a request into a plan the owner can approve and a checker can verify.

    Args:
        model: Any PydanticAI model; the strongest there is.
        clock: Waits between attempts.
        output: How the model is made to answer in form.
        capabilities: What resolves calls that pause for approval, and counts requests.
        listen: Who hears the answer of a run while it comes.
    """

    def __init__(
        self,
        model: "Model",
        clock: Clock,
        *,
        output: OutputSetting,
        capabilities: "Sequence[AbstractCapability[Any]]" = (),
        listen: Listen = nobody_listens,
    ) -> None:
        from silas.agents.role import Role  # noqa: PLC0415 - PydanticAI is heavy

        def role_on(on: "Model", form: OutputSetting) -> Role:
            return Role(on, clock, form, "planner", capabilities)

        self._role_on = role_on
        self._role = self._role_on(model, output)
        self._listen = listen

    def ask_from_now_on(self, model: "Model", output: OutputSetting) -> None:
        """Let another model answer; what is under way goes on with the one that it began with."""
        self._role = self._role_on(model, output)

    async def plan(
        self,
        request: TurnRequest,
        *,
        toolset: "AbstractToolset[Any]",
        deps: Any,
        limits: "UsageLimits | None" = None,
    ) -> StructuredRun[AgentResponse]:
        """Answer the turn, with a plan where work is to be done.

        Args:
            request: The turn, with the mode that was resolved for it.
            toolset: The wrapped tool chain, for looking things up.
            deps: What the chain needs to know about this run.
            limits: Sixteen model requests where nothing else is said.

        Raises:
            LLMError: The model cannot be reached or refuses.
        """
        from silas.agents.calls import OWED, PLANNER  # noqa: PLC0415 - with run
        from silas.agents.run import run_structured_agent  # noqa: PLC0415 - heavy

        prompt = request.render()
        call = OWED if request.returned.owed else PLANNER
        asking = replace(
            self._asking(limits, deps, (toolset,)),
            listener=self._listen(deps),
            earlier=prompt.earlier,
        )
        return await run_structured_agent(self._role, prompt.text, call, asking)

    async def revise(
        self, request: TurnRequest, *, toolset: "AbstractToolset[Any]", deps: Any
    ) -> StructuredRun[AgentResponse]:
        """As `plan`, for work that ended without success; nobody hears the answer while it comes.

        Args:
            request: The turn that asked, with the plan and what became of it.
            toolset, deps: As of `plan`.

        Raises:
            LLMError: The model cannot be reached or refuses.
        """
        from silas.agents.calls import PLANNER  # noqa: PLC0415 - with run
        from silas.agents.run import run_structured_agent  # noqa: PLC0415 - heavy

        prompt = request.render()
        asking = replace(self._asking(None, deps, (toolset,)), earlier=prompt.earlier)
        return await run_structured_agent(self._role, prompt.text, PLANNER, asking)

    async def advise(
        self,
        item: "WorkItem",
        failures: str,
        *,
        skills: Sequence[SkillText],
        limits: "UsageLimits | None" = None,
    ) -> StructuredRun[PlannerAdvice]:
        """Guidance for an executor that is stuck (spec 5.2.1 e); it changes nothing by itself.

        Args:
            item: The work.
            failures: What failed, in words.
            skills: What the executor is told besides the briefing.
            limits: Sixteen model requests where nothing else is said.

        Raises:
            LLMError: The model cannot be reached or refuses.
        """
        from silas.agents.calls import ADVICE  # noqa: PLC0415 - with run
        from silas.agents.run import run_structured_agent  # noqa: PLC0415 - heavy

        prompt = "\n\n".join(
            (
                frame("task", _TASK),
                frame("briefing", item.body, title=item.title, attempts=str(item.attempts)),
                *skill_blocks(skills),
                frame_text(scrub_output(failures), _CHECKS, "failures"),
            )
        )
        asking = self._asking(limits, None, ())
        return await run_structured_agent(self._role, prompt, ADVICE, asking)

    def _asking(
        self,
        limits: "UsageLimits | None",
        deps: Any,
        toolsets: "Sequence[AbstractToolset[Any]]",
    ) -> "CallContext[Any]":
        from pydantic_ai.usage import UsageLimits  # noqa: PLC0415 - heavy

        from silas.agents.run import CallContext  # noqa: PLC0415 - heavy

        return CallContext(
            deps=deps,
            toolsets=toolsets,
            limits=limits or UsageLimits(request_limit=_REQUESTS),
        )
