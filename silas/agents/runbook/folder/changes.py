"""Which files changed in a time, as far as their dates say."""

from typing import Final

from silas.agents.runbook.folder.files import number_of, read_files
from silas.agents.runbook.folder.looks import (
    FILES,
    Asking,
    Given,
    Kinds,
    LookAnswer,
    LookCall,
    Moment,
)
from silas.agents.runbook.folder.periods import read_span
from silas.language import tr, tr_later

_ALL: Final = 200  # files that one look shows
_NEW_ONES: Final = tr_later(
    "(By when a file was last changed: that it is new I cannot see, and a new file with an older "
    "date is not among them.)"
)


def _answer_changes(given: Given, at: Moment) -> Asking:
    names = given.get("kind", "*").split()
    call = LookCall(FILES, {"names": names, "order": "newest", "count": _ALL})
    found = read_files((yield call))
    if found is None:
        return None
    first, last, when = read_span(given["day"], at.now.astimezone(at.zone).date())
    shown = [one for one in found.shown if first <= one.at.astimezone(at.zone).date() <= last]
    oldest = min((one.at.astimezone(at.zone).date() for one in found.shown), default=first)
    if oldest >= first and len(found.shown) < found.total:
        return None  # there may be more than a look shows
    note = [tr(_NEW_ONES)] if given.get("new") else []
    if not shown:
        said = tr("No file of this folder was changed {when} ({key}).", when=when, key=at.zone.key)
        return LookAnswer("\n".join([said, *note]))
    said = tr(
        "{files} changed {when} ({zone}):",
        files=number_of(len(shown)),
        when=when,
        zone=at.zone.key,
    )
    return LookAnswer("\n".join([said, *(one.line_in(at.zone) for one in shown), *note]))


KINDS: Final[Kinds] = {"changed": _answer_changes}
"""The question which files changed, and how it is answered."""
