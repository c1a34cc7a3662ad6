"""What turns and work need of skills (spec 4.20)."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple, Protocol


class SkillText(NamedTuple):
    """What an agent is told of a skill.

    Attributes:
        name: The skill's.
        text: `SKILL.md`, front matter included.
        digest: Hex SHA-256 of the file's bytes, as the approval binds it.
    """

    name: str
    text: str
    digest: str

    @property
    def path(self) -> str:
        """The file, as `Skills.digests` names it."""
        return f"{self.name}/SKILL.md"


class Skills(Protocol):
    """The capabilities that a work item names and agents may then use."""

    def catalogue(self) -> Mapping[str, str]:
        """Name and description of the skills on offer, within their share of a prompt."""
        ...

    def metadata(self, names: Sequence[str]) -> tuple[str, ...]:
        """`name: description` of each of these that can be used."""
        ...

    def instructions(self, names: Sequence[str]) -> tuple[SkillText, ...]:
        """`SKILL.md` of each of these. Raises `SkillError` where one cannot be used."""
        ...

    def digests(self, names: Sequence[str]) -> dict[str, str]:
        """Hex SHA-256 of each file of these skills, by path, for the approval to bind."""
        ...

    def missing(self, names: Sequence[str]) -> tuple[str, ...]:
        """Those that cannot be used; work that names one is refused."""
        ...
