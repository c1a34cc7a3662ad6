"""The record held against the signed head that is kept outside its database, at every door."""

import asyncio
import hashlib
import json
import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from silas import Silas, SilasConfig, load_config
from silas.audit.kept_head import AT_ONCE
from silas.audit.models import GENESIS, AuditHead
from silas.clock import SystemClock
from silas.db import Database
from silas.errors import ApprovalError, DatabaseError, Stopped
from silas.home.audit_log import looking_log
from silas.keys import KeyRing
from silas.keys.remote import RemoteSigner
from silas.keys.signed_heads import SignedHeads
from silas.keys.signer_server import SigningService, open_socket
from silas.services.doctor.diagnose import diagnose
from silas.services.memory import open_memory
from silas.services.owner_key import CheckpointKeys
from silas.services.record import open_audit
from silas.services.setup.initialise import initialise
from silas.services.signer.signables import Signables
from silas.services.work import open_work
from silas.testing import ScriptedChannel
from silas.testing.approval import a_decision, a_signer, a_subject
from tests.mcp.test_serve import Served, said
from tests.support.client import client
from tests.support.command import ROOT, Ended, environment, python, run, silas
from tests.support.plans import a_workspace, writing_plan
from tests.support.waits import SECONDS


class House:
    """A home with a record of two sessions, and somebody who may write its database."""

    def __init__(self, folder: Path) -> None:
        self.home = folder / "home"
        self.env = environment(self.home)
        self.config: SilasConfig = load_config(environ=self.env)
        self.database = self.config.data_dir / "silas.db"
        self.keys = self.config.data_dir / "keys"
        self.head = self.keys / "owner.kept-head.json"
        self.work = a_workspace(folder / "work")
        self.plan = folder / "plan.md"
        self.plan.write_text(writing_plan(self.work))

    async def lived_in(self) -> "House":
        await initialise(self.config)
        for number in range(2):
            async with Silas.open(self.config, channel=ScriptedChannel(), resume=False) as house:
                await house.audit.log("turn_finished", outcome=f"number {number}")
        return self

    def attack(self, edit: Callable[[sqlite3.Connection], object]) -> None:
        with closing(sqlite3.connect(self.database)) as driver:
            found = driver.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'")
            for (name,) in found.fetchall():
                driver.execute(f"DROP TRIGGER {name}")
            edit(driver)
            driver.commit()

    def silas(self, *words: str | Path, stdin: str = "") -> Ended:
        return run(silas(*words), self.env, stdin=stdin)

    async def fault(self) -> str:
        async with open_audit(self.config) as service:
            return (await service.verify_chain()).reason

    async def events(self) -> list[str]:
        async with open_audit(self.config) as service:
            entries = await service.log.entries(limit=1000)
        return [json.loads(each.body)["event"] for each in entries]


@pytest.fixture
async def house(tmp_path: Path) -> House:
    return await House(tmp_path).lived_in()


# What somebody does who may write the database ----------------------------------------------------
def rewrite(driver: sqlite3.Connection) -> None:
    """Every entry anew in a chain that holds, and no checkpoint left to contradict it."""
    rows = driver.execute("SELECT seq, body FROM audit_log ORDER BY seq").fetchall()
    before = GENESIS
    for seq, body in rows:
        forged = body.replace("stream_", "dream_").replace("record.", "chord.")
        before = hashlib.sha256(f"{before}\n{forged}".encode()).hexdigest()
        driver.execute(
            "UPDATE audit_log SET body=?, entry_hash=? WHERE seq=?", (forged, before, seq)
        )
    driver.execute("DELETE FROM audit_checkpoints")


def empty(driver: sqlite3.Connection) -> None:
    driver.execute("DELETE FROM audit_log")
    driver.execute("DELETE FROM audit_checkpoints")
    driver.execute("DELETE FROM audit_kept")


def cut(driver: sqlite3.Connection) -> None:
    """Everything behind the first session's last checkpoint."""
    found = driver.execute("SELECT body FROM audit_checkpoints ORDER BY rowid").fetchall()
    signed = [json.loads(body)["seq"] for (body,) in found]
    driver.execute("DELETE FROM audit_log WHERE seq > ?", (signed[-2],))
    driver.execute(
        "DELETE FROM audit_checkpoints WHERE rowid = (SELECT max(rowid) FROM audit_checkpoints)"
    )


