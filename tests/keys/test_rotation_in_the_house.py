"""What a new key changes for approvals, work under way, messages and the record."""

import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from silas import Silas, SilasConfig, load_config
from silas.approval import ApprovalScope, ApprovalToken, NonceConfig, TokenUse
from silas.approval.nonces import SqlNonceStore
from silas.audit import AuditLog
from silas.audit.log import signed_head
from silas.audit.models import CHECKPOINT_DOMAIN
from silas.audit.witness import head_line
from silas.canonical import canonical_json
from silas.cards import ChannelMessage, message_bytes
from silas.clock import SystemClock
from silas.db import Database
from silas.errors import ConfigError, DatabaseError
from silas.home.key_vault import open_vault
from silas.keys import Ed25519Signer, KeyRing
from silas.keys.signed_heads import SignedHead, SignedHeads
from silas.language.calendar import moment_words
from silas.plans import PlanParser, WorkItem, WorkItemStatus, subject_of
from silas.services.owner_key import CheckpointKeys, rotate_key
from silas.services.record import open_audit
from silas.services.setup.initialise import initialise
from silas.stream.models import Incoming
from silas.testing import ScriptedChannel
from silas.testing.approval import a_decision, a_goal, a_spawned_task, a_subject, a_token
from silas.types import OWNER
from tests.support.command import environment, python, run, silas, started
from tests.support.home import Home, soon
from tests.support.plans import a_workspace, writing_plan
from tests.support.waits import SECONDS

KATHMANDU = ZoneInfo("Asia/Kathmandu")


@pytest.fixture
async def config(tmp_path: Path) -> SilasConfig:
    env = environment(tmp_path / "home", SILAS_SCHEDULER__TIMEZONE="Asia/Kathmandu")
    made = load_config(environ=env)
    await initialise(made)
    return made


@asynccontextmanager
async def opened(config: SilasConfig, *, resume: bool = False) -> AsyncGenerator[Silas]:
    async with Silas.open(config, channel=ScriptedChannel(), resume=resume) as running:
        yield running


def a_copy_of_the_key(config: SilasConfig) -> Ed25519Signer:
    """What a thief has who read the memory of a Silas once."""
    return Ed25519Signer.from_seed(open_vault(config).load(config.owner_id).seed_for_vault())


async def events(config: SilasConfig) -> list[dict[str, Any]]:
    async with open_audit(config) as service:
        return [json.loads(e.body) for e in await service.log.entries(limit=1000)]


def named(entries: list[dict[str, Any]], event: str) -> list[dict[str, Any]]:
    return [entry["data"] for entry in entries if entry["event"] == event]


async def interrupted(config: SilasConfig, work: Path) -> WorkItem:
    """An approved plan that was running when its Silas ended."""
    async with opened(config) as house:
        item = PlanParser().parse(writing_plan(a_workspace(work)))
        item.approval_token = await house.approval.issue_token(subject_of(item), a_decision())
        assert await house.approval.verify(item.approval_token, subject_of(item))
        item.status, item.created_at = WorkItemStatus.running, SystemClock().now()
        await house.store.save(item)
    return item


# ── Approvals ────────────────────────────────────────────────────────────────────────────────────


async def test_an_approval_that_was_not_used_lapses(config: SilasConfig) -> None:
    async with opened(config) as house:
        token = await house.approval.issue_token(a_subject(), a_decision())
    ring, _ = await rotate_key(config, stolen=False)
    at = ring.former[-1].retired_at.astimezone(KATHMANDU)
    moment = f"{at:%A %-d %B %Y, %H:%M} (Asia/Kathmandu)"
    async with opened(config) as house:
        for ask in (house.approval.verify, house.approval.check):
            verdict = await ask(token, a_subject())
            assert verdict.code == "E_APPROVAL_KEY_RETIRED"
            assert f"replaced on {moment}; ask again." in verdict.reason
        fresh = await house.approval.issue_token(a_subject(), a_decision())
        assert await house.approval.verify(fresh, a_subject())


