"""Which files a scope may follow: those of the directory that its work is about, and no others."""

import os
from pathlib import Path

from silas.context.errors import ContextError
from silas.errors import SandboxError
from silas.workspace.tree import open_descriptor, open_file, open_root, parent_of

_LARGEST = 1_000_000  # bytes; no file of that size fits a subscription


class WorkspaceFiles:
    """`ReadFile` over the directory of each scope's work; without one, nothing can be followed.

    A path is relative to the directory, or absolute and below it. It is reached without a link on
    the way, and no part of it begins with a dot. What a link hides behind and what is swapped in
    while it is opened are refused by the way it is opened. A hard link is not told from its file.
    """

    def __init__(self) -> None:
        self._roots: dict[str, Path] = {}

    def enter(self, scope_id: str, root: Path) -> None:
        """From now on the scope's work is about this directory."""
        self._roots[scope_id] = root

    def leave(self, scope_id: str) -> None:
        """Nothing can be followed until the next `enter`."""
        self._roots.pop(scope_id, None)

    def __call__(self, scope_id: str, path: str) -> bytes:
        """The file's bytes.

        Raises:
            ContextError: It is not a readable file that the scope may follow.
        """
        root = self._roots.get(scope_id)
        if root is None:
            raise _refusal_error("no directory is being worked in")
        relative = path.removeprefix(f"{root}/")
        if any(part.startswith(".") for part in relative.split("/")):
            raise _refusal_error("its path is hidden or leads upwards")
        try:
            with (
                open_descriptor(open_root(root)) as top,
                parent_of(top, relative) as (parent, name),
                open_descriptor(open_file(name, parent)) as descriptor,
            ):
                content = _read(descriptor)
        except (OSError, SandboxError, ValueError) as error:
            raise _refusal_error("it is no file that can be read inside the directory") from error
        if len(content) > _LARGEST:
            raise _refusal_error(f"it is larger than {_LARGEST} bytes")
        return content


def _read(descriptor: int) -> bytes:
    content = b""
    while len(content) <= _LARGEST and (chunk := os.read(descriptor, 1 << 16)):
        content += chunk
    return content


def _refusal_error(why: str) -> ContextError:
    return ContextError(f"the file cannot be followed: {why}", code="E_CTX_FILE")
