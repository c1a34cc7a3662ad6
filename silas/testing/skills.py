"""Skills that are only texts, for tests of what uses them; `FixedSkills({})` has none."""

from collections.abc import Mapping, Sequence

from silas.canonical import sha256_hex
from silas.skills import SkillText
from silas.skills.folder import SkillError


class FixedSkills:
    """Skills by name, each one file; what a test changes in `texts` is changed on disk, as it were.

    Args:
        texts: `SKILL.md` by name.
    """

    def __init__(self, texts: Mapping[str, str]) -> None:
        self.texts = dict(texts)

    def catalogue(self) -> Mapping[str, str]:
        """All of them."""
        return {name: f"How {name} is done." for name in sorted(self.texts)}

    def metadata(self, names: Sequence[str]) -> tuple[str, ...]:
        """`name: description` of those there are."""
        known = self.catalogue()
        return tuple(f"{name}: {known[name]}" for name in names if name in known)

    def instructions(self, names: Sequence[str]) -> tuple[SkillText, ...]:
        """Their texts."""
        if missing := self.missing(names):
            raise SkillError(f"there is no skill {missing[0]!r}; see `silas skills list`.")
        return tuple(
            SkillText(name, self.texts[name], self._digest(name)) for name in dict.fromkeys(names)
        )

    def digests(self, names: Sequence[str]) -> dict[str, str]:
        """Of those there are."""
        return {f"{name}/SKILL.md": self._digest(name) for name in names if name in self.texts}

    def missing(self, names: Sequence[str]) -> tuple[str, ...]:
        """Those without a text."""
        return tuple(name for name in names if name not in self.texts)

    def _digest(self, name: str) -> str:
        return sha256_hex(self.texts[name].encode())