async def test_a_standing_approval_gets_no_further_use(config: SilasConfig) -> None:
    async with opened(config) as house:
        token = await house.approval.issue_token(
            a_goal(), a_decision(), ApprovalScope.standing, max_executions=5
        )
        assert await house.approval.verify(token, a_goal(), a_spawned_task())
    await rotate_key(config, stolen=False)
    async with opened(config) as house:
        verdict = await house.approval.verify(token, a_goal(), a_spawned_task())
        assert verdict.code == "E_APPROVAL_KEY_RETIRED"


async def test_work_under_way_goes_on_under_its_old_approval(
    config: SilasConfig, tmp_path: Path
) -> None:
    item = await interrupted(config, tmp_path / "work")
    done = await rotate_key(config, stolen=False)
    assert done.running == (item.id,)
    async with opened(config, resume=True) as house:
        result = await house.wait(item.id)
    assert result is not None
    assert result.status is WorkItemStatus.done
    assert (tmp_path / "work" / "result.txt").exists()


async def test_work_under_way_ends_where_the_old_key_was_stolen(
    config: SilasConfig, tmp_path: Path
) -> None:
    item = await interrupted(config, tmp_path / "work")
    done = await rotate_key(config, stolen=True)
    assert done.running == ()
    async with opened(config, resume=True) as house:
        result = await house.wait(item.id)
    assert result is not None
    assert result.status is WorkItemStatus.blocked
    assert not (tmp_path / "work" / "result.txt").exists()


async def test_a_used_approval_gets_no_second_use_by_the_rotation(
    config: SilasConfig, tmp_path: Path
) -> None:
    item = await interrupted(config, tmp_path / "work")
    await rotate_key(config, stolen=False)
    assert item.approval_token is not None
    async with opened(config) as house:
        assert await house.approval.check(item.approval_token, subject_of(item))
        verdict = await house.approval.verify(item.approval_token, subject_of(item))
        assert verdict.code == "E_APPROVAL_KEY_RETIRED"
    await rotate_key(config, stolen=False)  # it is still running, and vouched for again
    async with opened(config) as house:
        assert await house.approval.check(item.approval_token, subject_of(item))
    await rotate_key(config, stolen=True)  # a later key need not vouch for what an earlier one did
    async with opened(config) as house:
        verdict = await house.approval.check(item.approval_token, subject_of(item))
        assert verdict.code == "E_APPROVAL_KEY_RETIRED"


async def spent_by_hand(config: SilasConfig, token: ApprovalToken) -> None:
    """What somebody does who may write the database."""
    clock = SystemClock()
    db = Database(config.data_dir / "silas.db", clock)
    try:
        nonces = SqlNonceStore(db, clock, NonceConfig())
        use = TokenUse(token.token_id, token.plan_hash, "n", 1, token.expires_at)
        assert await nonces.spend(use, lambda number: None) == 1
    finally:
        db.close()


@pytest.mark.parametrize("minutes", [-10, 0, 10])
async def test_a_thief_of_the_old_key_authorises_nothing_whatever_date_he_writes(
    config: SilasConfig, minutes: int
) -> None:
    thief = a_copy_of_the_key(config)
    done = await rotate_key(config, stolen=False)
    moment = done.ring.former[-1].retired_at + timedelta(minutes=minutes)
    token = a_token(
        thief,
        SystemClock(),
        issued_at=moment,
        expires_at=moment + timedelta(days=1),
    )
    await spent_by_hand(config, token)  # he writes the database, too
    async with opened(config) as house:
        for ask in (house.approval.verify, house.approval.check):
            verdict = await ask(token, a_subject())
            expected = "E_APPROVAL_SIGNATURE" if minutes > 0 else "E_APPROVAL_KEY_RETIRED"
            assert verdict.code == expected


# ── Messages ─────────────────────────────────────────────────────────────────────────────────────


