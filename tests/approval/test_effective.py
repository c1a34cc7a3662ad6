"""Time never goes back for approvals, and never stands still (decision B19)."""

import asyncio
import json
import sqlite3
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import NamedTuple
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from silas.approval import ApprovalConfig, ApprovalToken, NonceConfig
from silas.approval.effective_clock import (
    AGREES,
    GRAIN,
    JUMP,
    ClockMark,
    EffectiveClock,
    begin,
    step,
)
from silas.approval.engine import ApprovalEngine
from silas.approval.nonces import SqlNonceStore
from silas.approval.pruning import prune_nonces
from silas.audit import AuditLog
from silas.channels.web.sessions import WebSessions
from silas.clock import Uptime
from silas.db import Database
from silas.home.database import migrate
from silas.keys import KeyRing
from silas.stop import Sentinel
from silas.stop.epochs import StopEpochs
from silas.testing import Harness, MockClock, ScriptedChannel
from silas.testing.approval import a_decision, a_signer, a_subject
from silas.testing.tools import a_context
from silas.tools import CallFacts
from silas.tools.models import validated_call
from silas.tools.outcomes import SqlOutcomeStore, is_flapping, is_storming
from tests.stream.kit import saying_yes
from tests.support.command import environment, run, silas

VIENNA = ZoneInfo("Europe/Vienna")
NOON = datetime(2026, 1, 2, 12, tzinfo=UTC)
HOUR, MINUTE = timedelta(hours=1), timedelta(minutes=1)


class Machine(MockClock):
    """A machine whose clock somebody sets; what passes, passes."""

    def __init__(self) -> None:
        super().__init__(NOON)

    def set_by(self, by: timedelta) -> None:
        self._now += by


class House:
    """An engine over a database; `restart` is another process over the same one."""

    def __init__(self, folder: Path) -> None:
        self.machine, self.folder = Machine(), folder
        self.db = Database(folder / "silas.db", self.machine)
        migrate(self.db, ("silas.audit", "silas.stop", "silas.approval"))
        self.restart()

    def restart(self) -> None:
        signer = a_signer()
        audit = AuditLog(self.db, self.machine, signer)
        self.time = EffectiveClock(self.db, self.machine, audit.log_now)
        self.nonces = SqlNonceStore(self.db, self.time, NonceConfig())
        stops = StopEpochs(self.db, self.machine, Sentinel(self.folder))
        ring = KeyRing.alone(signer.public_key)
        self.engine = ApprovalEngine(
            signer, self.nonces, audit, self.time, ApprovalConfig(), stops, ring, VIENNA
        )

    async def approved(self, days: int = 0) -> ApprovalToken:
        return await self.engine.issue_token(a_subject(), a_decision(), ttl_minutes=days * 24 * 60)

    async def valid(self, token: ApprovalToken) -> str:
        """Empty where it authorises one more use; the code of the refusal otherwise."""
        return (await self.engine.verify(token, a_subject())).code

    async def prune(self) -> None:
        """What a running Silas does now and then."""
        if self.time.may_forget():
            await self.nonces.prune_expired(self.time.now() - 40 * MINUTE)


@pytest.fixture
def house(tmp_path: Path) -> Iterator[House]:
    found = House(tmp_path)
    yield found
    found.db.close()


class Case(NamedTuple):
    """Where a process begins, and where its next look ends."""

    mark: ClockMark
    machine: datetime
    passed: timedelta
    at: datetime
    jumped: bool
    up: Uptime = Uptime("another start", 1.0)


UP = Uptime("this start", 1000.0)
AGREED = ClockMark(NOON, NOON, up=UP)
BACK = ClockMark(NOON, NOON - HOUR, up=UP)  # effective time is an hour ahead
WEEK_LATER = Uptime("this start", 1000.0 + 7 * 86400)
UNNAMED = ClockMark(NOON, NOON, up=Uptime("", 1000.0))

