"""The directories and files that a plan names: whether they are there, in words of the plan."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Final, Literal, NamedTuple

from silas.errors import PlanFamilyError, SandboxError
from silas.language import tr_later
from silas.plans.models import WorkItem
from silas.sandbox.mounts import pin


class PlanPath(NamedTuple):
    """A path that a plan names, and the field that it stands in."""

    field: Literal["workspace", "read"]
    path: str


_ABSENT: Final = {
    "workspace": tr_later("make that directory, or name another one in `workspace:`"),
    "read": tr_later("put it there, or take it out of `read:`"),
}


def places_of(item: WorkItem) -> Iterator[PlanPath]:
    """The workspace first, then what may be read."""
    if item.workspace is not None:
        yield PlanPath("workspace", item.workspace)
    yield from (PlanPath("read", path) for path in item.read)


def fault_of(place: PlanPath, error: SandboxError) -> str:
    """Why a path that could not be opened is of no use, and what to do, in one sentence."""
    named = _place_words(place)
    cause = error.__cause__
    if isinstance(cause, FileNotFoundError | NotADirectoryError):
        return f"{named} does not exist: {_ABSENT[place.field]}."
    if os.path.realpath(place.path) != place.path:
        return f"{named} is reached through a symbolic link: name what the link leads to."
    if isinstance(cause, OSError):
        return f"{named} cannot be opened: {cause.strerror}."
    return error.message


def no_directory(place: PlanPath) -> str:
    """That a workspace is a file."""
    return f"{_place_words(place)} is no directory: name the one it lies in."


def _place_words(place: PlanPath) -> str:
    reads = f"{place.path}, which the plan reads,"
    return reads if place.field == "read" else f"The plan's workspace {place.path}"


def require_places(item: WorkItem) -> None:
    """Look whether everything that a plan names is there, for a command that asks nobody.

    Raises:
        PlanFamilyError: `E_PLAN_PLACE`: something is not, so the plan could not run here.
    """
    for place in places_of(item):
        why = _missing(place)
        if why:
            raise PlanFamilyError(why, code="E_PLAN_PLACE", work_item_id=item.id)


def _missing(place: PlanPath) -> str:
    try:
        os.close(pin(Path(place.path)))
    except SandboxError as error:
        return fault_of(place, error)
    file = place.field == "workspace" and not Path(place.path).is_dir()
    return no_directory(place) if file else ""
