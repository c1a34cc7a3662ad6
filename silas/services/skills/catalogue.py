"""Where skills are, whose yes they need, and what the commands say about them (decision A13)."""

from collections.abc import Callable, Mapping, Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from silas.approval import ApprovalScope, ApprovalToken, ApprovalVerdict, token_bytes
from silas.approval.models import token_id_of
from silas.canonical import canonical_json
from silas.config import SilasConfig
from silas.context import TokenCounter
from silas.home.key_vault import key_exists, open_vault
from silas.keys.signer import verify_with
from silas.skills.approved import ApprovedSkills, Installation, SkillRecords, Vouch
from silas.skills.loader import SkillLoader, SkillsDirectory, Trust, parse_skill
from silas.skills.validate import check

_ELSEWHERE = Path(".agents") / "skills"
"""Where other agents keep skills, below a home or a project."""


QUARANTINE = ".imported"
"""The folder of what was imported and nobody approved, in `skills_dir`; no skill has this name."""

OwnerSigned = Callable[[bytes, bytes], bool]
"""Whether a signature over these bytes is that of the owner's key in force."""


def skill_loader(config: SilasConfig, signed: OwnerSigned) -> SkillLoader:
    """The skills that plans may name: those that ship, and those that the owner approved."""
    return _loader(config, (), skill_records(config, signed))


def skill_records(config: SilasConfig, signed: OwnerSigned) -> SkillRecords:
    """What the owner approved, as far as his key in force signed it."""
    return SkillRecords(config.skills_dir, owners_yes(signed))


def owners_yes(signed: OwnerSigned) -> Vouch:
    """Tells the owner's yes to exactly this skill from everything else.

    It lasts until the key is replaced or the skill changes: it approved what the files are, and
    each plan that names them is approved anew.
    """

    def why_not(shown: Installation, said: Mapping[str, Any]) -> str:
        try:
            token = ApprovalToken.model_validate_json(canonical_json(said))
            over = token_bytes(token)
        except (ValidationError, ValueError, TypeError):
            return "the record of its approval cannot be read"
        if not signed(over, token.signature) or token.token_id != token_id_of(over):
            return "your key in force did not sign its approval"
        yes = (ApprovalScope.skill_install, ApprovalVerdict.approved)
        about = (shown.digest, shown.subject_id)
        if (token.scope, token.verdict) != yes or (token.plan_hash, token.work_item_id) != about:
            return "its approval is of something else"
        return ""

    return why_not


def skill_rows(config: SilasConfig, project: Path) -> list[dict[str, Any]]:
    """Every skill there is, also those that cannot be used.

    Args:
        config: Says where installed skills are.
        project: A directory whose `.agents/skills` is looked at, too.
    """
    elsewhere = dict.fromkeys((Path.home() / _ELSEWHERE, project / _ELSEWHERE))
    others = [SkillsDirectory(config.skills_dir / QUARANTINE, Trust.waiting)]
    others += [SkillsDirectory(path, Trust.untrusted) for path in elsewhere]
    return [
        {
            "name": one.name,
            "trust": one.trust.value,
            "description": one.front.description if one.front else "",
            "activation": one.front.activation if one.front else "",
            "folder": str(one.folder),
            "fault": one.fault,
        }
        for one in _loader(config, others, skill_records(config, owners_key(config))).scan()
    ]


def owners_key(config: SilasConfig) -> OwnerSigned:
    """The owner's public key, for a look that unlocks nothing; without one nothing is signed."""
    vault = open_vault(config)
    public = vault.public_key(config.owner_id) if key_exists(config, vault) else ""
    return lambda data, signature: verify_with(public, data, signature)


def skill_report(config: SilasConfig, folder: Path) -> dict[str, Any]:
    """What the rules find in a folder; nothing in it is run.

    Raises:
        SkillError: It cannot be read as a skill.
    """
    skill_md, content = parse_skill(folder.absolute())
    findings = check(skill_md, content, config.skills.validation)
    return {
        "name": skill_md.front.name,
        "description": skill_md.front.description,
        "files": {file.path: file.digest for file in content},
        "findings": [{"path": one.path, "words": one.words} for one in findings],
        "valid": not findings,
    }


def shipped_skills() -> Path:
    """The directory of the skills that ship."""
    return Path(str(files("silas.skills"))) / "bundled"


def _loader(
    config: SilasConfig, others: Sequence[SkillsDirectory], approved: ApprovedSkills
) -> SkillLoader:
    places = (
        SkillsDirectory(shipped_skills(), Trust.bundled),
        SkillsDirectory(config.skills_dir, Trust.installed),
        *others,
    )
    context = config.context
    room = int(context.total_tokens * context.skill_metadata_budget_pct)
    return SkillLoader(places, approved, config.skills.validation, room, TokenCounter().count)
