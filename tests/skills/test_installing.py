"""A skill comes in by the owner's yes to every file of it, and by nothing else."""

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from silas.cards.models import DecisionAnswer
from silas.main import cli
from silas.plans import WorkItemStatus
from silas.services.skills.catalogue import QUARANTINE, skill_loader
from silas.skills.adapt import ImportReport
from silas.skills.approved import RECORDS
from silas.skills.folder import SkillError
from silas.skills.tree import install_tree
from silas.testing import FakeSandbox, Harness, MockClock, a_plan
from silas.testing.tools import exit_result
from tests.skills.kit import approved, install, put_skill, service_of, skill_body, skill_md
from tests.support.command import environment, person, silas
from tests.work.kit import DONE, argv, at_work

FOREIGN = """---
name: excel
description: Reading tables of numbers. Use it when a spreadsheet is named.
allowed-tools: Bash(*), Read
---

Run `scripts/total.sh` on the table.
"""


def foreign(place: Path) -> Path:
    """A skill as another program's owner wrote it."""
    files = {"scripts/total.sh": "#!/bin/sh\nawk '{s+=$1} END {print s}' \"$1\"\n"}
    return put_skill(place, "excel", FOREIGN, files)


# by the command line ------------------------------------------------------------------------------
@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    env = environment(tmp_path / "home")
    for name in ("SILAS_HOME", "SILAS_KEYS__BACKEND", "HOME"):
        monkeypatch.setenv(name, env[name])
    assert say("init").exit_code == 0
    return env


def say(*words: str | Path) -> Result:
    return CliRunner().invoke(cli, [*map(str, words)])


def standing(name: str = "excel") -> tuple[str, str]:
    """How it stands with a skill, and why it cannot be used."""
    rows = {row["name"]: row for row in json.loads(say("skills", "list", "--json").stdout)}
    return (rows[name]["trust"], rows[name]["fault"]) if name in rows else ("", "")


def hash_of(result: Result) -> str:
    return result.stdout.split()[0]


@pytest.mark.proves("S10.4.1-IMPORT", "S15-NEVER-ACTIVATE-SKILLS")
def test_what_is_imported_says_every_change_and_waits_until_the_owner_approved_it(
    home: dict[str, str], tmp_path: Path
) -> None:
    """Import, a no, a yes to another hash, a yes to this one, and away again."""
    told = say("skills", "import", foreign(tmp_path / "theirs"))
    assert told.exit_code == 0, told.output
    assert "removed: allowed-tools: 'Bash(*), Read'" in told.stdout
    assert "rewritten: scripts/total.sh is started by scripts/total.py" in told.stdout
    assert standing() == ("waiting", "it waits for your yes: silas skills install excel")

    shown = say("skills", "install", "excel")
    assert shown.exit_code == 3
    for words in ("allowed-tools", "scripts/total.py", "| Run `scripts/total.sh`", "awk"):
        assert words in shown.stdout
    assert say("skills", "install", "excel", "--approve", f"sha256:{'0' * 64}").exit_code == 3
    assert standing()[0] == "waiting"

    done = say("skills", "install", "excel", "--approve", hash_of(shown))
    assert done.exit_code == 0, done.output
    assert standing() == ("installed", "")
    assert say("skills", "remove", "excel").exit_code == 3  # nobody could type a yes
    assert say("skills", "remove", "excel", "--yes").exit_code == 0
    assert standing() == ("", "")
    assert say("skills", "remove", "excel", "--yes").exit_code == 2
    words = " ".join(say("audit", "show").stdout.split())
    for event in ("excel was imported", "not install the skill", "installed the", "was removed"):
        assert event in words
    assert say("audit", "verify").exit_code == 0


def test_the_owner_reads_every_file_on_his_terminal_and_says_yes(
    home: dict[str, str], tmp_path: Path
) -> None:
    folder = foreign(tmp_path)
    (folder / "SKILL.md").write_text(skill_md("excel"), encoding="utf-8")
    with person(silas("skills", "install", str(folder)), home) as owner:
        owner.waits_for("Install the skill excel with 2 files")
        owner.waits_for("| Read the table from its top.")
        owner.waits_for("awk")
        owner.waits_for("Your choice, 1 to 2:")
        owner.types("1\r")
        assert owner.leaves() == 0
    assert standing() == ("installed", "")


def test_a_folder_that_breaks_a_rule_or_takes_a_shipped_name_is_not_installed(
    home: dict[str, str], tmp_path: Path
) -> None:
    del home
    broken = put_skill(tmp_path, "word", files={"a.py": "def ("})
    theirs = put_skill(tmp_path, "coding", skill_md("coding"))
    for command in ("install", "import"):
        assert "ships with Silas" in say("skills", command, theirs).output
    refused = say("skills", "install", broken)
    assert (refused.exit_code, "is not Python" in refused.output) == (2, True)
    assert "nothing" not in standing("word")
    kept = say("skills", "remove", "coding", "--yes")
    assert (kept.exit_code, "it cannot be removed" in kept.output) == (2, True)
    assert "another name" not in kept.output
    assert say("skills", "install", tmp_path / "gone").exit_code == 2


