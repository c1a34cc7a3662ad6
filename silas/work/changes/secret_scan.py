"""Secrets in what a task would write back: looked for before anything is applied."""

import os
from collections.abc import Iterable, Iterator
from functools import partial
from pathlib import Path

from silas.errors import SandboxError
from silas.work.models import Secrets
from silas.workspace.journal import Change
from silas.workspace.tree import CHUNK, open_descriptor, open_file, open_root, parent_of


def leaks(root: Path, changes: Iterable[Change], secrets: Secrets) -> list[str]:
    """A sentence about each new or changed path whose name, target or content holds a secret.

    A gzip file is looked into; other archives and encrypted files are not.

    Args:
        root: The private copy, in which nothing runs any more.
        changes: What would be written back.
        secrets: Knows them.

    Raises:
        SandboxError: A file could not be looked into, so nothing may be applied.
    """
    found: list[str] = []
    with open_descriptor(open_root(root)) as tree:
        for change in changes:
            names = [*secrets.names_in(change.path), *_secrets_held(tree, change, secrets)]
            if names:
                said = ", ".join(dict.fromkeys(names))
                found.append(f"{secrets.redact(change.path)} holds the secret {said}")
    return found


def _secrets_held(tree: int, change: Change, secrets: Secrets) -> tuple[str, ...]:
    if change.after is None or change.after.kind == "dir":
        return ()
    try:
        with parent_of(tree, change.path) as (parent, name):
            if change.after.kind == "link":
                return secrets.names_in(os.readlink(name, dir_fd=parent))
            with open_descriptor(open_file(name, parent)) as reading:
                return secrets.names_in_file(_chunks(reading))
    except OSError as error:
        raise SandboxError(
            f"A changed file could not be searched for secrets ({error.strerror}); nothing was "
            "applied.",
            code="E_SANDBOX_SECRET",
        ) from None


def _chunks(reading: int) -> Iterator[bytes]:
    return iter(partial(os.read, reading, CHUNK), b"")
