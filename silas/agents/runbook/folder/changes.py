"""Which files changed in a time, as far as their dates say."""

from datetime import timedelta
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
_BEFORE: Final = (
    tr_later("{files} last changed before {when} ({key}):"),
    tr_later("No file of this folder was last changed before {when} ({key})."),
)
_AFTER: Final = (
    tr_later("{files} changed after {when} ({key}):"),
    tr_later("No file of this folder was changed after {when} ({key})."),
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


def _answer_aged(given: Given, at: Moment) -> Asking:
    before = given["side"] == "before"
    order = "oldest" if before else "newest"
    names = given.get("kind", "*").split()
    found = read_files((yield LookCall(FILES, {"names": names, "order": order, "count": _ALL})))
    if found is None:
        return None
    limit = at.now - timedelta(days=int(given["age"]))
    shown = [one for one in found.shown if (one.at < limit) is before]
    if len(shown) == len(found.shown) < found.total:
        return None  # there may be more than a look shows
    when = f"{limit.astimezone(at.zone):%Y-%m-%d %H:%M}"
    some, none = _BEFORE if before else _AFTER
    if not shown:
        return LookAnswer(tr(none, when=when, key=at.zone.key))
    said = tr(some, files=number_of(len(shown)), when=when, key=at.zone.key)
    return LookAnswer("\n".join([said, *(one.line_in(at.zone) for one in shown)]))


KINDS: Final[Kinds] = {"changed": _answer_changes, "aged": _answer_aged}
"""The questions which files changed or did not, and how each is answered."""
