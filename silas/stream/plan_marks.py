"""Which parts of a proposed plan repeat words that its planner read (decision B9)."""

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final, cast

from silas.plans import (
    SharedWaitingPlans,
    WaitingPlan,
    WorkItem,
    WorkItemStore,
    WorkItemType,
    plan_bytes,
)
from silas.plans.projects.kept import with_tasks
from silas.plans.projects.rest_names import base_name, former_projects
from silas.plans.source_marks import KeptMarks, PlanMark, is_cut, kept_marks, with_kept
from silas.stream.ask import place_of
from silas.tools.provenance import Provenance
from silas.tools.repeated_words import Repeats, Value
from silas.types import OriginKind

_SAID_BY_OTHERS: Final = frozenset(
    {"type", "cycle", "workspace", "interaction_mode", "on_stuck", "budget"}
)
"""Fields that the owner, the turn or a closed list of words decides."""

_HEADINGS: Final = re.compile(
    r"^# (?:Context|What to do|Constraints|If you get stuck)[ \t]*$", re.MULTILINE
)
"""The form that every planner is told to use; repeating it says nothing."""

_USUAL: Final = (
    "If it lies elsewhere, stop and report what you found. Stop and report. Report and stop.",
    "Halte an und berichte. Halt an und berichte, was du gefunden hast. Brich ab und berichte.",
)
"""What planners are told to end a briefing with; who says it again took it from nobody."""

_LESS_TOLD: Final = frozenset({OriginKind.tool, OriginKind.model})
"""A result that is still in view names no file or sender; the mark of the former plan does."""

_PROSE: Final = frozenset({"body", "title"})
_LABELS: Final = re.compile(r"id|tasks \d+|depends_on \d+|verify \d+ name")
"""Names that a plan gives to its own parts; of one plain word nothing follows."""

_COUNT: Final = re.compile(r"[0-9]{1,2}")
"""What a check expects to be counted; a digit stands in almost everything that was read."""

_LAST: Final = "body"  # the longest: what decides more comes first


def plan_marks(
    item: WorkItem, message: str, provenance: Provenance, changes: Sequence[WaitingPlan] = ()
) -> list[PlanMark]:
    """Each stretch of the plan, and of what is said about it, that was read elsewhere.

    What it repeats of a plan that the owner wanted changed is marked as that one's card marked it;
    words that stood there without a mark, and that nothing else brings, get none.

    Args:
        item: What is proposed.
        message: Why, in the planner's words.
        provenance: What the models of this turn were shown.
        changes: The plans that this one changes, as the owner was asked about them.
    """
    found = [(where, text, _says_little(where, text)) for where, text in _texts(item)]
    for child in item.children:
        found += [
            (f"{child.id} {where}", text, _says_little(where, text))
            for where, text in _texts(child)
        ]
    found.append(("why", message, True))
    values = [Value(_HEADINGS.sub("", text), prose) for _, text, prose in found]
    former = [(one.item, *kept_marks(one.rationale)) for one in changes]
    seen = [
        text
        for plan, why, kept in former
        if not is_cut(kept)
        for text in (why, *_all_texts_said_in(plan))
    ]
    seen += _USUAL
    told = provenance.repeats(values, seen)
    marked = [(mark.text, mark.source) for _, _, kept in former for mark in kept.marks]
    before = Repeats(values, marked, ())
    marks = list[PlanMark]()
    for (where, _, _), value, parts in zip(found, values, told, strict=True):
        known = [PlanMark(where, source, words) for words, source in before.of(value)]
        marks += known
        marks += [
            PlanMark(where, place_of(part.origin), part.text)
            for part in parts
            if not (part.origin.kind in _LESS_TOLD and any(part.text in one.text for one in known))
        ]
    return list(dict.fromkeys(marks))