def edit(driver: sqlite3.Connection) -> None:
    """One word in the past, its hash left as it was."""
    driver.execute("UPDATE audit_log SET body = replace(body, 'number 0', 'number 7')")


def unsign(driver: sqlite3.Connection) -> None:
    driver.execute("DELETE FROM audit_checkpoints")


ATTACKS = [rewrite, empty, cut, edit, unsign]
_attacked = pytest.mark.parametrize("how", ATTACKS, ids=lambda how: how.__name__)


@_attacked
async def test_a_record_that_was_rewritten_emptied_or_cut_verifies_no_more(
    how: Callable[[sqlite3.Connection], None], house: House
) -> None:
    assert await house.fault() == ""
    house.attack(how)
    assert await house.fault()


@_attacked
async def test_a_changed_record_is_not_signed_and_no_witness_is_told(
    how: Callable[[sqlite3.Connection], None], house: House
) -> None:
    house.attack(how)
    async with open_audit(house.config) as service:
        assert service.warnings
        with pytest.raises(DatabaseError) as raised:
            await service.witness()
    assert raised.value.code == "E_DB_CORRUPT"
    with closing(sqlite3.connect(house.database)) as driver:
        (count,) = driver.execute("SELECT count(*) FROM audit_checkpoints").fetchone()
    assert count <= (3 if how in (cut, edit) else 0) + (how is edit)


@_attacked
async def test_a_changed_record_lets_silas_answer_and_nothing_be_approved_or_done(
    how: Callable[[sqlite3.Connection], None], house: House
) -> None:
    async with Silas.open(house.config, channel=ScriptedChannel(), resume=False) as running:
        token = await running.approval.issue_token(a_subject(), a_decision())
    house.attack(how)
    channel = ScriptedChannel()
    async with Silas.open(house.config, channel=channel, resume=False) as running:
        assert any("The record was changed outside Silas" in text for text in channel.texts)
        assert (await running.ask("hello")).text
        with pytest.raises(Stopped, match="The record was changed") as raised:
            await running.run(house.plan.read_text())
        assert raised.value.code == "E_STOPPED_RECORD"
        with pytest.raises(Stopped):
            await running.approval.issue_token(a_subject(), a_decision())
        for verdict in (
            await running.approval.verify(token, a_subject()),
            await running.approval.check(token, a_subject()),
        ):
            assert verdict.code == "E_APPROVAL_RECORD"
        with pytest.raises(Stopped):
            await running.undo("task-1")
    assert not (house.work / "result.txt").exists()


async def test_an_edited_record_is_noticed_at_every_door_beside_a_running_silas(
    house: House,
) -> None:
    house.attack(edit)
    async with open_work(house.config) as work:
        assert work.warnings
        with pytest.raises(Stopped):
            await work.undo("task-1")
    with pytest.raises(Stopped):
        async with open_memory(house.config, sign=True):
            pass
    findings = {finding.part: finding for finding in await diagnose(house.config)}
    assert not findings["record"].ok
    assert "changed outside Silas" in findings["record"].words


async def test_every_command_notices_an_edited_record(house: House) -> None:
    house.attack(edit)
    asked = house.silas("ask", "hello")
    assert asked.code == 0
    assert "The record was changed outside Silas" in asked.out + asked.err
    talked = house.silas("chat", stdin="hello\n")
    assert "The record was changed outside Silas" in talked.out + talked.err
    done = house.silas("run", house.plan)
    assert done.code == 3, done
    assert "The record was changed outside Silas" in done.err
    assert not (house.work / "result.txt").exists()
    assert house.silas("undo", "task-1").code == 3
    assert "The record was changed" in house.silas("approvals", "list").err
    assert "The record was changed" in house.silas("audit", "show").err
    assert "The record was changed" in house.silas("init").out
    refused = house.silas("audit", "witness")
    assert (refused.code, refused.out) == (3, "")
    assert house.silas("audit", "verify").code == 1
    checked = house.silas("doctor")
    assert checked.code != 0
    assert "changed outside Silas" in " ".join(checked.out.split())


