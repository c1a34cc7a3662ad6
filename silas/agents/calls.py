"""The structured calls there are, and what each falls back to (spec 5.1.0)."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Final, Generic, TypeVar

from silas.agents.models import (
    AgentResponse,
    ExecutorAgentOutput,
    PlannerAdvice,
    RouteDecision,
    ScorerOutput,
)
from silas.agents.partial_answer import AnswerTextField
from silas.agents.wire import planner_form, report_form, route_form
from silas.language import tr, tr_later
from silas.types import InteractionMode, InteractionRegister

T = TypeVar("T")


@dataclass(frozen=True)
class StructuredCall(Generic[T]):
    """One kind of structured call.

    Attributes:
        name: `proxy`, `planner`, `executor`, `scorer`, `advice`.
        output: The model that answers are validated against.
        form: The name of the output tool or schema that the model is shown.
        describe: What the output tool is for, in words for the model.
        fallback: The deterministic answer when the model never answers in form, given the name
            of the default context profile and who was asked.
        shown: The output as the model is shown it, given the context profiles and whether its
            schema may be a union at its root.
        spoken: Where in the answer the text for the user stands; None where nothing is for him.
    """

    name: str
    output: type[T]
    form: str
    describe: str
    fallback: Callable[[str, str], T]
    shown: Callable[[tuple[str, ...], bool], type[T]]
    spoken: AnswerTextField | None = None


_SORRY: Final = tr_later(
    "I could not make sense of what the language model answered, twice, so I did nothing. "
    "Please try again, put it differently, or choose another model under `models:`. ({who})"
)
_NO_PLAN: Final = tr_later(
    "I could not write a plan: the language model's answer did not have the required form, twice. "
    "Nothing was started. Please try again. ({who})"
)
_NO_REPORT: Final = tr_later(
    "The language model did not report its work in the required form. ({who})"
)


def _route(default_profile: str, who: str) -> RouteDecision:
    return RouteDecision(
        route="direct",
        reason="the model's answer did not have the required form",
        response=AgentResponse(message=tr(_SORRY, who=who)),
        interaction_register=InteractionRegister.status,
        interaction_mode=InteractionMode.confirm_only_when_required,
        context_profile=default_profile,
    )


PROXY = StructuredCall(
    "proxy",
    RouteDecision,
    "route",
    "Decide where this turn goes.",
    _route,
    route_form,
    # what it says where the planner will answer is not for the user
    AnswerTextField(("message",), given=("route", "direct")),
)
PLANNER = StructuredCall(
    "planner",
    AgentResponse,
    "respond",
    "Answer the user, with a plan where work is to be done.",
    lambda _profile, who: AgentResponse(message=tr(_NO_PLAN, who=who)),
    lambda _profiles, union: planner_form(union),
    AnswerTextField(("message",)),
)


def _form_with_owed_plan(_profiles: tuple[str, ...], union: bool) -> type[AgentResponse]:
    return planner_form(union, owed=True)


OWED = replace(PLANNER, shown=_form_with_owed_plan)
"""The planner once more, after words where work is wanted."""
EXECUTOR = StructuredCall(
    "executor",
    ExecutorAgentOutput,
    "report_work",
    "Report when the work is done or cannot be done.",
    lambda _profile, who: ExecutorAgentOutput(summary=tr(_NO_REPORT, who=who)),
    lambda _profiles, _union: report_form(),
)
ADVICE = StructuredCall(
    "advice",
    PlannerAdvice,
    "advise",
    "Give the executor guidance.",
    lambda _profile, _who: PlannerAdvice(guidance=""),
    lambda _profiles, _union: PlannerAdvice,
)
SCORER = StructuredCall(
    "scorer",
    ScorerOutput,
    "score",
    "Say which groups of context blocks to keep and which to evict.",
    # nothing to evict by model: the caller goes on with its aggressive heuristic
    lambda _profile, _who: ScorerOutput(keep_groups=[], evict_groups=[]),
    lambda _profiles, _union: ScorerOutput,
)

CALLS: dict[str, StructuredCall[Any]] = {
    call.name: call for call in (PROXY, PLANNER, EXECUTOR, ADVICE, SCORER)
}
