"""What turns and work need of skills (spec 4.20)."""

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple, Protocol

from silas.skills.folder import SkillError
from silas.types import Origin, OriginKind, TaintLevel


class SkillText(NamedTuple):
    """What an agent is told of a skill.

    Attributes:
        name: The skill's.
        text: `SKILL.md` below its front matter, which is for who chooses a skill.
        digest: Hex SHA-256 of the file's bytes, as the approval binds it.
    """

    name: str
    text: str
    digest: str

    @property
    def path(self) -> str:
        """The file, as `Skills.digests` names it."""
        return f"{self.name}/SKILL.md"

    @property
    def origin(self) -> Origin:
        """Of what the owner approved: it makes nothing external, and proves no argument his."""
        return Origin(kind=OriginKind.file, name=self.path, taint=TaintLevel.owner)


class Skills(Protocol):
    """The capabilities that a work item names and agents may then use."""

    def catalogue(self) -> Mapping[str, str]:
        """Name and description of the skills on offer, within their share of a prompt."""
        ...

    def metadata(self, names: Sequence[str]) -> tuple[str, ...]:
        """`name: description` of each of these that can be used."""
        ...

    def instructions(self, names: Sequence[str]) -> tuple[SkillText, ...]:
        """What each says below its front matter. Raises `SkillError` where one cannot be used."""
        ...

    def digests(self, names: Sequence[str]) -> dict[str, str]:
        """Hex SHA-256 of each file of these skills, by path, for the approval to bind."""
        ...

    def missing(self, names: Sequence[str]) -> tuple[str, ...]:
        """Those that cannot be used; work that names one is refused."""
        ...


_BESIDE = 20_000
"""Characters of skills beside a conversation, about the 5,000 tokens that 10.3 gives one skill."""


def usable_texts(
    skills: Skills, names: Sequence[str], tokens: int, count: Callable[[str], int]
) -> tuple[SkillText, ...]:
    """The text of those of these that can be used, as far as there is room for them.

    For advice that can do without the others: who does the work is told all of them.

    Args:
        skills: Where they are.
        names: Which, the most wanted first.
        tokens: What the window has free for them.
        count: Tokens of a text.
    """
    told: list[SkillText] = []
    left = _BESIDE
    for name in names:
        try:
            (skill,) = skills.instructions((name,))
        except SkillError:
            continue  # a plan that names it is refused, and says why
        cost = count(skill.text)
        if len(skill.text) <= left and cost <= tokens:
            told.append(skill)
            left, tokens = left - len(skill.text), tokens - cost
    return tuple(told)
