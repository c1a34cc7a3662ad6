"""The place where one task works: a private copy of its workspace, or an empty directory."""

import asyncio
import fcntl
import os
from collections.abc import AsyncGenerator, Callable, Generator
from contextlib import asynccontextmanager, contextmanager
from functools import partial
from pathlib import Path

from silas.errors import PlanFamilyError, SandboxError, reason
from silas.plans import WorkItem
from silas.plans.binding import bound_tools
from silas.sandbox import Mount, SandboxFiles
from silas.sandbox.toolchains.mounts import ToolMounts, make_masks, mounts_of
from silas.work.changes.secret_scan import leaks
from silas.work.checks.verify import CheckSetup
from silas.work.models import AlreadyRunning, Secrets
from silas.work.uninterrupted import finish_work
from silas.workspace.content import ChangedContent
from silas.workspace.copy import Changes, Workspace
from silas.workspace.journal import read_journal
from silas.workspace.kept_changes import KeptChanges
from silas.workspace.tree import open_descriptor, remove_tree
from silas.workspace.undo import recover, undo

_EMPTY_CWDS = (Path("/work"), *(Path(f"/work-{number}") for number in range(1, 101)))
"""Inside the sandbox, for tasks without a workspace: the first that hides nothing they may read."""
_ARTIFACTS = Path("/artifacts")  # inside the sandbox, inherited artifacts, read-only
_DIFF_BYTES = 60_000  # of a diff that is shown
_NAME_BYTES = 255  # of a file name, on every file system there is
_UNCHANGED = Changes((), (), (), ())


class TaskWorkspace:
    """Everything on disk that belongs to one run of a task; the original is not touched by it."""

    def __init__(
        self,
        scratch: Path,
        cwd: Path,
        root: Path,
        workspace: Workspace | None,
        read: list[Path],
        tools: ToolMounts,
    ) -> None:
        self._scratch = scratch
        self._cwd = cwd
        self._root = root
        self._workspace = workspace
        self._read = read
        self._tools = tools

    @classmethod
    @asynccontextmanager
    async def open_copy(
        cls, item: WorkItem, scratch: Path, artifacts: dict[str, str]
    ) -> "AsyncGenerator[TaskWorkspace]":
        """Copy the workspace (decision B3) and lay out inherited artifacts; removed at the end.

        Raises:
            AlreadyRunning: Another run of this item, here or in another process, has the place.
            SandboxError: The workspace is missing, too large or holds what cannot be copied.
            PlanFamilyError: An inherited artifact has a name that is no file name.
        """
        with _alone(scratch, item):
            try:
                yield await finish_work(asyncio.to_thread(cls._prepare, item, scratch, artifacts))
            finally:
                await finish_work(asyncio.to_thread(remove_tree, scratch))

    @classmethod
    def _prepare(cls, item: WorkItem, scratch: Path, artifacts: dict[str, str]) -> "TaskWorkspace":
        try:
            return cls._lay_out(item, scratch, artifacts)
        except OSError as error:
            raise SandboxError(
                f"The scratch directory {scratch} cannot be used: {error.strerror}.",
                code="E_SANDBOX_SCRATCH",
                work_item_id=item.id,
            ) from error

    @classmethod
    def _lay_out(cls, item: WorkItem, scratch: Path, artifacts: dict[str, str]) -> "TaskWorkspace":
        for leftover in scratch.iterdir():  # of a run that a crash ended
            remove_tree(leftover)
        inherited = scratch / "artifacts"
        inherited.mkdir()
        for name, text in artifacts.items():
            _check_name(name, item)
            (inherited / name).write_text(text, encoding="utf-8", errors="backslashreplace")
        (scratch / "empty").mkdir()
        read = [Path(path) for path in item.read]
        tools = mounts_of(bound_tools(item), item.workspace, make_masks(scratch / "masks"))
        if item.workspace is None:
            cwd = _empty_cwd([*read, *(mount.target for mount in tools.below)], item)
            return cls(scratch, cwd, scratch / "empty", None, read, tools)
        original = Path(item.workspace)
        workspace = Workspace.prepare(original, scratch)
        return cls(scratch, original, workspace.copy, workspace, read, tools)

    @property
    def copied(self) -> tuple[int, int] | None:
        """Device and inode of the directory that was copied; None without a workspace."""
        return None if self._workspace is None else self._workspace.identity

    @property
    def root(self) -> Path:
        """The host directory that the work changes: the private copy, or an empty directory."""
        return self._root

    def files(self) -> SandboxFiles:
        """What the agent's sandbox sees: the copy, writable, at the workspace's own path."""
        below, above = self._mounts_around()
        work = Mount(source=self._root, target=self._cwd, writable=True)
        return SandboxFiles(
            cwd=self._cwd,
            mounts=(*below, work, *above),
            path=self._tools.path,
            env=dict(self._tools.env),
            loopback=True,
        )

    def bench(self) -> CheckSetup:
        """What verification sees: a copy of the same, made anew for each check."""
        below, above = self._mounts_around()
        path, env = self._tools.path, dict(self._tools.env)
        return CheckSetup(self._cwd, self._root, self._scratch, below, above, path, env)

    def _mounts_around(self) -> tuple[tuple[Mount, ...], tuple[Mount, ...]]:
        """What is shown read-only below the work and what covers parts of it."""
        reads = tuple(Mount(source=path, target=path) for path in self._read)
        guarded = () if self._workspace is None else self._workspace.guard_mounts()
        artifacts = Mount(source=self._scratch / "artifacts", target=_ARTIFACTS)
        return (*self._tools.below, *reads), (*guarded, *self._tools.above, artifacts)

    async def changes(self) -> Changes:
        """What the copy holds that the original does not; nothing without a workspace.

        Raises:
            SandboxError: The copy cannot be read, or has grown beyond its ceiling.
        """
        if self._workspace is None:
            return _UNCHANGED
        return await asyncio.to_thread(self._workspace.changes)

    async def leaks(self, changes: Changes, secrets: Secrets) -> list[str]:
        """A sentence about each change that would carry a known secret out of the run.

        Raises:
            SandboxError: A changed file cannot be read.
        """
        return await asyncio.to_thread(leaks, self._root, changes.all, secrets)

    async def diff(self) -> str:
        """The changes as a unified diff; empty without a workspace."""
        if self._workspace is None:
            return ""
        return await asyncio.to_thread(self._workspace.diff, _DIFF_BYTES)

    async def patch(self) -> str:
        """The changes to the byte, for `git apply`; empty without a workspace."""
        if self._workspace is None:
            return ""
        return await asyncio.to_thread(self._workspace.patch)

    async def contents(self, changes: Changes) -> dict[str, ChangedContent]:
        """What changed files hold, as far as a rule about changes has to know it."""
        if self._workspace is None:
            return {}
        return await asyncio.to_thread(self._workspace.contents, changes.all)

    def keep(self, verified: Changes, place: Path) -> None:
        """Copy verified changes into a fresh directory, to be applied when the owner says so.

        Raises:
            SandboxError: The copy is not what was verified.
            OSError: The disk refused.
        """
        assert self._workspace is not None  # without one nothing changes
        _require_same(self._workspace.changes(), verified)
        KeptChanges.keep(self._workspace, verified.all, place)

    async def apply(self, verified: Changes, place: Path, note: str) -> None:
        """Bring the verified changes into the original, all or none; the way back is in `place`.

        Args:
            verified: What `changes` said when it was verified.
            place: A fresh directory for the journal.
            note: Kept in the journal; after a crash it says what this change was for.

        Raises:
            SandboxError: The original changed meanwhile, the copy is not what was verified, or
                the disk refused; nothing was applied.
        """
        if self._workspace is None or not verified:
            return
        _require_same(await self.changes(), verified)
        write = partial(self._workspace.apply, place, note)
        await finish_work(asyncio.to_thread(write_back, place, write))

    async def take_back(self, place: Path) -> None:
        """Undo what `apply` did; the original is what it was.

        Raises:
            SandboxError: Somebody changed the same files in between; nothing was undone.
        """
        await finish_work(asyncio.to_thread(undo, place))


