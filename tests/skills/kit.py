"""Skills on disk, as an owner or an attacker would put them there."""

from collections.abc import Mapping
from contextlib import nullcontext
from pathlib import Path

from silas.approval.engine import ApprovalEngine
from silas.plans import WorkItem
from silas.services.skills.catalogue import skill_records
from silas.services.skills.service import SkillService
from silas.testing import Harness
from silas.types import OWNER
from tests.work.kit import Work

DESCRIPTION = "Reading tables of numbers. Use it when a spreadsheet is named."


def skill_md(name: str, body: str = "Read the table from its top.", **front: str) -> str:
    """The text of a `SKILL.md`; a keyword is a line of the front matter, `_` for `-`."""
    fields = {"name": name, "description": DESCRIPTION, **front}
    lines = "\n".join(f"{key.replace('_', '-')}: {value}" for key, value in fields.items())
    return f"---\n{lines}\n---\n\n{body}\n"


def skill_body(name: str) -> str:
    """What an agent is told of it: all below the front matter."""
    return skill_md(name).split("---\n")[2].strip()


def put_skill(
    place: Path, name: str, text: str | None = None, files: Mapping[str, str] | None = None
) -> Path:
    """A folder with `SKILL.md` and further files."""
    folder = place / name
    folder.mkdir(parents=True)
    (folder / "SKILL.md").write_text(skill_md(name) if text is None else text, encoding="utf-8")
    for path, content in (files or {}).items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(content, encoding="utf-8")
    return folder


def service_of(harness: Harness) -> SkillService:
    """The desk for skills of a running Silas, whose key and record it shares."""
    engine = harness.approval
    assert isinstance(engine, ApprovalEngine)
    records = skill_records(harness.config, harness.signer.verify)
    return SkillService(harness.config, harness.audit, records, lambda: nullcontext(engine))


async def install(
    harness: Harness, name: str, text: str | None = None, files: Mapping[str, str] | None = None
) -> Path:
    """A skill that the owner of a running Silas has installed."""
    folder = put_skill(harness.config.skills_dir, name, text, files)
    await install_as_it_lies(harness, name)
    return folder


async def install_as_it_lies(harness: Harness, name: str) -> None:
    """The owner's yes to what lies in `skills_dir` under this name."""
    service = service_of(harness)
    await service.install(service.look(name))


async def approved(work: Work, item: WorkItem) -> WorkItem:
    """An item that the owner approved on its card."""
    proposal = await work.silas.runs.proposer.propose(
        item, work.silas.runs.channel, OWNER, "Why not."
    )
    assert proposal.verdict == "approved", proposal.words
    return item
