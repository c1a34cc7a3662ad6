"""What a look and its answer are, and how one file is read whole."""

from collections.abc import Callable, Generator, Mapping
from datetime import datetime
from typing import Any, Final, NamedTuple
from zoneinfo import ZoneInfo

from silas.agents.runbook.folder.files import read_files
from silas.agents.runbook.folder.texts import ReadText, text_of
from silas.language import tr

LIST, READ, SEARCH, FILES, GIT = (
    f"workspace_{one}" for one in ("list", "read", "search", "files", "git")
)
MOST: Final = 20  # files that an answer names where nobody says how many


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
    if found is None or len(found.shown) != 1:
        lines = [f"- {one.path}" for one in found.shown] if found else []
        why = (
            tr("Several files are called so:")
            if lines
            else tr("There is no file {name} in this folder.", name=name)
        )
        return WholeText(
            name, "", LookAnswer("\n".join([why, *lines]), understood=False), cut=False
        )
    return (yield from whole_text(found.shown[0].path))


def _read(path: str, read: ReadText) -> WholeText:
    """A text; what only begins like one, as a PDF does, is said to be none."""
    if not read.text.startswith("%PDF-"):
        return WholeText(path, read.text, None, read.cut)
    why = tr(
        "{path} is a PDF, and I read plain text alone; open it with a viewer of yours.", path=path
    )
    return WholeText(path, "", LookAnswer(why, understood=False), cut=False)
