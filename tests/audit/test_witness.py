"""Witnesses: who is told which head, what happens where one fails, and what their memory shows."""

import os
from collections.abc import Callable, Iterable
from pathlib import Path

import pytest

from silas.audit import AuditLog, Checkpoint
from silas.audit.witness import DirectoryWitness, FileWitness, Witness, head_line, read_head
from silas.audit.witnessed_log import WitnessedAuditLog
from silas.db import Database
from silas.errors import SandboxError
from silas.keys import Ed25519Signer
from silas.testing import MockClock
from tests.support.disk import full_disk


class Asked:
    """A witness that keeps heads in a list, and fails while it is told to."""

    name = "command /asked"

    def __init__(self) -> None:
        self.told: list[str] = []
        self.broken = ""

    async def tell(self, line: str) -> None:
        if self.broken:
            raise SandboxError(self.broken, code="E_SANDBOX_OWNER_COMMAND")
        self.told.append(line)

    def lines(self) -> Iterable[tuple[str, str]] | None:
        return None


@pytest.fixture
def warnings() -> list[str]:
    return []


Make = Callable[..., WitnessedAuditLog]


@pytest.fixture
def make(
    database: Database, clock: MockClock, signer: Ed25519Signer, warnings: list[str]
) -> "Make":
    async def warn(words: str) -> None:
        warnings.append(words)

    def made(*witnesses: Witness) -> WitnessedAuditLog:
        return WitnessedAuditLog(database, clock, signer, witnesses, warn)

    return made


@pytest.fixture(params=["file", "directory"])
def keeper(request: pytest.FixtureRequest, tmp_path: Path) -> Witness:
    if request.param == "file":
        return FileWitness(tmp_path / "heads.jsonl")
    (tmp_path / "heads").mkdir()
    return DirectoryWitness(tmp_path / "heads")


def attack(database: Database, *statements: str) -> None:
    with database.write() as tx:
        triggers = tx.driver.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'")
        for (name,) in triggers.fetchall():
            tx.driver.execute(f"DROP TRIGGER {name}")
        for statement in statements:
            tx.driver.execute(statement)


def the_lines(witness: Witness) -> list[str]:
    return [line for _, line in witness.lines() or ()]


@pytest.mark.proves("B5-WITNESS")
async def test_every_checkpoint_goes_to_every_witness_once(make: Make, keeper: Witness) -> None:
    asked = Asked()
    log = make(keeper, asked)
    for n in range(3):
        await log.log("x", n=n)
        await log.write_checkpoint()
        await log.write_checkpoint()  # the same head
    assert the_lines(keeper) == asked.told
    heads = [read_head(line, "") for line in asked.told]
    assert [head.head.seq for head in heads if head] == [1, 2, 3]
    assert [(s.seq, s.fault) for s in log.witnesses()] == [(3, ""), (3, "")]


@pytest.mark.proves("B5-WITNESS")
async def test_a_witnessed_head_is_signed_small_and_one_line(make: Make, keeper: Witness) -> None:
    log = make(keeper)
    await log.log("x")
    line = await log.witness()
    assert the_lines(keeper) == [line]
    assert "\n" not in line
    assert len(line) < 400
    head = read_head(line, "here")
    assert head is not None
    assert head.head == await log.head()
    assert log.signed_by_owner(head.body, head.signature)
    assert not log.signed_by_owner(head.body.replace('"seq":1', '"seq":2'), head.signature)


async def test_an_export_that_signs_a_head_tells_it_too(
    make: Make, keeper: Witness, tmp_path: Path
) -> None:
    log = make(keeper)
    await log.log("x")
    await log.export(tmp_path / "export")
    assert len(the_lines(keeper)) == 1


@pytest.mark.proves("B5-WITNESS-FAILS-LOUDLY")
async def test_a_witness_that_fails_loses_nothing_and_is_told_on_record(
    make: Make, warnings: list[str], keeper: Witness
) -> None:
    asked = Asked()
    log = make(asked, keeper)
    await log.log("x")
    asked.broken = "The command /asked ended with 1."
    checkpoint = await log.write_checkpoint()
    assert await log.verify_from_checkpoint(checkpoint) == (True, 1, "")
    assert len(the_lines(keeper)) == 1
    last = (await log.entries())[-1]
    assert '"event":"witness_failed"' in last.body
    assert '"witness":"command /asked"' in last.body
    assert len(warnings) == 1
    assert "The command /asked ended with 1." in warnings[0]
    assert log.witnesses()[0].fault == "The command /asked ended with 1."


async def test_one_failure_is_one_entry_and_its_end_is_another(
    make: Make, warnings: list[str]
) -> None:
    asked = Asked()
    log = make(asked)
    asked.broken = "It is away."
    for _ in range(4):
        await log.write_checkpoint()
    assert (await log.head()).seq == 1
    asked.broken = ""
    await log.write_checkpoint()
    assert '"event":"witness_recovered"' in (await log.entries())[-1].body
    assert len(warnings) == 1
    assert len(asked.told) == 1


async def test_a_witness_that_was_away_gets_the_newest_head_when_it_is_back(
    tmp_path: Path, make: Make
) -> None:
    medium = tmp_path / "medium"
    log = make(FileWitness(medium / "heads.jsonl"))
    await log.log("x")
    await log.write_checkpoint()
    assert "there is no such file" in log.witnesses()[0].fault
    assert not medium.exists()  # never made where a medium should be
    medium.mkdir()
    await log.write_checkpoint()
    assert (await log.verify_witnessed([], [])).valid
    assert log.witnesses()[0].fault == ""