async def test_a_message_signed_with_the_old_key_is_not_the_owners(config: SilasConfig) -> None:
    thief = a_copy_of_the_key(config)
    await rotate_key(config, stolen=False)
    async with opened(config) as house:
        message = ChannelMessage(
            channel="cli", sender_id=OWNER, text="hello", timestamp=SystemClock().now()
        )
        signature = thief.sign(message_bytes(message, "n-1"))
        await house.stream.handle(Incoming(message, OWNER, signature, "n-1"))
    refused = named(await events(config), "message_signature_bad")
    assert [each["connection_id"] for each in refused] == [OWNER]


# ── The record ───────────────────────────────────────────────────────────────────────────────────


async def test_the_record_of_both_keys_verifies_and_says_what_happened(config: SilasConfig) -> None:
    async with opened(config) as house:
        await house.audit.log("stream_started", channel="test")  # and a checkpoint when it closes
    old = open_vault(config).public_key(config.owner_id)
    await rotate_key(config, stolen=False)
    new = open_vault(config).public_key(config.owner_id)
    async with open_audit(config) as service:
        assert (await service.verify_chain()).valid
        words = "\n".join(await service.narrate(20))
    assert "Your key was replaced" in words
    (said,) = named(await events(config), "key.rotated")
    assert (said["old"], said["new"]) == (old, new)


async def checkpoint_by_hand(
    config: SilasConfig, signer: Ed25519Signer, seq: int, entry_hash: str
) -> None:
    at = SystemClock().now().isoformat()
    body = canonical_json({"at": at, "entry_hash": entry_hash, "seq": seq})
    signed = CHECKPOINT_DOMAIN + body.encode()
    from silas.canonical import sha256_hex

    row = (f"checkpoint-{sha256_hex(signed)[:32]}", body, signer.sign(signed).hex())
    db = Database(config.data_dir / "silas.db", SystemClock())
    try:
        with db.write() as tx:
            tx.driver.execute(
                "INSERT INTO audit_checkpoints (checkpoint_id, body, signature) VALUES (?, ?, ?)",
                row,
            )
    finally:
        db.close()


async def test_the_old_key_signs_no_checkpoint_behind_its_time(config: SilasConfig) -> None:
    thief = a_copy_of_the_key(config)
    await rotate_key(config, stolen=False)
    async with open_audit(config) as service:
        head = await service.head()
        (before,) = await service.log.entries(limit=1)
    await checkpoint_by_hand(config, thief, before.seq, before.entry_hash)
    async with open_audit(config) as service:
        assert (await service.verify_chain()).valid  # inside its time, and true
    await checkpoint_by_hand(config, thief, head.seq, head.entry_hash)
    async with open_audit(config) as service:
        verdict = await service.verify_chain()
    assert not verdict.valid
    assert "was not signed by this owner's key" in verdict.reason


@pytest.mark.parametrize(
    ("said", "believed"),
    [
        ({"seq": 4, "entry_hash": "x"}, True),
        ({"seq": 5, "entry_hash": "head"}, True),
        ({"seq": 5, "entry_hash": "x"}, False),
        ({"seq": 6, "entry_hash": "x"}, False),
        ({"seq": True, "entry_hash": "x"}, False),
        ({"seq": "4", "entry_hash": "x"}, False),
        ({"entry_hash": "x"}, False),
        ({"seq": 4}, False),
        ([], False),
        (7, False),
    ],
)
def test_a_former_keys_checkpoint_counts_up_to_its_last_head(said: Any, believed: bool) -> None:
    from silas.keys.key_lock import NoKeyLock
    from silas.keys.key_ring import Handover, succeed
    from silas.testing.approval import a_signer

    old, new = a_signer("old"), a_signer("new")
    handover = Handover(SystemClock().now(), 5, "head", ())
    ring = KeyRing("o", new.public_key, (succeed("o", old, new, handover, ()),), NoKeyLock())
    data = CHECKPOINT_DOMAIN + canonical_json(said).encode()
    keys = CheckpointKeys(new, ring)
    assert keys.verify(data, old.sign(data)) is believed
    assert keys.verify(data, new.sign(data))
    other = data.removeprefix(CHECKPOINT_DOMAIN)  # a token or a message, but no checkpoint
    assert not keys.verify(other, old.sign(other))


