"""Whether files can move from one folder to another: looked at before anybody is asked.

What runs later works on a copy of the workspace and is delivered by Silas itself. So what stands in
the way there (a link, a right) is looked for here, in the workspace itself.
"""

import os
import posixpath
from collections.abc import Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import Final

from pydantic import Field

from silas.language import tr
from silas.plans.characters import show_exactly
from silas.plans.runbooks.seen_files import count_files, file_marks
from silas.types import FrozenModel

_HERE: Final = "."


class MovePlaces(FrozenModel):
    """The parameters of a runbook that moves files.

    Attributes:
        source: The one that has the folder they are in; empty for the workspace itself.
        folder: The one that has the folder they go to.
        ending: The one that has their ending; empty where it is always the same.
        endings: As files have them, where no parameter says it; empty where one file moves.
        count: The one that is filled with how many files the folder has afterwards; empty for none.
        marks: The one that is filled with what tells the files apart that move; empty for none.
    """

    source: str = ""
    folder: str = Field(min_length=1)
    ending: str = ""
    endings: tuple[str, ...] = ()
    count: str = ""
    marks: str = ""

    @property
    def parameters(self) -> frozenset[str]:
        """Those that it names."""
        named = {self.source, self.folder, self.ending, self.count, self.marks}
        return frozenset(named - {""})

    def see_files(self, workspace: Path, values: Mapping[str, str]) -> dict[str, str]:
        """What its checks hold the folder to, as files are now; nothing where it names neither.

        Args:
            workspace: The folder that both are in.
            values: Of its parameters.
        """
        if not (self.count and self.marks):
            return {}
        source, endings = workspace / values.get(self.source, ""), self.endings_of(values)
        there = count_files(workspace / values.get(self.folder, ""), ())
        return {
            self.count: str(there + count_files(source, endings)),
            self.marks: file_marks(source, endings),
        }

    def endings_of(self, values: Mapping[str, str]) -> tuple[str, ...]:
        """What the names of the files end with that move, as the runbooks write it."""
        said = values.get(self.ending, "")
        forms = (said, said.lower(), said.upper(), said.capitalize()) if said else self.endings
        return tuple(f".{form}" for form in dict.fromkeys(forms))


def move_fault(workspace: Path, source: str, folder: str) -> str:
    """Why no file can move, in one sentence; empty where it can.

    Args:
        workspace: The folder that both are in; it is there.
        source: From it; empty for the workspace itself.
        folder: From it; it need not be there.
    """
    source = source or _HERE
    return (
        _outside_fault(workspace, source)
        or _outside_fault(workspace, folder)
        or _link_fault(workspace, source)
        or _link_fault(workspace, folder)
        or _source_fault(workspace, source)
        or _folder_fault(workspace, folder)
        or _same_fault(workspace, source, folder)
        or _right_fault(workspace, source)
        or _right_fault(workspace, _nearest(workspace, folder))
    )


def nothing_fault(workspace: Path, source: str, endings: Sequence[str]) -> str:
    """That there is nothing to move, in one sentence; empty where a file has one of the endings.

    Args:
        workspace: The folder.
        source: From it, where the files are; empty for the workspace itself.
        endings: With their dots; where there are none, it is not looked.
    """
    place = workspace / source
    if not endings or any(_moves(one, endings) for one in place.iterdir()):
        return ""
    return tr(
        "No file in {place} itself ends with {endings}, so there is nothing to move; name another "
        "ending or folder.",
        place=show_exactly(source if source not in ("", _HERE) else str(workspace)),
        endings=", ".join(dict.fromkeys(one.lower() for one in endings)),
    )


def _moves(path: Path, endings: Sequence[str]) -> bool:
    named = path.name.endswith(tuple(endings)) and not path.name.startswith(".")
    return named and path.is_file() and not path.is_symlink()


def plain_folder(path: str) -> str:
    """A folder as it is asked for, without `./` before it, `/` behind, and `..` inside."""
    return posixpath.normpath(path) if path else path


def names_outside(path: str) -> bool:
    """Whether a folder is named by more than its way from the workspace: `../X`, `/etc`, `~/X`."""
    return path.partition("/")[0] in {"", "..", "~"} and path != ""


def from_workspace(workspace: Path, path: str) -> str:
    """A folder as its way from the workspace, where it is named in full and lies in it."""
    if not names_outside(path):
        return path
    whole = posixpath.normpath(posixpath.join(str(workspace), os.path.expanduser(path)))
    inside = PurePosixPath(whole).is_relative_to(workspace)
    return str(PurePosixPath(whole).relative_to(workspace)) if inside else path


def _outside_fault(workspace: Path, path: str) -> str:
    if not names_outside(path):
        return ""
    return tr(
        "The folder {folder} lies outside {place}, and nothing is moved there or from there; name "
        "a folder in {place}, or ask in a folder that holds both.",
        folder=show_exactly(path),
        place=show_exactly(str(workspace)),
    )


def _link_fault(workspace: Path, path: str) -> str:
    for part in _parts(path):
        if (workspace / part).is_symlink():
            goes_to = os.readlink(workspace / part)
            return tr(
                "{part} is a link to {place}; name the folder itself.",
                part=show_exactly(part),
                place=show_exactly(goes_to),
            )
    return ""


def _source_fault(workspace: Path, source: str) -> str:
    if (workspace / source).is_dir():
        return ""
    if (workspace / source).exists():
        return tr("{source} is a file and no folder.", source=show_exactly(source))
    return tr(
        "There is no folder {source} in {place}.",
        source=show_exactly(source),
        place=show_exactly(str(workspace)),
    )


def _folder_fault(workspace: Path, folder: str) -> str:
    for part in _parts(folder):
        if (workspace / part).exists() and not (workspace / part).is_dir():
            return tr(
                "{part} is a file, and no folder of this name can be made; move it away, or name "
                "another folder.",
                part=show_exactly(part),
            )
    return ""


def _same_fault(workspace: Path, source: str, folder: str) -> str:
    there = workspace / folder
    if not there.exists() or not there.samefile(workspace / source):
        return ""
    return tr(
        "The files are in {folder} already; name another folder to move them to.",
        folder=show_exactly(folder),
    )


def _right_fault(workspace: Path, path: str) -> str:
    if os.access(workspace / path, os.R_OK | os.W_OK | os.X_OK):
        return ""
    place = str(workspace if path == _HERE else workspace / path)
    return tr(
        "You may not change {place}; give yourself the right to it, or name another folder.",
        place=show_exactly(place),
    )


def _nearest(workspace: Path, folder: str) -> str:
    """The folder itself, or the nearest above it that is there."""
    return next((part for part in reversed(_parts(folder)) if (workspace / part).is_dir()), _HERE)


def _parts(path: str) -> list[str]:
    """The path and what stands above it in the workspace, from the top."""
    whole = PurePosixPath(path)
    return [str(one) for one in [*reversed(whole.parents), whole] if str(one) != _HERE]
