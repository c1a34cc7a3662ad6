"""The owner's tools for a run: as facts that an approval binds, and as what a sandbox is shown.

What was approved is what is shown: the facts are compared with the machine again before each
effect, and tools that appear later take no part.
"""

import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple, Protocol, cast

from silas.language import tr
from silas.sandbox.models import Mount, SandboxFiles
from silas.sandbox.toolchains.search import SearchPlace, Toolchain, digest, find, hidden_in, refusal

ToolFacts = Mapping[str, Any]
"""Directories of programs by their path: plain JSON."""


class ToolSearch(Protocol):
    """Finds the tools that the owner can run, and says what became of those found before."""

    @property
    def words(self) -> str:
        """Why nothing is looked for; empty where it is."""
        ...

    def find_tools(self, workspace: str | None) -> ToolFacts:
        """What there is now for work in this workspace."""
        ...

    def left_out(self, workspace: str | None) -> tuple[str, ...]:
        """A sentence about each directory that takes no part."""
        ...

    def now(self, facts: ToolFacts, workspace: str | None) -> ToolFacts:
        """The same directories as they are now, in the same form."""
        ...


class MachineTools:
    """Looks on this machine; reads only."""

    words = ""

    def __init__(self, place: SearchPlace) -> None:
        self._place = place

    def find_tools(self, workspace: str | None) -> ToolFacts:
        """See `ToolSearch`."""
        tools = find(self._place, _path(workspace)).tools
        return {str(one.path): _facts(one, at) for at, one in enumerate(tools)}

    def left_out(self, workspace: str | None) -> tuple[str, ...]:
        """See `ToolSearch`."""
        return find(self._place, _path(workspace)).left_out

    def now(self, facts: ToolFacts, workspace: str | None) -> ToolFacts:
        """See `ToolSearch`; what is not understood or may not be shown any more is different."""
        return {path: self._again(path, told, workspace) for path, told in facts.items()}

    def _again(self, path: str, told: Any, workspace: str | None) -> Any:
        one = _toolchain(path, told)
        if one is None:
            return {"refused": "not understood"}
        why = refusal(one, self._place, _path(workspace))
        return {"refused": why} if why else _facts(one, told["at"])


class NoTools:
    """Shows nothing besides the system, and says why."""

    def __init__(self, words: str) -> None:
        self.words = words

    def find_tools(self, workspace: str | None) -> ToolFacts:
        """Nothing."""
        del workspace
        return {}

    def left_out(self, workspace: str | None) -> tuple[str, ...]:
        """Nothing was looked at."""
        del workspace
        return ()

    def now(self, facts: ToolFacts, workspace: str | None) -> ToolFacts:
        """None of them is shown any more, so whatever was approved with some differs."""
        del workspace
        return {path: {"refused": self.words} for path in facts}


def _path(workspace: str | None) -> Path | None:
    return None if workspace is None else Path(workspace)


def _facts(one: Toolchain, at: int) -> dict[str, Any]:
    try:
        sha256 = digest(one.path, one.marks) if one.shown else ""
    except OSError as error:
        return {"refused": f"{error.strerror}"}
    return {
        "at": at,
        "name": one.name,
        "version": one.version,
        "told": one.told,
        "shown": [str(path) for path in one.shown],
        "leads": [str(path) for path in one.leads],
        "marks": [str(path) for path in one.marks],
        "env": dict(one.env),
        "sha256": sha256,
    }


def _toolchain(path: str, told: Any) -> Toolchain | None:
    try:
        return Toolchain(
            name=str(told["name"]),
            version=str(told["version"]),
            path=Path(path),
            shown=_paths(told["shown"]),
            env={str(name): str(value) for name, value in told["env"].items()},
            told=str(told["told"]),
            marks=_paths(told["marks"]),
            leads=_paths(told["leads"]),
        )
    except (KeyError, TypeError, AttributeError):
        return None


def _paths(told: Iterable[object]) -> tuple[Path, ...]:
    return tuple(Path(str(one)) for one in told)


