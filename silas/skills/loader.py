"""Skills as they lie there: found by name, read afresh, never run (spec 4.20, decision A13).

A folder that cannot be used is a skill that is not there, and says in one sentence why. What an
approval binds and what an agent is told are both read from the files at that moment (decision B2);
only what is merely listed is remembered, for as long as nothing in the folder changed. What ships
changes with Silas alone, so that its list is remembered for as long as this Silas runs.
"""

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from enum import StrEnum
from functools import lru_cache
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from silas.skills.approved import ApprovedSkills
from silas.skills.folder import SKILL_MD, SkillError, SkillFile, Stamp, contents, not_a_name, stamps
from silas.skills.front import NAME, SkillFrontMatter, SkillMd, read_skill_md
from silas.skills.models import SkillValidationConfig
from silas.skills.port import SkillText
from silas.skills.validate import check

_MAX_SKILLS = 256  # folders of one place that are looked at
_ASKED = {"auto": 0, "manual": 1}  # a skill with another activation is never offered


class Trust(StrEnum):
    """Where a skill comes from; only the first two can be used."""

    bundled = "bundled"
    """It ships with Silas."""
    installed = "installed"
    """It lies in `skills_dir`, and the owner approved every file of it."""
    waiting = "waiting"
    """It was imported, or lies in `skills_dir`, and waits for the owner's yes."""
    untrusted = "untrusted"
    """It was found where other programs or a project keep theirs: shown, and never used."""


_USABLE = (Trust.bundled, Trust.installed)


class SkillsDirectory(NamedTuple):
    """A directory with skills in its immediate subdirectories."""

    directory: Path
    trust: Trust


class Skill(NamedTuple):
    """A skill as its folder has it."""

    front: SkillFrontMatter
    body: str
    files: tuple[SkillFile, ...]

    @property
    def digests(self) -> dict[str, str]:
        """Hex SHA-256 of each file, by path."""
        return {file.path: file.digest for file in self.files}


class _Listed(NamedTuple):
    """What is remembered of a folder while nothing in it changes."""

    seen: tuple[tuple[str, Stamp], ...]
    front: SkillFrontMatter
    digests: Mapping[str, str]


class SkillLookup(NamedTuple):
    """One folder: what is known of the skill, or in one sentence why it cannot be used."""

    name: str
    folder: Path
    trust: Trust
    front: SkillFrontMatter | None
    fault: str = ""


