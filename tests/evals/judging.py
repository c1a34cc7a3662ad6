"""What makes an answer right: one small evaluator for each thing that is asked."""

import re
from dataclasses import dataclass, field

from pydantic_evals import Dataset
from pydantic_evals.evaluators import EvaluationReason, Evaluator, EvaluatorContext

from silas.plans import WorkItem
from tests.evals.turns import Heard, Said


@dataclass(frozen=True)
class Expected:
    """What is right; what is empty is not asked.

    Attributes:
        route, register, mode: As the record should have them.
        checks: Parts of the commands of checks, one of which must be there.
        place: Whether the plan must be about the directory of the turn.
        briefing: Words, each of which the briefing must have.
        asks: Whether something indispensable is missing, so that a question is right.
        words: Words that must be brought back from memory.
        known: Whether the runbook model gets it right; where it does not, a language model should.
    """

    route: str = ""
    register: str = ""
    mode: str = ""
    checks: tuple[str, ...] = ()
    place: bool = True
    briefing: tuple[str, ...] = field(default=())
    asks: bool = False
    words: tuple[str, ...] = ()
    known: bool = False


Context = EvaluatorContext[Said, Heard, Expected]
Cases = Dataset[Said, Heard, Expected]


def _expected(ctx: Context) -> Expected:
    assert ctx.metadata is not None
    return ctx.metadata


def _verdict(right: bool, words: str) -> EvaluationReason:
    return EvaluationReason(right, None if right else words)


@dataclass
class RouteIsRight(Evaluator[Said, Heard, Expected]):
    """The turn went where it belongs."""

    def evaluate(self, ctx: Context) -> EvaluationReason:
        return _verdict(ctx.output.route == _expected(ctx).route, f"routed {ctx.output.route}")


@dataclass
class RegisterIsRight(Evaluator[Said, Heard, Expected]):
    """Register and effective mode are both right."""

    def evaluate(self, ctx: Context) -> EvaluationReason:
        wanted, found = _expected(ctx), ctx.output
        right = (found.register, found.mode) == (wanted.register, wanted.mode)
        return _verdict(right, f"{found.register}, {found.mode}")


@dataclass
class PlanIsGood(Evaluator[Said, Heard, Expected]):
    """A plan with a check of the goal, a bounded budget, the right place and a clear briefing."""

    def evaluate(self, ctx: Context) -> EvaluationReason:
        plan, wanted = ctx.output.plan, _expected(ctx)
        if plan is None:
            return _verdict(False, "no plan")
        faults = [*_check_faults(plan, wanted), *_budget_faults(plan)]
        faults += _place_faults(plan, wanted, ctx.output.place)
        faults += _briefing_faults(plan, wanted)
        return _verdict(not faults, "; ".join(faults))


@dataclass
class QuestionIsNeeded(Evaluator[Said, Heard, Expected]):
    """A question came back exactly where nothing could go on without it."""

    def evaluate(self, ctx: Context) -> EvaluationReason:
        words = "asked needlessly" if ctx.output.asked else "did not ask"
        return _verdict(ctx.output.asked is _expected(ctx).asks, words)


@dataclass
class IsRecalled(Evaluator[Said, Heard, Expected]):
    """The answer is among what was found."""

    def evaluate(self, ctx: Context) -> EvaluationReason:
        found = "\n".join(ctx.output.recalled)
        missing = [word for word in _expected(ctx).words if word not in found]
        return _verdict(not missing, f"not among the first five: {', '.join(missing)}")


def _check_faults(plan: WorkItem, wanted: Expected) -> list[str]:
    commands = [check.run for check in plan.verify]
    if not commands:
        return ["it has no check"]
    if wanted.checks and not any(part in run for part in wanted.checks for run in commands):
        return ["no check looks at the goal"]
    empty = [run for run in commands if run.strip() in ("true", ":", "exit 0", "echo ok")]
    return [f"the check {run!r} proves nothing" for run in empty]


def _budget_faults(plan: WorkItem) -> list[str]:
    budget = plan.budget
    bounds = (
        ("tokens", budget.max_tokens, 1_000, 1_000_000),
        ("cost", budget.max_cost_usd, 0.01, 10.0),
        ("wall time", budget.max_wall_time_seconds, 10, 7_200),
        ("attempts", budget.max_attempts, 1, 10),
    )
    return [
        f"{name} of {value} is out of reason"
        for name, value, least, most in bounds
        if not least <= value <= most
    ]


def _place_faults(plan: WorkItem, wanted: Expected, place: str) -> list[str]:
    named = (plan.workspace, *plan.read)
    return [] if not wanted.place or place in named else ["it is about another directory"]


_SECTION = re.compile(r"^#{1,3} +\S", re.MULTILINE)


def _briefing_faults(plan: WorkItem, wanted: Expected) -> list[str]:
    said = plan.body.lower()
    faults = [f"the briefing does not say {w!r}" for w in wanted.briefing if w.lower() not in said]
    if len(_SECTION.findall(plan.body)) < 2 or len(plan.body.split()) < 12:
        faults.append("the briefing is too short to stand alone")
    return faults