class ToolMounts(NamedTuple):
    """What a sandbox is given for tools.

    Attributes:
        path: Directories for the PATH, in order.
        env: Variables that they need.
        below: Mounts that the workspace may cover.
        above: Mounts that cover parts of the workspace: its own environment as it was approved.
    """

    path: tuple[Path, ...] = ()
    env: Mapping[str, str] = {}
    below: tuple[Mount, ...] = ()
    above: tuple[Mount, ...] = ()

    def add_to(self, files: SandboxFiles) -> SandboxFiles:
        """Files of a run with these tools; what they have shown already goes between."""
        return files.model_copy(
            update={
                "mounts": (*self.below, *files.mounts, *self.above),
                "path": self.path,
                "env": {**self.env, **files.env},
            }
        )


def mounts_of(facts: ToolFacts, workspace: str | None, masks: Path) -> ToolMounts:
    """Show what an approval binds, read-only, without files of credentials.

    Args:
        facts: As `ToolSearch.find_tools` gave them.
        workspace: Whose copy covers what lies in it.
        masks: Where `make_masks` put what is shown in place of a file or directory.
    """
    tools = sorted(parse_facts(facts).items(), key=lambda pair: int(pair[1].get("at", 0)))
    ordered = [one for path, told in tools if (one := _toolchain(path, told)) is not None]
    shown = list(dict.fromkeys(path for one in ordered for path in one.shown))
    plain = [Mount(source=path, target=path) for path in shown]
    covers = [Mount(source=_mask(path, masks), target=path) for path in _hidden_paths(shown)]
    mounts = (*plain, *covers)
    inside = [m for m in mounts if workspace and m.target.is_relative_to(workspace)]
    env = {name: value for one in reversed(ordered) for name, value in one.env.items()}
    outside = tuple(mount for mount in mounts if mount not in inside)
    return ToolMounts(tuple(one.path for one in ordered), env, outside, tuple(inside))


def _hidden_paths(shown: list[Path]) -> list[Path]:
    return [path for path in hidden_in(shown) if not path.is_symlink()]


def _mask(path: Path, masks: Path) -> Path:
    return masks / ("directory" if path.is_dir() else "file")


def make_masks(place: Path) -> Path:
    """An empty file and an empty directory that nobody writes to, for `mounts_of`."""
    place.mkdir(mode=0o700, parents=True, exist_ok=True)
    (place / "directory").mkdir(mode=0o500, exist_ok=True)
    descriptor = os.open(place / "file", os.O_CREAT | os.O_RDONLY | os.O_NOFOLLOW, 0o400)
    os.close(descriptor)
    return place


def parse_facts(facts: ToolFacts) -> dict[str, Mapping[str, Any]]:
    """What has the form of facts; a record that somebody edited may hold anything."""
    return {
        path: cast(Mapping[str, Any], told)
        for path, told in facts.items()
        if isinstance(told, Mapping)
    }


def tool_words(facts: ToolFacts) -> str:
    """What a card says in one line; several directories of the owner's `PATH` are counted there,
    and `tool_directories` names them.
    """
    counted = directories if len(directories := tool_directories(facts)) > 1 else ()
    parts = [_words(path, one) for path, one in _in_order(facts)]
    named = [part for part in dict.fromkeys(parts) if part and part not in counted]
    more = [tr("{count} directories of your PATH", count=len(counted))] if counted else []
    return ", ".join((*named, *more, "system"))


def tool_directories(facts: ToolFacts) -> tuple[str, ...]:
    """Directories of the owner's `PATH` that are shown to work, in its order."""
    told = [str(one["name"]) for _, one in _in_order(facts) if _is_directory(one)]
    return tuple(dict.fromkeys(told))


def _in_order(facts: ToolFacts) -> list[tuple[str, Mapping[str, Any]]]:
    return sorted(parse_facts(facts).items(), key=lambda pair: str(pair[1].get("at", "")).zfill(4))


def _is_directory(told: Mapping[str, Any]) -> bool:
    """Whether it is known by its path alone, and is shown: those of the system are not."""
    return str(told.get("name", "")).startswith("/") and bool(told.get("shown"))


def _words(path: str, told: Mapping[str, Any]) -> str:
    name, version = str(told.get("name", path)), str(told.get("version", ""))
    if name.startswith("/"):
        return name if _is_directory(told) else ""  # else one of the system
    if name.startswith("project ") and version:
        also = f", {told['told']}" if told.get("told") else ""
        return f"{name} (Python {version}{also})"
    return f"{name} {version}".rstrip()