async def test_an_edited_record_lets_nothing_new_in_and_everything_be_taken_back(
    house: House, tmp_path: Path
) -> None:
    bundle = tmp_path / "memories.jsonl"
    assert house.silas("memory", "export", bundle).code == 0
    assert house.silas("secrets", "add", "FORMER", stdin="a long enough value").code == 0
    house.attack(edit)
    for words, stdin in (
        (("devices", "link"), ""),
        (("secrets", "add", "LATER"), "a long enough value"),
        (("memory", "import", str(bundle), "--yes"), ""),
    ):
        ended = house.silas(*words, stdin=stdin)
        assert (ended.code, ended.out) == (3, ""), words
        assert "The record was changed outside Silas" in ended.err
    assert "LATER" not in house.silas("secrets", "list").out
    assert house.silas("secrets", "remove", "FORMER").code == 0


# A head is kept from the first entry on -----------------------------------------------------------
async def test_the_first_entry_is_signed_at_once_and_its_head_kept_beside_the_key(
    tmp_path: Path,
) -> None:
    house = House(tmp_path)
    await initialise(house.config)
    async with open_audit(house.config) as service:
        head = await service.head()
    kept = json.loads(house.head.read_text())
    assert AuditHead(kept["seq"], kept["entry_hash"]) == head == AuditHead(1, head.entry_hash)
    assert house.head.stat().st_mode & 0o777 == 0o600
    assert json.loads(kept["line"])["checkpoint"]["seq"] == 1
    assert await house.events() == ["record.kept"]


async def test_a_kept_head_that_is_gone_or_forged_is_missed(house: House) -> None:
    kept = house.head.read_text()
    house.head.unlink()
    assert "is gone from" in await house.fault()
    house.attack(lambda driver: driver.execute("DELETE FROM audit_kept"))
    assert "is gone from" in await house.fault()  # the key's record says so, too
    line = json.loads(kept)["line"].replace('"seq":', '"seq":1')
    house.head.write_text(json.dumps({**json.loads(kept), "line": line}))
    house.head.chmod(0o600)
    assert "no head that the owner signed" in await house.fault()
    house.head.write_text("{}")
    assert "is damaged" in await house.fault()
    house.head.write_text(kept)
    assert await house.fault() == ""


class Listening(ScriptedChannel):
    """Tells when it was told that the record was changed."""

    def __init__(self) -> None:
        super().__init__()
        self.told = asyncio.Event()

    async def send(self, recipient_id: str, text: str, reply_to: str | None = None) -> None:
        await super().send(recipient_id, text, reply_to)
        if "The record was changed outside Silas" in text:
            self.told.set()


def of_a_former_version(house: House) -> None:
    """A home as it was before any head was kept."""
    house.head.unlink()
    record = house.keys / "owner.key.json"
    document = json.loads(record.read_text())
    del document["keeps_head"], document["checksum"]
    from silas.keys.sealed import read_unsealed

    record.write_text(read_unsealed(document))
    house.attack(lambda driver: driver.execute("DELETE FROM audit_kept"))


async def test_a_home_of_a_former_version_is_adopted_on_record(house: House) -> None:
    of_a_former_version(house)
    async with Silas.open(house.config, channel=ScriptedChannel(), resume=False) as running:
        await running.approval.issue_token(a_subject(), a_decision())
    assert house.head.exists()
    assert (await house.events()).count("record.kept") == 2
    assert await house.fault() == ""
    house.head.unlink()
    assert "is gone from" in await house.fault()


async def test_entries_of_a_former_version_that_nobody_signed_are_refused(house: House) -> None:
    of_a_former_version(house)
    house.attack(unsign)
    assert "was ever signed" in await house.fault()
    refused = house.silas("run", house.plan)
    assert refused.code == 3
    assert "`silas audit accept`" in refused.err


