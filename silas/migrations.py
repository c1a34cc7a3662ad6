"""The files of a migration: their order, and the statements in them. They are SQLite's."""

import re
import sqlite3
from collections.abc import Iterator
from importlib.resources.abc import Traversable

from silas.errors import DatabaseError

_NAME = re.compile(r"(\d{3})_\w+\.sql", re.ASCII)


def migration_files(folder: Traversable) -> dict[int, Traversable]:
    """Files by number, in order; a name without a number of its own is refused."""
    files: dict[int, Traversable] = {}
    for file in sorted(folder.iterdir(), key=lambda file: file.name):
        if not file.name.endswith(".sql"):
            continue
        named = _NAME.fullmatch(file.name)
        if named is None or int(named[1]) in files:
            raise DatabaseError(
                f"Migration {file.name} needs a number of its own: three digits, an underscore, "
                "what it does, as in 002_add_labels.sql.",
                code="E_DB_MIGRATION",
            )
        files[int(named[1])] = file
    return files


def statements_of(text: str) -> Iterator[str]:
    """Split a script, trigger bodies whole."""
    pending = ""
    for line in text.splitlines(keepends=True):
        pending += line
        if sqlite3.complete_statement(pending):
            yield pending
            pending = ""
    if pending.strip():
        raise DatabaseError("A migration ends in the middle of a statement.", code="E_DB_DRIFT")
