"""What was undone, for the results on the pages: as the record and the undo folder have it."""

import json

from silas.audit.log import AuditLog
from silas.channels.web.undone_work import UndoneNews
from silas.damage import skip_damaged
from silas.plans import WorkItemStore, WorkItemType
from silas.work.changes.undo import Undo
from silas.work.projects.undo import all_taken_back

_AT_ONCE = 500  # entries


class UndoneEntries:
    """`silas.channels.web.undone_work.UndoneWorkReader` over the record of what was done.

    A project is undone when none of the changes of its tasks stand any more; the record names the
    tasks, as each is undone by itself.
    """

    def __init__(self, audit: AuditLog, undoing: Undo, store: WorkItemStore) -> None:
        self._audit = audit
        self._undoing = undoing
        self._store = store

    async def newest(self) -> int:
        """See `Undoings.newest`."""
        return (await self._audit.head()).seq

    async def since(self, seq: int) -> UndoneNews:
        """See `Undoings.since`."""
        undone = list[str]()
        while entries := await self._audit.entries(seq, _AT_ONCE):
            seq = entries[-1].seq
            for entry in entries:
                if '"workspace_undone"' in entry.body:
                    body = json.loads(entry.body)
                    if body.get("event") == "workspace_undone":
                        undone.append(str(body["data"]["work_item_id"]))
        found = [await skip_damaged(self._store.get(name)) for name in undone]
        projects = dict.fromkeys(item.parent for item in found if item and item.parent)
        whole = [name for name in projects if await self.is_undone(name)]
        return UndoneNews(seq, (*undone, *whole))

    async def is_undone(self, work_item_id: str) -> bool:
        """See `Undoings.is_undone`."""
        item = await skip_damaged(self._store.get(work_item_id))
        if item is None or item.type is not WorkItemType.project:
            return self._undoing.is_undone(work_item_id)
        tasks = [task.id for task in await self._store.list_by_parent(item.id)]
        return all_taken_back(tasks, self._undoing)
