"""A goal's part of its card: when it runs, and what it may start by itself (spec 5.2.3)."""

from collections import defaultdict
from collections.abc import Mapping

from silas.cards.models import Detail
from silas.language import tr, tr_later, tr_many
from silas.plans.characters import name_as_code
from silas.plans.effect import Plan
from silas.plans.goals.limits import SPAWNS, TIDIES
from silas.plans.goals.schedule import read_schedule, schedule_words
from silas.plans.goals.standing import StandingLimit

_NOTHING = "nothing"

_CYCLES: Mapping[str, str] = defaultdict(
    lambda: tr_later(
        "runs {when}: checks {names}; one that fails is told to you, and nothing is started."
    ),
    {
        _NOTHING: tr_later("it would run {when}, but has no checks: nothing is done here"),
        "work": tr_later(
            "runs {when}: does the work below, without asking {uses} {span} at most; "
            "after that each time has a card of its own."
        ),
        "when": tr_later(
            "runs {when}: only where {names} pass first, does the work below and tells you, "
            "without asking {uses} {span} at most; after that "
            "each time has a card of its own. Otherwise nothing is done and nothing is said."
        ),
        TIDIES: tr_later(
            "runs {when}: looks at the files of the folder, and where some can be sorted shows you "
            "batch cards; nothing is moved without a yes to its card, however often this goal runs."
        ),
        SPAWNS: tr_later(
            "runs {when}: checks {names}; one that fails starts the work below, without asking "
            "{uses} {span} at most; after that each such work "
            "has a card of its own."
        ),
    },
)
"""What a goal does at its moments, by its `cycle`, or by what follows a failing check."""

_ONCE: Mapping[str, str] = {
    "work": tr_later(
        "runs {when}: does the work below, without asking where your yes is {age} "
        "by then; else a card asks you first."
    ),
    "when": tr_later(
        "runs {when}: only where {names} pass first, does the work below and tells you, without "
        "asking where your yes is {age} by then; else a card asks you "
        "first. Otherwise nothing is done and nothing is said."
    ),
    SPAWNS: tr_later(
        "runs {when}: checks {names}; one that fails starts the work below, without asking where "
        "your yes is {age} by then; else a card asks you first."
    ),
}
"""The same of a goal that runs once, which may be later than its approval lasts."""


def recurs(plan: Plan, standing: StandingLimit) -> tuple[Detail, ...]:
    """When a goal runs, what it checks, and what a failing check sets off without asking."""
    if plan["type"] != "goal" or not plan["schedule"]:
        return ()
    when, names = (
        schedule_words(plan["schedule"]),
        ", ".join(name_as_code(check["name"]) for check in plan["verify"]),
    )
    once = read_schedule(plan["schedule"]).moment is not None
    kind = str(plan.get("cycle") or plan["on_failure"])
    if not names and not plan.get("cycle"):
        kind, once = _NOTHING, False
    line = tr(
        _ONCE[kind] if once and kind in _ONCE else _CYCLES[kind],
        when=when,
        names=names,
        uses=tr_many(standing.uses, "{count} time", "{count} times"),
        span=standing.span_words,
        age=standing.age_words,
    )
    return (Detail(heading=tr("When it runs, and what it may start"), lines=(line,), open=True),)