async def with_former_marks(
    item: WorkItem, rationale: str, store: WorkItemStore, waiting: SharedWaitingPlans
) -> str:
    """A reason with the marks that the plan has of the project which it is the rest of, and of what
    waited or was approved under its id before.
    """
    why, own = kept_marks(rationale)
    kept = own
    for former, known in await _marks_before(item, store, waiting):
        if known == own:
            continue
        more = [
            mark
            for mark in _carry_marks(known.marks, former, item)
            if not any(_holds(one, mark) for one in kept.marks)
        ]
        unknown = kept.unknown or known.unknown or known.more > 0
        kept = KeptMarks((*kept.marks, *more), kept.more, unknown)
    return with_kept(why, kept)


async def _marks_before(
    item: WorkItem, store: WorkItemStore, waiting: SharedWaitingPlans
) -> list[tuple[WorkItem, KeptMarks]]:
    """Each plan that this one may have words of, with its marks."""
    found = [
        (one.item, kept_marks(one.rationale)[1])
        for one in await waiting.all()
        if one.item.id == item.id
    ]
    former = await former_projects(item, store)
    if item.type is WorkItemType.project and (known := await store.get(item.id)) is not None:
        former.append(await with_tasks(known, store))
    return found + [(one, await waiting.marks_of(one.id)) for one in former]


def _holds(mark: PlanMark, other: PlanMark) -> bool:
    """Whether a mark says all that the other does."""
    return mark[:2] == other[:2] and other.text in mark.text


def _carry_marks(marks: Iterable[PlanMark], former: WorkItem, item: WorkItem) -> Iterator[PlanMark]:
    """Those marks of a plan that another one of its kind has, at their places in it."""
    own, tasks = _texts_said_in(item), {base_name(one.id): one for one in item.children}
    tasks |= {one.id: one for one in item.children}
    for mark in marks:
        name, _, where = mark.where.partition(" ")
        if where and any(one.id == name for one in former.children):
            task = tasks.get(name) or tasks.get(base_name(name))
            if task is not None and _stands_in(mark, _texts_said_in(task)):
                yield mark._replace(where=f"{task.id} {where}")
        elif _stands_in(mark, own):
            yield mark


def _texts_said_in(item: WorkItem) -> list[str]:
    """The texts of one plan as marks are cut from them."""
    return [" ".join(_HEADINGS.sub("", text).split()) for _, text in _texts(item)]


def _all_texts_said_in(item: WorkItem) -> list[str]:
    return [text for one in (item, *item.children) for text in _texts_said_in(one)]


def _stands_in(mark: PlanMark, texts: Iterable[str]) -> bool:
    words = " ".join(mark.text.split())
    return any(words in text for text in texts)


def _says_little(where: str, text: str) -> bool:
    """Whether one or two plain words there mean nothing: in prose, names of its parts, counts."""
    if where in _PROSE or _LABELS.fullmatch(where) is not None:
        return True
    return where.startswith("verify ") and _COUNT.fullmatch(text) is not None


def _texts(item: WorkItem) -> Iterator[tuple[str, str]]:
    """Every text of one plan that its planner chose, with its place in words."""
    plan = cast(dict[str, Any], json.loads(plan_bytes(item)))
    told_here = {name for name, value in plan.items() if not _by_default(name, value)}
    for name in sorted(told_here - _SAID_BY_OTHERS, key=lambda name: (name == _LAST, name)):
        yield from _leaves(name, plan[name])


def _by_default(name: str, value: object) -> bool:
    """Whether a field has what it has in every plan that leaves it out."""
    field = WorkItem.model_fields.get(name)
    return field is not None and not field.is_required() and value == field.default


def _leaves(where: str, value: object) -> Iterator[tuple[str, str]]:
    """Every text of a field, names within it included, with its place in words."""
    if isinstance(value, str):
        yield where, value
    elif isinstance(value, dict):
        for name, member in cast(dict[str, object], value).items():
            if where == "tools" or "args" in where:
                yield where, name
            yield from _leaves(f"{where} {name}", member)
    elif isinstance(value, list):
        for number, member in enumerate(cast(list[object], value), 1):
            yield from _leaves(f"{where} {number}", member)
