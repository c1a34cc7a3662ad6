"""Where Python keeps what it compiled: it runs that in place of a source that seems unchanged."""

import os
from pathlib import Path
from typing import Final

COMPILED: Final = "__pycache__"


def compiled(root: Path) -> tuple[str, ...]:
    """Every directory of compiled modules below, ordered, relative; no link is followed."""
    found = list[str]()
    for directory, names, _ in os.walk(root):
        if COMPILED in names:  # also a link to a directory: what it leads to is hidden
            found.append(os.path.relpath(os.path.join(directory, COMPILED), root))
        names[:] = [name for name in names if name != COMPILED]
    return tuple(sorted(found))
