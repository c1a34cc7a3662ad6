"""What was approved, spent or taken back after a backup was made, once that backup is restored."""

import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

from silas import Silas
from silas.testing import ScriptedChannel
from silas.testing.approval import a_decision, a_subject
from tests.wiring.test_kept_head import House


async def test_what_was_used_up_since_a_backup_stays_so_once_it_is_accepted(tmp_path: Path) -> None:
    house, backup, subject = await House(tmp_path).lived_in(), tmp_path / "backup.db", a_subject()
    async with Silas.open(house.config, channel=ScriptedChannel(), resume=False) as running:
        token = await running.approval.issue_token(subject, a_decision())
        with (
            closing(sqlite3.connect(house.database)) as source,
            closing(sqlite3.connect(backup)) as to,
        ):
            source.backup(to)
        assert await running.approval.verify(token, subject)
        assert not await running.approval.verify(token, subject)
    for beside in ("-wal", "-shm"):
        house.database.with_name(f"silas.db{beside}").unlink(missing_ok=True)
    shutil.copy(backup, house.database)

    said = house.silas("audit", "accept")
    newest = next(word for word in said.err.split() if ":" in word and len(word) > 66).strip("`.")
    assert house.silas("audit", "accept", newest).code == 0
    async with Silas.open(house.config, channel=ScriptedChannel(), resume=False) as running:
        refused = await running.approval.verify(token, subject)
        assert (refused.valid, refused.code) == (False, "E_APPROVAL_VOID")
        fresh = await running.approval.issue_token(subject, a_decision())
        assert await running.approval.verify(fresh, subject)
    assert "every approval given so far becomes void" in " ".join(said.out.split())
