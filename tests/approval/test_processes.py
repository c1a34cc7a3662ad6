"""Several processes and sudden death: a use is spent once, with its entry or not at all."""

import asyncio
import json
import signal
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from silas.approval import ApprovalConfig, ApprovalScope, ApprovalToken, NonceConfig
from silas.approval.engine import ApprovalEngine
from silas.approval.nonces import SqlNonceStore
from silas.approval.revocation import revoke
from silas.audit import AuditLog
from silas.clock import SystemClock
from silas.db import Database
from silas.keys import KeyRing
from silas.testing.approval import (
    NeverStopped,
    a_decision,
    a_goal,
    a_signer,
    a_spawned_task,
    a_subject,
)
from tests.support.waits import SECONDS

SPENDER = """
import asyncio, os, signal, sys
from pathlib import Path
from zoneinfo import ZoneInfo
from silas.approval import ApprovalConfig, ApprovalToken, NonceConfig
from silas.approval.engine import ApprovalEngine
from silas.approval.nonces import SqlNonceStore
from silas.audit import AuditLog
from silas.clock import SystemClock
from silas.db import Database
from silas.keys import KeyRing
from silas.testing.approval import NeverStopped, a_signer, a_subject

clock, signer = SystemClock(), a_signer()
db = Database(Path(sys.argv[1]), clock)
death = sys.argv[3]

class DyingAudit(AuditLog):
    def log_now(self, event, **data):
        entry = super().log_now(event, **data)
        if death == "before commit":
            os.kill(os.getpid(), signal.SIGKILL)
        return entry

store = SqlNonceStore(db, clock, NonceConfig())
audit = DyingAudit(db, clock, signer)
ring = KeyRing.alone(signer.public_key)
engine = ApprovalEngine(
    signer, store, audit, clock, ApprovalConfig(), NeverStopped(), ring, ZoneInfo("UTC")
)
token = ApprovalToken.model_validate_json(Path(sys.argv[2]).read_text())
print("ready", flush=True)
sys.stdin.readline()
verdict = asyncio.run(engine.verify(token, a_subject()))
if death == "after commit":
    os.kill(os.getpid(), signal.SIGKILL)
print(verdict.code or "spent", flush=True)
"""


@pytest.fixture
def real_time() -> SystemClock:
    return SystemClock()


@pytest.fixture
def token_file(tmp_path: Path) -> Path:
    return tmp_path / "token.json"


async def spender(tmp_path: Path, token_file: Path, death: str) -> asyncio.subprocess.Process:
    script = tmp_path / "spender.py"
    script.write_text(SPENDER)
    process = await asyncio.create_subprocess_exec(
        sys.executable, str(script), str(tmp_path / "silas.db"), str(token_file), death,
        stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE,
        env={"PYTHONPATH": str(Path(__file__).parents[2])},
    )  # fmt: skip
    assert process.stdout is not None
    assert await asyncio.wait_for(process.stdout.readline(), SECONDS) == b"ready\n"
    return process


async def go(process: asyncio.subprocess.Process) -> str:
    out, _ = await asyncio.wait_for(process.communicate(b"go\n"), SECONDS)
    return out.decode().strip()


async def an_engine(database: Database, clock: SystemClock) -> tuple[ApprovalEngine, AuditLog]:
    audit = AuditLog(database, clock, a_signer())
    store = SqlNonceStore(database, clock, NonceConfig())
    return ApprovalEngine(
        a_signer(),
        store,
        audit,
        clock,
        ApprovalConfig(),
        NeverStopped(),
        KeyRing.alone(a_signer().public_key),
        ZoneInfo("Europe/Vienna"),
    ), audit


async def a_token_on_disk(engine: ApprovalEngine, token_file: Path) -> ApprovalToken:
    token = await engine.issue_token(a_subject(), a_decision())
    token_file.write_text(token.model_dump_json())
    return token


@pytest.mark.proves("A6-CONCURRENT-SPENDS")
async def test_of_two_processes_one_spends(
    tmp_path: Path, database: Database, real_time: SystemClock, token_file: Path
) -> None:
    engine, audit = await an_engine(database, real_time)
    await a_token_on_disk(engine, token_file)
    both = [await spender(tmp_path, token_file, "never") for _ in range(2)]
    said = await asyncio.gather(*map(go, both))
    assert sorted(said) == ["E_APPROVAL_SPENT", "spent"]
    assert (await audit.verify_chain()).valid


@pytest.mark.proves("B5-NO-ENTRY-NO-EFFECT")
@pytest.mark.parametrize(
    ("death", "uses", "entries"), [("before commit", 0, 1), ("after commit", 1, 2)]
)
async def test_after_a_kill_the_use_and_its_entry_are_both_there_or_neither(
    tmp_path: Path,
    database: Database,
    real_time: SystemClock,
    token_file: Path,
    death: str,
    uses: int,
    entries: int,
) -> None:
    engine, audit = await an_engine(database, real_time)
    token = await a_token_on_disk(engine, token_file)
    process = await spender(tmp_path, token_file, death)
    assert await go(process) == ""
    assert process.returncode == -signal.SIGKILL
    assert await SqlNonceStore(database, real_time, NonceConfig()).uses(token.token_id) == uses
    assert await audit.verify_chain() == (True, entries, "")
    assert bool(await engine.verify(token, a_subject())) is (uses == 0)


@pytest.mark.parametrize("taken_back", [False, True])
async def test_twenty_at_once_never_spend_more_than_what_is_left(
    tmp_path: Path, database: Database, real_time: SystemClock, taken_back: bool
) -> None:
    engine, audit = await an_engine(database, real_time)
    token = await engine.issue_token(
        a_goal(), a_decision(), ApprovalScope.standing, max_executions=3
    )
    begin = threading.Barrier(20 + taken_back)

    def spend() -> str:
        own = Database(tmp_path / "silas.db", real_time)
        try:
            mine, _ = asyncio.run(an_engine(own, real_time))
            begin.wait(SECONDS)
            return asyncio.run(mine.verify(token, a_goal(), a_spawned_task())).code
        finally:
            own.close()

    def take_back() -> None:
        own = Database(tmp_path / "silas.db", real_time)
        try:
            store = SqlNonceStore(own, real_time, NonceConfig())
            begin.wait(SECONDS)
            asyncio.run(revoke(token, store, AuditLog(own, real_time, a_signer())))
        finally:
            own.close()

    with ThreadPoolExecutor(21) as pool:
        ends = [pool.submit(spend) for _ in range(20)]
        others = [pool.submit(take_back)] if taken_back else []
        codes = [one.result(SECONDS) for one in ends]
        for one in others:
            one.result(SECONDS)
    entries = [json.loads(entry.body) for entry in await audit.entries(limit=1000)]
    events = [one["event"] for one in entries if one["event"] != "approval.refused"]
    assert codes.count("") == events.count("approval.used")
    if taken_back:
        assert codes.count("") <= 3
        after = events[events.index("approval.revoked") :]
        assert "approval.used" not in after
        assert (await engine.verify(token, a_goal(), a_spawned_task())).code
    else:
        assert codes.count("") == 3
    assert (await audit.verify_chain()).valid
