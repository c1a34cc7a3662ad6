"""Where a skill is imported from: a folder of this machine, with the commit that it is at."""

import re
from pathlib import Path
from typing import NamedTuple

from silas.skills.adapt import PASSED_OVER
from silas.skills.folder import SKILL_MD, SkillError, SkillFile, contents
from silas.skills.models import SkillImportConfig

_ADDRESS = re.compile(r"github:|git@|[a-z][a-z0-9+.-]*://", re.IGNORECASE)
_COMMIT = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
_HEAD = re.compile(r"ref: (refs/[A-Za-z0-9_./+@-]{1,200})")
_NAMED = 10  # skills of a repository that a refusal names


class SkillSource(NamedTuple):
    """What lies at a source: the files, what to call it, and its commit where it has one."""

    files: tuple[SkillFile, ...]
    uri: str
    commit: str


def read_source(source: str, allowed: SkillImportConfig) -> SkillSource:
    """Read a skill that is to be imported; nothing of it is run or fetched.

    Args:
        source: The folder that has `SKILL.md`.
        allowed: From where skills may come.

    Raises:
        SkillError: It may not be imported from there, or cannot be read.
    """
    if not allowed.allow_external:
        raise SkillError("skills.import.allow_external is false, so nothing is imported.")
    if _ADDRESS.match(source):
        raise SkillError(
            "Silas fetches no skill by itself; clone the repository, look at it, and import the "
            "skill's folder."
        )
    if "local_path" not in allowed.allowed_sources:
        raise SkillError("skills.import.allowed_sources has no local_path, so no folder counts.")
    folder = Path(source).expanduser().absolute()
    try:
        files = contents(folder, PASSED_OVER)
    except SkillError as error:
        raise SkillError(error.message + _holds(folder)) from error
    return SkillSource(files, str(folder), commit_of(folder))


def commit_of(folder: Path) -> str:
    """The commit of the repository around a folder, as git wrote it down; empty without one."""
    git = next((up / ".git" for up in (folder, *folder.parents) if (up / ".git").is_dir()), None)
    if git is None:
        return ""
    head = _line(git / "HEAD")
    named = _HEAD.fullmatch(head)
    if named is None:
        return head if _COMMIT.fullmatch(head) else ""
    at = "" if ".." in named[1] else _line(git / named[1])
    return at if _COMMIT.fullmatch(at) else _packed_commit(git, named[1])


def _packed_commit(git: Path, ref: str) -> str:
    """A branch that git keeps in its one file of many."""
    for line in _text(git / "packed-refs").split("\n"):
        commit, _, name = line.partition(" ")
        if name == ref and _COMMIT.fullmatch(commit):
            return commit
    return ""


def _line(path: Path) -> str:
    return _text(path).strip()


def _text(path: Path) -> str:
    try:
        with path.open("r", encoding="utf-8") as file:
            return file.read(1 << 20)
    except (OSError, UnicodeDecodeError):
        return ""


def _holds(folder: Path) -> str:
    """The skills below a folder that is none itself."""
    try:
        found = sorted({p.parent for p in folder.glob(f"*/{SKILL_MD}")} | _below(folder))
    except OSError:
        return ""
    if (folder / SKILL_MD).exists() or not found:
        return ""
    names = ", ".join(ascii(str(p.relative_to(folder)))[1:-1] for p in found[:_NAMED])
    return f" It holds {len(found)}: {names}; import one of them."


def _below(folder: Path) -> set[Path]:
    return {path.parent for path in folder.glob(f"skills/*/{SKILL_MD}")}