def _require_same(found: Changes, verified: Changes) -> None:
    if found != verified:
        raise SandboxError(
            "The private copy changed after it was verified; nothing was applied.",
            code="E_SANDBOX_UNVERIFIED",
        )


def write_back(place: Path, write: Callable[[], object]) -> None:
    """Write changes to an original, all or none; the way back is in `place`, or nothing is there.

    Raises:
        SandboxError: The original changed meanwhile, or the disk refused; it is as it was.
    """
    try:
        write()
    except SandboxError:
        _drop_if_unused(place)
        raise
    except OSError as error:  # the disk is full: before the first change, or at the last record
        _go_back(place)
        _drop_if_unused(place)
        raise SandboxError(
            f"The changes could not be written ({reason(error)}); the directory is as before.",
            code="E_SANDBOX_APPLY",
        ) from error


def _go_back(place: Path) -> None:
    """Bring the original back, also where only the last word of the journal was refused."""
    if recover(place) or not (place / "journal.json").exists():
        return
    if read_journal(place).phase == "applied":
        undo(place)


def _drop_if_unused(place: Path) -> None:
    """A place without a journal guards nothing, and would hide the undo of an earlier change."""
    if not (place / "journal.json").exists():
        remove_tree(place)


def _empty_cwd(read: list[Path], item: WorkItem) -> Path:
    """A place that is not within, above or at what is read: a mount there would cover it."""
    for place in _EMPTY_CWDS:
        if not any(one.is_relative_to(place) or place.is_relative_to(one) for one in read):
            return place
    raise SandboxError(
        f"The plan reads all of {_EMPTY_CWDS[0]} to {_EMPTY_CWDS[-1]}, so its commands have no "
        "directory to begin in; leave one of them out.",
        code="E_SANDBOX_MOUNT",
        work_item_id=item.id,
    )


def _check_name(name: str, item: WorkItem) -> None:
    """A name comes from whatever made the artifact: it must be one file name and no path."""
    encoded = name.encode("utf-8", "replace")
    if name in ("", ".", "..") or "/" in name or "\0" in name or len(encoded) > _NAME_BYTES:
        raise PlanFamilyError(
            f"The inherited artifact name {name[:80]!r} is not a plain file name.",
            code="E_PLAN_ARTIFACT",
            work_item_id=item.id,
        )


@contextmanager
def _alone(scratch: Path, item: WorkItem) -> Generator[None]:
    """Hold the scratch directory of one item: two runs would delete each other's copy.

    The lock ends with the process, however that ends.
    """
    busy = AlreadyRunning(f"{item.id} is running already.", work_item_id=item.id)
    try:
        scratch.mkdir(parents=True, mode=0o700, exist_ok=True)
        flags = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
        descriptor = os.open(scratch, flags)
    except OSError as error:
        raise SandboxError(
            f"The scratch directory {scratch} cannot be used: {error.strerror}.",
            code="E_SANDBOX_SCRATCH",
        ) from error
    with open_descriptor(descriptor):
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            # whoever held it before removes the directory; a lock on a removed one is none
            here = os.path.samestat(os.fstat(descriptor), os.stat(scratch))
        except OSError as error:
            raise busy from error
        if not here:
            raise busy
        yield
