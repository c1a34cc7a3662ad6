"""What a well-typed plan must also keep to: rules as a table, each at its place in the text."""

import re
from collections.abc import Callable, Iterator
from posixpath import normpath
from typing import NamedTuple, cast

from silas.approval.grants import GrantRefused, grants_of
from silas.gates import Expectation, Gate, GateTrigger, GateType
from silas.patterns import PatternRefused, check_pattern
from silas.plans.errors import PlanError
from silas.plans.goals.limits import REPORTS, TIDIES
from silas.plans.goals.schedule import schedule_fault
from silas.plans.models import WorkItem, WorkItemType
from silas.plans.writes import entry_fault, normal_entry
from silas.plans.yaml_tree import FrontMatterTree, Loc, YamlPosition
from silas.sandbox.network.names import WORDS, EgressRefused, endpoints

MAX_TITLE = 200
"""The title is the one line of a card."""

_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:-]{0,127}")
_SECRET_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,63}")
_SECRET_REF = re.compile(r"ref_[0-9a-f]{32}")


def is_item_id(text: str) -> bool:
    """Whether a work item may be called so; nothing else names a row, or a folder of its own."""
    return _ID.fullmatch(text) is not None


class PlanFault(NamedTuple):
    """A broken rule: the way to what breaks it, and why it does."""

    loc: Loc
    reason: str


Rule = Callable[[WorkItem], Iterator[PlanFault]]


def broken_rules(
    item: WorkItem, tree: FrontMatterTree, body_place: YamlPosition
) -> list[PlanError]:
    """Every broken rule, in the order of the text; an empty briefing comes last."""
    faults = [PlanError(*tree.at(f.loc), f.reason, code="E_PLAN_RULE") for f in _faults(item)]
    faults.sort(key=lambda fault: (fault.line, fault.column))
    if item.type is WorkItemType.task and not item.body:
        words = "a task needs a briefing below the front matter: what to do, in prose"
        faults.append(PlanError(*body_place, words, code="E_PLAN_RULE"))
    return faults


def normalise_paths(item: WorkItem) -> WorkItem:
    """The item, which keeps every rule, with its paths in their plain form."""
    workspace = None if item.workspace is None else _normal(item.workspace)
    return item.model_copy(
        update={
            "workspace": workspace,
            "read": [_normal(path) for path in item.read],
            "writes": item.writes and [normal_entry(one, workspace or "") for one in item.writes],
        }
    )


def _faults(item: WorkItem) -> Iterator[PlanFault]:
    for rule in _RULES:
        yield from rule(item)


def _ids(item: WorkItem) -> Iterator[PlanFault]:
    """Identifiers name rows, directories and audit entries: plain characters only."""
    words = "an id has letters, digits and . _ : - only, starts with a letter or digit, at most 128"
    for name in ("id", "parent", "spawned_by", "follow_up_of"):
        value: str | None = getattr(item, name)
        if value is not None and not _ID.fullmatch(value):
            yield PlanFault((name,), f"`{name}` is not an id: {words}")
    for name, values in (("tasks", item.tasks), ("depends_on", item.depends_on)):
        for index, value in enumerate(values):
            if not _ID.fullmatch(value):
                yield PlanFault((name, index), f"`{name}[{index}]` is not an id: {words}")
            if value == item.id or value in values[:index]:
                yield PlanFault((name, index), f"`{name}[{index}]` names itself or is given twice")


def _title(item: WorkItem) -> Iterator[PlanFault]:
    if "\n" in item.title or not item.title.strip() or len(item.title) > MAX_TITLE:
        yield PlanFault(("title",), f"`title` must be one line of at most {MAX_TITLE} characters")


def _kinds(item: WorkItem) -> Iterator[PlanFault]:
    """Only projects have tasks, only goals have schedules and cycles."""
    if item.tasks and item.type is not WorkItemType.project:
        yield PlanFault(("tasks",), f"a {item.type} has no `tasks`; only a project has")
    if item.cycle is not None and item.type is not WorkItemType.goal:
        yield PlanFault(("cycle",), f"a {item.type} has no `cycle`; only a goal has")
    yield from _standing(item)
    if item.schedule is None:
        return
    if item.type is not WorkItemType.goal:
        yield PlanFault(("schedule",), f"a {item.type} has no `schedule`; only a goal has")
    elif fault := schedule_fault(item.schedule):
        yield PlanFault(
            ("schedule",),
            f"`schedule` must be always_on, a moment with its offset or a cron expression: {fault}",
        )


def _standing(item: WorkItem) -> Iterator[PlanFault]:
    ask = item.standing
    if ask is None:
        return
    if item.type is not WorkItemType.goal:
        yield PlanFault(("standing",), f"a {item.type} has no `standing`; only a goal has")
    elif ask.uses is None and ask.until is None:
        yield PlanFault(("standing",), "`standing` must say `uses`, `until` or both")
    elif item.cycle == TIDIES:
        yield PlanFault(
            ("standing",),
            "`standing` limits how often work starts without asking, and this goal asks each time; "
            "leave it out",
        )
    elif item.cycle is None and item.on_failure == REPORTS:
        yield PlanFault(
            ("standing",),
            "`standing` limits how often work starts without asking, and this goal only reports; "
            "leave it out, or say what is done with `on_failure: spawn_task` or `cycle: work`",
        )


