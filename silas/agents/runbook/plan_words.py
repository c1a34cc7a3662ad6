"""How a plan of the library is named, and what is still asked for it."""

from collections.abc import Sequence

from silas.agents.runbook.library import RunbookTemplate
from silas.language import tr


def name_plan(plan: RunbookTemplate, why: str) -> str:
    """By its title; as one of the library where nothing is said before it."""
    return (
        repr(plan.shown_title)
        if why
        else tr("the library's plan {title!r}", title=plan.shown_title)
    )


def describe_missing(plan: RunbookTemplate, missing: Sequence[str]) -> str:
    """Which parameters a request leaves open, each with what it is."""
    wanted = "\n".join(f"- {name}: {plan.parameters[name].description}" for name in missing)
    return tr(
        "I have a plan for this, {title!r}, but I still need:\n{wanted}\nPlease say "
        "it again with that.",
        title=plan.shown_title,
        wanted=wanted,
    )
