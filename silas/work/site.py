"""The place where one task works: a private copy of its workspace, or an empty directory."""

import asyncio
import shutil
from pathlib import Path

from silas.errors import PlanFamilyError
from silas.plans import WorkItem
from silas.sandbox import Mount, SandboxFiles
from silas.sandbox.workspace import Workspace
from silas.work.verify import Bench

_EMPTY_CWD = Path("/work")  # inside the sandbox, for tasks without a workspace
_ARTIFACTS = Path("/artifacts")  # inside the sandbox, inherited artifacts, read-only
_DIFF_BYTES = 60_000  # of a diff that is shown and kept


class Site:
    """Everything on disk that belongs to one run of a task; the original is not touched by it."""

    def __init__(
        self, scratch: Path, cwd: Path, root: Path, workspace: Workspace | None, read: list[Path]
    ) -> None:
        self._scratch = scratch
        self._cwd = cwd
        self._root = root
        self._workspace = workspace
        self._read = read

    @classmethod
    async def prepare(cls, item: WorkItem, scratch: Path, artifacts: dict[str, str]) -> "Site":
        """Copy the workspace (decision B3) and lay out inherited artifacts.

        Raises:
            SandboxError: The workspace is missing, too large or holds what cannot be copied.
        """
        return await asyncio.to_thread(cls._prepare, item, scratch, artifacts)

    @classmethod
    def _prepare(cls, item: WorkItem, scratch: Path, artifacts: dict[str, str]) -> "Site":
        shutil.rmtree(scratch, ignore_errors=True)
        scratch.mkdir(parents=True, mode=0o700)
        inherited = scratch / "artifacts"
        inherited.mkdir()
        for name, text in artifacts.items():
            if Path(name).name != name:
                raise PlanFamilyError(
                    f"The inherited artifact name {name!r} is not a plain file name.",
                    code="E_PLAN_ARTIFACT",
                    work_item_id=item.id,
                )
            (inherited / name).write_text(text, encoding="utf-8")
        read = [Path(path) for path in item.read]
        if item.workspace is None:
            empty = scratch / "empty"
            empty.mkdir()
            return cls(scratch, _EMPTY_CWD, empty, None, read)
        original = Path(item.workspace)
        workspace = Workspace.prepare(original, scratch)
        return cls(scratch, original, workspace.copy, workspace, read)

    def files(self) -> SandboxFiles:
        """What the agent's sandbox sees: the copy, writable, at the workspace's own path."""
        return SandboxFiles(cwd=self._cwd, mounts=self._mounts(writable=True))

    def bench(self) -> Bench:
        """What verification sees: the same, read-only."""
        return Bench(cwd=self._cwd, mounts=self._mounts(writable=False), root=self._root)

    def _mounts(self, *, writable: bool) -> tuple[Mount, ...]:
        if self._workspace is not None:
            work = self._workspace.mounts(writable)
        else:
            work = (Mount(source=self._root, target=self._cwd, writable=writable),)
        reads = tuple(Mount(source=path, target=path) for path in self._read)
        return (*reads, *work, Mount(source=self._scratch / "artifacts", target=_ARTIFACTS))

    async def diff(self) -> str:
        """What changed against the original, as a unified diff; empty without a workspace."""
        if self._workspace is None:
            return ""
        return await asyncio.to_thread(self._workspace.diff, _DIFF_BYTES)

    async def apply(self, undo_dir: Path) -> int:
        """Bring the verified changes into the original; returns how many paths changed.

        Raises:
            SandboxError: The original changed meanwhile; nothing was applied.
        """
        if self._workspace is None:
            return 0
        applied = await asyncio.to_thread(self._workspace.apply, undo_dir)
        return applied.created + applied.changed + applied.deleted

    async def close(self) -> None:
        """Remove the scratch copy."""
        await asyncio.to_thread(shutil.rmtree, self._scratch, True)
