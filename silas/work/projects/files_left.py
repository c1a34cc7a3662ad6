"""Files that a task of a project runs and that tasks before it changed (decision D530).

An approval binds the files that its plan runs as they were at the yes. Within a project a task may
change a file that a later one runs: that is what both were approved for. So a difference is taken
where the journals of finished tasks explain all of it, to the byte; any other refuses as always.
"""

import asyncio
import posixpath
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, cast

from silas.audit import Audit
from silas.plans import WorkItem, WorkItemStatus
from silas.plans.binding import BINDS, PlanBinding
from silas.plans.bound_files import FileFacts, files_now, tree_digest, tree_entries
from silas.work.changes.undo import Undo
from silas.work.changes.undo_record import SHOWN_PATHS
from silas.workspace.tree import TreeEntry


class MadeChange(NamedTuple):
    """What finished tasks made of one path: how it was before the first, and after the last."""

    before: TreeEntry | None
    after: TreeEntry | None


MadeFiles = Mapping[str, MadeChange]
"""The same of every path that they changed."""


class FilesLeft:
    """Tells the binding which files finished tasks of a project left.

    Args:
        undoing: Has the journals.
        binding: Compares files.
        audit: Where it is recorded.
    """

    def __init__(self, undoing: Undo, binding: PlanBinding, audit: Audit) -> None:
        self._undoing = undoing
        self._binding = binding
        self._audit = audit

    async def accept(self, item: WorkItem, tasks: Sequence[WorkItem]) -> None:
        """Let an item that begins run the files that finished tasks changed.

        Args:
            item: A task, or the project with its own checks.
            tasks: Of the project.
        """
        token = item.approval_token
        signed = None if token is None else token.conditions.get(BINDS)
        if token is None or not isinstance(signed, Mapping):
            return
        binds = cast(FileFacts, signed)
        made = await asyncio.to_thread(self._files_made, tasks)
        files = cast(FileFacts, binds.get("files", {}))
        changed = await asyncio.to_thread(_explained_changes, item, files, made) if made else {}
        if changed:
            self._binding.accept(token.token_id, {**binds, "files": {**files, **changed}})
            paths = sorted(changed)[:SHOWN_PATHS]
            await self._audit.log("project.files_left", work_item_id=item.id, paths=paths)

    def _files_made(self, tasks: Sequence[WorkItem]) -> MadeFiles:
        done = [task.id for task in tasks if task.status is WorkItemStatus.done]
        journals = [
            found for name in done if (found := self._undoing.latest_applied(name)) is not None
        ]
        made: dict[str, MadeChange] = {}
        for journal in sorted(journals, key=lambda one: one.began):
            for change in journal.changes:
                path = str(journal.root / change.path)
                before = made[path].before if path in made else change.before
                made[path] = MadeChange(before, change.after)
        return made


def _explained_changes(item: WorkItem, signed: FileFacts, made: MadeFiles) -> dict[str, Any]:
    """The files that differ from what was signed, as they are now, where that is explained."""
    now = files_now(item, signed)
    return {
        path: now[path]
        for path, facts in signed.items()
        if now[path] != facts and is_explained(path, facts, now[path], made)
    }


def is_explained(path: str, signed: FileFacts, now: FileFacts, made: MadeFiles) -> bool:
    """Whether finished tasks made exactly this difference.

    Args:
        path: A file, or a directory in which tests are looked for.
        signed: What it was at the yes, as `files_of` has it.
        now: What it is.
        made: What they changed.
    """
    if signed.get("kind") == now.get("kind") == "tests" and not {"at"} & (signed.keys() | now):
        return _tree_explained(path, signed, made)
    change = made.get(path)
    return change is not None and _is(signed, change.before) and _is(now, change.after)


def _tree_explained(path: str, signed: FileFacts, made: MadeFiles) -> bool:
    """Whether the directory is as it was signed once their changes are taken out of it."""
    entries = tree_entries(path)
    if entries is None:
        return False
    for changed, change in made.items():
        if not changed.startswith(path.rstrip("/") + "/"):
            continue
        kinds = {one.kind for one in change if one is not None}
        if kinds == {"dir"}:
            continue  # which is only what is in it
        name = posixpath.relpath(changed, path)
        left = None if change.after is None else change.after.digest
        if kinds != {"file"} or entries.pop(name, None) != left:
            return False
        if change.before is not None:
            entries[name] = change.before.digest
    return tree_digest(entries) == signed.get("sha256")


def _is(facts: FileFacts, entry: TreeEntry | None) -> bool:
    if entry is None:
        return facts.get("kind") == "missing"
    file = entry.kind == facts.get("kind") == "file" and "at" not in facts
    return file and facts.get("sha256") == entry.digest
