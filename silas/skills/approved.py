"""Which skills the owner approved, file by file, under his own signature (spec 10.4 step 4).

A record lies beside the skills, one file a skill: what was shown, and the signed token over it. It
says nothing about a folder that does not hold exactly these files, so whoever can write there can
take a skill away and never bring one in.
"""

import os
import stat
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple, Protocol, cast

from pydantic import ValidationError

from silas.canonical import canonical_bytes, read_json, sha256_hex
from silas.skills.folder import SkillError, not_a_name
from silas.skills.front import NAME
from silas.skills.tree import write_whole
from silas.types import FrozenModel

RECORDS: Final = ".approved"
"""The folder of the records, in `skills_dir`; no skill can have this name."""

_MAX_BYTES = 1 << 20  # of a record: 256 names with their digests, and a token


class Installation(FrozenModel):
    """A skill as the owner is shown it; its canonical bytes are what he signs.

    Attributes:
        name, description: As in its front matter.
        source: Where it came from.
        changes: What importing changed, a line each.
        files: Hex SHA-256 of every file, by path.
    """

    name: str
    description: str
    source: str
    changes: tuple[str, ...]
    files: dict[str, str]

    @property
    def canonical(self) -> bytes:
        """The bytes whose digest an approval names."""
        return canonical_bytes(self.model_dump(mode="json"))

    @property
    def digest(self) -> str:
        """Hex SHA-256 of the canonical bytes."""
        return sha256_hex(self.canonical)

    @property
    def subject_id(self) -> str:
        """What an approval calls it."""
        return f"skill-{self.name}"


def read_installation(canonical: bytes) -> Installation | None:
    """The installation of which these are the canonical bytes, or None."""
    try:
        found = Installation.model_validate(read_json(canonical))
    except (ValueError, ValidationError):
        return None
    return found if found.canonical == canonical else None


Vouch = Callable[[Installation, Mapping[str, Any]], str]
"""Why a token, as plain JSON, is not the owner's yes to exactly this; nothing where it is."""


class ApprovedSkills(Protocol):
    """What the owner approved."""

    def files(self, name: str) -> Mapping[str, str]:
        """Hex SHA-256 of each file of a skill. Raises `SkillError` where there is no yes to it."""
        ...


class _Known(NamedTuple):
    stamp: tuple[int, ...]
    files: Mapping[str, str]
    fault: str


class SkillRecords:
    """The records of one `skills_dir`.

    Args:
        skills: Where the skills lie.
        vouch: Asks whether a token is the owner's.
    """

    def __init__(self, skills: Path, vouch: Vouch) -> None:
        self._directory = skills / RECORDS
        self._vouch = vouch
        self._known: dict[str, _Known] = {}

    def files(self, name: str) -> Mapping[str, str]:
        """See `ApprovedSkills`. A record is read again when it is another file, or has changed."""
        path = self._path(name)
        try:
            facts = path.lstat()
        except OSError:
            raise SkillError(f"it waits for your yes: silas skills install {name}") from None
        stamp = (facts.st_ino, facts.st_size, facts.st_mtime_ns, facts.st_ctime_ns)
        known = self._known.get(name)
        if known is None or known.stamp != stamp:
            known = self._known[name] = _Known(stamp, *self._read(path, name))
        if known.fault:
            raise SkillError(f"{known.fault}; look at it again: silas skills install {name}")
        return known.files

    def keep(self, shown: Installation, token: Mapping[str, Any]) -> None:
        """Remember what was approved, instead of whatever was; durably, or not at all."""
        record = {"skill": shown.model_dump(mode="json"), "token": dict(token)}
        self._directory.mkdir(parents=True, exist_ok=True, mode=0o700)
        write_whole(self._path(shown.name), canonical_bytes(record))

    def forget(self, name: str) -> None:
        """From now on nothing of this name is approved."""
        self._path(name).unlink(missing_ok=True)

    def _path(self, name: str) -> Path:
        if not NAME.fullmatch(name):
            raise not_a_name(name)
        return self._directory / f"{name}.json"

    def _read(self, path: Path, name: str) -> tuple[Mapping[str, str], str]:
        """The files that were approved, and why they were not."""
        try:
            record = read_json(_content(path))
            shown = Installation.model_validate(record["skill"])
            token: object = record["token"]
        except (OSError, ValueError, KeyError, TypeError):
            return {}, "the record of its approval cannot be read"
        if shown.name != name or not isinstance(token, dict):
            return {}, "the record of its approval is of something else"
        return shown.files, self._vouch(shown, cast(dict[str, Any], token))


def _content(path: Path) -> bytes:
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK)
    with os.fdopen(descriptor, "rb") as file:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise ValueError("no plain file")
        return file.read(_MAX_BYTES)