class SkillLoader:
    """The skills of some places.

    Args:
        places: Where skills are. Of two with one name in usable places the later is refused.
        approved: Says what an installed skill must be, file by file.
        rules: What each must satisfy.
        room: Tokens that the list of skills may take in a prompt (spec 5.1 step 6.5).
        count: Tokens of a text.
    """

    def __init__(
        self,
        places: Sequence[SkillsDirectory],
        approved: ApprovedSkills,
        rules: SkillValidationConfig,
        room: int,
        count: Callable[[str], int],
    ) -> None:
        self._places = tuple(places)
        self._approved = approved
        self._rules = rules
        self._room = room
        self._count = lru_cache(maxsize=_MAX_SKILLS)(count)
        self._listed: dict[Path, _Listed] = {}
        self._shipped: dict[Path, tuple[Path, ...]] = {}
        self._chosen: tuple[tuple[SkillLookup, ...], Mapping[str, str]] | None = None

    def scan(self) -> tuple[SkillLookup, ...]:
        """Every folder of every place, usable or not; in the order of places, then by name."""
        return self._find_skills(self._places)

    def _usable_skills(self) -> Iterator[tuple[SkillLookup, SkillFrontMatter]]:
        """What can be used."""
        for one in self._find_skills([place for place in self._places if place.trust in _USABLE]):
            if one.trust in _USABLE and one.front:
                yield one, one.front

    def _find_skills(self, places: Sequence[SkillsDirectory]) -> tuple[SkillLookup, ...]:
        found: list[SkillLookup] = []
        taken: set[str] = set()
        for place in places:
            for folder in self._folders(place):
                one = self._look(folder, place.trust)
                if place.trust in _USABLE:
                    if one.name in taken:
                        fault = f"another skill is named {one.name!r} already; rename this one."
                        one = one._replace(front=None, fault=fault)
                    taken.add(one.name)
                found.append(one)
        return tuple(found)

    def _folders(self, place: SkillsDirectory) -> tuple[Path, ...]:
        if place.trust is not Trust.bundled:
            return _folders(place.directory)
        if place.directory not in self._shipped:
            self._shipped[place.directory] = _folders(place.directory)
        return self._shipped[place.directory]

    def catalogue(self) -> Mapping[str, str]:
        """Name and description of the skills on offer, as many as there is room for.

        Those that a plan may name by itself come first, those that the owner installed before
        those that ship, then by name. What no longer fits is left out from the end.
        """
        # every turn asks, and what ships is as it was
        now = self._find_skills([place for place in self._places if place.trust is Trust.installed])
        if self._chosen is None or self._chosen[0] != now:
            self._chosen = now, self._choose()
        return self._chosen[1]

    def _choose(self) -> Mapping[str, str]:
        offered = sorted(
            (_ASKED[front.activation], one.trust is Trust.bundled, one.name, front)
            for one, front in self._usable_skills()
            if front.activation in _ASKED
        )
        chosen: dict[str, str] = {}
        left = self._room
        for _, _, name, front in offered:
            left -= self._count(f"{name}: {front.description}\n")
            if left < 0:
                break
            chosen[name] = front.description
        return chosen

    def metadata(self, names: Sequence[str]) -> tuple[str, ...]:
        """`name: description` of each of these that can be used."""
        usable = {one.name: front for one, front in self._usable_skills()}
        return tuple(f"{name}: {usable[name].description}" for name in names if name in usable)

    def instructions(self, names: Sequence[str]) -> tuple[SkillText, ...]:
        """What `SKILL.md` of each of these says below its front matter.

        Raises:
            SkillError: One cannot be used.
        """
        return tuple(self._skill_text(name) for name in dict.fromkeys(names))

    def digests(self, names: Sequence[str]) -> dict[str, str]:
        """Hex SHA-256 of every file of these skills, by `name/path`; nothing of a missing one."""
        found: dict[str, str] = {}
        for name in sorted(set(names)):
            try:
                files = self._usable_skill(name).files
            except SkillError:
                continue  # `missing` says so, and the approval binds nothing of it
            found |= {f"{name}/{file.path}": file.digest for file in files}
        return found

    def missing(self, names: Sequence[str]) -> tuple[str, ...]:
        """Those that cannot be used."""
        return tuple(name for name in dict.fromkeys(names) if not self._can_use(name))

    def script(self, name: str, path: str) -> Path:
        """Where a file of a skill lies; only of what the skill's folder itself holds.

        Raises:
            SkillError: The skill cannot be used, or has no such file.
        """
        if path not in {file.path for file in self._usable_skill(name).files}:
            raise SkillError(f"the skill {ascii(name)[:80]} has no file {ascii(path)[:200]}.")
        return self._place(name).directory / name / path

    def _can_use(self, name: str) -> bool:
        try:
            self._usable_skill(name)
        except SkillError:
            return False
        return True

    def _skill_text(self, name: str) -> SkillText:
        skill = self._usable_skill(name)
        raw = next(file for file in skill.files if file.path == SKILL_MD)
        return SkillText(name, skill.body, raw.digest)

    def _usable_skill(self, name: str) -> Skill:
        place = self._place(name)
        skill = read_skill(place.directory / name, self._rules)
        self._require_approved(place.trust, name, skill.digests)
        return skill

    def _require_approved(self, trust: Trust, name: str, files: Mapping[str, str]) -> None:
        """Of what ships, the package is the approval; of what lies there, a record of the owner's.

        Raises:
            SkillError: There is none, or it is of other files.
        """
        if trust is Trust.bundled:
            return
        if differs := _differing(self._approved.files(name), files):
            raise SkillError(
                f"{differs} is not as you approved it; look at it again: "
                f"silas skills install {name}"
            )

    def _place(self, name: str) -> SkillsDirectory:
        if not NAME.fullmatch(name):
            raise not_a_name(name)
        for place in self._places:
            # the first place that has the name decides, as in `scan`
            if place.trust in _USABLE and os.path.lexists(place.directory / name):
                return place
        raise SkillError(f"there is no skill {name!r}; see `silas skills list`.")

    def _look(self, folder: Path, trust: Trust) -> SkillLookup:
        try:
            known = self._listed.get(folder)
            if known is None or trust is not Trust.bundled:
                seen = stamps(folder)
                if known is None or known.seen != seen:
                    skill = read_skill(folder, self._rules)
                    known = self._listed[folder] = _Listed(seen, skill.front, skill.digests)
        except SkillError as error:
            return SkillLookup(folder.name, folder, trust, None, error.message)
        fault = ""
        if trust is Trust.waiting:
            fault = f"it waits for your yes: silas skills install {folder.name}"
        elif trust in _USABLE:
            try:
                self._require_approved(trust, folder.name, known.digests)
            except SkillError as error:
                trust, fault = Trust.waiting, error.message
        return SkillLookup(folder.name, folder, trust, None if fault else known.front, fault)


def read_skill(folder: Path, rules: SkillValidationConfig) -> Skill:
    """One skill, whole.

    Raises:
        SkillError: It cannot be read, or breaks a rule; in one sentence.
    """
    skill_md, files = parse_skill(folder)
    findings = check(skill_md, files, rules)
    if findings:
        raise SkillError(str(findings[0]))
    return Skill(skill_md.front, skill_md.body, files)


def parse_skill(folder: Path) -> tuple[SkillMd, tuple[SkillFile, ...]]:
    """A skill's `SKILL.md` and all its files, before any rule was asked.

    Raises:
        SkillError: They cannot be read.
    """
    files = contents(folder)
    raw = next((file.raw for file in files if file.path == SKILL_MD), b"")  # gone meanwhile
    return read_skill_md(raw, folder.name), files


def _differing(approved: Mapping[str, str], now: Mapping[str, str]) -> str:
    """The first file that is not as it was approved, or was not there, or is gone."""
    paths = sorted(approved.keys() | now.keys())
    return next((path for path in paths if approved.get(path) != now.get(path)), "")


def _folders(directory: Path) -> tuple[Path, ...]:
    """What may be a skill: its subdirectories, and links, so that those are refused aloud."""
    try:
        with os.scandir(directory) as found:
            names = [
                entry.name
                for entry in islice(found, _MAX_SKILLS)
                if entry.is_symlink() or entry.is_dir(follow_symlinks=False)
            ]
    except OSError:
        return ()  # a directory that is not there or cannot be read has none
    return tuple(directory / name for name in sorted(names) if not name.startswith("."))
