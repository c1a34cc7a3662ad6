"""The files that a plan runs, by their content: what an approval binds of them (decision D305).

A path is followed through links as long as it stays in the workspace or in a `read` path; a link
that leads elsewhere, to a program of the system for instance, is bound as it is written.
"""

import hashlib
import os
import posixpath
import stat
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from io import BufferedReader
from pathlib import Path
from typing import Any, Final, NamedTuple

from silas.errors import ApprovalError
from silas.language import tr
from silas.plans.commands.executed_files import FileUse, Use
from silas.plans.commands.plan_commands import uses_of_plan
from silas.plans.models import WorkItem
from silas.workspace.protected import protection

FileFacts = Mapping[str, Any]

MOST_FILES: Final = 64
"""Files that one approval binds by name; a person reads them on the card."""
MOST_BYTES: Final = 1 << 30
"""Of them together; what the copy of a workspace may hold at most."""
_TREE_FILES: Final = 512
_TREE_BYTES: Final = 64 << 20
_TEXT_BYTES: Final = 256 << 10
"""Of a script, to be read."""
_LINKS: Final = 40  # as the kernel follows
_BOUND: Final = frozenset({FileUse.runs, FileUse.imports, FileUse.collects})
_CODE: Final = "E_APPROVAL_BINDING"
_SKIPPED: Final = frozenset({"__pycache__"})
_MISSING: Final[FileFacts] = {"kind": "missing"}

Locate = Callable[[str], str | None]
"""Where a path of the plan lies on this machine; None where the plan does not show it."""


class _Found(NamedTuple):
    """Where a path leads: what is there, and a link's text where it leads out."""

    path: str
    real: str
    leads_out: str = ""


def files_of(item: WorkItem) -> dict[str, Any]:
    """Every file that exists and that a block, a check or a grant of the plan runs, by its path.

    Of several names of which a program takes the first that is there, those before it are bound,
    too, as missing.

    Raises:
        ApprovalError: `E_APPROVAL_BINDING`: they are too many or too large, or one is unreadable.
    """
    locate = partial(_shown_path, item)
    found: dict[str, Any] = {}
    for use in uses_of_plan(item):
        for path, facts in _of_use(item, use, locate):
            found.setdefault(path, facts)
    if len(found) > MOST_FILES:
        raise ApprovalError(
            f"The plan runs {len(found)} files of its workspace, and an approval binds at most "
            f"{MOST_FILES}; make it several plans.",
            code=_CODE,
        )
    if sum(facts.get("size", 0) for facts in found.values()) > MOST_BYTES:
        raise ApprovalError(
            "The files that the plan runs are larger than a gibibyte together; make it several "
            "plans.",
            code=_CODE,
        )
    return found


def files_now(item: WorkItem, paths: Iterable[str]) -> dict[str, Any]:
    """What is now at paths that an approval binds."""
    locate = partial(_shown_path, item)
    return {path: _facts_at(path, locate) for path in paths}


def text_of(item: WorkItem, path: str) -> str | None:
    """The text of a file that a plan runs; None where none is shown, or it is no text.

    Args:
        item: The plan.
        path: From its workspace, or absolute.
    """
    locate = partial(_shown_path, item)
    whole = posixpath.normpath(posixpath.join(item.workspace or "/", path))
    try:
        found = _follow_links(whole, locate)
        if found is None or found.leads_out:
            return None
        facts = os.stat(found.real, follow_symlinks=False)
        if not stat.S_ISREG(facts.st_mode) or facts.st_size > _TEXT_BYTES:
            return None
        with _open_regular(found.real) as file:
            text = file.read(_TEXT_BYTES).decode()
    except (OSError, ValueError):  # not there, not readable, or no UTF-8
        return None
    return None if "\0" in text else text


def files_in_copy(item: WorkItem, paths: Iterable[str], copy: Path) -> dict[str, Any]:
    """What the private copy of the workspace holds at these paths."""
    root = item.workspace or ""

    def locate(path: str) -> str | None:
        shown = _shown_path(item, path)
        inside = shown is not None and not is_live(item, path)
        return f"{copy}{path.removeprefix(root)}" if inside else shown

    return {path: _facts_at(path, locate) for path in paths}


def is_live(item: WorkItem, path: str) -> bool:
    """Whether a sandbox sees the file itself, and not a copy: outside the workspace's copy."""
    root = item.workspace
    if root is None or not _within(path, root):
        return True
    return any(protection(name) for name in posixpath.relpath(path, root).split("/"))