async def test_an_edit_far_back_is_found_in_the_background_and_remembered(house: House) -> None:
    async with open_audit(house.config) as service:
        for number in range(AT_ONCE + 10):
            service.log.log_now("turn_finished", outcome=str(number))
        await service.witness()
    house.attack(edit)
    channel = Listening()
    async with Silas.open(house.config, channel=channel) as running:
        async with asyncio.timeout(SECONDS):
            await channel.told.wait()
        with pytest.raises(Stopped):
            await running.approval.issue_token(a_subject(), a_decision())
    async with Silas.open(house.config, channel=ScriptedChannel(), resume=False) as running:
        with pytest.raises(Stopped):  # though it looks no further back than the last entries
            await running.approval.issue_token(a_subject(), a_decision())


# A restored backup --------------------------------------------------------------------------------
async def restored(house: House) -> None:
    """The database of a moment ago put back, with less in it than was signed."""
    backup = house.home / "backup.db"
    with closing(sqlite3.connect(house.database)) as source, closing(sqlite3.connect(backup)) as to:
        source.backup(to)
    async with Silas.open(house.config, channel=ScriptedChannel(), resume=False):
        pass
    for beside in ("-wal", "-shm"):
        house.database.with_name(f"silas.db{beside}").unlink(missing_ok=True)
    shutil.copy(backup, house.database)


async def test_a_restored_backup_goes_on_once_the_owner_accepted_exactly_it(house: House) -> None:
    await restored(house)
    assert house.silas("run", house.plan).code == 3
    unnamed = house.silas("audit", "accept")
    assert unnamed.code == 3
    newest = next(word for word in unnamed.err.split() if ":" in word and len(word) > 66).strip(
        "`."
    )
    wrong = house.silas("audit", "accept", f"{newest.partition(':')[0]}:{'0' * 64}")
    assert wrong.code == 2
    assert "E_DB_HEAD" in wrong.err
    taken = house.silas("audit", "accept", newest)
    assert taken.code == 0, taken.err
    assert house.silas("audit", "verify").code == 0
    assert "record.accepted" in await house.events()
    async with Silas.open(house.config, channel=ScriptedChannel(), resume=False) as running:
        await running.approval.issue_token(a_subject(), a_decision())


async def test_a_running_silas_goes_on_once_the_record_was_accepted(house: House) -> None:
    await restored(house)
    async with Silas.open(house.config, channel=ScriptedChannel(), resume=False) as running:
        with pytest.raises(Stopped):
            await running.approval.issue_token(a_subject(), a_decision())
        async with open_audit(house.config) as service:
            await service.accept(await service.head())
        assert await running.approval.issue_token(a_subject(), a_decision())


async def test_what_does_not_hold_by_itself_cannot_be_accepted(house: House) -> None:
    house.attack(edit)
    async with open_audit(house.config) as service:
        with pytest.raises(DatabaseError) as raised:
            await service.accept(await service.head())
    assert raised.value.code == "E_DB_CORRUPT"


# Kills and processes ------------------------------------------------------------------------------
_DYING = """
import asyncio, os, signal, sys
from silas import load_config
from silas.audit.log import AuditLog
from silas.keys import signed_heads as heads
from silas.services.record import open_audit
from silas.services.setup.initialise import initialise

step, calls = sys.argv[1], [int(sys.argv[2])]

def die(where):
    if where == step:
        calls[0] -= 1
        if not calls[0]:
            os.kill(os.getpid(), signal.SIGKILL)

sign, write = AuditLog._sign, heads.FileHead.write

async def dying_sign(self, head):
    die("before the checkpoint")
    made = await sign(self, head)
    die("after the checkpoint")
    return made

def dying_write(self, head):
    write(self, head)
    die("after the head")

AuditLog._sign, heads.FileHead.write = dying_sign, dying_write

async def main():
    config = load_config()
    await initialise(config)
    async with open_audit(config) as desk:
        for _ in range(3):
            await desk.log.log("turn_finished", outcome="answered")
            await desk.witness()

asyncio.run(main())
"""


