"""What one turn may still look at in the owner's workspace: which files, how often, how much.

A `file_read` that sometimes needs authority would be checked by nobody. The `workspace_` tools
need a scope that only turns of the owner's own words have, and read the workspace itself, read-
only.
"""

import asyncio
import re
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Final

from silas.context.attachments import PLACE
from silas.sandbox import Mount, SandboxFiles

LOOK_SCOPE: Final = "workspace.look"
"""Granted to turns whose words are the owner's, and to nothing else."""

MAX_LOOKS: Final = 12
"""Calls of one turn, proxy and planner together."""

MAX_SEEN: Final = 48_000
"""Bytes that all calls of one turn may answer."""

MAX_ANSWER: Final = 16_000
"""Bytes that one call may answer."""

MayLook = Callable[[], Awaitable[str]]
"""Says why the workspace may not be looked at; nothing where it may be."""

_WORDS = re.compile(r"[^\s\"'`<>()\[\]{},;]+")
_NAME = re.compile(r"[._/\d-]")  # without any of these a word is a word, and not the name of a file


_BESIDE: Final = Path("/attached")  # inside the sandbox; what is attached lies below it


def names_in(words: str) -> tuple[str, ...]:
    """What of a text may be the name of a file, such as `.env` or `config/server.key`."""
    found = (word.rstrip(".:!?").removeprefix("./") for word in _WORDS.findall(words))
    return tuple(sorted({word for word in found if _NAME.search(word)}))


class LookLimits:
    """The looks of one turn; proxy and planner share them.

    Args:
        workspace: The directory, resolved; empty where nothing may be looked at.
        words: The owner's own words of this turn: a file that holds secrets is read only where
            they name it.
        may_look: Asked before each look at the workspace.
        attached: The folder of what the owner attached to the conversation; empty where there is
            nothing. It is looked at below `@attached`, alone, and nobody is asked: who attaches a
            file to a conversation shows it to whoever answers there.

    Attributes:
        named: What of those words may be a file's name.
        refused: Why the owner's answer, or its lack, let nothing be seen; for the owner.
        turnstile: Held during a look, so that two of one answer count one after the other.
    """

    def __init__(self, workspace: str, words: str, may_look: MayLook, attached: str = "") -> None:
        self._workspace = workspace
        self._attached = attached
        self._may_look = may_look
        self._left = MAX_LOOKS if workspace or attached else 0
        self._room = MAX_SEEN
        self.named = names_in(words)
        self.refused = ""
        self.turnstile = asyncio.Lock()

    @property
    def open(self) -> bool:
        """Whether there is anything to look at."""
        return bool(self._workspace or self._attached)

    @property
    def of_workspace(self) -> bool:
        """Whether the workspace is among it."""
        return bool(self._workspace)

    def files(self, path: str) -> SandboxFiles:
        """What a look at a path sees, read-only: the workspace at its own path, or what is
        attached; nothing else, and no network.
        """
        if _is_attached(path):
            target = _BESIDE / PLACE
            mount = Mount(source=Path(self._attached), target=target)
            return SandboxFiles(cwd=_BESIDE, mounts=(mount,))
        place = Path(self._workspace)
        return SandboxFiles(cwd=place, mounts=(Mount(source=place, target=place),))

    async def refusal(self, path: str) -> str:
        """Why there is no further look at a path, in one sentence; else counts one and says
        nothing.
        """
        attached = _is_attached(path)
        if attached and not self._attached:
            return "Nothing is attached to this conversation."
        if not attached and not self._workspace:
            return "There is no workspace that this turn may look at."
        if self._left <= 0 or self._room <= 0:
            return (
                f"A turn looks at most {MAX_LOOKS} times and at {MAX_SEEN:,} bytes, and this one "
                "has; answer from what you have seen, and say what you could not look at."
            )
        if not attached and (why := await self.why_unpermitted()):
            return why
        self._left -= 1
        return ""

    async def why_unpermitted(self) -> str:
        """Why nothing of the workspace may be told to the models; asks where that is unknown."""
        if why := await self._may_look():
            self.refused = why
        return why

    @property
    def room(self) -> int:
        """Bytes that the next look may answer."""
        return min(self._room, MAX_ANSWER)

    def count_answer(self, answer: str) -> None:
        """Count what a look answered."""
        self._room -= len(answer.encode("utf-8", "replace"))


def _is_attached(path: str) -> bool:
    return path == PLACE or path.startswith(f"{PLACE}/")


async def _never() -> str:
    return "Nobody may look here."


NO_LOOKS: Final = LookLimits("", "", _never)
"""Where nothing may be looked at."""
