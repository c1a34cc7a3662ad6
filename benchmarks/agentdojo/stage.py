"""What is being played: the world that the tools act in and the lines of the model.

The product makes the toolset and the models itself, from names in its configuration; this is where
they find the run that is under way. One at a time.
"""

from collections.abc import Iterator
from typing import Any

from silas.testing.models import Step


class Stage:
    """The world and the lines of one run."""

    world: Any

    def __init__(self) -> None:
        self._lines: dict[str, Iterator[Step]] = {}

    def play(self, world: Any, **lines: Iterator[Step]) -> None:
        """Put a world on stage, and give each role its lines."""
        self.world = world
        self._lines = lines

    def line(self, role: str) -> Step:
        """The next line of a role; worked out only now, with the world as it is."""
        return next(self._lines[role])


STAGE = Stage()
