"""What a look and its answer are, and how one file is read whole."""

from collections.abc import Callable, Generator, Mapping
from datetime import datetime
from difflib import get_close_matches
from typing import Any, Final, NamedTuple
from zoneinfo import ZoneInfo

from silas.agents.runbook.folder.files import read_files
from silas.agents.runbook.folder.texts import ReadText, text_of
from silas.language import tr

LIST, READ, SEARCH, FILES, GIT = (
    f"workspace_{one}" for one in ("list", "read", "search", "files", "git")
)
MOST: Final = 20  # files that an answer names where nobody says how many
_COMPARED: Final = 200  # files whose names are compared with one that is not there
_ALIKE: Final = 0.8  # of the letters, which two such names have in common


class LookCall(NamedTuple):
    """One look: the tool and its arguments."""

    tool: str
    args: dict[str, Any]


class LookResult(NamedTuple):
    """What a look brought."""

    tool: str
    text: str


class LookAnswer(NamedTuple):
    """What is said, and whether the question is answered by it."""

    text: str
    understood: bool = True


class Moment(NamedTuple):
    """When it is asked, on the owner's calendar."""

    now: datetime
    zone: ZoneInfo


Asking = Generator[LookCall, str, LookAnswer | None]
"""Looks, each answered by what was seen; None in the end where a runbook has to do it."""

Given = Mapping[str, str]

Kinds = Mapping[str, Callable[[Given, Moment], Asking]]
"""Each kind of question, and how it is answered."""


class WholeText(NamedTuple):
    """A file that was read whole, or why not."""

    path: str
    text: str
    why: LookAnswer | None
    cut: bool


def whole_text(name: str) -> Generator[LookCall, str, WholeText]:
    """Read a file; one that is not there is looked for below, by its name without its directory."""
    said = yield LookCall(READ, {"path": name})
    if (read := text_of(name, said)) is not None:
        return _read(name, read)
    if "No such file" not in said:
        return WholeText(name, "", LookAnswer(said, understood=False), cut=False)
    found = read_files((yield LookCall(FILES, {"names": [name.rpartition("/")[2]], "count": MOST})))
    if found is not None and len(found.shown) == 1:
        return (yield from whole_text(found.shown[0].path))
    lines = [f"- {one.path}" for one in found.shown] if found else []
    why = [tr("Several files are called so:")]
    if not lines:
        why = [tr("There is no file {name} in this folder.", name=name)]
        lines = [f"- {path}" for path in (yield from _paths_named_alike(name))]
        why += [tr("Files with a name like it:")] if lines else []
    return WholeText(name, "", LookAnswer("\n".join([*why, *lines]), understood=False), cut=False)


def _paths_named_alike(name: str) -> Generator[LookCall, str, list[str]]:
    """The files that may be meant by a name that none has; which of them is not guessed."""
    found = read_files((yield LookCall(FILES, {"names": ["*"], "count": _COMPARED})))
    paths = dict[str, list[str]]()
    for one in found.shown if found else ():
        paths.setdefault(one.path.rpartition("/")[2].casefold(), []).append(one.path)
    near = get_close_matches(name.rpartition("/")[2].casefold(), paths, n=3, cutoff=_ALIKE)
    return [path for each in near for path in paths[each]][:MOST]


def _read(path: str, read: ReadText) -> WholeText:
    """A text; what only begins like one, as a PDF does, is said to be none."""
    if not read.text.startswith("%PDF-"):
        return WholeText(path, read.text, None, read.cut)
    why = tr(
        "{path} is a PDF, and I read plain text alone; open it with a viewer of yours.", path=path
    )
    return WholeText(path, "", LookAnswer(why, understood=False), cut=False)
