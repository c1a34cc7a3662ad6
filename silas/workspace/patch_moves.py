"""Which files of a patch were only moved, so that each is told once: where it lay, and lies."""

import re
from collections.abc import Sequence
from typing import Final, NamedTuple

_INDEX: Final = re.compile(r"index ([0-9a-f]{40})\.\.([0-9a-f]{40})(?: \d+)?")
_GONE: Final = re.compile(r"(?P<path>.*): file of [^>]* -> nothing")
_CAME: Final = re.compile(r"(?P<path>.*): nothing -> file of .*")
_COMMENT: Final = "# "
_NOTHING: Final = "0" * 40


class PatchedFile(NamedTuple):
    """One change of a patch.

    Attributes:
        heading: Names the path and what it was and is.
        part: Of the patch; a project's has one for each task.
        was: Git's name of what it held, where the patch has it.
        held: Git's name of what it holds now.
    """

    heading: str
    part: int
    was: str = ""
    held: str = ""


def changed_in(patch: str) -> list[str]:
    """The heading of each change of a patch; of a file that was only moved, one line.

    A move is a file that went and one that came with the same content, where nothing else of that
    content and name can be meant.
    """
    files = _files(patch)
    moves = _moves(files)
    came = frozenset(moves.values())
    return [
        one.heading if number not in moves else _move_line(one, files[moves[number]])
        for number, one in enumerate(files)
        if number not in came
    ]


def _files(patch: str) -> list[PatchedFile]:
    files, part = list[PatchedFile](), 0
    for line in patch.split("\n"):
        if line.startswith(_COMMENT):
            heading = line.removeprefix(_COMMENT)
            if ": " in heading and " -> " in heading:
                files.append(PatchedFile(heading, part))
            elif heading.startswith("Task "):
                part += 1
        elif files and not files[-1].held and (found := _INDEX.fullmatch(line)):
            files[-1] = files[-1]._replace(was=found[1], held=found[2])
    return files


def _moves(files: Sequence[PatchedFile]) -> dict[int, int]:
    """Of each that was moved, where in the list it went and where it came."""
    gone = [n for n, one in enumerate(files) if one.held == _NOTHING and _GONE.fullmatch(one[0])]
    came = {n for n, one in enumerate(files) if one.was == _NOTHING and _CAME.fullmatch(one[0])}
    moves = dict[int, int]()
    for number in gone:
        held = (files[number].part, files[number].was)
        same = [n for n in sorted(came) if (files[n].part, files[n].held) == held]
        alike = [n for n in same if _name(files[n]) == _name(files[number])]
        others = [n for n in gone if (files[n].part, files[n].was) == held]
        found = alike if len(alike) == 1 else same if len(same) == len(others) == 1 else []
        if found:
            moves[number] = found[0]
            came.discard(found[0])
    return moves


def _path(one: PatchedFile) -> str:
    found = _GONE.fullmatch(one.heading) or _CAME.fullmatch(one.heading)
    return found["path"] if found else one.heading


def _name(one: PatchedFile) -> str:
    return _path(one).rpartition("/")[2]


def _move_line(old: PatchedFile, new: PatchedFile) -> str:
    return f"{_path(old)} -> {_path(new)}: moved, with the same content"