def test_a_folder_without_instructions_is_said_to_be_none_before_anything_else(
    home: dict[str, str], tmp_path: Path
) -> None:
    """Whatever else may be wrong in it; and where its subfolders are skills, which they are."""
    del home
    put_skill(tmp_path / "repo" / "skills", "excel")
    (tmp_path / "repo" / "link").symlink_to("/etc")
    for command in ("validate", "import", "install"):
        told = say("skills", command, tmp_path / "repo")
        assert told.exit_code == 2
        assert "there is no SKILL.md in it." in told.output
    assert "It holds 1: skills/excel" in say("skills", "import", tmp_path / "repo").output


# in use -------------------------------------------------------------------------------------------
async def test_an_imported_skill_is_offered_and_told_to_nobody_before_it_is_installed(
    tmp_path: Path,
) -> None:
    sandbox = FakeSandbox(lambda run: exit_result(stdout="done"))
    async with at_work(argv("true"), DONE, sandbox=sandbox) as work:
        service = service_of(work.harness)
        name, report = await service.bring(str(foreign(tmp_path)), None)
        assert (name, report.format) == ("excel", "claude")
        result = await work.run(skills=["excel"])
        assert result.status is WorkItemStatus.blocked
        assert "skills that are not installed: excel" in result.summary
        assert not sandbox.runs
        await service.install(service.look("excel"))
        again = await approved(work, a_plan(id="task-again", skills=["excel"]))
        assert (await work.execute(again)).status is WorkItemStatus.done
        assert "Run `scripts/total.sh`" in work.briefing(0)
        assert "allowed-tools" not in work.briefing(0)
    assert not (work.harness.config.skills_dir / QUARANTINE / "excel").exists()


def _edits(folder: Path) -> None:
    (folder / "SKILL.md").write_text(skill_md("excel", "Send it all."), encoding="utf-8")


def _adds(folder: Path) -> None:
    (folder / "more.md").write_text("Send it all.")


def _takes(folder: Path) -> None:
    (folder / "scripts/read.py").unlink()


def _record(folder: Path) -> Path:
    return folder.parent / RECORDS / f"{folder.name}.json"


def _forgets(folder: Path) -> None:
    _record(folder).unlink()


def _forges(change: Callable[[dict[str, Any]], object]) -> Callable[[Path], None]:
    """Another text, and a record that fits it, with everything but the signature made anew."""

    def attack(folder: Path) -> None:
        from silas.canonical import canonical_bytes, sha256_hex

        record = json.loads(_record(folder).read_bytes())
        _edits(folder)
        raw = (folder / "SKILL.md").read_bytes()
        record["skill"]["files"]["SKILL.md"] = sha256_hex(raw)
        record["token"]["plan_hash"] = sha256_hex(canonical_bytes(record["skill"]))
        change(record)
        _record(folder).write_bytes(canonical_bytes(record))

    return attack


def _nothing_more(record: dict[str, Any]) -> None:
    del record


def _own_signature(record: dict[str, Any]) -> None:
    """As somebody signs who has a key of his own."""
    from base64 import b64encode

    from silas.approval import ApprovalToken, token_bytes
    from silas.approval.models import token_id_of
    from silas.keys import Ed25519Signer

    token = ApprovalToken.model_validate_json(json.dumps(record["token"]))
    signature = Ed25519Signer.from_seed(b"x" * 32).sign(token_bytes(token))
    record["token"]["signature"] = b64encode(signature).decode()
    record["token"]["token_id"] = token_id_of(token_bytes(token))


def _of_another(folder: Path) -> None:
    """The owner's true yes to `word`, laid under this one's name."""
    _edits(folder)
    record = json.loads(_record(folder.with_name("word")).read_bytes())
    _record(folder).write_text(json.dumps(record))


ATTACKS: dict[str, Callable[[Path], object]] = {
    "another text": _edits,
    "a file more": _adds,
    "a file gone": _takes,
    "no record": _forgets,
    "no record that can be read": lambda folder: _record(folder).write_text("[]"),
    "a record for the new text": _forges(_nothing_more),
    "a record signed by somebody else": _forges(_own_signature),
    "another skill's record": _of_another,
    "a record that is a link": lambda f: _record(f).symlink_to(_record(f).rename(f"{f}.json")),
    "a record that is no file": lambda f: (_record(f).unlink(), os.mkfifo(_record(f))),
}


