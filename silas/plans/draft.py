"""A model's plan: read with every mistake at once, and with likely slips understood. Pure.

An owner's file is read by `PlanParser` alone, to the letter. What a model wrote is shown to the
owner before it runs, from the very bytes that are signed; so a slip that can be meant in one way
only is taken that way, and everything else goes back to the model (decision D430).
"""

import json
import re
from collections.abc import Callable
from typing import Any, Final, NamedTuple, cast

from silas.canonical import sha256_hex
from silas.plans.envelope import Envelope, open_envelope
from silas.plans.errors import PlanError
from silas.plans.markdown import PLAN_KEYS, PlanParser, examine
from silas.plans.models import WorkItem, WorkItemType
from silas.plans.writes import NONE
from silas.plans.yaml_tree import FrontMatterTree, YamlPosition, read_tree

_LISTS: Final = frozenset(
    {"skills", "read", "network", "input_artifacts_from", "tasks", "depends_on", "writes"}
)
"""Fields that are lists of text."""

_NOTHING: Final = frozenset({"", "none", "None", "[]"})
"""How a model writes that such a list is empty."""

_EMPTY: Final = frozenset(PLAN_KEYS) - {"writes", "title"}
"""Keys that say nothing where they are left empty; those of the runtime are refused in any case."""

_MOST_QUOTED: Final = 40  # lines of one plan
_LINE: Final = re.compile(r"(?P<key>[ ]*(?:- )?[A-Za-z_]+:[ ]+)(?P<value>[^\s\"'|>\[{&*!#%@`].*)")
_COLON: Final = re.compile(r":(?:\s|$)")
_SLUG: Final = re.compile(r"[^a-z0-9]+")
_LONGEST_SLUG: Final = 40


class Draft(NamedTuple):
    """What a model's plan says: the item, or all that is wrong with it, in the order of the text
    as far as it could be read.
    """

    item: WorkItem | None
    mistakes: tuple[PlanError, ...]


def read_draft(markdown: str) -> Draft:
    """Read a model's plan; one that an owner's file may be is read as that, and no other way."""
    try:
        return Draft(PlanParser().parse(markdown), ())
    except PlanError as error:
        return _parse_draft(markdown, error)


def _parse_draft(markdown: str, strict: PlanError) -> Draft:
    try:
        envelope, tree = _tree(markdown)
    except PlanError as error:
        return Draft(None, (error,))
    if tree.data.get("type") == WorkItemType.project.value:
        return Draft(None, (strict,))  # its tasks are read to the letter, and so is it
    told = tree._replace(data=_mend_slips(tree.data, markdown))
    return Draft(*examine(told, envelope.body, YamlPosition(envelope.closing, 1)))


def _tree(markdown: str) -> tuple[Envelope, FrontMatterTree]:
    """The front matter; a line that an unquoted colon makes unreadable is read as if quoted."""
    lines = markdown.split("\n")
    for _ in range(_MOST_QUOTED):
        envelope = open_envelope("\n".join(lines))
        try:
            return envelope, read_tree(envelope)
        except PlanError as error:
            quoted = _quote_value(lines[error.line - 1]) if error.code == "E_PLAN_YAML" else None
            if quoted is None:
                raise
            lines[error.line - 1] = quoted
    envelope = open_envelope("\n".join(lines))
    return envelope, read_tree(envelope)


def _quote_value(line: str) -> str | None:
    found = _LINE.fullmatch(line.rstrip())
    if found is None or not _COLON.search(found["value"]):
        return None
    return found["key"] + json.dumps(found["value"], ensure_ascii=False)


def _mend_slips(data: dict[str, Any], markdown: str) -> dict[str, Any]:
    """The data without slips that can mean one thing only.

    `writes` that is left empty stays: it could mean all or nothing.
    """
    meant = {key: _MEANT.get(key, _as_it_is)(value) for key, value in data.items()}
    meant = {key: value for key, value in meant.items() if value is not None or key not in _EMPTY}
    meant.setdefault("type", WorkItemType.task.value)
    if "id" not in meant:
        kind = "goal" if meant.get("type") == "goal" else "task"
        meant["id"] = id_from(kind, str(meant.get("title", "")), markdown)
    return meant


def _as_it_is(value: Any) -> Any:
    return value


def _list(value: Any) -> Any:
    if not isinstance(value, str):
        return value
    return [] if value.strip() in _NOTHING else [value]


def _writes(value: Any) -> Any:
    return [value] if isinstance(value, str) and value != NONE else value


def _checks(value: Any) -> Any:
    """One check that is not in a list is a list of one."""
    if isinstance(value, dict):
        check = cast(dict[str, Any], value)
        return [check] if "run" in check else check
    return value


_MEANT: dict[str, Callable[[Any], Any]] = {
    **dict.fromkeys(_LISTS, _list),
    "writes": _writes,
    "verify": _checks,
}


def id_from(kind: str, title: str, markdown: str) -> str:
    """An id of the plan's own words: the same plan has the same one, another plan another."""
    slug = _SLUG.sub("-", title.lower()).strip("-")[:_LONGEST_SLUG].strip("-")
    return "-".join(filter(None, (kind, slug, sha256_hex(markdown.encode("utf-8"))[:6])))
