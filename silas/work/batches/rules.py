"""Where a file goes: a table of rules, of which the first that fits decides (spec 5.2.4 step 1)."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final, NamedTuple

from silas.work.batches.file_kinds import KIND_OF, KINDS, contradicts, kind_by_beginning
from silas.work.batches.folder_names import folder_name
from silas.work.batches.folder_scan import FolderContents, FoundFile, about_of, first_lines
from silas.work.batches.models import FileMove, SkippedFile
from silas.work.batches.reason_words import NO_ENDING

TO_CHECK: Final = "To check"
DUPLICATES: Final = "Duplicates"
OLDER: Final = "Older"
NO_RULE: Final = -1.0
"""The confidence of a file that no rule fits."""

OLD: Final = timedelta(days=365)

_COPY = re.compile(
    r"^(?:copy of|kopie von)\s|(?:\(\d+\)|[-_ ](?:copy|kopie)(?:[-_ ]?\d+)?)(?=\.[^.]*$|$)",
    re.IGNORECASE,
)


class FileFacts(NamedTuple):
    """What the rules go by.

    Attributes:
        file: The file.
        kept: The name of the one of its content that stays; empty where it is the only one.
        now: What its age is counted from.
    """

    file: FoundFile
    kept: str
    now: datetime

    @property
    def kind(self) -> str:
        """Its kind by its ending, else by how it begins; empty where neither says anything."""
        return KIND_OF.get(self.file.ending) or (
            "" if self.file.ending else kind_by_beginning(self.file.head)
        )

    @property
    def old(self) -> bool:
        """Whether nobody changed it for a year."""
        return self.now - self.file.modified > OLD


@dataclass(frozen=True)
class SortingRule:
    """One row: whether it fits, the folder, how sure it is, and why, in words."""

    fits: Callable[[FileFacts], bool]
    target: Callable[[FileFacts], str]
    confidence: float
    reason: Callable[[FileFacts], str]


def _odd(facts: FileFacts) -> str:
    return contradicts(facts.file.ending, facts.file.head)


RULES: Final[tuple[SortingRule, ...]] = (
    SortingRule(lambda f: bool(_odd(f)), lambda _: TO_CHECK, 0.30, _odd),
    SortingRule(
        lambda f: bool(f.kept) and _COPY.search(f.file.name) is not None,
        lambda _: DUPLICATES,
        0.95,
        lambda f: f"the same as {f.kept}, and its name says that it is a copy",
    ),
    SortingRule(
        lambda f: bool(f.kept), lambda _: DUPLICATES, 0.70, lambda f: f"the same as {f.kept}"
    ),
    SortingRule(
        lambda f: bool(f.kind) and not f.file.identity.size,
        lambda f: f.kind,
        0.60,
        lambda _: "it is empty",
    ),
    SortingRule(
        lambda f: bool(f.kind and f.file.ending) and f.old,
        lambda f: f"{OLDER}/{f.kind}",
        0.90,
        lambda f: f".{f.file.ending}, and unchanged for a year",
    ),
    SortingRule(
        lambda f: bool(f.kind and f.file.ending),
        lambda f: f.kind,
        0.95,
        lambda f: f"its name ends in .{f.file.ending}",
    ),
    SortingRule(
        lambda f: bool(f.kind), lambda f: f.kind, 0.70, lambda _: "it begins as such a file does"
    ),
)
"""Of the first rows that fit, the safest question: what is not what it says comes first."""

_ORDER: Final = {name: at for at, name in enumerate((*KINDS, OLDER, DUPLICATES, TO_CHECK))}


_Place = tuple[int, str, str]
"""Where a move stands among the others: the place of its group, its group, its name."""


class SortedFolder(NamedTuple):
    """Everything that the rules say of a folder.

    Attributes:
        moves: What they propose, in the order of groups and names; what no rule fits is last, with
            no target.
        left: What stays where it is, and why.
    """

    moves: tuple[FileMove, ...]
    left: tuple[SkippedFile, ...]


def sort_files(looked: FolderContents, now: datetime) -> SortedFolder:
    """Apply the rules to everything that was found; nothing is read or moved."""
    kept = _duplicates(looked.files)
    moves: list[tuple[_Place, FileMove]] = []
    left = list(looked.left)
    for file in looked.files:
        ruled = _move_of(FileFacts(file, kept.get(file.name, ""), now))
        move = _with_folder_name(ruled, looked.names)
        blocked = _why_blocked(move, looked.names)
        if blocked:
            left.append(SkippedFile(file.name, blocked))
        else:
            moves.append((_place(ruled), move))
    return SortedFolder(tuple(move for _, move in sorted(moves, key=_first)), tuple(left))


def _move_of(facts: FileFacts) -> FileMove:
    about, lines = about_of(facts.file), first_lines(facts.file)
    for rule in RULES:
        if rule.fits(facts):
            target = rule.target(facts)
            reason, sure = rule.reason(facts), rule.confidence
            return FileMove(
                facts.file.name, target, facts.file.identity, target, reason, sure, about, lines
            )
    ending = f".{facts.file.ending}" if facts.file.ending else NO_ENDING
    why = f"no rule knows {ending if facts.file.ending else 'files without an ending'}"
    return FileMove(facts.file.name, "", facts.file.identity, ending, why, NO_RULE, about, lines)


def _with_folder_name(move: FileMove, names: Mapping[str, bool]) -> FileMove:
    """The move to the folder as it is called there."""
    if not move.target:
        return move
    target = folder_name(move.target, lambda name: names.get(name, False))
    return move._replace(target=target, group=target)


def _first(placed: tuple[_Place, FileMove]) -> _Place:
    return placed[0]


def _why_blocked(move: FileMove, names: Mapping[str, bool]) -> str:
    top = move.target.partition("/")[0]
    if top and top in names and not names[top]:
        return f"{top} is no folder, so nothing can go there"
    return ""


def _place(move: FileMove) -> _Place:
    top = move.group.partition("/")[0]
    return _ORDER.get(top, len(_ORDER)), move.group, move.name


def _duplicates(files: Sequence[FoundFile]) -> dict[str, str]:
    """For each file of which there is another of the same content: the name of the one that stays.

    Which stays: one whose name is no copy's, the oldest, the first by name.
    """
    by_content: dict[str, list[FoundFile]] = {}
    for file in files:
        if file.identity.digest and file.identity.size:
            by_content.setdefault(file.identity.digest, []).append(file)
    found: dict[str, str] = {}
    for alike in by_content.values():
        first, *others = sorted(
            alike, key=lambda f: (bool(_COPY.search(f.name)), f.identity.modified, f.name)
        )
        found.update({other.name: first.name for other in others})
    return found
