"""What changed files hold, as far as a rule about changes has to know it (decision B22)."""

from collections.abc import Iterable
from typing import Final, NamedTuple

from silas.sandbox.diff import Reader
from silas.sandbox.journal import Change
from silas.sandbox.tree import Entry

_LOOKED_AT: Final = 4 << 20  # bytes of a file that are compared by its lines
_FEW: Final = 5  # lines below which a file may be written anew
_STANDING: Final = 0.1  # of its lines; with fewer left it was written anew
_PROGRAMS: Final = (b"#!", b"\x7fELF", b"MZ", b"\xca\xfe\xba\xbe", b"\xcf\xfa\xed\xfe")


class Content(NamedTuple):
    """What a change does to a file.

    Attributes:
        known: Whether both sides could be read as they were compared.
        program: Whether it begins as something that runs does, and did not before.
        emptied: Whether nothing, or hardly a line, is left of what it held.
        leaves: Whether it is a link that leads out of the directory.
    """

    known: bool = True
    program: bool = False
    emptied: bool = False
    leaves: bool = False


def contents(changes: Iterable[Change], before: Reader, after: Reader) -> dict[str, Content]:
    """What each changed path holds; directories and deleted paths are left out."""
    return {
        change.path: _content(change, before, after)
        for change in changes
        if change.after is not None and change.after.kind != "dir"
    }


def _content(change: Change, before: Reader, after: Reader) -> Content:
    was, now = change.before, change.after
    assert now is not None
    if was is not None and (was.kind, was.digest) == (now.kind, now.digest):
        return Content()  # its permissions alone
    if now.kind == "link":
        target = after(change.path, now)
        return Content(target is not None, leaves=_leaves(change.path, target or b""))
    new = after(change.path, now) if now.size <= _LOOKED_AT else b""
    old = _old(change.path, was, before)
    if new is None or old is None:
        return Content(known=False)
    begun = new.startswith(_PROGRAMS) and not old.startswith(_PROGRAMS)
    return Content(program=begun, emptied=_emptied(was, now, old, new))


def _old(path: str, was: Entry | None, before: Reader) -> bytes | None:
    if was is None or was.kind != "file" or was.size > _LOOKED_AT:
        return b""
    return before(path, was)


def _emptied(was: Entry | None, now: Entry, old: bytes, new: bytes) -> bool:
    if was is None or was.kind != "file" or not was.size:
        return False
    if now.size < was.size * _STANDING and (now.size == 0 or was.size > _LOOKED_AT):
        return True
    if was.size > _LOOKED_AT or now.size > _LOOKED_AT:
        return False
    if old.strip() and not new.strip():
        return True
    lines = {line.strip() for line in old.split(b"\n") if line.strip()}
    left = lines & {line.strip() for line in new.split(b"\n")}
    return len(lines) >= _FEW and len(left) < len(lines) * _STANDING


def _leaves(path: str, target: bytes) -> bool:
    depth = path.count("/")
    if target.startswith(b"/"):
        return True
    for part in target.split(b"/"):
        depth += {b"..": -1, b".": 0, b"": 0}.get(part, 1)
        if depth < 0:
            return True
    return False
