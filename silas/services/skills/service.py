"""Skills brought in, approved and taken away (spec 4.20, 10.4, 10.4.1)."""

import os
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import AbstractContextManager, asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from pydantic import ValidationError

from silas.approval import ApprovalDecision, ApprovalScope, ApprovalVerdict, Subject
from silas.approval.engine import ApprovalEngine
from silas.approval.nonces import SqlNonceStore
from silas.audit import Audit, AuditLog
from silas.audit.intent import ChangeEvents, record_change
from silas.cards.models import DecisionCard
from silas.clock import SystemClock
from silas.config import SilasConfig
from silas.home.audit_log import looking_log
from silas.home.database import open_existing_database
from silas.home.effective_clock import effective_time
from silas.home.key_vault import open_vault, owner_keys
from silas.home.keyless import NoKey
from silas.services.emergency_stop import EmergencyStop
from silas.services.owner_key import CheckpointKeys
from silas.services.skills.cards import skill_card, texts_of, what_changed
from silas.services.skills.catalogue import QUARANTINE, owners_key, shipped_skills, skill_records
from silas.skills.adapt import Format, ImportReport, adapt
from silas.skills.approved import Installation, SkillRecords
from silas.skills.folder import SkillError, SkillFile, not_a_name
from silas.skills.front import NAME
from silas.skills.loader import parse_skill
from silas.skills.source import read_source
from silas.skills.tree import install_tree, take_away, write_whole
from silas.skills.validate import check

if TYPE_CHECKING:
    from collections.abc import Generator

_IMPORT: Final = ChangeEvents("skill.importing", "skill.imported", "skill.not_imported")
_INSTALLATION: Final = ChangeEvents("skill.installing", "skill.installed", "skill.not_installed")
_REMOVAL: Final = ChangeEvents("skill.removing", "skill.removed", "skill.not_removed")

Approving = Callable[[], AbstractContextManager[ApprovalEngine]]
"""Unlocks the owner's key for one yes."""


class SkillLook(NamedTuple):
    """A skill as it lies there, read once: what is shown is what is installed.

    Attributes:
        shown: What the owner signs.
        files: Every file with its bytes.
        before: What is approved under its name so far, by path; empty for nothing.
    """

    shown: Installation
    files: tuple[SkillFile, ...]
    before: Mapping[str, str]

    def card(self) -> DecisionCard:
        """The question."""
        further = (*what_changed(self.before, self.shown.files), *texts_of(self.files))
        return skill_card(self.shown, further)