def _names(item: WorkItem) -> Iterator[PlanFault]:
    """Results are told apart by name."""
    named = (("verify", [c.name for c in item.verify]), ("gates", [g.name for g in item.gates]))
    for field, names in named:
        for index, name in enumerate(names):
            if name in names[:index]:
                yield PlanFault(
                    (field, index, "name"), f"the name {name!r} is used twice in `{field}`"
                )


def _expectations(item: WorkItem) -> Iterator[PlanFault]:
    for index, check in enumerate(item.verify):
        yield from _expectation(check.expect, ("verify", index, "expect"))
    for index, gate in enumerate(item.gates):
        if gate.check_expect is not None:
            yield from _expectation(gate.check_expect, ("gates", index, "check_expect"))


def _expectation(expect: Expectation, loc: Loc) -> Iterator[PlanFault]:
    if expect.regex is not None and (fault := _pattern_fault(expect.regex)):
        yield PlanFault((*loc, "regex"), fault)
    path = expect.file_exists
    if path is not None and (not path or ".." in path or "\n" in path):
        yield PlanFault((*loc, "file_exists"), "`file_exists` must be one path without `..`")


def _gates(item: WorkItem) -> Iterator[PlanFault]:
    for index, gate in enumerate(item.gates):
        loc: Loc = ("gates", index)
        if gate.on is GateTrigger.after_step and (gate.after_step or 0) < 1:
            yield PlanFault(
                (*loc, "after_step"),
                f"gate {gate.name!r} fires after a step; `after_step` says which, from 1",
            )
        if gate.on is not GateTrigger.after_step and gate.after_step is not None:
            yield PlanFault(
                (*loc, "after_step"),
                f"gate {gate.name!r} has `after_step` but fires on {gate.on}; use on: after_step",
            )
        yield from _gate_patterns(gate, loc)


def _gate_patterns(gate: Gate, loc: Loc) -> Iterator[PlanFault]:
    """Patterns where the predicate provider looks for them: to match, and to normalise by."""
    found: list[tuple[Loc, object]] = []
    if gate.type is GateType.regex:
        found = [((*loc, "check"), gate.check)]
        found += [((*loc, "config", "pattern"), gate.config.get("pattern"))]
    rules = gate.config.get("normalize")
    for index, rule in enumerate(cast(list[object], rules) if isinstance(rules, list) else []):
        if isinstance(rule, dict):
            pattern = cast(dict[str, object], rule).get("pattern")
            found.append(((*loc, "config", "normalize", index, "pattern"), pattern))
    for where, pattern in found:
        if isinstance(pattern, str) and (fault := _pattern_fault(pattern)):
            yield PlanFault(where, fault)


def _pattern_fault(pattern: str) -> str:
    try:
        check_pattern(pattern)
    except PatternRefused as error:
        return str(error)
    return ""


def _paths(item: WorkItem) -> Iterator[PlanFault]:
    """What is mounted is named in full; links are the business of whoever mounts it."""
    if item.workspace is not None and (fault := _path_fault(item.workspace)):
        yield PlanFault(("workspace",), f"`workspace` {fault}")
    for index, path in enumerate(item.read):
        if fault := _path_fault(path):
            yield PlanFault(("read", index), f"`read[{index}]` {fault}")


def _writes(item: WorkItem) -> Iterator[PlanFault]:
    """What may be changed lies in the workspace: nothing else is ever written back."""
    workspace = None if item.workspace is None else _normal(item.workspace)
    for index, entry in enumerate(item.writes or ()):
        if fault := entry_fault(entry, workspace):
            yield PlanFault(("writes", index), f"`writes[{index}]` {fault}")


def _path_fault(path: str) -> str:
    if not path.startswith("/"):
        return "must be an absolute path, starting with / (no ~, no variables)"
    if ".." in path.split("/") or "\n" in path or "\t" in path:
        return "must not contain `..` or line breaks"
    if _normal(path) == "/":
        return "must not be the whole file system"
    return ""


def _normal(path: str) -> str:
    return "/" + normpath(path).lstrip("/")


def _touches(item: WorkItem) -> Iterator[PlanFault]:
    yield from _hosts(item.network, ("network",))
    for index, check in enumerate(item.verify):
        if not isinstance(check.network, bool):
            yield from _hosts(check.network, ("verify", index, "network"))


def _grants(item: WorkItem) -> Iterator[PlanFault]:
    """The calls of tools that it allows; what they mean is read by whoever enforces them, too."""
    try:
        grants_of(item.tools)
    except GrantRefused as refused:
        yield PlanFault(("tools", *refused.loc), refused.reason)


def _credentials(item: WorkItem) -> Iterator[PlanFault]:
    """References alone: a value that was written here must not go on to the record."""
    for name, ref_id in item.credential_refs.items():
        if not _SECRET_NAME.fullmatch(name) or not _SECRET_REF.fullmatch(ref_id):
            words = "names each secret as `silas secrets list` does: NAME: ref_ and 32 hex digits"
            yield PlanFault(("credential_refs",), f"`credential_refs` {words}")
            return


def _hosts(entries: list[str], loc: Loc) -> Iterator[PlanFault]:
    """Exact names, so that the card says what will be reached."""
    for index, entry in enumerate(entries):
        try:
            endpoints(entry)
        except EgressRefused as refusal:
            yield PlanFault((*loc, index), f"`network[{index}]` {WORDS[refusal.reason]}")


_RULES: tuple[Rule, ...] = (
    _ids,
    _title,
    _kinds,
    _names,
    _expectations,
    _gates,
    _paths,
    _writes,
    _touches,
    _grants,
    _credentials,
)
