"""Changes as a patch that `git apply` turns into the same change (spec 0.5.5, decision B3).

Everything is in it, byte by byte, binary files too. Git knows no directories and only two kinds of
permissions, so each change has a comment with all there is to know of it, which programs that apply
patches pass over. A file too large for a patch is named with its digests instead.
"""

import base64
import hashlib
import zlib
from collections.abc import Iterable, Iterator

from silas.workspace.diff import Reader, heading, text_of
from silas.workspace.hunks import hunks, lines_of
from silas.workspace.journal import Change
from silas.workspace.tree import TreeEntry

MAX_PATCH = 4 << 20
"""Bytes of a whole patch: it is kept in the database, and given to work that follows."""
_MAX_CONTENT = 64 << 20  # of one file; held in memory while it is compared
_COMMENT = "# "  # no line of a hunk and none of git's begins so
_PER_LINE = 52  # bytes that git puts into one line of a binary patch
_NOTHING = "0" * 40


def exact_patch(
    changes: Iterable[Change], before: Reader, after: Reader, max_bytes: int = MAX_PATCH
) -> str:
    """Every change, ordered as given. Empty exactly when there are none."""
    parts: list[str] = []
    room = max_bytes
    for change in changes:
        body = "".join(_sections(change, before, after)) if _fits(change) else None
        if body is None or len(body) > room:
            body = _left_out(change)
        else:
            room -= len(body)
        parts.append(f"{_COMMENT}{heading(change)}{body}")
    return "".join(parts)


def _fits(change: Change) -> bool:
    return all(side is None or side.size <= _MAX_CONTENT for side in (change.before, change.after))


def _left_out(change: Change) -> str:
    digests = " -> ".join(
        side.digest if side is not None and side.digest else "nothing"
        for side in (change.before, change.after)
    )
    return f"# too large for a patch; SHA-256 {digests}\n"


def _sections(change: Change, before: Reader, after: Reader) -> Iterator[str]:
    """What git calls a change of kind is a deletion and a creation."""
    path = change.path
    old = _file(change.before)
    new = _file(change.after)
    if old is not None and new is not None and old.kind != new.kind:
        yield from _section(path, old, None, before(path, old), b"")
        yield from _section(path, None, new, b"", after(path, new))
    elif old is not None or new is not None:
        was = b"" if old is None else before(path, old)
        now = b"" if new is None else after(path, new)
        yield from _section(path, old, new, was, now)


def _file(entry: TreeEntry | None) -> TreeEntry | None:
    return None if entry is None or entry.kind == "dir" else entry


def _section(
    path: str, old: TreeEntry | None, new: TreeEntry | None, was: bytes | None, now: bytes | None
) -> Iterator[str]:
    if was is None or now is None:
        yield "# it is not there any more as it was compared\n"
        return
    modes = _modes(old, new)
    if old and new and was == now and not modes:
        return  # permissions that git does not know
    ours, theirs = _quote_path(f"a/{path}"), _quote_path(f"b/{path}")
    yield f"diff --git {ours} {theirs}\n{modes}"
    if was == now and old and new:
        return
    same = f" {_mode(new)}" if old and new and not modes else ""
    yield f"index {_blob(was) if old else _NOTHING}..{_blob(now) if new else _NOTHING}{same}\n"
    texts = text_of(was), text_of(now)
    if texts[0] is None or texts[1] is None:
        yield from _binary(now)
    elif was != now:
        yield f"--- {_name_line(ours) if old else '/dev/null'}\n"
        yield f"+++ {_name_line(theirs) if new else '/dev/null'}\n"
        yield from hunks(lines_of(texts[0]), lines_of(texts[1]))


def _mode(entry: TreeEntry | None) -> str:
    if entry is None or entry.kind == "file":
        return "100755" if entry is not None and entry.mode & 0o100 else "100644"
    return "120000"


def _modes(old: TreeEntry | None, new: TreeEntry | None) -> str:
    if old is None:
        return f"new file mode {_mode(new)}\n"
    if new is None:
        return f"deleted file mode {_mode(old)}\n"
    if _mode(old) == _mode(new):
        return ""
    return f"old mode {_mode(old)}\nnew mode {_mode(new)}\n"


def _blob(content: bytes) -> str:
    """Git's name of a content."""
    framed = b"blob %d\0" % len(content) + content
    return hashlib.sha1(framed, usedforsecurity=False).hexdigest()


def _quote_path(name: str) -> str:
    """A path as git writes it: quoted as in C where it is not plain ASCII."""
    raw = name.encode("utf-8", "surrogateescape")
    if all(0x20 <= byte < 0x7F and byte not in b'"\\' for byte in raw):
        return name
    return '"' + "".join(map(_escape_byte, raw)) + '"'


def _escape_byte(byte: int) -> str:
    if byte in b'"\\':
        return f"\\{chr(byte)}"
    return chr(byte) if 0x20 <= byte < 0x7F else f"\\{byte:03o}"


def _name_line(name: str) -> str:
    """In a line of its own, a tab tells where a name with spaces ends."""
    return f"{name}\t" if " " in name and not name.startswith('"') else name


def _binary(content: bytes) -> Iterator[str]:
    """Git's binary patch: what the file holds afterwards, deflated, in base 85."""
    yield f"GIT binary patch\nliteral {len(content)}\n"
    packed = zlib.compress(content)
    for at in range(0, len(packed), _PER_LINE):
        piece = packed[at : at + _PER_LINE]
        length = chr(len(piece) + (64 if len(piece) <= 26 else 70))
        yield f"{length}{base64.b85encode(piece, pad=True).decode('ascii')}\n"
    yield "\n"
