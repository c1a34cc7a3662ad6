"""Preflight: a plan's checks, run once on the present state before its owner is asked (7, 5.3).

What runs here are a model's words before anybody signed them. So it gets less than any work does:
a copy of the conversation's own workspace without files that hold secrets, nothing that the plan
names besides (`read`, credentials, network, another workspace), and a minute in all. Nothing that a
check prints is kept or told: its exit code is, and the name of what is missing (decision D432).
"""

import asyncio
import fcntl
import os
import re
import tempfile
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Final, Literal, NamedTuple

from silas.clock import Clock, TimeLimitReached, time_limit
from silas.errors import SilasError
from silas.language import decimal, tr, tr_later, tr_many
from silas.plans import VerificationCheck, VerificationResult, WorkItem, WorkItemType
from silas.plans.writes import matches_any
from silas.sandbox import Mount
from silas.sandbox.toolchains.mounts import ToolSearch, make_masks, mounts_of
from silas.sandbox.toolchains.table import holds_credentials
from silas.work.checks.unstartable import NOT_EXECUTABLE, EndedCommand, MissingCommand, missing_of
from silas.work.checks.verify import CheckSetup, VerificationRunner
from silas.work.uninterrupted import finish_work
from silas.workspace.copy import Workspace
from silas.workspace.tree import open_descriptor, remove_tree

SECONDS: Final = 60.0
"""All checks of a plan together, and the copy."""

MAX_BYTES: Final = 256 << 20
MAX_ENTRIES: Final = 50_000
"""A workspace that is larger is not copied only to try checks."""

_MOST: Final = 20  # checks that are tried
_NAMED: Final = 3  # places that are empty in the copy, by name
_PLACE: Final = ".preflight"
"""Below the scratch directory; no work item's id begins with a dot."""

_FOLDERS: Final = frozenset(
    {".ssh", ".gnupg", ".aws", ".azure", ".kube", ".docker", ".gcloud", ".password-store"}
)
_FILES: Final = frozenset({".pgpass", ".my.cnf", ".htpasswd", "authorized_keys", ".envrc"})
_NAME: Final = re.compile(r"[A-Za-z0-9._/@+-]{1,60}")
"""What may be told of a missing program or module: no sentence has this form."""

_GIT: Final = re.compile(r"\bgit\b")

CheckState = Literal["passes", "fails", "cannot_start", "unjudged", "untried"]


class TriedCheck(NamedTuple):
    """What became of one check.

    Attributes:
        exit_code: None where it did not end by itself, or was not run.
        missing: The name of what is not there; empty where it is unknown or no plain name. Of an
            unjudged check what it needs of the workspace that the copy is without.
    """

    name: str
    state: CheckState
    exit_code: int | None = None
    missing: str = ""


class OmittedFiles(NamedTuple):
    """What of the workspace the copy is without, as relative paths.

    Attributes:
        secrets: Files and folders that may hold secrets.
        empty: Protected places of which the copy has the name alone, such as `.git`.
    """

    secrets: tuple[str, ...] = ()
    empty: tuple[str, ...] = ()

    @property
    def words(self) -> str:
        """Both, to follow a number of checks; empty where nothing is left out."""
        told: list[str] = []
        if count := len(self.secrets):
            told.append(
                tr_many(
                    count,
                    "without {count} entry of the workspace that may hold secrets",
                    "without {count} entries of the workspace that may hold secrets",
                )
            )
        if count := len(self.empty):
            named = ", ".join(self.empty[:_NAMED])
            if (more := count - _NAMED) > 0:
                named = tr("{named} and {more} more", named=named, more=more)
            told.append(tr("with nothing in {named}", named=named))
        return "".join(f", {one}" for one in told)


NOTHING_LEFT_OUT: Final = OmittedFiles()


class PreflightResult(NamedTuple):
    """What the checks of a plan say before the work.

    Attributes:
        checks: In the order of the plan; none where nothing was tried.
        seconds: How long it took.
        left_out: What the copy is without.
    """

    checks: tuple[TriedCheck, ...] = ()
    seconds: float = 0.0
    left_out: OmittedFiles = NOTHING_LEFT_OUT

    @property
    def tried(self) -> tuple[TriedCheck, ...]:
        """Those that were run."""
        return tuple(one for one in self.checks if one.state != "untried")

    @property
    def all_pass(self) -> bool:
        """Whether every check of the plan was run and passes before the work has begun."""
        return bool(self.checks) and all(one.state == "passes" for one in self.checks)


NOT_TRIED: Final = PreflightResult()

