"""Changes as text a person can read and a terminal can show without being steered by it."""

import difflib
import unicodedata
from collections.abc import Callable, Iterable

from silas.sandbox.journal import Change
from silas.sandbox.tree import Entry

_MAX_TEXT = 256 * 1024  # larger files are named only: comparing lines takes quadratic time

Reader = Callable[[str, Entry], bytes | None]
"""Content of a path as its entry describes it; None when it is not there like that any more."""


def visible(text: str) -> str:
    """Escape control, format and unpaired characters, which could rewrite what is on the screen."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(
        char
        if char == "\t" or unicodedata.category(char) not in ("Cc", "Cf", "Cs", "Co", "Zl", "Zp")
        else char.encode("unicode_escape").decode("ascii")
        for char in text
    )


def _text(content: bytes | None) -> str | None:
    if content is None or b"\0" in content:
        return None
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError:
        return None


def _lines(text: str) -> list[str]:
    lines = text.split("\n")
    if lines[-1] == "":
        return [f"{visible(line)}\n" for line in lines[:-1]]
    kept = [f"{visible(line)}\n" for line in lines[:-1]]
    return [*kept, f"{visible(lines[-1])}\n\\ No newline at end of file\n"]


def _facts(entry: Entry | None) -> str:
    if entry is None:
        return "nothing"
    mode = f", mode {entry.mode & 0o777:04o}" if entry.kind != "link" else ""
    size = f" of {entry.size} bytes" if entry.kind == "file" else ""
    return f"{entry.kind}{size}{mode}"


def _body(change: Change, before: Reader, after: Reader) -> Iterable[str]:
    old, new = change.before, change.after
    if (old is None or old.kind == "dir") and (new is None or new.kind == "dir"):
        return
    if old is not None and new is not None and (old.kind, old.digest) == (new.kind, new.digest):
        return
    if max(old.size if old else 0, new.size if new else 0) > _MAX_TEXT:
        yield "too large to show line by line\n"
        return
    sides = [
        _text(read(change.path, entry)) if entry is not None and entry.kind != "dir" else ""
        for read, entry in ((before, old), (after, new))
    ]
    if sides[0] is None or sides[1] is None:
        yield "binary content, not shown\n"
        return
    name = visible(change.path)
    lines = difflib.unified_diff(
        _lines(sides[0]) if sides[0] else [],
        _lines(sides[1]) if sides[1] else [],
        f"a/{name}" if old else "/dev/null",
        f"b/{name}" if new else "/dev/null",
    )
    yield from lines


def unified(changes: Iterable[Change], before: Reader, after: Reader, *, max_bytes: int) -> str:
    """Every change with a heading and, for text, its lines; cut at `max_bytes` of UTF-8.

    Empty exactly when there are no changes. Each heading names the kind, size and mode on both
    sides, so a change that has no lines to show is still seen.
    """
    parts: list[str] = []
    room = max_bytes
    left = 0
    for change in changes:
        heading = f"{visible(change.path)}: {_facts(change.before)} -> {_facts(change.after)}\n"
        block = heading + "".join(_body(change, before, after))
        size = len(block.encode("utf-8"))
        if size > room or left:
            left += 1
            continue
        parts.append(block)
        room -= size
    if left:
        parts.append(f"... and {left} more changed paths that do not fit here\n")
    return "".join(parts)
