"""A file that a request names without its folder: `add milk to todo.txt` means Notes/todo.txt where
no other file is called so. A question about it finds it there, and so does a plan.
"""

from collections.abc import Mapping, Sequence
from typing import Final

from silas.agents.runbook.folder import LookCall, LookResult
from silas.agents.runbook.folder.files import read_files
from silas.agents.runbook.library import RunbookTemplate
from silas.errors import PlanFamilyError
from silas.language import tr, tr_later

_FILES: Final = "workspace_files"
_MOST: Final = 200
_TOLD: Final = 5
_NAMED: Final[Mapping[str, str]] = {
    **dict.fromkeys(
        (
            "add-line",
            "delete-file",
            "move-file",
            "remove-line",
            "remove-line-at",
            "replace-text",
            "sort-csv",
            "sort-lines",
            "unique-lines",
            "unpack-archive",
        ),
        "file",
    ),
    **dict.fromkeys(("csv-to-json", "json-to-csv"), "stem"),
    "copy-file": "old",
    "rename-file": "old",
}
"""Runbooks that act on a file that is there, and the blank that names it."""

_ENDINGS: Final = {"csv-to-json": ".csv", "json-to-csv": ".json"}
"""The endings of files that a runbook names without them."""

_BESIDE: Final = "new"
"""The blank of a name that is given to it or to its copy, which lies beside it."""


def look_for(
    plan: RunbookTemplate, values: Mapping[str, str], lists: Sequence[str] = ()
) -> LookCall | None:
    """Where files of the name are that a plan acts on; None where nothing is to be found out.

    Args:
        plan: The runbook.
        values: What the request says.
        lists: The names that a list may have that the request calls as people do.
    """
    name = values.get(_NAMED.get(plan.name, ""), "")
    if not name or "/" in name or any(sign in name for sign in "*?["):
        return None
    name += _ENDINGS.get(plan.name, "")
    return LookCall(_FILES, {"names": [name, *lists], "count": _MOST})


def find_named(
    plan: RunbookTemplate,
    values: dict[str, str],
    seen: Sequence[LookResult],
    lists: Sequence[str] = (),
) -> dict[str, str]:
    """The values with the one file of that name; as they are where it lies where it is said.

    Raises:
        PlanFamilyError: `E_PLAN_SEVERAL_FILES`: several are called so, none of them there, or
            several may be the list that is meant.
    """
    look = look_for(plan, values, lists)
    found = None if look is None or not seen else read_files(seen[0].text)
    if found is None or not found.total:
        return values
    blank = _NAMED[plan.name]
    ending = _ENDINGS.get(plan.name, "")
    name, paths = values[blank] + ending, [one.path for one in found.shown]
    if name in paths and not (lists and found.total > 1):
        return values
    if found.total > 1:
        words = (
            tr_later("{count} files may be that list: {files}; say which one you mean")
            if lists
            else tr_later(
                "{count} files are called {name}, such as {files}; say which one you mean"
            )
        )
        told = tr(words, count=found.total, name=name, files=", ".join(paths[:_TOLD]))
        raise PlanFamilyError(told, code="E_PLAN_SEVERAL_FILES")
    given = {**values, blank: paths[0].removesuffix(ending)}
    beside = values.get(_BESIDE, "") if blank == "old" else ""
    if beside and "/" not in beside:
        given[_BESIDE] = f"{paths[0].rpartition('/')[0]}/{beside}"
    return given