CASES = {
    "time goes on": Case(AGREED, NOON + MINUTE, MINUTE, NOON + MINUTE, False),
    "the clock went back": Case(AGREED, NOON - HOUR, MINUTE, NOON + MINUTE + GRAIN, False),
    "the machine was off for a night": Case(
        AGREED, NOON + 9 * HOUR, MINUTE, NOON + 9 * HOUR, False
    ),
    "a day and no more": Case(AGREED, NOON + JUMP, MINUTE, NOON + JUMP, False),
    "the machine was off for a week": Case(AGREED, NOON + 7 * JUMP, MINUTE, NOON + 7 * JUMP, True),
    "the machine slept for a week": Case(
        AGREED, NOON + 7 * JUMP, MINUTE, NOON + 7 * JUMP + MINUTE, False, WEEK_LATER
    ),
    "it slept for a week, and was set by another": Case(
        AGREED, NOON + 14 * JUMP, MINUTE, NOON + 14 * JUMP, True, WEEK_LATER
    ),
    "it slept for a week, and was set back": Case(
        AGREED, NOON - HOUR, MINUTE, NOON + 7 * JUMP + MINUTE, False, WEEK_LATER
    ),
    "what the machine does not name is not compared": Case(
        UNNAMED, NOON + 7 * JUMP, MINUTE, NOON + 7 * JUMP, True, Uptime("", 1000.0 + 7 * 86400)
    ),
    "behind, and time passed": Case(
        BACK, NOON - 30 * MINUTE, MINUTE, NOON + 31 * MINUTE + GRAIN, False
    ),
    "behind, and set back more": Case(BACK, NOON - 3 * HOUR, MINUTE, NOON + MINUTE + GRAIN, False),
    "behind, and caught up": Case(BACK, NOON + 2 * HOUR, MINUTE, NOON + 2 * HOUR, False),
}


@pytest.mark.parametrize("name", CASES)
def test_where_time_goes_on(name: str) -> None:
    case = CASES[name]
    before = begin(case.mark, case.machine, case.up)
    first = step(before, case.machine)
    second = step(max(first.at, before + case.passed), case.machine)
    assert (second.at, first.jumped) == (case.at, case.jumped)


async def test_a_spent_approval_is_never_valid_again_however_the_clock_is_set(house: House) -> None:
    token = await house.approved()
    assert await house.valid(token) == ""
    assert await house.valid(token) == "E_APPROVAL_SPENT"
    house.machine.set_by(2 * HOUR)
    await house.prune()
    house.machine.advance(2 * 3600)
    await house.prune()
    house.machine.set_by(-4 * HOUR)
    assert await house.valid(token) != ""
    house.restart()
    assert await house.valid(token) != ""


async def test_what_expired_stays_expired_when_the_clock_goes_back(house: House) -> None:
    token = await house.approved()
    house.machine.set_by(HOUR)
    assert await house.valid(token) == "E_APPROVAL_EXPIRED"
    house.machine.set_by(-HOUR)
    assert await house.valid(token) == "E_APPROVAL_EXPIRED"
    house.restart()
    assert await house.valid(token) == "E_APPROVAL_EXPIRED"


async def test_what_is_issued_behind_the_mark_expires_in_its_time_over_restarts_too(
    house: House,
) -> None:
    house.time.now()
    house.machine.set_by(-5 * HOUR)
    token = await house.approved()
    house.machine.advance(20 * 60)
    assert await house.valid(token) == ""
    house.restart()
    later = await house.approved()
    house.machine.set_by(31 * MINUTE)  # no process ran meanwhile
    house.restart()
    assert await house.valid(later) == "E_APPROVAL_EXPIRED"


async def test_a_jump_of_more_than_a_day_voids_what_was_approved_and_asks_the_owner(
    house: House,
) -> None:
    token, spent = await house.approved(), await house.approved()
    assert await house.valid(spent) == ""
    house.machine.set_by(400 * JUMP)
    assert await house.valid(token) == "E_APPROVAL_VOID"
    await house.prune()
    assert await house.nonces.uses(spent.token_id) == 1  # nothing is forgotten by a jump
    state = house.time.state()
    assert state.unconfirmed
    assert "silas approvals clock --confirm" in state.words(VIENNA)
    assert await house.valid(await house.approved()) == ""  # a new yes counts
    house.machine.set_by(-400 * JUMP)
    house.restart()
    assert await house.valid(token) == "E_APPROVAL_VOID"
    assert house.time.state().ahead


async def test_the_owner_confirms_a_jump_and_pruning_goes_on(house: House) -> None:
    assert await house.valid(await house.approved()) == ""
    house.machine.set_by(3 * JUMP)
    assert house.time.state().unconfirmed
    assert not house.time.may_forget()
    assert not house.time.confirm().words(VIENNA)
    assert house.time.may_forget()
    house.restart()
    assert not house.time.state().words(VIENNA)