@pytest.mark.parametrize("attack", ATTACKS)
async def test_a_skill_is_not_used_where_any_file_is_not_what_the_owner_signed(
    attack: str,
) -> None:
    async with Harness() as h:
        folder = await install(h, "excel", files={"scripts/read.py": "print(1)\n"})
        await install(h, "word")
        skills = skill_loader(h.config, h.signer.verify)
        assert set(skills.catalogue()) == {"coding", "excel", "word"}
        ATTACKS[attack](folder)
        for seen in (skills, skill_loader(h.config, h.signer.verify)):
            assert set(seen.catalogue()) == {"coding", "word"}
            assert seen.missing(["excel", "word"]) == ("excel",)
            assert not any(path.startswith("excel") for path in seen.digests(["excel", "word"]))
            with pytest.raises(SkillError, match="silas skills install excel"):
                seen.instructions(["excel"])


async def test_a_true_yes_to_another_kind_of_thing_installs_nothing() -> None:
    """The owner's own signature over the same digest, for something else than installing."""
    from silas.approval import ApprovalScope, Subject
    from silas.testing.approval import a_decision

    async with Harness() as h:
        folder = await install(h, "excel")
        look = service_of(h).look("excel")
        subject = Subject(id="skill-excel", kind="skill", digest=look.shown.digest)
        token = await h.approval.issue_token(subject, a_decision(), scope=ApprovalScope.single_step)
        service_of(h).records.keep(look.shown, token.model_dump(mode="json"))
        with pytest.raises(SkillError, match="of something else"):
            skill_loader(h.config, h.signer.verify).instructions(["excel"])
        assert folder.exists()


async def test_what_is_installed_is_what_was_looked_at_whatever_lies_there_by_then(
    tmp_path: Path,
) -> None:
    async with Harness() as h:
        folder = put_skill(tmp_path, "excel")
        service = service_of(h)
        look = service.look(str(folder))
        _edits(folder)
        await service.install(look)
        [told] = skill_loader(h.config, h.signer.verify).instructions(["excel"])
        assert told.text == skill_body("excel")


async def test_a_new_version_is_shown_against_the_approved_one(tmp_path: Path) -> None:
    async with Harness() as h:
        await install(h, "excel", files={"scripts/read.py": "print(1)\n", "old.md": "x"})
        files = {"scripts/read.py": "print(2)\n", "new.md": "y"}
        card = service_of(h).look(str(put_skill(tmp_path, "excel", files=files))).card()
        assert card.safe == DecisionAnswer()
        against = next(d for d in card.details if d.heading.startswith("Against"))
        assert against.lines == ("NEW new.md", "GONE old.md", "CHANGED scripts/read.py")


async def test_while_silas_is_stopped_nothing_is_installed(tmp_path: Path) -> None:
    from silas.errors import Stopped
    from silas.stop import Sentinel

    async with Harness() as h:
        service = service_of(h)
        look = service.look(str(put_skill(tmp_path, "excel")))
        Sentinel(h.config.data_dir).place()
        with pytest.raises(Stopped):
            await service.install(look)
        assert skill_loader(h.config, h.signer.verify).missing(["excel"]) == ("excel",)


async def test_a_skill_that_is_installed_or_removed_counts_at_once(tmp_path: Path) -> None:
    async with Harness(clock=MockClock()) as h:
        skills = skill_loader(h.config, h.signer.verify)
        assert "excel" not in skills.catalogue()
        await install(h, "excel")
        assert "excel" in skills.catalogue()
        await service_of(h).remove("excel")
        assert "excel" not in skills.catalogue()
        assert skills.missing(["excel"]) == ("excel",)


def test_what_is_put_in_place_is_the_owners_alone_and_no_program(tmp_path: Path) -> None:
    from silas.skills.folder import contents

    folder = put_skill(tmp_path / "theirs", "excel", files={"scripts/read.py": "print(1)\n"})
    (folder / "scripts/read.py").chmod(0o755)
    left = tmp_path / "skills" / ".new-excel"  # by a run that was killed
    left.mkdir(parents=True)
    (left / "evil.md").write_text("x")
    for _ in range(2):
        install_tree(tmp_path / "skills", "excel", contents(folder))
    made = tmp_path / "skills" / "excel"
    assert contents(made) == contents(folder)
    assert (made / "scripts/read.py").stat().st_mode & 0o777 == 0o600
    assert [path.name for path in (tmp_path / "skills").iterdir()] == ["excel"]


async def test_a_report_that_cannot_be_read_is_said_and_nothing_is_installed(
    tmp_path: Path,
) -> None:
    async with Harness() as h:
        service = service_of(h)
        await service.bring(str(foreign(tmp_path)), None)
        report = h.config.skills_dir / QUARANTINE / "excel.json"
        assert ImportReport.model_validate_json(report.read_bytes()).removed
        report.write_text("{}")
        with pytest.raises(SkillError, match="import it again"):
            service.look("excel")
