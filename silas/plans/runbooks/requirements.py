"""What a runbook needs of a machine: looked for inside the sandbox, before anybody is asked.

Nothing of the workspace is executed for that: the commands are the runbook's own, the workspace is
mounted read-only, and there is no network.
"""

import asyncio
from collections.abc import Mapping
from pathlib import Path
from typing import Protocol

from pydantic import Field

from silas.errors import PlanFamilyError, SandboxError
from silas.language import ENGLISH, spoken_language
from silas.plans.runbooks.fill import ShellText, blanks, fill_command
from silas.plans.runbooks.move_places import MovePlaces, from_workspace, move_fault, nothing_fault
from silas.plans.runbooks.seen_files import RemovedLine, rest_digest
from silas.sandbox import Mount, Sandbox, SandboxFiles, SandboxLimits
from silas.sandbox.toolchains.mounts import ToolSearch, make_masks, mounts_of
from silas.types import FrozenModel

_LIMITS = SandboxLimits(wall_seconds=20.0, cpu_seconds=10)
_EMPTY = Path("/work")
_ENVIRONMENTS = (".venv", "venv")


class Candidate(FrozenModel):
    """One way to meet a requirement: the shell text to use, and the test that it is there."""

    use: str = Field(min_length=1)
    test: str = Field(min_length=1)


class Requirement(FrozenModel):
    """What a runbook needs; `$name` stands for the first candidate whose test exits with 0.

    Attributes:
        name: Of the blank.
        first_of: What would do, the best first.
        missing: One sentence where nothing does: what is missing, and how to get it.
        in_german: The same sentence for an owner whose language is German; empty for none.
        once: Only work that is done now needs it; by the clock, it may come to be there.
    """

    name: str
    first_of: tuple[Candidate, ...] = Field(min_length=1)
    missing: str = Field(min_length=1)
    in_german: str = ""
    once: bool = False

    @property
    def shown_missing(self) -> str:
        """What is missing, in the owner's language where it is there."""
        german = spoken_language() != ENGLISH and self.in_german
        return self.in_german if german else self.missing


class ParameterDefault(Protocol):
    """A parameter, as far as its value goes."""

    @property
    def default(self) -> str | None:
        """Used where nothing is given."""
        ...


class NeedsTools(Protocol):
    """A runbook, as far as its requirements go."""

    @property
    def parameters(self) -> Mapping[str, ParameterDefault]:
        """Its blanks by name."""
        ...

    @property
    def requires(self) -> tuple[Requirement, ...]:
        """What it needs, in the order in which it is looked for."""
        ...

    @property
    def moves(self) -> MovePlaces | None:
        """The parameters between whose folders it moves files; None where it moves none."""
        ...

    @property
    def removes(self) -> RemovedLine | None:
        """The parameters of the line that it takes out of a file; None where it takes none."""
        ...

    @property
    def installs(self) -> str:
        """The parameter that takes the Python installations to be read; empty for none."""
        ...


class Equipment:
    """Looks in the sandbox for what runbooks need."""

    def __init__(self, sandbox: Sandbox, tools: ToolSearch, masks: Path) -> None:
        self._sandbox = sandbox
        self._tools = tools
        self._masks = masks

    async def find_tools(
        self, plan: NeedsTools, values: Mapping[str, str], *, once: bool = True
    ) -> dict[str, str]:
        """The values, with the installations to be read and each requirement's candidate.

        Args:
            plan: The runbook.
            values: Of its parameters.
            once: It is done once, and now; by the clock, a time without anything to do is none
                of its faults.

        Raises:
            PlanFamilyError: `E_PLAN_REQUIRES`: it is not there; the sentence says what to do.
                `E_PLAN_PLACES`: no file can move between the folders; the sentence says why.
        """
        defaults = {n: one.default for n, one in plan.parameters.items() if one.default is not None}
        known = {**defaults, **values}
        workspace = Path(known.get("workspace", ""))
        if plan.installs and not known.get(plan.installs):
            known[plan.installs] = ":".join(installations(workspace, known.get("python", "")))
        if not _is_there(workspace):
            return known  # a place that is not there is refused with its own words
        if plan.moves:
            await _refuse_move(plan.moves, workspace, known, once=once)
        if once:  # by the clock, files are others each time
            known |= await asyncio.to_thread(_see_files, plan, workspace, known)
        if not plan.requires:
            return known
        reads = known.get(plan.installs, "").split(":")
        shown = (workspace, *(Path(path) for path in reads if path))
        files = SandboxFiles(
            cwd=workspace if workspace.is_absolute() else _EMPTY,
            mounts=tuple(Mount(source=path, target=path) for path in shown if path.is_absolute()),
        )
        files = await asyncio.to_thread(self._add_tools, files, workspace)
        filled: dict[str, str] = dict(known)
        for one in plan.requires:
            if one.once and not once:
                continue
            try:
                chosen = await self._first_candidate(one, filled, files)
            except SandboxError:
                return known  # without a sandbox the plan is refused with that reason
            if chosen is None:
                raise PlanFamilyError(one.shown_missing, code="E_PLAN_REQUIRES")
            known[one.name] = chosen.use
            filled[one.name] = ShellText(fill_command(chosen.use, filled))
        return known

    def _add_tools(self, files: SandboxFiles, workspace: Path) -> SandboxFiles:
        """With the tools that the work will have, found as they are for its card."""
        place = str(workspace)
        facts = self._tools.find_tools(place)
        return mounts_of(facts, place, make_masks(self._masks)).add_to(files) if facts else files

    async def _first_candidate(
        self, one: Requirement, values: Mapping[str, str], files: SandboxFiles
    ) -> Candidate | None:
        for candidate in one.first_of:
            if not is_usable(candidate, values):
                continue
            command = fill_command(candidate.test, values)
            if (await self._sandbox.run(["/bin/sh", "-c", command], _LIMITS, files)).ok:
                return candidate
        return None


