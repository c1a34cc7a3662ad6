"""Changes as text a person can read and a terminal can show without being steered by it."""

import unicodedata
from collections.abc import Callable, Iterable, Mapping

from silas.workspace.hunks import hunks, lines_of
from silas.workspace.journal import Change
from silas.workspace.tree import TreeEntry

_MAX_TEXT = 256 * 1024  # larger files are named only: comparing lines takes quadratic time

Reader = Callable[[str, TreeEntry], bytes | None]
"""Content of a path as its entry describes it; None when it is not there like that any more."""


def escape_hidden(text: str) -> str:
    """Escape control, format and unpaired characters, which could rewrite what is on the screen."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(
        char
        if char == "\t" or unicodedata.category(char) not in ("Cc", "Cf", "Cs", "Co", "Zl", "Zp")
        else char.encode("unicode_escape").decode("ascii")
        for char in text
    )


def text_of(content: bytes | None) -> str | None:
    """Content as text; None if it is none."""
    if content is None or b"\0" in content:
        return None
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError:
        return None


def _visible_lines(text: str) -> list[str]:
    return lines_of("\n".join(escape_hidden(line) for line in text.split("\n")))


def _facts(entry: TreeEntry | None) -> str:
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
        yield "too large to show line by line; `silas diff` has it\n"
        return
    sides = _shown_lines(before, change.path, old), _shown_lines(after, change.path, new)
    if sides[0] is None or sides[1] is None:
        yield "binary content, not shown\n"
        return
    name = escape_hidden(change.path)
    yield f"--- {f'a/{name}' if old else '/dev/null'}\n"
    yield f"+++ {f'b/{name}' if new else '/dev/null'}\n"
    yield from hunks(sides[0], sides[1])


def _shown_lines(read: Reader, path: str, entry: TreeEntry | None) -> list[str] | None:
    """One side's lines as they may be shown; None if it is no text."""
    if entry is None or entry.kind == "dir":
        return []
    text = text_of(read(path, entry))
    if text is None:
        return None
    return [f"{escape_hidden(text)}\n"] if entry.kind == "link" else _visible_lines(text)


def heading(change: Change) -> str:
    """One line that names kind, size and permissions on both sides."""
    return f"{escape_hidden(change.path)}: {_facts(change.before)} -> {_facts(change.after)}\n"


def facts_of(change: Change) -> tuple[str, ...]:
    """A change in a line, and the SHA-256 of what it holds on either side in a line each."""
    sides = (("was", change.before), ("is", change.after))
    digests = (f"  {said} {side.digest}" for said, side in sides if side is not None)
    return heading(change).rstrip("\n"), *digests


def renames(changes: Iterable[Change]) -> dict[str, str]:
    """Old path to new path of each rename: a file that went, and one that came as it was.

    Only where one file alone went and one alone came with this content and these permissions;
    otherwise nobody can say which became which.
    """
    went, came = _by_content(changes)
    pairs = ((olds, came.get(content, [])) for content, olds in went.items())
    return {olds[0]: news[0] for olds, news in pairs if len(olds) == len(news) == 1}


_Content = tuple[str, int]
_Paths = dict[_Content, list[str]]


def _by_content(changes: Iterable[Change]) -> tuple[_Paths, _Paths]:
    """Paths of the files that went, and of those that came, by digest and permissions."""
    went, came = _Paths(), _Paths()
    for path, before, after in changes:
        entry, there = (before, went) if after is None else (after, came)
        if entry is None or entry.kind != "file" or not entry.size or None not in (before, after):
            continue
        there.setdefault((entry.digest, entry.mode), []).append(path)
    return went, came


def _rename_line(path: str, moved: Mapping[str, str]) -> str:
    """A rename in one line; empty where the path was not renamed."""
    new = moved.get(path)
    return (
        f"{escape_hidden(path)} -> {escape_hidden(new)}: renamed, with the same content\n"
        if new
        else ""
    )


def unified_diff(
    changes: Iterable[Change], before: Reader, after: Reader, *, max_bytes: int
) -> str:
    """Every change with a heading and, for text, its lines; cut at `max_bytes` of UTF-8.

    Empty exactly when there are no changes. Each heading names the kind, size and mode on both
    sides, so a change that has no lines to show is still seen. A file that was only renamed is one
    line: where it lay, and where it lies.
    """
    changes = tuple(changes)
    moved = renames(changes)
    came = frozenset(moved.values())
    parts: list[str] = []
    room = max_bytes
    left = 0
    for change in changes:
        if change.path in came:
            continue  # told where it went
        block = _rename_line(change.path, moved) or "".join(
            (heading(change), *_body(change, before, after))
        )
        size = len(block.encode("utf-8"))
        if size > room or left:
            left += 1
            continue
        parts.append(block)
        room -= size
    if left:
        parts.append(
            f"... and {left} more changed paths that do not fit here; `silas diff` shows all\n"
        )
    return "".join(parts)
