"""Folders of files for the tests of batches, each file a day old unless told otherwise."""

import os
from datetime import UTC, datetime, timedelta
from pathlib import Path

NOW = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)
PNG, PDF, ZIP = b"\x89PNG\r\n", b"%PDF-1.7\n", b"PK\x03\x04"


def put(
    folder: Path, name: str, content: bytes = b"", *, days: float = 1, now: datetime = NOW
) -> Path:
    """A file that changed so many days ago."""
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    moment = (now - timedelta(days=days)).timestamp()
    os.utime(path, (moment, moment))
    return path


def listed(folder: Path) -> dict[str, bytes]:
    """Every file below a folder, with its content."""
    found = (path for path in folder.rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): path.read_bytes() for path in found}
