"""A record that somebody edited behind Silas's back."""

import sqlite3
from contextlib import closing
from pathlib import Path


def edit_record(database: Path, find: str = "record.", replace: str = "chord.") -> None:
    """Other words in the past, the hashes left as they were."""
    with closing(sqlite3.connect(database)) as driver:
        found = driver.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'")
        for (name,) in found.fetchall():
            driver.execute(f"DROP TRIGGER {name}")
        driver.execute("UPDATE audit_log SET body = replace(body, ?, ?)", (find, replace))
        driver.commit()