_GUARDS: Final = tr_later("No check fails yet, so none shows that the work was done.")


def exempt(item: WorkItem, workspace: str | None) -> bool:
    """Whether nothing of a plan is tried: only tasks in the conversation's own directory are."""
    return (
        item.type is not WorkItemType.task
        or not item.verify
        or workspace is None
        or item.workspace != os.path.normpath(workspace)
    )


def faults(item: WorkItem, trial: PreflightResult) -> tuple[str, ...]:
    """Why the plan could not succeed, one sentence for each check that cannot start."""
    return tuple(_fault(one) for one in trial.checks if one.state == "cannot_start")


def already_done(item: WorkItem, trial: PreflightResult) -> str:
    """That no check could tell whether the work was done, though the plan changes something."""
    if not trial.all_pass or item.writes == []:
        return ""
    return (
        "every check already passes before the work, so none of them shows that it was done; add "
        "one that fails now, or say that nothing is left to do"
    )


def preflight_note(trial: PreflightResult) -> str:
    """One line for the card; empty where nothing was tried."""
    if not trial.tried:
        return ""
    count = len(trial.tried)
    parts = [f"{one.name} {_words(one)}" for one in trial.checks]
    tried = tr_many(count, "Preflight: {count} check tried", "Preflight: {count} checks tried")
    took = tr("in {seconds} s", seconds=decimal(trial.seconds))
    told = f"{tried} {took}{trial.left_out.words}: {'; '.join(parts)}."
    return f"{told} {tr(_GUARDS)}" if trial.all_pass else told


def _words(one: TriedCheck) -> str:
    match one.state:
        case "passes":
            return tr("passes before the work (a guard)")
        case "fails":
            return tr("fails before the work, as it should")
        case "cannot_start":
            return tr("cannot start")
        case "unjudged":
            return tr(
                "cannot be judged: it needs {missing}, which the copy is without",
                missing=one.missing,
            )
        case "untried":
            return tr("was not tried")


def _fault(one: TriedCheck) -> str:
    how = "cannot be executed" if one.exit_code == NOT_EXECUTABLE else "is not there"
    what = f"`{one.missing}` {how}" if one.missing else f"what it runs {how}"
    code = "" if one.exit_code is None else f" (exit code {one.exit_code})"
    return f"the check {one.name!r} cannot start{code}: {what}; use what runs there"


class Preflight:
    """Tries the checks of a plan; never fails, and leaves nothing behind."""

    def __init__(
        self, verifier: VerificationRunner, tools: ToolSearch, scratch: Path, clock: Clock
    ) -> None:
        self._verifier = verifier
        self._tools = tools
        self._scratch = scratch
        self._clock = clock
        self._one = asyncio.Lock()

    async def trial(
        self, item: WorkItem, workspace: str | None, say: Callable[[str], None]
    ) -> PreflightResult:
        """What the checks of this plan say now; nothing of the owner's is changed.

        Args:
            item: A plan that nobody has approved.
            workspace: The directory of the conversation. Another one is not looked at.
            say: Hears what is done now, in a few words.
        """
        if exempt(item, workspace):
            return NOT_TRIED
        began = self._clock.monotonic()
        checks: list[TriedCheck] = []
        left_out = NOTHING_LEFT_OUT
        say("a copy of the workspace")
        try:
            async with self._one, time_limit(self._clock, SECONDS):
                with _place(self._scratch) as place:
                    bench, left_out = await finish_work(asyncio.to_thread(self._bench, item, place))
                    for at, check in enumerate(item.verify[:_MOST], start=1):
                        say(f"{check.name} ({at} of {len(item.verify)})")
                        left = SECONDS - (self._clock.monotonic() - began)
                        checks.append(await self._try_check(item, check, bench, left, left_out))
        except (SilasError, OSError, TimeLimitReached):
            pass  # what was not tried is said to be so, and the owner decides
        rest = [TriedCheck(one.name, "untried") for one in item.verify[len(checks) :]]
        return PreflightResult((*checks, *rest), self._clock.monotonic() - began, left_out)

    def _bench(self, item: WorkItem, place: Path) -> tuple[CheckSetup, OmittedFiles]:
        """The copy without secrets, and the owner's tools; nothing else of this machine."""
        assert item.workspace is not None  # `exempt` has asked
        original = Path(item.workspace)
        made = Workspace.prepare(original, place, max_bytes=MAX_BYTES, max_entries=MAX_ENTRIES)
        copied = made.copy
        secrets = remove_secrets(copied)
        found = self._tools.find_tools(item.workspace)
        tools = mounts_of(found, item.workspace, make_masks(place / "masks"))
        reads: tuple[Mount, ...] = ()  # what the plan would read is shown after a yes, not before
        below = (*tools.below, *reads)
        bench = CheckSetup(original, copied, place, below, tools.above, tools.path, dict(tools.env))
        shown = {one.target for one in tools.above}
        empty = [
            path
            for path in made.protected
            if path not in secrets and not any(one.is_relative_to(original / path) for one in shown)
        ]
        return bench, OmittedFiles(secrets, tuple(empty))

    async def _try_check(
        self,
        item: WorkItem,
        check: VerificationCheck,
        bench: CheckSetup,
        left: float,
        left_out: OmittedFiles,
    ) -> TriedCheck:
        if check.network is not False or left < 1:
            return TriedCheck(check.name, "untried")
        once = check.model_copy(update={"timeout": min(check.timeout, int(left))})
        report = await self._verifier.run_checks([once], bench)
        result = report.results[0]
        found, lacks = judge_check(item, result), missing_names(check.run, result, left_out)
        if lacks and found.state in ("passes", "fails"):  # with it, it may say something else
            return TriedCheck(check.name, "unjudged", result.exit_code, lacks)
        return found


