"""What turns and work need of skills, and the absence of all skills (spec 4.20)."""

from collections.abc import Mapping, Sequence
from typing import Protocol


class Skills(Protocol):
    """The capabilities that a work item names and agents may then use."""

    def catalogue(self) -> Mapping[str, str]:
        """Name and description of every installed skill."""
        ...

    def metadata(self, names: Sequence[str]) -> tuple[str, ...]:
        """`name: description` of each of these that is installed."""
        ...

    def digests(self, names: Sequence[str]) -> dict[str, str]:
        """Hex SHA-256 of each file of these skills, by path, for the approval to bind."""
        ...

    def missing(self, names: Sequence[str]) -> tuple[str, ...]:
        """Those that are not installed; work that names one is refused."""
        ...


class NoSkills:
    """No skill is installed: work that names one is refused. Skills come with a later version."""

    def catalogue(self) -> Mapping[str, str]:
        """None."""
        return {}

    def metadata(self, names: Sequence[str]) -> tuple[str, ...]:
        """None."""
        return ()

    def digests(self, names: Sequence[str]) -> dict[str, str]:
        """None."""
        return {}

    def missing(self, names: Sequence[str]) -> tuple[str, ...]:
        """All of them."""
        return tuple(names)