def file_lines(files: FileFacts, quoted: Callable[[str], str]) -> Iterator[str]:
    """What a card says of bound files; of what is not understood its whole text."""
    for path, facts in sorted(files.items()):
        match facts:
            case {"kind": "file", "sha256": str(digest)}:
                yield tr("the file {quoted}, which it runs:", quoted=quoted(path))
                yield f"  sha256:{quoted(digest)[1:-1]}"
            case {"kind": "tests", "sha256": str(digest), "files": int(count)}:
                yield tr(
                    "the {count} files in {quoted}, where it looks for tests:",
                    count=count,
                    quoted=quoted(path),
                )
                yield f"  sha256:{quoted(digest)[1:-1]}"
            case {"kind": "link", "target": str(target)}:
                yield tr(
                    "the link {quoted}, to {quoted2}", quoted=quoted(path), quoted2=quoted(target)
                )
            case {"kind": "too large"}:
                yield tr(
                    "nothing of {quoted}: it holds too much to be compared", quoted=quoted(path)
                )
            case {"kind": "missing"}:
                yield tr("that there is no {quoted}", quoted=quoted(path))
            case _:
                yield f"{quoted(path)}: {quoted(str(facts))}"


def _of_use(item: WorkItem, use: Use, locate: Locate) -> Iterator[tuple[str, FileFacts]]:
    if use.how not in _BOUND:
        return
    names = (use.within,) if use.how is FileUse.collects else use.paths
    if "" in names:
        return
    before: list[str] = []
    for name in names:
        path = posixpath.normpath(posixpath.join(item.workspace or "", name))
        if locate(path) is None or path in item.read:  # a file to read is bound by itself
            continue
        facts = _facts_at(path, locate)
        if facts is _MISSING:
            before.append(path)
            continue
        if facts["kind"] in ("tests", "too large") and use.how is not FileUse.collects:
            continue
        yield from ((one, _MISSING) for one in before)
        yield path, facts
        return


def _shown_path(item: WorkItem, path: str) -> str | None:
    roots = (*([item.workspace] if item.workspace else []), *item.read)
    within = any(_within(path, root) and path != root for root in roots)
    return path if within else None


def _within(path: str, root: str) -> bool:
    return path == root or path.startswith(root.rstrip("/") + "/")


def _facts_at(path: str, locate: Locate) -> FileFacts:
    try:
        found = _follow_links(path, locate)
        if found is None:
            return _MISSING
        if found.leads_out:
            return {"kind": "link", "target": found.leads_out}
        facts = os.stat(found.real, follow_symlinks=False)
        at = {} if found.path == path else {"at": found.path}
        if stat.S_ISDIR(facts.st_mode):
            return {**_tree(found.real), **at}
        if not stat.S_ISREG(facts.st_mode):
            return {"kind": "special"}
        return {"kind": "file", "size": facts.st_size, "sha256": _digest(found.real), **at}
    except (FileNotFoundError, NotADirectoryError):
        return _MISSING
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or error
        raise ApprovalError(f"{path} cannot be read: {why}.", code=_CODE) from error


def _follow_links(path: str, locate: Locate) -> _Found | None:
    """Where a path leads through its links, each looked up again in what the plan shows."""
    links = 0
    done, left = "/", [part for part in path.split("/") if part]
    while left:
        part = left.pop(0)
        done = posixpath.normpath(posixpath.join(done, part))
        real = locate(done)
        if real is None:
            continue  # above the workspace: nothing that the plan names
        if not stat.S_ISLNK(os.lstat(real).st_mode):
            continue
        links += 1
        if links > _LINKS:
            return None
        target = os.readlink(real)
        led = posixpath.normpath(posixpath.join(posixpath.dirname(done), target, *left))
        if locate(led) is None:
            return _Found(done, real, leads_out=target)
        done, left = "/", [part for part in led.split("/") if part]
    real = locate(done)
    return None if real is None else _Found(done, real)


def _digest(real: str) -> str:
    with _open_regular(real) as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _open_regular(real: str) -> BufferedReader:
    descriptor = os.open(real, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    return os.fdopen(descriptor, "rb")


def _tree(real: str) -> FileFacts:
    """The files of a directory together: what a test runner finds there."""
    entries = tree_entries(real)
    if entries is None:
        return {"kind": "too large"}
    return {"kind": "tests", "files": len(entries), "sha256": tree_digest(entries)}


def tree_entries(real: str) -> dict[str, str] | None:
    """What each file of a directory holds, by its path from there; None where it is too much."""
    total, found = 0, dict[str, str]()
    for directory, names, files in os.walk(real):
        names[:] = sorted(name for name in names if name not in _SKIPPED)
        for name in sorted(files):
            path = os.path.join(directory, name)
            facts = os.lstat(path)
            total += facts.st_size
            if len(found) >= _TREE_FILES or total > _TREE_BYTES:
                return None
            if stat.S_ISREG(facts.st_mode):
                content = _digest(path)
            else:
                content = os.readlink(path) if stat.S_ISLNK(facts.st_mode) else "special"
            found[os.path.relpath(path, real)] = content
    return found


def tree_digest(entries: Mapping[str, str]) -> str:
    """The one digest of what `tree_entries` found, in the order in which a directory is walked."""

    def walk_path(path: str) -> list[tuple[bool, str]]:
        *above, name = path.split("/")
        return [*((True, part) for part in above), (False, name)]

    lines = (f"{path!r} {entries[path]!r}\n" for path in sorted(entries, key=walk_path))
    whole = "".join(lines).encode("utf-8", "surrogateescape")
    return hashlib.sha256(whole).hexdigest()