ATTACKS = {
    "cut off": (
        ("DELETE FROM audit_log WHERE seq > 2", "DELETE FROM audit_checkpoints WHERE rowid > 1"),
        "Entry 4 is missing",
    ),
    "emptied": (("DELETE FROM audit_log", "DELETE FROM audit_checkpoints"), "Entry 2 is missing"),
}


@pytest.mark.proves("B5-WITNESS")
@pytest.mark.parametrize("name", ATTACKS)
async def test_what_the_chain_alone_cannot_show_the_witness_does(
    database: Database, make: Make, keeper: Witness, name: str
) -> None:
    log = make(keeper)
    for n in range(4):
        await log.log("x", n=n)
        if n % 2:
            await log.write_checkpoint()
    statements, words = ATTACKS[name]
    attack(database, *statements)
    assert (await log.verify_chain()).valid
    verdict = await log.verify_witnessed([], [])
    assert not verdict.valid
    assert verdict.reason.startswith(words)


@pytest.mark.proves("B5-WITNESS")
async def test_a_fork_signed_by_the_owner_is_found_in_the_running_log(
    database: Database, make: Make, keeper: Witness, audit: AuditLog
) -> None:
    log = make(keeper)
    for n in range(4):
        await log.log("x", n=n)
    await log.write_checkpoint()
    attack(database, "DELETE FROM audit_log WHERE seq > 2", "DELETE FROM audit_checkpoints")
    for n in range(4):
        await audit.log("y", n=n)
    await audit.write_checkpoint()
    assert (await audit.verify_chain()).valid
    verdict = await log.verify_witnessed([], [])
    assert not verdict.valid
    assert verdict.reason.startswith("Entry 4 is not the one in ")
    assert "behind entry 0" in verdict.reason


@pytest.mark.proves("B5-WITNESS")
async def test_a_noted_head_and_a_file_from_elsewhere_count_like_a_witness(
    database: Database, make: Make
) -> None:
    log = make()
    await log.log("x")
    first, line = await log.head(), await log.witness()
    assert (await log.verify_witnessed([("elsewhere", line)], [first])).valid
    attack(database, "DELETE FROM audit_log", "DELETE FROM audit_checkpoints")
    by_line = await log.verify_witnessed([("elsewhere", line)], [])
    by_head = await log.verify_witnessed([], [first])
    assert by_line.reason.startswith("Entry 1 is missing, and elsewhere has it")
    assert by_head.reason.startswith("Entry 1 is missing, and the head that was noted has it")


async def test_a_memory_that_was_lost_or_altered_is_named(
    tmp_path: Path, make: Make, signer: Ed25519Signer
) -> None:
    path = tmp_path / "heads.jsonl"
    witness = FileWitness(path)
    log = make(witness)
    unborn = await log.verify_witnessed([], [])
    assert unborn.reason.endswith("has no head yet; run `silas audit witness`.")
    await log.log("x")
    line = await log.witness()
    path.write_text("")
    assert (
        "was told entry 1 at 2026-01-02T03:04:05 and has lost it"
        in (await log.verify_witnessed([], [])).reason
    )
    path.write_text(f"{line}\nrubbish\n")
    assert "line 2 is no head that the owner signed" in (await log.verify_witnessed([], [])).reason
    forged = line.replace('"seq":1', '"seq":7')
    path.write_text(f"{line}\n{forged}\n")
    assert "line 2 is no head that the owner signed" in (await log.verify_witnessed([], [])).reason
    path.unlink()
    path.mkdir()
    assert "cannot be read (Is a directory)" in (await log.verify_witnessed([], [])).reason
    del signer


async def test_a_line_that_power_loss_cut_in_two_is_replaced(tmp_path: Path, make: Make) -> None:
    path = tmp_path / "heads.jsonl"
    log = make(FileWitness(path))
    await log.log("x")
    first = await log.witness()
    with path.open("a") as stream:
        stream.write(first[:100])
    await log.log("y")
    second = await log.witness()
    assert path.read_text() == f"{first}\n{second}\n"
    assert path.stat().st_mode & 0o777 == 0o600


async def test_a_pipe_or_device_in_place_of_the_file_is_refused_without_waiting(
    tmp_path: Path, make: Make
) -> None:
    os.mkfifo(tmp_path / "fifo")
    log = make(FileWitness(tmp_path / "fifo"), FileWitness(Path("/dev/null")))
    await log.witness()
    assert ["regular file" in state.fault for state in log.witnesses()] == [True, True]


@pytest.mark.parametrize("room", [0, 1, 100])
async def test_a_full_disk_at_the_witness_leaves_no_half_line(
    make: Make, keeper: Witness, tmp_path: Path, room: int
) -> None:
    log = make(keeper)
    await log.log("x")
    first = await log.witness()
    await log.log("y")
    measure = tmp_path / "heads.jsonl"
    measure.touch()
    checkpoint = await AuditLog.signed_head(log)
    with full_disk() as disk:
        disk.now(measure, room)
        with pytest.raises(OSError, match=r"large|room"):
            await keeper.tell(head_line(checkpoint, log.public_key))
    assert the_lines(keeper) == [first]
    second = await log.witness()
    assert the_lines(keeper) == [first, second]


async def test_a_head_line_reads_back_as_what_was_signed(make: Make) -> None:
    log = make()
    checkpoint = Checkpoint("c", '{"at":"now","entry_hash":"ab","seq":5}', "cd" * 64)
    head = read_head(head_line(checkpoint, log.public_key), "p")
    assert head is not None
    assert (head.head, head.body, head.signature) == (
        (5, "ab"),
        checkpoint.body,
        checkpoint.signature,
    )
