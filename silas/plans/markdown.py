"""The plan parser: markdown with YAML front matter in, a work item out (spec 4.15, 7.2). Pure."""

import difflib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import NamedTuple

from pydantic import BaseModel, ValidationError

from silas.errors import Misfit, misfits
from silas.gates import AccessLevel, EscalationAction, Expectation, Gate
from silas.plans.envelope import open_envelope
from silas.plans.errors import PlanError
from silas.plans.goals.standing import StandingAsk
from silas.plans.models import Budget, VerificationCheck, WorkItem, WorkItemType
from silas.plans.projects.document import TaskText, attach_task, listed_first, split_project
from silas.plans.rules import broken_rules, normalise_paths
from silas.plans.yaml_tree import FrontMatterTree, Loc, YamlPosition, read_tree

RUNTIME_FIELDS = frozenset(
    {
        "approval_token",
        "status",
        "attempts",
        "budget_used",
        "verification_results",
        "created_at",
        "children",
    }
)
"""State that the runtime owns; a plan that brings its own is refused."""

PLAN_KEYS = tuple(name for name in WorkItem.model_fields if name not in RUNTIME_FIELDS | {"body"})
"""What front matter may say. `body` is the prose below it."""


class PlanParser:
    """Reads plans. Nothing is opened, looked up or run."""

    def parse(self, markdown: str) -> WorkItem:
        """Read one plan; a plan inside a code fence, with prose around it, is unwrapped.

        `needs_approval` may be written, and is ignored: every plan that is read needs approval.
        Blank lines around the body are dropped, paths are normalised, nothing else is changed.

        Raises:
            PlanError: With line and column in `markdown`, and what to do about it.
        """
        envelope = open_envelope(markdown)
        tree, place = read_tree(envelope), YamlPosition(envelope.closing, 1)
        if tree.data.get("type") != WorkItemType.project.value:
            return item_from(tree, envelope.body, place)
        parts = split_project(envelope.body, markdown)
        project = item_from(tree, parts.briefing, place)
        children = [self._child(project, part) for part in parts.tasks]
        return project.model_copy(update={"children": listed_first(project, children)})

    def _child(self, project: WorkItem, part: TaskText) -> WorkItem:
        """One task of a project, its mistakes at their place in the project's text."""
        try:
            return attach_task(project, part.id, self.parse(part.text))
        except PlanError as error:
            line, words = part.line + error.line, f"in the task {part.id}, {error.reason}"
            raise PlanError(line, error.column, words, code=error.code) from error
        except ValueError as error:
            words = f"the task {part.id}: {error}"
            raise PlanError(part.line, 1, words, code="E_PLAN_TASKS") from error


def item_from(tree: FrontMatterTree, body: str, body_place: YamlPosition) -> WorkItem:
    """The work item that front matter and a body describe.

    Args:
        tree: The front matter.
        body: The prose.
        body_place: Where an error about the body points to.

    Raises:
        PlanError: A key or value is wrong, or fields contradict each other.
    """
    item, mistakes = examine(tree, body, body_place)
    if mistakes or item is None:
        raise mistakes[0]
    return item


class PlanExamination(NamedTuple):
    """What front matter and a body describe: the item, or everything that is wrong with them."""

    item: WorkItem | None
    mistakes: tuple[PlanError, ...]


def examine(tree: FrontMatterTree, body: str, body_place: YamlPosition) -> PlanExamination:
    """As `item_from`, with every mistake that can be seen at once, none of which is raised.

    Rules about fields that contradict each other are asked once each field is well formed.
    """
    mistakes = [*_wrong_keys(tree), *_wrong_values(tree)]
    data = {key: value for key, value in tree.data.items() if key in _READ}
    try:
        # through JSON, because only there strict types still read an enum from its name
        item = WorkItem.model_validate_json(json.dumps({**data, "body": body}), strict=True)
    except ValidationError as error:
        found = [_explain_error(one, tree) for one in misfits(error)]
        return PlanExamination(None, (*mistakes, *sorted(found, key=_place)))
    mistakes += broken_rules(item, tree, body_place)
    return PlanExamination(None if mistakes else normalise_paths(item), tuple(mistakes))


_READ = frozenset(PLAN_KEYS) - {"needs_approval"}


def _place(error: PlanError) -> tuple[int, int]:
    return error.line, error.column