async def test_a_record_rewritten_with_the_old_key_is_not_believed(config: SilasConfig) -> None:
    """Everything up to the replacement written anew, as a thief with database and old key does,
    who exchanges the kept head, too.
    """
    thief = a_copy_of_the_key(config)
    ring, _ = await rotate_key(config, stolen=False)
    path = config.data_dir / "silas.db"
    path.unlink()
    for beside in (f"{path}-wal", f"{path}-shm"):
        Path(beside).unlink(missing_ok=True)
    clock = SystemClock()
    db = Database(path, clock)
    try:
        db.migrate("silas.audit")
        forged = AuditLog(db, clock, thief)
        await forged.log("stream_started", channel="forged")
        signed = await forged.signed_head()
        for _ in range(2):
            await forged.log("stream_started", channel="forged")
    finally:
        db.close()
    head = SignedHead(*signed_head(signed), head_line(signed, thief.public_key))
    SignedHeads(config.data_dir / "keys" / "owner.kept-head.json").put(head)
    for zone in map(ZoneInfo, ("Pacific/Kiritimati", "Etc/GMT+12")):  # one has another day than UTC
        env = environment(config.data_dir.parent, SILAS_SCHEDULER__TIMEZONE=zone.key)
        async with open_audit(load_config(environ=env)) as service:
            verdict = await service.verify_chain()
        assert not verdict.valid
        day = ring.former[-1].retired_at.astimezone(zone)
        assert f"the owner's key was replaced on {day:%Y-%m-%d}." in verdict.reason


async def test_a_broken_record_is_not_vouched_for_by_a_new_key(config: SilasConfig) -> None:
    async with opened(config) as house:
        await house.audit.log("stream_started", channel="test")
    before = open_vault(config).public_key(config.owner_id)
    db = Database(config.data_dir / "silas.db", SystemClock())
    try:
        with db.write() as tx:
            tx.driver.execute("DROP TRIGGER IF EXISTS audit_log_no_update")
            tx.driver.execute("UPDATE audit_log SET body = replace(body, 'test', 'tost')")
    finally:
        db.close()
    with pytest.raises(DatabaseError):
        await rotate_key(config, stolen=False)
    assert open_vault(config).public_key(config.owner_id) == before


# ── Who may rotate, and when ─────────────────────────────────────────────────────────────────────


async def test_a_running_silas_keeps_its_key(config: SilasConfig) -> None:
    async with opened(config) as house:
        with pytest.raises(ConfigError) as raised:
            await rotate_key(config, stolen=False)
        assert raised.value.code == "E_CFG_KEY_BUSY"
        token = await house.approval.issue_token(a_subject(), a_decision())
        assert await house.approval.verify(token, a_subject())
    assert (await rotate_key(config, stolen=False)).ring.former


async def test_another_process_that_runs_keeps_the_key_and_its_death_frees_it(
    tmp_path: Path,
) -> None:
    home = await Home.set_up(tmp_path)
    with started(home.command(), home.env) as process:
        soon(home.asleep, "the step began")
        refused = run(silas("keys", "rotate"), home.env)
        assert (refused.code, "E_CFG_KEY_BUSY" in refused.err) == (2, True)
        process.kill()
        process.wait(timeout=SECONDS)
    soon(home.nobody, "the sandbox ended")
    done = run(silas("keys", "rotate"), home.env)
    assert done.code == 0, done.err
    assert "Still approved, because it was under way: task-nap" in done.out


