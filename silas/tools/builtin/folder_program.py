"""The program behind `workspace_files`; it runs inside the sandbox and needs Python alone.

It reads a request as JSON from standard input and prints the files of a directory and of those
below it: how many, how big, and some of them in the order that is asked for. Names are told, and
nothing that a file holds. It imports nothing of Silas, and follows no link.
"""

import json
import os
import stat
import sys
import time
from collections.abc import Iterator
from fnmatch import fnmatchcase
from typing import Any, NamedTuple

REFUSED = 3
MAX_SEEN = 100_000  # entries that one call looks at
_UNOPENED = {".git", ".hg", ".svn", ".jj", ".venv", "venv", "node_modules", "__pycache__"}
_ORDERS = {
    "name": "by name",
    "biggest": "biggest first",
    "smallest": "smallest first",
    "newest": "newest first",
    "oldest": "oldest first",
}


class ListedFile(NamedTuple):
    """A regular file: its path from where the look begins, bytes, seconds since 1970."""

    path: str
    size: int
    changed: float


class FolderWalk:
    """All regular files below a directory, and what of it was left out."""

    def __init__(self, top: str) -> None:
        self._top = top
        self.left_out = set[str]()
        self.whole = True

    def files(self) -> Iterator[ListedFile]:
        """One after the other; what cannot be opened is left out and told."""
        places, seen = [self._top], 0
        while places:
            place = places.pop()
            try:
                with os.scandir(place) as found:
                    for entry in found:
                        seen += 1
                        if seen > MAX_SEEN:
                            self.whole = False
                            return
                        if not entry.is_dir(follow_symlinks=False):
                            yield from self._file(entry)
                        elif entry.name in _UNOPENED:
                            self.left_out.add(entry.name)
                        else:
                            places.append(entry.path)
            except OSError:
                self.left_out.add(os.path.relpath(place, self._top))

    def _file(self, entry: "os.DirEntry[str]") -> Iterator[ListedFile]:
        try:
            facts = entry.stat(follow_symlinks=False)
        except OSError:  # gone meanwhile
            return
        if stat.S_ISREG(facts.st_mode):
            yield ListedFile(os.path.relpath(entry.path, self._top), facts.st_size, facts.st_mtime)


def answer(asked: dict[str, Any]) -> str:
    """The heading, as many files as are asked for, and what was left out."""
    walk, args = FolderWalk(asked["top"]), asked["args"]
    wanted = [one.casefold() for one in args.get("names") or ["*"]]
    found = [one for one in walk.files() if _fits(one.path.casefold(), wanted)]
    order = args.get("order", "name")
    found.sort(key=lambda one: one.path)
    if order in ("biggest", "smallest"):
        found.sort(key=lambda one: one.size, reverse=order == "biggest")
    if order in ("newest", "oldest"):
        found.sort(key=lambda one: one.changed, reverse=order == "newest")
    total = sum(one.size for one in found)
    counted = f"{len(found)} {'file' if len(found) == 1 else 'files'}"
    lines = [f"{counted}, {total} bytes in all; {_ORDERS[order]}:"]
    tail = list[str]()
    if walk.left_out:
        names = sorted(map(_printable, walk.left_out))
        more = " and more" if len(names) > 8 else ""
        tail.append(f"(left out: what lies in {', '.join(names[:8])}{more})")
    if not walk.whole:
        tail.append(f"(only the first {MAX_SEEN} entries were looked at)")
    room = asked["limit"] - _size(lines) - _size(tail) - 80
    shown = list[str]()
    for one in found[: args.get("count", 20)]:
        line = f"{one.size} bytes, {_moment(one.changed)}: {_printable(one.path)}"
        room -= _size([line])
        if room < 0:
            break
        shown.append(line)
    if len(shown) < len(found):
        tail.insert(0, f"({len(found) - len(shown)} more are not shown)")
    return "\n".join([*lines, *shown, *tail])


def _fits(path: str, wanted: list[str]) -> bool:
    name = path.rpartition("/")[2]
    return any(fnmatchcase(name, one) or fnmatchcase(path, one) for one in wanted)


def _size(lines: list[str]) -> int:
    return sum(len(line.encode("utf-8", "replace")) + 1 for line in lines)


def _moment(seconds: float) -> str:
    try:
        return time.strftime("%Y-%m-%d %H:%M:%S UTC", time.gmtime(seconds))
    except (OverflowError, ValueError, OSError):
        return "at an unknown time"


def _printable(name: str) -> str:
    """A name that cannot look like two lines, or like another name."""
    return name if name.isprintable() else ascii(name)


def main() -> int:
    """Answer the one request on standard input."""
    asked: dict[str, Any] = json.load(sys.stdin.buffer)
    root = str(asked["root"])
    top = os.path.join(root, str(asked["args"].get("path", ".")))
    real, inside = os.path.realpath(top), os.path.realpath(root)
    if real != inside and not real.startswith(inside.rstrip("/") + "/"):
        said, code = "That lies outside the workspace.", REFUSED
    elif real != os.path.normpath(os.path.join(inside, os.path.relpath(top, root))):
        said, code = "That is reached by a link; name what it leads to.", REFUSED
    elif not os.path.isdir(real):
        said, code = "That is no directory.", REFUSED
    else:
        said, code = answer({**asked, "top": real}), 0
    sys.stdout.buffer.write(said.encode("utf-8", "replace"))
    sys.stdout.buffer.flush()
    return code


if __name__ == "__main__":
    sys.exit(main())
