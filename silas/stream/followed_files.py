"""Which files each conversation follows, so that it follows them after a restart, too (5.1.3)."""

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from silas.context import ContextSubscription
from silas.damage import readable_rows
from silas.db import Database
from silas.stream.sqlite_statements import FOLLOWED_SINCE

_MOST = 5  # files that come back

_DROP = "DELETE FROM followed_files WHERE scope_id = :scope_id AND target = :target"
_KEEP = """
INSERT INTO followed_files (scope_id, target, root, sub, turn)
VALUES (:scope_id, :target, :root, :sub, :turn)
"""


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
        with self._db.write() as tx:
            tx.run(_DROP, scope_id=scope_id, target=sub.target)  # followed anew, it is the newest
            tx.run(
                _KEEP,
                scope_id=scope_id,
                target=sub.target,
                root=str(root),
                sub=sub.model_dump_json(),
                turn=sub.turn_created,
            )

    def since(self, scope_id: str, turn_number: int) -> Sequence[FollowedFile]:
        """What was named in this turn or later, the oldest first."""
        with self._db.read() as tx:
            rows = tx.run(
                FOLLOWED_SINCE, scope_id=scope_id, turn=turn_number, limit=_MOST
            ).fetchall()
        return readable_rows(
            self._db,
            "followed_files",
            rows[::-1],
            lambda row: repr(row[0]),
            lambda row: FollowedFile(Path(row[0]), ContextSubscription.model_validate_json(row[1])),
        )
