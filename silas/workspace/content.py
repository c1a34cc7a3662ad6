"""What changed files hold, as far as a rule about changes has to know it (decision B22)."""

import re
from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

from silas.workspace.diff import Reader
from silas.workspace.journal import Change
from silas.workspace.tree import TreeEntry

_LOOKED_AT: Final = 4 << 20  # bytes of a file that are compared by its lines
_FEW: Final = 5  # lines below which a file is compared by its words; and words to compare
_STANDING: Final = 0.1  # of its lines or words; with fewer left it was written anew
_SHORT: Final = 200  # characters of an addition that anybody looks for
_WORD: Final = re.compile(rb"\w+")
_PROGRAMS: Final = (b"#!", b"\x7fELF", b"MZ", b"\xca\xfe\xba\xbe", b"\xcf\xfa\xed\xfe")


class ChangedContent(NamedTuple):
    """What a change does to a file.

    Attributes:
        known: Whether both sides could be read as they were compared.
        program: Whether it begins as something that runs does, and did not before.
        emptied: Whether nothing, or hardly a line, is left of what it held; of a file of few lines
            hardly a word.
        leaves: Whether it is a link that leads out of the directory.
        added: The one short piece of text that was put in where all else stands, without quotes,
            commas and spaces around it; empty where the change is another.
    """

    known: bool = True
    program: bool = False
    emptied: bool = False
    leaves: bool = False
    added: str = ""


def contents(changes: Iterable[Change], before: Reader, after: Reader) -> dict[str, ChangedContent]:
    """What each changed path holds; directories and deleted paths are left out."""
    return {
        change.path: _content(change, before, after)
        for change in changes
        if change.after is not None and change.after.kind != "dir"
    }


def _content(change: Change, before: Reader, after: Reader) -> ChangedContent:
    was, now = change.before, change.after
    assert now is not None
    if was is not None and (was.kind, was.digest) == (now.kind, now.digest):
        return ChangedContent()  # its permissions alone
    if now.kind == "link":
        target = after(change.path, now)
        return ChangedContent(target is not None, leaves=_leaves(change.path, target or b""))
    new = after(change.path, now) if now.size <= _LOOKED_AT else b""
    old = _old(change.path, was, before)
    if new is None or old is None:
        return ChangedContent(known=False)
    begun = new.startswith(_PROGRAMS) and not old.startswith(_PROGRAMS)
    emptied = _is_emptied(was, now, old, new)
    return ChangedContent(program=begun, emptied=emptied, added=_added_part(old, new))


def _old(path: str, was: TreeEntry | None, before: Reader) -> bytes | None:
    if was is None or was.kind != "file" or was.size > _LOOKED_AT:
        return b""
    return before(path, was)


def _is_emptied(was: TreeEntry | None, now: TreeEntry, old: bytes, new: bytes) -> bool:
    if was is None or was.kind != "file" or not was.size:
        return False
    if now.size < was.size * _STANDING and (now.size == 0 or was.size > _LOOKED_AT):
        return True
    if was.size > _LOOKED_AT or now.size > _LOOKED_AT:
        return False
    if old.strip() and not new.strip():
        return True
    lines = {line.strip() for line in old.split(b"\n") if line.strip()}
    if len(lines) >= _FEW:
        left = lines & {line.strip() for line in new.split(b"\n")}
        return len(left) < len(lines) * _STANDING
    words = set(_WORD.findall(old))
    return len(words) >= _FEW and len(words & set(_WORD.findall(new))) < len(words) * _STANDING


def _added_part(old: bytes, new: bytes) -> str:
    """What stands between the same beginning and the same end: whole lines, or a part of one."""
    before, after = old.split(b"\n"), new.split(b"\n")
    start = _same(before, after)
    end = _same(before[start:][::-1], after[start:][::-1])
    gone, come = before[start : len(before) - end], after[start : len(after) - end]
    if not gone:
        return _plain(b"\n".join(come))
    if len(gone) != 1 or len(come) != 1:
        return ""
    (was,), (now,) = gone, come
    left = _same(was, now)
    right = _same(was[left:][::-1], now[left:][::-1])
    return _plain(now[left : len(now) - right]) if left + right == len(was) else ""


def _same(one: Sequence[object], other: Sequence[object]) -> int:
    """How many items both begin with."""
    pairs = zip(one, other, strict=False)
    return next((at for at, (a, b) in enumerate(pairs) if a != b), min(len(one), len(other)))


def _plain(text: bytes) -> str:
    try:
        plain = text.decode().strip(" \t\r\n\"',")
    except UnicodeDecodeError:
        return ""
    return plain if len(plain) <= _SHORT else ""


def _leaves(path: str, target: bytes) -> bool:
    depth = path.count("/")
    if target.startswith(b"/"):
        return True
    for part in target.split(b"/"):
        depth += {b"..": -1, b".": 0, b"": 0}.get(part, 1)
        if depth < 0:
            return True
    return False
