"""What was undone, for the results on the pages: as the record and the undo folder have it."""

import json

from silas.audit.log import AuditLog
from silas.channels.web.undone_work import UndoneNews
from silas.work.changes.undo import Undo

_AT_ONCE = 500  # entries


class UndoneEntries:
    """`silas.channels.web.undone_work.Undoings` over the record of what was done."""

    def __init__(self, audit: AuditLog, undoing: Undo) -> None:
        self._audit = audit
        self._undoing = undoing

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
        return UndoneNews(seq, undone)

    def is_undone(self, work_item_id: str) -> bool:
        """See `Undoings.is_undone`."""
        return self._undoing.is_undone(work_item_id)