async def test_a_machine_that_was_off_for_a_week_asks_nothing_where_nothing_is_at_stake(
    house: House,
) -> None:
    assert await house.valid(await house.approved()) == ""
    house.machine.advance(2 * 3600)
    await house.prune()
    house.time.now()
    house.machine.set_by(7 * JUMP)
    house.restart()
    assert house.time.state().words(VIENNA) == ""


async def test_after_the_owner_confirmed_a_clock_that_went_back_old_approvals_are_void(
    house: House,
) -> None:
    house.machine.set_by(2 * HOUR)
    token = await house.approved()
    other = EffectiveClock(house.db, house.machine, lambda *_, **__: None)  # another process
    other.now()
    house.machine.set_by(-2 * HOUR)
    assert house.time.state().ahead
    assert await house.valid(await house.approved()) == ""
    assert house.time.confirm().at == house.machine.now()
    assert await house.valid(token) == "E_APPROVAL_VOID"
    assert other.now() == house.time.now() == house.machine.now()


async def test_a_message_from_before_what_was_forgotten_counts_no_more(house: House) -> None:
    said = house.machine.now()
    await house.nonces.record("msg", "n")
    assert await house.nonces.remembers(said)
    house.machine.set_by(2 * HOUR)
    house.restart()  # as after a boot with a wrong clock: nobody can see that it is
    await house.prune()
    assert not await house.nonces.is_used("msg", "n")
    house.machine.set_by(-2 * HOUR)
    assert not await house.nonces.remembers(said)


async def test_nothing_is_forgotten_while_the_clock_has_just_jumped(house: House) -> None:
    await house.nonces.record("msg", "n")
    house.time.now()
    house.machine.set_by(2 * HOUR)
    await house.prune()
    assert await house.nonces.is_used("msg", "n")
    house.machine.advance(2 * 3600)
    await house.prune()
    assert not await house.nonces.is_used("msg", "n")


async def test_a_damaged_mark_voids_what_was_approved_and_is_told(house: House) -> None:
    token = await house.approved()
    for damage in ("no moment", b"\xff\xfe", "2026-01-02T12:00:00", 7):
        with house.db.write() as tx:
            tx.driver.execute("UPDATE effective_time SET reached = ?", (damage,))
        house.restart()
        assert await house.valid(token) == "E_APPROVAL_VOID"
        assert house.time.state().unconfirmed


@pytest.mark.parametrize("runs", [True, False], ids=["Silas runs", "no Silas runs"])
async def test_an_approval_outlasts_a_machine_that_slept_for_a_weekend(
    house: House, runs: bool
) -> None:
    token = await house.approved(days=30)
    house.machine.suspend(3 * 86400)
    if not runs:
        house.restart()
    assert house.time.state().words(VIENNA) == ""
    assert await house.valid(token) == ""
    assert house.time.now() == house.machine.now()


async def test_what_a_machine_that_was_off_cannot_tell_voids_what_was_approved(
    house: House,
) -> None:
    token = await house.approved(days=30)
    house.machine.off(3 * 86400)
    house.restart()
    assert await house.valid(token) != ""


MOVES = st.one_of(
    st.tuples(st.just("passes"), st.integers(0, 3 * 3600)),
    st.tuples(st.just("sleeps"), st.integers(0, 3 * 86400)),
    st.tuples(st.just("sleeps, and no process"), st.integers(0, 3 * 86400)),
    st.tuples(st.just("is set"), st.integers(-3 * 86400, 3 * 86400)),
    st.tuples(st.just("is off"), st.integers(-3 * 86400, 3 * 86400)),
    st.tuples(st.just("prunes"), st.just(0)),
)


@given(st.lists(MOVES, max_size=12))
def test_over_any_walk_of_the_clock_time_goes_on_and_nothing_becomes_valid_again(
    tmp_path_factory: pytest.TempPathFactory, walk: list[tuple[str, int]]
) -> None:
    async def walked() -> None:
        house = House(tmp_path_factory.mktemp("walk"))
        try:
            spent = await house.approved()
            assert await house.valid(spent) == ""
            over, last, begun = False, house.time.now(), house.time.now()
            passed = 0.0
            for what, seconds in walk:
                if what == "passes":
                    house.machine.advance(seconds)
                    passed += seconds
                elif what.startswith("sleeps"):
                    house.machine.suspend(seconds)
                    passed += seconds
                    if what != "sleeps":
                        house.restart()
                elif what == "is set":
                    house.machine.set_by(timedelta(seconds=seconds))
                elif what == "is off":
                    house.machine.set_by(timedelta(seconds=seconds))
                    house.restart()
                else:
                    await house.prune()
                now = house.time.now()
                assert now >= last
                assert now - begun >= timedelta(seconds=passed) - GRAIN  # it does not stand still
                last = now
                assert await house.valid(spent) != ""
                refused = not await house.engine.check(spent, a_subject())
                assert not over or refused  # what authorises nothing any more never does again
                assert refused or now < spent.expires_at
                over = refused
        finally:
            house.db.close()

    asyncio.run(walked())