@dataclass(frozen=True)
class SkillService:
    """The skills alone, for the commands that change them.

    Attributes:
        records: What the owner approved.
        approving: Asked for when he says yes.
    """

    config: SilasConfig
    audit: Audit
    records: SkillRecords
    approving: Approving

    async def bring(self, source: str, hint: Format | None) -> tuple[str, ImportReport]:
        """Put a foreign skill, adapted, where nothing can use it; its name, and what changed.

        Raises:
            SkillError: It may not be imported, cannot be read, or holds a credential.
        """
        rules = self.config.skills
        found = read_source(source, rules.import_)
        name, files, report = adapt(found.files, found.uri, found.commit, hint, rules.validation)
        self._refuse_shipped(name)
        facts = {"source": report.source, "commit": report.commit}
        async with record_change(self.audit, _IMPORT, skill=name, **facts):
            install_tree(self._quarantine, name, files)
            write_whole(self._report(name), report.model_dump_json().encode("utf-8"))
        return name, report

    def look(self, named: str) -> SkillLook:
        """Read a skill that is to be installed: an imported one or one in `skills_dir` by its name,
        any other by its folder.

        Raises:
            SkillError: There is none, or it breaks a rule.
        """
        folder = self._folder(named)
        skill_md, files = parse_skill(folder)
        findings = check(skill_md, files, self.config.skills.validation)
        if findings:
            raise SkillError(f"{findings[0]} See all with `silas skills validate {folder}`.")
        name = skill_md.front.name
        self._refuse_shipped(name)
        report = self._read_report(name) if folder.parent == self._quarantine else None
        shown = Installation(
            name=name,
            description=skill_md.front.description,
            source=str(folder) if report is None else _source(report),
            changes=() if report is None else report.lines(),
            files={file.path: file.digest for file in files},
        )
        return SkillLook(shown, files, self._before(name))

    async def install(self, look: SkillLook) -> None:
        """Sign the owner's yes to what was looked at, and make it the skill of its name.

        Raises:
            ApprovalError: It could not be signed; nothing was installed.
            SkillError: The disk refuses; the skill cannot be used.
        """
        shown = look.shown
        subject = Subject(
            id=shown.subject_id, kind="skill", digest=shown.digest, canonical=shown.canonical
        )
        with self.approving() as engine:
            token = await engine.issue_token(
                subject,
                ApprovalDecision(verdict=ApprovalVerdict.approved),
                scope=ApprovalScope.skill_install,
            )
            await engine.require(token, subject)
        facts = {"digest": shown.digest, "token_id": token.token_id}
        async with record_change(self.audit, _INSTALLATION, skill=shown.name, **facts):
            # What was approved first: it makes nothing usable that is not exactly what it names.
            self.records.keep(shown, token.model_dump(mode="json"))
            install_tree(self.config.skills_dir, shown.name, look.files)
            self._drop(shown.name)

    async def refuse(self, look: SkillLook) -> None:
        """Note that the owner looked and did not install."""
        await self.audit.log("skill.refused", skill=look.shown.name, digest=look.shown.digest)

    async def remove(self, name: str) -> None:
        """Take a skill away, installed or imported; whatever names it is refused from now on.

        Raises:
            SkillError: There is none of this name that could be removed.
        """
        self.require(name)
        async with record_change(self.audit, _REMOVAL, skill=name):
            self.records.forget(name)
            take_away(self.config.skills_dir, name)
            self._drop(name)

    def require(self, name: str) -> None:
        """Raise `SkillError` where there is no skill of this name that could be removed."""
        if not NAME.fullmatch(name):
            raise not_a_name(name)
        if (shipped_skills() / name).exists():
            raise SkillError(f"the skill {name!r} ships with Silas; it cannot be removed.")
        places = (self.config.skills_dir, self._quarantine)
        if not any(os.path.lexists(place / name) for place in places):
            raise SkillError(f"there is no skill {name!r}; see `silas skills list`.")

    @property
    def _quarantine(self) -> Path:
        return self.config.skills_dir / QUARANTINE

    def _report(self, name: str) -> Path:
        return self._quarantine / f"{name}.json"

    def _read_report(self, name: str) -> ImportReport:
        try:
            return ImportReport.model_validate_json(self._report(name).read_bytes())
        except (OSError, ValidationError) as error:
            raise SkillError(
                f"the report about the import of {name} cannot be read; import it again."
            ) from error

    def _drop(self, name: str) -> None:
        take_away(self._quarantine, name)
        self._report(name).unlink(missing_ok=True)

    def _before(self, name: str) -> Mapping[str, str]:
        try:
            return self.records.files(name)
        except SkillError:
            return {}

    def _folder(self, named: str) -> Path:
        if NAME.fullmatch(named):
            for place in (self._quarantine, self.config.skills_dir):
                if (place / named).exists():
                    return place / named
        folder = Path(named).expanduser().absolute()
        try:
            there = folder.exists()
        except OSError:  # no folder can be called so
            there = False
        if not there:
            raise SkillError(f"there is no skill and no folder {named[:200]!a}.")
        return folder

    def _refuse_shipped(self, name: str) -> None:
        if (shipped_skills() / name).exists():
            raise SkillError(f"a skill {name!r} ships with Silas; give this one another name.")


def _source(report: ImportReport) -> str:
    return f"{report.source}, commit {report.commit}" if report.commit else report.source


@asynccontextmanager
async def open_skills(config: SilasConfig) -> "AsyncGenerator[SkillService]":
    """The skills of an initialised Silas, beside a running one or without any.

    The owner's key is unlocked for a yes alone.

    Raises:
        ConfigError: Silas was not set up here.
    """
    clock = SystemClock()
    with open_existing_database(config, clock) as db:
        audit = AuditLog(db, clock, NoKey())

        @contextmanager
        def approving() -> "Generator[ApprovalEngine]":
            signer, ring = owner_keys(config, open_vault(config), unlock=True)
            try:
                record = looking_log(config, db, clock, CheckpointKeys(signer, ring))
                record.look()
                stops = EmergencyStop.of(config, db, clock).epochs
                time = effective_time(db, clock, audit)
                nonces = SqlNonceStore(db, time, config.nonce_store)
                yield ApprovalEngine(
                    signer,
                    nonces,
                    record,
                    time,
                    config.approval,
                    stops,
                    ring,
                    config.scheduler.zone,
                )
            finally:
                ring.release()

        yield SkillService(config, audit, skill_records(config, owners_key(config)), approving)