def missing_names(command: str, result: VerificationResult, left_out: OmittedFiles) -> str:
    """What a check names that the copy is without; empty where it names nothing of that."""
    said = command if result.passed else f"{command}\n{result.output}"
    names = {path.rpartition("/")[2] for path in (*left_out.secrets, *left_out.empty)}
    found = [name for name in sorted(names) if name in said]
    if not found and ".git" in names and _GIT.search(command):
        found = [".git"]
    return _plain(found[0]) if found else ""


def judge_check(item: WorkItem, result: VerificationResult) -> TriedCheck:
    """A check that does not pass is a good one, unless what it runs can never be there."""
    name, code = result.name, result.exit_code
    if result.passed:
        return TriedCheck(name, "passes", code)
    missing = missing_of(EndedCommand(name, code, result.output))
    if missing is None or _may_be_made(item, missing):
        return TriedCheck(name, "fails", code)
    if any(Path(missing.name).is_relative_to(path) for path in item.read):
        return TriedCheck(name, "untried")  # it reads what is not shown before a yes
    return TriedCheck(name, "cannot_start", code, _plain(missing.name))


def _may_be_made(item: WorkItem, missing: MissingCommand) -> bool:
    """Whether what is missing would lie in the workspace, and the plan lets the work make it."""
    path = missing.name
    if missing.module:
        return not missing.installed and item.writes != []
    if "/" not in path:
        return False
    inside = path.removeprefix(f"{item.workspace}/")
    if inside.startswith("/") or ".." in inside.split("/"):
        return False
    inside = inside.removeprefix("./")
    return item.writes is None or matches_any(item.writes, inside)


def _plain(name: str) -> str:
    return name if _NAME.fullmatch(name) else ""


def remove_secrets(copy: Path) -> tuple[str, ...]:
    """Take what may hold secrets out of a copy; returns the relative paths."""
    gone: list[Path] = []
    for folder, folders, files in os.walk(copy, onerror=_raise_error, followlinks=False):
        for name in [one for one in folders if _secret(one)]:
            folders.remove(name)
            gone.append(_remove_path(Path(folder) / name))
        gone += [_remove_path(Path(folder) / name) for name in files if _secret(name)]
    return tuple(str(one.relative_to(copy)) for one in gone)


def _raise_error(error: OSError) -> None:
    """A folder that cannot be listed may hold anything: then nothing is tried."""
    raise error


def _secret(name: str) -> bool:
    return name.casefold() in _FOLDERS | _FILES or holds_credentials(name)


def _remove_path(path: Path) -> Path:
    if path.is_symlink() or not path.is_dir():
        path.unlink()
    else:
        remove_tree(path)
        if path.exists():
            raise OSError(f"{path.name} cannot be left out")
    return path


@contextmanager
def _place(scratch: Path) -> Generator[Path]:
    """A fresh directory of this preflight alone; what a crash left of another is removed.

    Raises:
        OSError: It cannot be made, or another process has it.
    """
    base = scratch / _PLACE
    base.mkdir(parents=True, mode=0o700, exist_ok=True)
    flags = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
    with open_descriptor(os.open(base, flags)) as descriptor:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        for leftover in base.iterdir():
            remove_tree(leftover)
        place = Path(tempfile.mkdtemp(dir=base)).resolve()
        try:
            yield place
        finally:
            remove_tree(place)