def test_the_commands_show_and_export_the_keys_and_the_doctor_says_their_age(
    tmp_path: Path,
) -> None:
    env = environment(tmp_path / "home", SILAS_SCHEDULER__TIMEZONE="Asia/Kathmandu")
    assert run(silas("keys", "show"), env).code == 2
    assert run(silas("init"), env).code == 0
    (first,) = run(silas("keys", "export"), env).out.split()
    assert run(silas("keys", "rotate"), env).code == 0
    keys = run(silas("keys", "export"), env).out.splitlines()
    assert keys[0] == first
    assert len(keys) == 2
    shown = json.loads(run(silas("keys", "show", "--json"), env).out)
    assert shown["public_key"] == keys[1]
    assert [each["public_key"] for each in shown["former"]] == [first]
    words = run(silas("keys", "show"), env).out
    assert all(key in words for key in keys)
    ends = moment_words(datetime.fromisoformat(shown["former"][0]["retired_at"]), KATHMANDU)
    assert f"{first}, until {ends}" in words
    assert ends.endswith("(Asia/Kathmandu, UTC+05:45)")
    assert "does not protect against" in " ".join(words.split())
    findings = {each["part"]: each for each in json.loads(run(silas("doctor", "--json"), env).out)}
    assert shown["fingerprint"] in findings["key age"]["words"]
    assert "it followed 1 former key" in findings["key age"]["words"]
    assert findings["public key"]["words"] == keys[1]


# ── A crash in the middle ────────────────────────────────────────────────────────────────────────

CRASHES = """
import asyncio, json, os, shutil, sys
from pathlib import Path

from silas import load_config
from silas.keys import sealed
from silas.services.record import open_audit
from silas.services.setup.initialise import initialise
from silas.services.owner_key import rotate_key
from silas.home.key_vault import open_vault
from tests.support.command import environment

sealed._OPERATIONS, sealed._MEMORY = 1, 8192
folder = Path(sys.argv[1])
config_of = lambda place: load_config(environ=environment(place))
prepared = config_of(folder / "prepared")
asyncio.run(initialise(prepared))
old = open_vault(prepared).public_key("owner")

def dies_at(number):
    seen = 0
    def trace(frame, event, argument):
        nonlocal seen
        if not frame.f_code.co_filename.endswith(("services/owner_key.py", "keys/files.py")):
            return None
        if event == "line":
            seen += 1
            if seen == number:
                os._exit(9)
        return trace
    return trace

async def after(config):
    async with open_audit(config) as desk:
        verdict = await desk.verify_chain()
        entries = [json.loads(e.body) for e in await desk.log.entries(limit=100)]
        return {
            "valid": verdict.valid, "reason": verdict.reason,
            "key": "old" if desk.ring.current == old else "new",
            "said": sum(e["event"] == "key.rotated" for e in entries),
        }

for number in range(1, 2000):
    place = folder / str(number)
    shutil.copytree(folder / "prepared", place)
    if (child := os.fork()) == 0:
        sys.settrace(dies_at(number))
        asyncio.run(rotate_key(config_of(place), stolen=False))
        sys.settrace(None)
        os._exit(0)
    ended = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    told = asyncio.run(after(config_of(place)))
    again = asyncio.run(after(config_of(place)))  # what was caught up on is not told twice
    print(json.dumps({"ended": ended, **told, "again": again == told}), flush=True)
    shutil.rmtree(place)
    if ended == 0:
        break
"""


def test_after_a_crash_the_record_holds_and_names_the_key_in_force_once(tmp_path: Path) -> None:
    done = run(python(CRASHES, tmp_path), environment(tmp_path), imported=True)
    assert done.code == 0, done.err
    moments: list[dict[str, Any]] = [json.loads(line) for line in done.out.splitlines()]
    assert [each["ended"] for each in moments] == [9] * (len(moments) - 1) + [0]
    assert [each["reason"] for each in moments if not each["valid"]] == []
    assert all(each["again"] for each in moments)
    assert {(each["key"], each["said"]) for each in moments} == {("old", 0), ("new", 1)}
