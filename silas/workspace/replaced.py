"""What lies where a crash left a directory half-changed: known by its content, not by its inode.

A copy, a restored backup or a moved disk is another directory with the same files. The way back may
begin there where every path holds what the work read or wrote; the journal knows both by digest.
"""

import os

from silas.workspace.journal import Change, Journal, States
from silas.workspace.transition import conflict, depth, find_entry, unknown_inside
from silas.workspace.tree import TreeEntry


def is_original(original: int, journal: Journal) -> bool:
    """Whether an open directory is the very one that was changed."""
    facts = os.fstat(original)
    return (facts.st_dev, facts.st_ino) == journal.identity


def states_on_the_way(original: int, journal: Journal, *, missing: bool) -> States:
    """The states that the way back starts from.

    Args:
        original: The directory at the journal's path.
        journal: What was interrupted.
        missing: Accept that nothing stands where both states have a file. Whoever asked for the
            way back put his own version aside; without him it may be a directory of another use.

    Raises:
        SandboxError: E_SANDBOX_CONFLICT, a path holds what neither state has, and writing would
            lose it.
    """
    same = is_original(original, journal)
    after = journal.after
    start: States = {}
    for change in sorted(journal.changes, key=lambda one: depth(one.path)):
        here = find_entry(original, change.path, after)
        if here is None and not missing and not _passes_nothing(change):
            raise conflict(change.path, "is missing")
        # permissions are no content: a backup may have lost them
        if here is not None and not same and _content(here) not in _contents(change):
            raise conflict(change.path, "was changed meanwhile")
        if here is not None and here.kind == "dir" and not _is_directory(change.before):
            for inside in unknown_inside(original, change.path, after, journal.mark):
                raise conflict(inside, "would be lost with its directory")
        start[change.path] = here
    return after if same else start


def is_half_way(original: int, journal: Journal) -> bool:
    """Whether a directory, wherever it lies, holds some of what the interrupted work wrote."""
    before, after = journal.before, journal.after
    here = {path: find_entry(original, path, after) for path in after}
    contents = {path: (_content(before[path]), _content(after[path])) for path in after}
    found = {path: _content(entry) for path, entry in here.items()}
    return found != {path: pair[0] for path, pair in contents.items()} and all(
        content in contents[path] for path, content in found.items()
    )


def _passes_nothing(change: Change) -> bool:
    """Whether the path is empty at one end, or on the way from one kind to another."""
    before, after = change.before, change.after
    return before is None or after is None or before.kind != after.kind


def _contents(change: Change) -> tuple[tuple[str, str] | None, ...]:
    return _content(change.before), _content(change.after)


def _content(entry: TreeEntry | None) -> tuple[str, str] | None:
    return None if entry is None else (entry.kind, entry.digest)


def _is_directory(entry: TreeEntry | None) -> bool:
    return entry is not None and entry.kind == "dir"