def _wrong_keys(tree: FrontMatterTree) -> Iterator[PlanError]:
    for key in tree.data:
        if key in RUNTIME_FIELDS:
            yield PlanError(
                *tree.key((key,)), f"`{key}` belongs to the runtime; a plan cannot set it"
            )
        elif key == "body":
            yield PlanError(*tree.key((key,)), "the body is the prose below the front matter")
        elif key not in PLAN_KEYS:
            yield PlanError(*tree.key((key,)), _unknown_key_words(key, PLAN_KEYS))


def _wrong_values(tree: FrontMatterTree) -> Iterator[PlanError]:
    if not isinstance(tree.data.get("needs_approval", True), bool):
        yield PlanError(*tree.at(("needs_approval",)), "`needs_approval` must be true or false")
    if "writes" in tree.data and tree.data["writes"] is None:  # left empty: all, or nothing?
        yield PlanError(*tree.at(("writes",)), "`writes` is empty; give `none` or a list of paths")


def _unknown_key_words(key: str, known: Iterable[str]) -> str:
    names = list(known)
    near = difflib.get_close_matches(key, names, n=1, cutoff=0.5)
    hint = f"did you mean `{near[0]}`?" if near else "known are " + ", ".join(names)
    return f"unknown key `{key}`; {hint}"


# What each mapping inside a plan is made of, by its way; `*` is any index or name.
_MODELS: tuple[tuple[tuple[str, ...], type[BaseModel]], ...] = (
    (("budget",), Budget),
    (("standing",), StandingAsk),
    (("verify", "*"), VerificationCheck),
    (("verify", "*", "expect"), Expectation),
    (("gates", "*"), Gate),
    (("gates", "*", "check_expect"), Expectation),
    (("access_levels", "*"), AccessLevel),
    (("escalation", "*"), EscalationAction),
)


def _fields_at(loc: Loc) -> tuple[str, ...]:
    for pattern, model in _MODELS:
        if len(pattern) == len(loc) and all(
            p in ("*", part) for p, part in zip(pattern, loc, strict=True)
        ):
            return tuple(model.model_fields)
    return PLAN_KEYS


_Words = Callable[[str, Mapping[str, object]], str]

_EXPLANATIONS: dict[str, _Words] = {
    "string_type": lambda name, _: f"{name} must be text; put it in quotes",
    "string_too_short": lambda name, _: f"{name} must not be empty",
    "int_type": lambda name, _: f"{name} must be a whole number, without quotes",
    "int_from_float": lambda name, _: f"{name} must be a whole number, without quotes",
    "float_type": lambda name, _: f"{name} must be a number, without quotes",
    "bool_type": lambda name, _: f"{name} must be true or false",
    "list_type": lambda name, _: f"{name} must be a list, like [a, b]",
    "dict_type": lambda name, _: f"{name} must be a mapping, like {{ key: value }}",
    "model_type": lambda name, _: f"{name} must be a mapping, like {{ key: value }}",
    "enum": lambda name, facts: f"{name} must be {facts['expected']}",
    "literal_error": lambda name, facts: f"{name} must be {facts['expected']}",
    "greater_than_equal": lambda name, facts: f"{name} must be at least {facts['ge']}",
    "less_than_equal": lambda name, facts: f"{name} must be at most {facts['le']}",
    "value_error": lambda name, facts: f"{name}: {facts['error']}",
}


def _explain_error(error: Misfit, tree: FrontMatterTree) -> PlanError:
    """One validation error in words, at the place it is about."""
    loc, kind, facts = error
    if kind == "missing":
        return PlanError(*tree.at(loc[:-1]), f"`{loc[-1]}` is missing{_inside(loc[:-1])}")
    if kind == "extra_forbidden":
        return PlanError(*tree.key(loc), _unknown_key_words(str(loc[-1]), _fields_at(loc[:-1])))
    words = _EXPLANATIONS.get(kind, lambda name, _: f"{name} {error.words}")
    if not loc:  # the one rule of the whole model: which lane a kind of work may run in
        loc = ("agent",)
    return PlanError(*tree.at(loc), words(f"`{_key_path(loc)}`", facts))


def _inside(loc: Loc) -> str:
    return f" in `{_key_path(loc)}`" if loc else ""


def _key_path(loc: Loc) -> str:
    """`verify[0].expect`."""
    text = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in loc)
    return text.removeprefix(".")
