"""Trees that tests look at and change, without the code under test."""

import os
import stat
from pathlib import Path

Tree = dict[str, tuple[str, int, bytes]]


def picture(root: Path) -> Tree:
    """What a directory holds, found without the code under test."""
    seen: Tree = {}
    for path in sorted(root.rglob("*")):
        facts = path.lstat()
        name = str(path.relative_to(root))
        if stat.S_ISLNK(facts.st_mode):
            seen[name] = ("link", 0, os.fsencode(os.readlink(path)))
        elif stat.S_ISDIR(facts.st_mode):
            seen[name] = ("dir", stat.S_IMODE(facts.st_mode), b"")
        else:
            seen[name] = ("file", stat.S_IMODE(facts.st_mode), path.read_bytes())
    return seen


def exact(root: Path) -> dict[str, object]:
    """A picture with what else there is: times, owners, attributes, and which names share a file.

    Not the time of the last access, which looking changes.
    """
    paths = ["", *(str(path.relative_to(root)) for path in sorted(root.rglob("*")))]
    seen: dict[str, object] = {"": stat.S_IMODE(root.stat().st_mode), **picture(root)}
    facts = {path: (root / path).lstat() for path in paths}
    for path, fact in facts.items():
        twins = sorted(other for other, its in facts.items() if its.st_ino == fact.st_ino)
        attributes = {
            name: os.getxattr(root / path, name, follow_symlinks=False)
            for name in os.listxattr(root / path, follow_symlinks=False)
        }
        seen[f"{path}//"] = (fact.st_mtime_ns, fact.st_uid, fact.st_gid, twins, attributes)
    return seen


def edit(copy: Path) -> None:
    (copy / "src" / "a.py").write_text("one\n2\nthree\n")
    (copy / "new").mkdir()
    (copy / "new" / "file").write_bytes(b"\0binary")
    (copy / "src" / "deep" / "b.txt").unlink()
    (copy / "src" / "deep").rmdir()
    (copy / "run.sh").chmod(0o700)
    (copy / "link").unlink()
    (copy / "link").symlink_to("elsewhere")
