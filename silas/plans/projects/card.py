"""The one card of a project: its own plan, and each task with everything that its own card has.

The yes is for all of it. A project's hash holds the ids of its tasks only, so the card has one over
the project, each task and the files that they run: that one approves it beforehand (spec 13.5,
decision D530).
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

from silas.canonical import canonical_bytes, sha256_hex
from silas.cards.models import Detail, PlanCard
from silas.language import tr, tr_later
from silas.plans.card import plan_card
from silas.plans.characters import show
from silas.plans.effect import project_sentence

TASKS: Final = tr_later("Its tasks, and what each of them does")
"""The heading of the part that is never collapsed."""


_HEADINGS: Final[dict[str, tuple[str, tuple[str, ...]]]] = {
    "What it may touch": (tr_later("What its own checks may touch, beside its tasks"), ()),
    "Budget": (
        tr_later("Budget"),
        (tr_later("for all tasks together, but attempts and planner calls for each"),),
    ),
}
"""Parts of a plan whose heading or lines say something else of a project."""


class BoundPlan(NamedTuple):
    """A plan as a card needs it.

    Attributes:
        canonical: What `plan_bytes` gave.
        files: The files that it runs, as an approval binds them.
        tools: The directories of the owner's tools, likewise.
        shown: Who outside this machine is shown what it reads, likewise.
    """

    canonical: bytes
    files: Mapping[str, Any]
    tools: Mapping[str, Any]
    shown: Mapping[str, Any]


def project_card(project: BoundPlan, tasks: Sequence[BoundPlan], rationale: str) -> PlanCard:
    """The question whether to approve a project and all of its tasks.

    Args:
        project: The project's own plan.
        tasks: Its tasks, in the order in which it names them.
        rationale: As `plan_card` takes it.

    Raises:
        PlanFamilyError: `E_PLAN_BYTES`: these are not the canonical bytes of plans.
    """
    own = _card(project, rationale)
    cards = [_card(task, tr("A task of this project.")) for task in tasks]
    plans = [json.loads(task.canonical) for task in tasks]
    whole = project_hash(own.approves, [card.approves for card in cards])
    parts = map(_task, range(len(plans)), plans, cards)
    checked = bool(json.loads(project.canonical)["verify"])
    *details, last = (_of_project(one, checked=checked) for one in own.details)
    lines = (
        *last.lines,
        tr("with its {cards} tasks and the files that they run:", cards=len(cards)),
    )
    hashes = last.model_copy(update={"lines": (*lines, f"sha256:{whole}")})
    overview = Detail(heading=tr(TASKS), lines=tuple(_overview(plans, cards)), open=True)
    return own.model_copy(
        update={
            "details": (overview, *details, *parts, hashes),
            "effect": project_sentence(json.loads(project.canonical), plans),
            "files_hash": whole,
            "task_hashes": tuple(card.plan_hash for card in cards),
            "files": tuple(sorted({file for card in (own, *cards) for file in card.files})),
        }
    )


def _card(plan: BoundPlan, rationale: str) -> PlanCard:
    return plan_card(
        plan.canonical,
        rationale=rationale,
        files=plan.files,
        tools=plan.tools,
        shown=plan.shown,
    )


def project_hash(project: str, tasks: Sequence[str]) -> str:
    """What `--approve` takes for a project: over it and every task, each with the files that it
    runs.

    Args:
        project: What approves its own plan, as hex.
        tasks: The same of its tasks, in the order in which it names them.
    """
    return sha256_hex(canonical_bytes({"project": project, "tasks": list(tasks)}))


def _of_project(part: Detail, *, checked: bool) -> Detail:
    """A part of the project's own plan, so that it is not taken for one of its tasks.

    Without checks of its own it does nothing: all that is done is its tasks'.
    """
    for known, (heading, further) in _HEADINGS.items():
        if part.heading == tr(known):
            lines = (*part.lines, *map(tr, further))
            told = {"heading": tr(heading), "lines": lines, "open": part.open and checked}
            return part.model_copy(update=told)
    return part


def _overview(plans: Sequence[Mapping[str, Any]], cards: Sequence[PlanCard]) -> Iterator[str]:
    """Two lines a task: what it does, and what it waits for."""
    for number, (plan, card) in enumerate(zip(plans, cards, strict=True), 1):
        yield f"{number}. {show(str(plan['title']))} (`{plan['id']}`): {card.effect}"
        waits = ", ".join(f"`{name}`" for name in plan["depends_on"])
        yield (
            tr("  begins after {waits}", waits=waits) if waits else tr("  waits for no other task")
        )


def _task(index: int, plan: Mapping[str, Any], card: PlanCard) -> Detail:
    """All that the card of this task alone has, its headings as lines."""
    lines = [card.effect, tr("risk: {value}", value=tr(card.risk.value))]
    for part in card.details:
        lines += [f"{part.heading}:", *(f"  {line}" for line in part.lines)]
    return Detail(
        heading=tr("Task {index}: {show}", index=index + 1, show=show(str(plan["title"]))),
        lines=tuple(lines),
    )
