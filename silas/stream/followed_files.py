"""Which files each conversation follows, so that it follows them after a restart, too (5.1.3)."""

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from silas.context import ContextSubscription
from silas.damage import readable
from silas.db import Database

_MOST = 5  # files that come back


class FollowedFile(NamedTuple):
    """A file that is followed, and the directory in which it was named."""

    root: Path
    sub: ContextSubscription


class FollowedFiles:
    """Keeps them, the newest of each conversation."""

    def __init__(self, db: Database) -> None:
        self._db = db

    def keep(self, scope_id: str, root: Path, sub: ContextSubscription) -> None:
        """Follow it after a restart, too."""
        row = (scope_id, sub.target, str(root), sub.model_dump_json(), sub.turn_created)
        with self._db.write() as tx:
            tx.driver.execute("INSERT OR REPLACE INTO followed_files VALUES (?, ?, ?, ?, ?)", row)

    def since(self, scope_id: str, turn_number: int) -> Sequence[FollowedFile]:
        """What was named in this turn or later, the oldest first."""
        query = (
            "SELECT root, sub FROM followed_files WHERE scope_id = ? AND turn >= ?"
            " ORDER BY turn DESC, rowid DESC LIMIT ?"
        )
        with self._db.read() as tx:
            rows = tx.driver.execute(query, (scope_id, turn_number, _MOST)).fetchall()
        return readable(
            self._db,
            "followed_files",
            rows[::-1],
            lambda row: repr(row[0]),
            lambda row: FollowedFile(Path(row[0]), ContextSubscription.model_validate_json(row[1])),
        )