@pytest.mark.parametrize(
    "step", ["before the checkpoint", "after the checkpoint", "after the head"]
)
@pytest.mark.parametrize("call", [1, 2, 4])
async def test_killed_between_checkpoint_and_head_the_record_opens_without_a_refusal(
    step: str, call: int, tmp_path: Path
) -> None:
    house = House(tmp_path)
    done = run(python(_DYING, step, str(call)), house.env, imported=True)
    assert done.code == -9, done.err
    channel = ScriptedChannel()
    await initialise(house.config)
    async with Silas.open(house.config, channel=channel, resume=False) as running:
        await running.approval.issue_token(a_subject(), a_decision())
    assert await house.fault() == ""


_MANY = """
import asyncio
from silas import load_config
from silas.services.record import open_audit

async def main():
    for _ in range(8):
        async with open_audit(load_config()) as desk:
            assert not desk.warnings, desk.warnings
            await desk.log.log("turn_finished", outcome="answered")
            await desk.witness()
            assert not desk.warnings, desk.warnings

asyncio.run(main())
"""


async def test_several_processes_move_one_head_forward_and_none_is_alarmed(house: House) -> None:
    every = [
        subprocess.Popen([sys.executable, "-c", _MANY], env=house.env, cwd=ROOT) for _ in range(4)
    ]
    assert [process.wait(SECONDS) for process in every] == [0] * 4
    assert await house.fault() == ""
    kept: dict[str, Any] = json.loads(house.head.read_text())
    async with open_audit(house.config) as service:
        assert kept["seq"] == (await service.head()).seq


# Clients ------------------------------------------------------------------------------------------
async def test_a_client_over_mcp_is_told_and_nothing_is_proposed(tmp_path: Path) -> None:
    served = Served(tmp_path)
    with closing(sqlite3.connect(served.home / "data" / "silas.db")) as driver:
        driver.execute("DROP TRIGGER audit_log_no_update")
        driver.execute("UPDATE audit_log SET body = replace(body, 'record.', 'chord.')")
        driver.commit()
    async with client(served.env) as session:
        words, failed = await said(session, "ask", text="write the result file")
    assert failed
    assert "The record was changed outside Silas" in words
    assert not served.changed


async def test_a_signer_apart_is_asked_before_a_record_goes_back(tmp_path: Path) -> None:
    """The whole way: the acceptance is signed, then the checkpoint that follows it."""
    signer, answers = a_signer(), [False, True]
    asked: list[str] = []

    async def confirm(question: str) -> bool:
        asked.append(question)
        return answers.pop(0)

    (tmp_path / "signer").mkdir()
    judge = Signables(SystemClock(), SignedHeads(tmp_path / "signer" / "head.json")).judge
    me = os.geteuid()
    service = SigningService(signer, judge, confirm, asked.append, me)
    place = Path(tempfile.mkdtemp(prefix="silas-")) / "sock"
    connection = open_socket(place, -1)
    ring = KeyRing.alone(signer.public_key)
    config = load_config(environ=environment(tmp_path / "home"))
    db = Database(config.data_dir / "silas.db", SystemClock())
    try:
        db.migrate("silas.audit")
        db.migrate("silas.stop")
        keys = CheckpointKeys(RemoteSigner(place, signer.public_key, me), ring)
        async with await asyncio.start_unix_server(service.serve, sock=connection):
            log = looking_log(config, db, SystemClock(), keys)
            await log.open()
            for _ in range(3):
                await log.log("turn_finished", outcome="answered")
                await log.write_checkpoint()
            with db.write() as tx:
                for name in ("audit_log_no_delete", "audit_checkpoints_no_delete"):
                    tx.driver.execute(f"DROP TRIGGER {name}")
                tx.driver.execute("DELETE FROM audit_log WHERE seq > 2")
                tx.driver.execute("DELETE FROM audit_checkpoints WHERE rowid > 3")
            assert "is missing" in (await log.verify_chain()).reason
            with pytest.raises(ApprovalError):
                await log.accept(await log.head())
            await log.accept(await log.head())
            assert (await log.verify_chain()).valid
            assert len([each for each in asked if "Accept a changed record" in each]) == 2
            await log.log("turn_finished", outcome="answered")
            await log.write_checkpoint()
    finally:
        db.close()
        shutil.rmtree(place.parent)