async def _refuse_move(
    moves: MovePlaces, workspace: Path, values: dict[str, str], *, once: bool
) -> None:
    """Name the folders from the workspace, and refuse what cannot move between them."""
    for name in {moves.source, moves.folder} & values.keys():
        values[name] = from_workspace(workspace, values[name])
    source, folder = values.get(moves.source, ""), values.get(moves.folder, "")
    fault = await asyncio.to_thread(move_fault, workspace, source, folder)
    if once and not fault:
        fault = await asyncio.to_thread(nothing_fault, workspace, source, moves.endings_of(values))
    if fault:
        raise PlanFamilyError(fault, code="E_PLAN_PLACES")


def _see_files(plan: NeedsTools, workspace: Path, values: Mapping[str, str]) -> dict[str, str]:
    """What the plan's checks hold files to, as these are now."""
    seen = plan.moves.see_files(workspace, values) if plan.moves else {}
    one = plan.removes
    if one is not None and values.keys() >= {one.file, one.which}:
        seen[one.rest] = rest_digest(workspace / values[one.file], values[one.which])
    return seen


def _is_there(place: Path) -> bool:
    return place.is_dir()


def is_usable(candidate: Candidate, values: Mapping[str, str]) -> bool:
    """Whether a candidate's blanks all have a value."""
    return all(values.get(name) != "" for name in blanks(candidate.use))


def commands(
    requires: tuple[Requirement, ...], chosen: Mapping[str, str], given: Mapping[str, str]
) -> dict[str, str]:
    """What each requirement's blank stands for: the chosen candidate, else the first usable one.

    Raises:
        PlanFamilyError: `E_PLAN_PARAMETER`: what was chosen is no candidate of the runbook's own.
    """
    values = dict(given)
    for one in requires:
        uses = [candidate.use for candidate in one.first_of if is_usable(candidate, values)]
        use = chosen.get(one.name, uses[0] if uses else one.first_of[-1].use)
        if use not in [candidate.use for candidate in one.first_of]:
            raise PlanFamilyError(
                f"{use!r} is no way to meet the requirement {one.name!r} of the runbook.",
                code="E_PLAN_PARAMETER",
            )
        values[one.name] = ShellText(fill_command(use, values))
    return {one.name: values[one.name] for one in requires}


def installations(workspace: Path, python: str) -> list[str]:
    """Directories outside /usr that a given interpreter and those of the workspace need to read.

    A link of a workspace is anybody's: only what is a whole Python installation counts.
    """
    named = [Path(python)] if python.startswith("/") else []
    named += [workspace / name / "bin" / "python" for name in _ENVIRONMENTS]
    found = list[str]()
    for interpreter in named:
        if not interpreter.is_file():
            continue
        for prefix in (interpreter.parent.parent, interpreter.resolve().parent.parent):
            if prefix.is_relative_to("/usr") or prefix.is_relative_to(workspace):
                continue
            whole = any((prefix / "lib").glob("python3*/os.py"))
            if (whole or (prefix / "pyvenv.cfg").is_file()) and str(prefix) not in found:
                found.append(str(prefix))
    return found
