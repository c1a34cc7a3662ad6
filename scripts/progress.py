"""What a long run of mutants found so far, so that it goes on where it was ended."""

import hashlib
import json
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

NOWHERE = Path(os.devnull)
"""Nothing is kept."""


def digest_of(root: Path, names: Iterable[str]) -> str:
    """What all files under some names of a tree hold; what Python makes of them left out."""
    found = hashlib.sha256()
    for path in sorted(x for name in names for x in (root / name).rglob("*")):
        if path.is_file() and "__pycache__" not in path.parts:
            found.update(f"{path.relative_to(root)}\0{path.stat().st_size}\0".encode())
            found.update(path.read_bytes())
    return found.hexdigest()


class Progress:
    """A file with a line for each thing that was found out about one state of a tree.

    Args:
        path: The file. What it holds of another state of the tree does not count.
        of: The digest of the tree.
    """

    def __init__(self, path: Path, of: str) -> None:
        self._path, self._of = path, of
        self.noticing: dict[str, list[str]] = {}
        """For each mutant the tests it makes a difference to, as far as that is known."""
        self.verdicts: dict[str, tuple[str, int]] = {}
        """For each mutant that was tried, what it did, and how many tests were run."""
        for line in path.read_text(encoding="utf-8").splitlines() if path.exists() else ():
            try:
                said: dict[str, Any] = json.loads(line)
            except ValueError:
                continue  # it was being written when the run was ended
            if said.get("of") == of:
                self.noticing |= said.get("noticing", {})
                self.verdicts |= {k: (w, n) for k, (w, n) in said.get("verdicts", {}).items()}

    def watched(self, noticing: Mapping[str, list[str]]) -> None:
        """Which tests each mutant makes a difference to is known now."""
        self.noticing |= noticing
        self._append({"noticing": dict(noticing)})

    def judged(self, mutant: str, words: str, tests: int) -> None:
        """A mutant was tried."""
        self.verdicts[mutant] = words, tests
        self._append({"verdicts": {mutant: (words, tests)}})

    def _append(self, said: dict[str, Any]) -> None:
        with self._path.open("a", encoding="utf-8") as file:
            file.write(f"\n{json.dumps({'of': self._of, **said})}\n")  # behind whatever was cut off