async def test_a_running_silas_prunes_by_effective_time(house: House) -> None:
    await house.nonces.record("msg", "n")
    for _ in range(8):
        await prune_nonces(house.nonces, house.time, NonceConfig())
        house.machine.advance(600)
    await prune_nonces(house.nonces, house.time, NonceConfig())
    assert not await house.nonces.is_used("msg", "n")
    assert AGREES < HOUR


async def pruned(harness: Harness) -> None:
    """Let the pruning of a running Silas come round once."""
    for _ in range(3):
        await asyncio.sleep(0)
    harness.clock.advance(10 * 60)
    for _ in range(3):
        await asyncio.sleep(0)


async def test_in_a_whole_silas_a_spent_approval_stays_spent_when_the_clock_is_set_back(
    tmp_path: Path,
) -> None:
    machine = Machine()
    async with Harness(ScriptedChannel(saying_yes), clock=machine, home=tmp_path) as h:
        token = await h.approval.issue_token(a_subject(), a_decision())
        assert await h.approval.verify(token, a_subject())
        machine.set_by(2 * HOUR)
        await pruned(h)
    async with Harness(clock=machine, home=tmp_path) as h:  # and while it was not open
        await pruned(h)
        machine.set_by(-2 * HOUR - 30 * MINUTE)
        assert not await h.approval.verify(token, a_subject())
    async with Harness(clock=machine, home=tmp_path) as h:
        assert not await h.approval.verify(token, a_subject())


async def test_a_pairing_link_that_expired_pairs_nobody_when_the_clock_is_set_back(
    house: House,
) -> None:
    house.db.migrate("silas.channels.web")
    sessions = WebSessions(house.db, house.time)
    link = sessions.add_link()
    house.machine.set_by(HOUR)
    assert sessions.link(link).state == "expired"
    house.machine.set_by(-HOUR)
    assert sessions.link(link).state == "expired"
    house.restart()
    assert not WebSessions(house.db, house.time).use_link(link, "device-1")


async def test_limits_on_what_goes_out_count_though_the_clock_goes_back(house: House) -> None:
    house.db.migrate("silas.tools")
    outcomes = SqlOutcomeStore(house.db, house.time)
    house.machine.set_by(5 * HOUR)
    house.time.now()
    house.machine.set_by(-5 * HOUR)
    call = validated_call("notify", "send", {})
    facts = CallFacts(target="somebody", outbound=True)
    assert outcomes.begin("k" * 64, call, a_context(), facts, idempotent=False) is None
    assert is_storming(outcomes, facts, house.time.now(), 1)
    assert is_flapping(outcomes, call, facts, house.time.now(), 60)


def test_the_owner_is_told_of_the_clock_and_sets_it_right(
    tmp_path: Path,
) -> None:
    env = environment(tmp_path / "home", SILAS_SCHEDULER__TIMEZONE="Asia/Kathmandu")
    assert run(silas("init"), env).code == 0
    right = run(silas("approvals", "clock"), env)
    assert right.out.count("(Asia/Kathmandu, UTC+05:45)") == 2, right
    ahead = (datetime.now(UTC) + 3 * HOUR).isoformat(timespec="microseconds")
    with sqlite3.connect(tmp_path / "home" / "data" / "silas.db") as db:
        db.execute("UPDATE effective_time SET reached = ?, machine = ?", (ahead, ahead))
    db.close()
    for command in (("doctor",), ("approvals", "list"), ("approvals", "clock")):
        told = " ".join(run(silas(*command), env).out.split())
        assert "The clock of this machine went back" in told
        assert told.count("(Asia/Kathmandu, UTC+05:45)") >= 2, told
        assert "silas approvals clock --confirm" in told
    assert run(silas("approvals", "clock", "--confirm"), env).code == 0
    state = json.loads(run(silas("approvals", "clock", "--json"), env).out)
    assert state["words"] == ""
    assert "that the machine's clock is right" in run(silas("audit", "show"), env).out
