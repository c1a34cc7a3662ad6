"""Where skills are, and what the commands say about them (decision A13)."""

from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any

from silas.config import SilasConfig
from silas.context import TokenCounter
from silas.skills.loader import Place, SkillLoader, Trust, parsed
from silas.skills.validate import check

_ELSEWHERE = Path(".agents") / "skills"
"""Where other agents keep skills, below a home or a project."""


def skill_loader(config: SilasConfig) -> SkillLoader:
    """The skills that plans may name: those that ship, and those in `skills_dir`."""
    return _loader(config, ())


def skill_rows(config: SilasConfig, project: Path) -> list[dict[str, Any]]:
    """Every skill there is, also those that cannot be used.

    Args:
        config: Says where installed skills are.
        project: A directory whose `.agents/skills` is looked at, too.
    """
    elsewhere = dict.fromkeys((Path.home() / _ELSEWHERE, project / _ELSEWHERE))
    return [
        {
            "name": one.name,
            "trust": one.trust.value,
            "description": one.front.description if one.front else "",
            "activation": one.front.activation if one.front else "",
            "folder": str(one.folder),
            "fault": one.fault,
        }
        for one in _loader(config, [Place(path, Trust.untrusted) for path in elsewhere]).scan()
    ]


def skill_report(config: SilasConfig, folder: Path) -> dict[str, Any]:
    """What the rules find in a folder; nothing in it is run.

    Raises:
        SkillError: It cannot be read as a skill.
    """
    skill_md, content = parsed(folder.absolute())
    findings = check(skill_md, content, config.skills.validation)
    return {
        "name": skill_md.front.name,
        "description": skill_md.front.description,
        "files": {file.path: file.digest for file in content},
        "findings": [{"path": one.path, "words": one.words} for one in findings],
        "valid": not findings,
    }


def _loader(config: SilasConfig, others: Sequence[Place]) -> SkillLoader:
    places = (
        Place(Path(str(files("silas.skills"))) / "bundled", Trust.bundled),
        Place(config.skills_dir, Trust.installed),
        *others,
    )
    context = config.context
    room = int(context.total_tokens * context.skill_metadata_budget_pct)
    return SkillLoader(places, config.skills.validation, room, TokenCounter().count)
