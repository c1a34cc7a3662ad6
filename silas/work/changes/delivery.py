"""What verified work ends in: its changes are applied, or they wait for the owner (B3, B22)."""

import asyncio
from collections.abc import Iterator
from functools import partial

from silas.audit import Audit
from silas.plans import WorkItem, WorkItemResult, WorkItemStatus, WorkItemStore
from silas.work.attempt import Attempt, what_was_done
from silas.work.changes.copy_view import tree_of
from silas.work.changes.held_rules import Rules, held_changes, name_words
from silas.work.changes.held_store import ChangeHolder
from silas.work.changes.recovery import applied_note
from silas.work.changes.task_workspace import TaskWorkspace
from silas.work.changes.undo import next_place
from silas.work.changes.undo_record import SHOWN_PATHS
from silas.work.checks.check_files import run_files
from silas.work.checks.expected_texts import expected_texts
from silas.work.influence import Influence, influence_note
from silas.work.models import PATCH, Secrets
from silas.work.record import TaskRecord, result_of
from silas.work.report import attempt_output
from silas.work.settings import TaskSettings
from silas.work.uninterrupted import finish_work
from silas.workspace.copy import Changes


class ChangeDelivery:
    """The only way from a private copy to the owner's files."""

    def __init__(
        self,
        holding: ChangeHolder,
        store: WorkItemStore,
        audit: Audit,
        secrets: Secrets,
        settings: TaskSettings,
    ) -> None:
        self.holding = holding
        self._record = TaskRecord(store, audit)
        self._audit = audit
        self._secrets = secrets
        self._settings = settings

    async def deliver_verified(
        self,
        item: WorkItem,
        task_workspace: TaskWorkspace,
        attempt: Attempt,
        changes: Changes,
        influence: Influence,
    ) -> WorkItemResult:
        """Only verified changes reach the original, and they can be undone (decision B3).

        Where one of them needs the owner's word none is applied: they were verified together.
        """
        # lines that were there before, too
        diff = self._secrets.redact(await task_workspace.diff())
        artifacts = attempt.ledger.artifacts()
        if diff:
            artifacts[PATCH] = self._secrets.redact(await task_workspace.patch())
        sources = influence.sources if influence.led and changes else ()
        result = result_of(
            item,
            WorkItemStatus.done,
            f"{what_was_done(attempt)} {influence_note(sources)}".rstrip(),
            checks_changed=attempt.checks_changed,
            read_before=sources,
            artifacts=artifacts,
            next_steps=attempt.next_steps,
            diff=diff,
            left=attempt_output(attempt, self._secrets.redact),
        )
        rules = await asyncio.to_thread(_rules, item, task_workspace, changes, influence)
        # nobody else asks for them
        contents = await task_workspace.contents(changes) if rules.led else {}
        held = held_changes(changes.all, rules, contents)
        if held:
            copy = partial(task_workspace.keep, changes)
            return await self.holding.hold(item, copy, held, sources, result)
        # from here a cancellation comes too late: applied and recorded, or neither
        ended = await finish_work(self._apply_changes(item, task_workspace, changes, result))
        await self.holding.drop_former(item)
        return ended

    async def _apply_changes(
        self,
        item: WorkItem,
        task_workspace: TaskWorkspace,
        changes: Changes,
        result: WorkItemResult,
    ) -> WorkItemResult:
        end = partial(self._record.save_result, item, result)
        if not changes:
            return await end()
        place = next_place(self._settings.undo / item.id)
        paths = [change.path for change in changes.all][:SHOWN_PATHS]
        # what cannot be recorded does not happen (decision B5)
        await self._audit.log("workspace_applying", work_item_id=item.id, paths=paths)
        await task_workspace.apply(changes, place, applied_note(item, result))
        try:
            await self._audit.log("workspace_applied", work_item_id=item.id, paths=paths)
            return await end()
        except Exception:  # whatever kept it from being recorded
            await task_workspace.take_back(place)
            raise


def _rules(
    item: WorkItem, task_workspace: TaskWorkspace, changes: Changes, influence: Influence
) -> Rules:
    """What the plan says of its changes; its files are looked at only where that is asked for."""
    runs = run_files(changes.all, item, tree_of(task_workspace.root)) if influence.led else {}
    demands = expected_texts(item.verify, item.workspace or "")
    return Rules(
        item.writes,
        bool(item.verify),
        influence.led,
        runs,
        demands,
        name_words(_words_of_plan(item)),
    )


def _words_of_plan(item: WorkItem) -> Iterator[str]:
    """What the owner read of a plan before he approved it, where words may name a path."""
    yield item.title
    yield from item.writes or ()
    for check in item.verify:
        yield check.run
        yield check.expect.file_exists or ""
    if item.spawned_by is None:  # a repair's body quotes what checks printed
        yield item.body
