"""A standing approval made smaller at every door: fewer uses, an earlier end; never more."""

import asyncio
from collections.abc import Sequence
from datetime import timedelta

import pytest

from silas.approval import ApprovalToken
from silas.autonomy.calibrate import AutonomyCalibrator
from silas.autonomy.proposals import AutonomyThresholdChange, AutonomyThresholdProposal
from silas.autonomy.signals import STANDING_FAMILY, USED_UP_FAMILY, Signal
from silas.autonomy.store import SqlAutonomyStore
from silas.cards import ChannelMessage, PlanCard
from silas.errors import ApprovalError
from silas.goals.models import Outcome
from silas.main.approval_lines import approval_document, uses_words
from silas.sandbox import SandboxFiles, SandboxLimits, SandboxResult
from silas.services.cockpit.ahead import CockpitAhead
from silas.services.schedules.standing import configured_knobs
from silas.stream.models import Incoming
from silas.testing import FakeSandbox, Harness, ScriptedChannel
from silas.testing.clock import MockClock
from silas.types import OWNER
from tests.cockpit.house import House, a_house, proof
from tests.goals.kit import (
    HALF_AN_HOUR,
    START,
    WATCHED,
    Watched,
    after,
    goal_text,
    house,
    yes,
)
from tests.projects.test_held import service_of
from tests.stream.kit import entries_of
from tests.support.waits import SECONDS


class Repairing(FakeSandbox):
    """One in which a repair waits until it may go on."""

    reached: asyncio.Event
    go: asyncio.Event

    async def run(
        self, argv: Sequence[str], limits: SandboxLimits, files: SandboxFiles
    ) -> SandboxResult:
        """Wait where it repairs."""
        if any("repair" in word for word in argv):
            self.reached.set()
            await self.go.wait()
        return await super().run(argv, limits, files)


class UnderRepair(Watched):
    """What is watched, in such a sandbox."""

    def __init__(self) -> None:
        super().__init__()
        self.repair = Repairing(self._ran)
        self.repair.reached, self.repair.go = asyncio.Event(), asyncio.Event()
        self.sandbox = self.repair


async def token_of(h: Harness) -> ApprovalToken:
    goal = await h.store.get(WATCHED)
    assert goal is not None
    assert goal.approval_token is not None
    return goal.approval_token


async def test_what_is_left_starts_work_and_then_a_card_asks() -> None:
    channel, clock, watched = ScriptedChannel(yes), MockClock(START), Watched()
    async with house(channel, clock, watched) as h:
        await h.silas.run(goal_text())
        former = await token_of(h)
        until = clock.now() + timedelta(days=3, seconds=47)
        now = await h.silas.narrow(WATCHED, uses=1, until=until)
        smaller = await token_of(h)
        assert (now.uses, smaller.max_executions) == (1, 1)
        assert smaller.expires_at == now.until == until
        assert smaller.plan_hash == former.plan_hash
        assert smaller.conditions == former.conditions  # nothing was used of it before
        for number in (1, 2):
            watched.good = False
            found = await after(watched, clock, HALF_AN_HOUR, number)
            assert found[0].outcome is Outcome.fixed
        assert len(channel.cards) == 2  # the goal's, and one for the second work
        (entry,) = await entries_of(h, "approval.narrowed")
        assert (entry["token_id"], entry["former"]) == (smaller.token_id, former.token_id)
        (used,) = [
            one
            for one in await entries_of(h, "approval.used")
            if one["token_id"] == smaller.token_id
        ]
        assert used["work_item_id"] != WATCHED
        assert await watched.parts.nonces.is_used("revoked", former.token_id)


async def test_fewer_uses_put_the_end_nowhere_else_and_every_door_shows_it() -> None:
    channel, clock, watched = ScriptedChannel(yes), MockClock(START), Watched()
    async with house(channel, clock, watched) as h:
        await h.silas.run(goal_text())
        ends = (await token_of(h)).expires_at
        clock.advance(47)
        await h.silas.narrow(WATCHED, uses=9)
        clock.advance(47)
        said = (await h.silas.ask(f"narrow the approval of {WATCHED} to 3 uses")).text
        assert "until Thursday 24 December 2026, 09:10 (" in said
        assert (await token_of(h)).expires_at == ends
        (given,) = [
            one for one in await service_of(watched.parts).list_given() if one.item.id == WATCHED
        ]
        (alone,) = (await h.silas.ahead(1)).alone
        assert given.token.expires_at == alone.until == ends
        room = CockpitAhead(
            watched.parts.ahead_service, watched.parts.narrowing, watched.parts.secrecy.redact
        )
        left = "used 0 of 3, until Thursday 24 December 2026, 09:10"
        assert [one.left for one in (await room.look(1)).alone] == [left]
        assert left in (await h.silas.ask("what may you do on your own?")).text


async def test_what_was_used_before_it_was_narrowed_is_told_and_widens_nothing() -> None:
    channel, clock, watched = ScriptedChannel(yes), MockClock(START), Watched()
    async with house(channel, clock, watched) as h:
        await h.silas.run(goal_text())
        watched.good = False
        await after(watched, clock, HALF_AN_HOUR, 1)
        await h.silas.narrow(WATCHED, uses=5)
        watched.good = False
        await after(watched, clock, HALF_AN_HOUR, 2)
        await h.silas.narrow(WATCHED, uses=1)
        token = await token_of(h)
        assert (token.max_executions, await watched.parts.nonces.uses(token.token_id)) == (1, 0)
        left = "used 2 of 3, until Thursday 24 December 2026, 09:10"
        room = CockpitAhead(
            watched.parts.ahead_service, watched.parts.narrowing, watched.parts.secrecy.redact
        )
        (one,) = (await room.look(1)).alone
        assert (one.left, one.uses_left) == (left, 1)
        assert left in (await h.silas.ask("what may you do on your own?")).text
        given = {one.item.id: one for one in await service_of(watched.parts).list_given()}
        assert uses_words(given[WATCHED], h.config.scheduler.zone).startswith("used 2 of 3, ")
        assert approval_document(given[WATCHED])["used_before"] == 2
        for number in (3, 4):
            watched.good = False
            await after(watched, clock, HALF_AN_HOUR, number)
        assert len(channel.cards) == 2  # the goal's, and one for the work after the last use
        with pytest.raises(ApprovalError):
            await h.silas.narrow(WATCHED, uses=1)


@pytest.mark.parametrize(
    ("uses", "days", "says"),
    [
        (20, None, "changes nothing"),
        (21, None, "20 uses left"),
        (None, 31, "puts no end off"),
        (5, 31, "puts no end off"),
        (None, -1, "leaves nothing"),
    ],
)
async def test_what_would_not_be_smaller_is_refused_and_changes_nothing(
    uses: int | None, days: int | None, says: str
) -> None:
    channel, clock, watched = ScriptedChannel(yes), MockClock(START), Watched()
    async with house(channel, clock, watched) as h:
        await h.silas.run(goal_text())
        former = await token_of(h)
        until = None if days is None else clock.now() + timedelta(days=days)
        with pytest.raises(ApprovalError, match=says):
            await h.silas.narrow(WATCHED, uses=uses, until=until)
        assert await token_of(h) == former
        assert await entries_of(h, "approval.narrowed") == []
        with pytest.raises(ApprovalError, match="There is no approval for 'goal-none'"):
            await h.silas.narrow("goal-none", uses=1)


@pytest.mark.parametrize(
    "said",
    [
        f"narrow the approval of {WATCHED} to 3 uses",
        f"Limit my approval for {WATCHED} to 3.",
        f"Schränke die Freigabe von {WATCHED} auf 3 Mal ein",
        f"begrenze die Freigabe für {WATCHED} auf 3",
    ],
)
async def test_it_is_narrowed_in_words_of_the_owner_and_of_nobody_else(said: str) -> None:
    channel, clock, watched = ScriptedChannel(yes), MockClock(START), Watched()
    async with house(channel, clock, watched) as h:
        await h.silas.run(goal_text())
        message = ChannelMessage(
            channel="mail", sender_id="mallory", text=said, timestamp=clock.now()
        )
        await h.silas.stream.handle(Incoming(message, "mail:mallory"))
        assert (await token_of(h)).max_executions == 20
        reply = await h.silas.ask(said)
        assert "3 times more without asking" in reply.text
        assert "until Thursday 24 December 2026, 09:10 (Europe/Vienna, UTC+01:00)." in reply.text
        assert (await token_of(h)).max_executions == 3


@pytest.mark.parametrize(
    "said",
    [
        f"take back the approval of {WATCHED}",
        f"Nimm die Freigabe von {WATCHED} zurück.",
        f"widerrufe die Freigabe von {WATCHED}",
    ],
)
async def test_it_is_taken_back_in_words(said: str) -> None:
    channel, clock, watched = ScriptedChannel(yes), MockClock(START), Watched()
    async with house(channel, clock, watched) as h:
        await h.silas.run(goal_text())
        assert "Taken back" in (await h.silas.ask(said)).text
        assert len(await entries_of(h, "approval.revoked")) == 1
        assert "no standing approval" in (await h.silas.ask(said)).text


async def widened(h: Harness, value: str, key: str = "standing.max_executions") -> None:
    """The owner approved on a card that one yes starts work more often, or for longer."""
    store = SqlAutonomyStore(h.db)
    change = AutonomyThresholdChange(
        key=key, current_value="20", proposed_value=value, direction="widen"
    )
    proposal = AutonomyThresholdProposal(
        proposal_id="threshold-1", scope_id=OWNER, changes=(change,), sample_size=30,
        correction_rate=0.0, evidence_window="last 30 decisions", rationale="All went well.",
        risk_level="high", created_at=h.clock.now(),
    )  # fmt: skip
    store.put_proposal("standing:goals", proposal, 1)
    store.decide(proposal, "approve", proposal, "token-1", h.clock.now(), lambda: None)


@pytest.mark.parametrize(
    "said", ["tighten approvals", "Tighten all my approvals!", "Freigaben verschärfen"]
)
async def test_a_widened_setting_is_read_shown_and_tightened_in_one_act(said: str) -> None:
    channel, clock, watched = ScriptedChannel(yes), MockClock(START), Watched()
    async with house(channel, clock, watched) as h:
        await widened(h, "40")
        await h.silas.run(goal_text())
        card = channel.cards[-1]
        assert isinstance(card, PlanCard)
        assert any("without asking 40 times" in line for d in card.details for line in d.lines)
        assert (await token_of(h)).max_executions == 40
        told = (await h.silas.ask(said)).text
        assert (
            "how often one yes to a goal starts work (`standing.max_executions`): 40 is 20 " in told
        )
        assert "nothing was widened" in (await h.silas.ask(said)).text
        (entry,) = await entries_of(h, "autonomy_tightened")
        assert entry["changed"] == ["standing.max_executions = 20"]
        await h.silas.run(goal_text())
        assert (await token_of(h)).max_executions == 20


async def test_approvals_that_last_longer_by_a_card_say_so_and_are_shortened_again() -> None:
    channel, clock, watched = ScriptedChannel(yes), MockClock(START), Watched()
    async with house(channel, clock, watched) as h:
        await widened(h, "60", "standing.expires_at")
        await h.silas.run(goal_text())
        card = channel.cards[-1]
        assert isinstance(card, PlanCard)
        assert any("20 times within 60 days" in line for d in card.details for line in d.lines)
        token = await token_of(h)
        assert token.expires_at - token.issued_at == timedelta(days=60)
        told = (await h.silas.ask("tighten approvals")).text
        assert "how many days one yes to a goal lasts (`standing.expires_at`): 60 is 30 " in told
        await h.silas.run(goal_text())
        token = await token_of(h)
        assert token.expires_at - token.issued_at == timedelta(days=30)


async def test_what_was_tightened_by_a_card_stays_so() -> None:
    async with Harness() as h:
        await widened(h, "10")
        assert h.silas.tighten().changed == ()
        kept = SqlAutonomyStore(h.db).thresholds(OWNER)
    assert kept == {"standing.max_executions": "10"}


async def narrow(cockpit: House, uses: int, **more: object) -> int:
    body = {"uses": uses, "proof": proof(), **more}
    answer = await cockpit.client.post(f"/goals/{WATCHED}/narrow", json=body)
    return answer.status_code


async def test_the_cockpit_narrows_with_a_proof_over_the_number() -> None:
    async with a_house(ScriptedChannel(yes)) as cockpit:
        await cockpit.harness.silas.run(goal_text(schedule="0 7 * * *"))
        (alone,) = (await cockpit.get("/ahead"))["alone"]
        assert alone["uses_left"] == 20
        assert await narrow(cockpit, 10, proof=proof(b"another's")) == 403
        assert await narrow(cockpit, 0) == 400
        assert await narrow(cockpit, 21) == 409
        assert await narrow(cockpit, 10) == 200
        (alone,) = (await cockpit.get("/ahead"))["alone"]
        assert alone["uses_left"] == 10
        assert (await cockpit.signed("/approvals/tighten")).status_code == 200
        assert (await cockpit.post("/approvals/tighten")).status_code == 400


@pytest.mark.parametrize("how", ["narrow", "tighten"])
async def test_what_the_owner_narrowed_is_not_proposed_to_be_widened_for_90_days(how: str) -> None:
    channel, clock, watched = ScriptedChannel(yes), MockClock(START), Watched()
    async with house(channel, clock, watched) as h:
        await h.silas.run(goal_text())
        store = SqlAutonomyStore(watched.parts.db)
        calibrator = AutonomyCalibrator(
            h.config.autonomy, 3, configured_knobs(h.config), store, h.approval, h.audit, clock
        )

        async def proposed() -> int:
            """After a month of work that went well, and a card because every use was spent."""
            for _ in range(h.config.autonomy.min_samples + 1):
                store.note(Signal(STANDING_FAMILY, "approved"), clock.now())
            store.note(Signal(USED_UP_FAMILY, "approved"), clock.now())
            return len(await calibrator.evaluate(OWNER, clock.now()))

        if how == "narrow":
            await h.silas.narrow(WATCHED, uses=1, until=None)
        else:
            await widened(h, "40")
            assert h.silas.tighten().changed
        clock.set_to(clock.now() + timedelta(days=89))
        assert await proposed() == 0
        clock.set_to(clock.now() + timedelta(days=2))
        assert await proposed() == 1


async def test_narrowing_names_the_work_under_way_that_it_ends() -> None:
    channel, clock, watched = ScriptedChannel(yes), MockClock(START), UnderRepair()
    async with house(channel, clock, watched) as h:
        await h.silas.run(goal_text())
        watched.good = False
        clock.advance(HALF_AN_HOUR)
        async with asyncio.timeout(SECONDS):
            await watched.repair.reached.wait()
        (task,) = await h.store.list_by_parent(WATCHED)
        said = await h.silas.ask(f"narrow the approval of {WATCHED} to 3 uses")
        assert f"ended before its next effect: {task.id}." in said.text
        again = await h.silas.narrow(WATCHED, uses=2)
        assert again.ends == ()  # nothing runs under this one
        watched.repair.go.set()
        found = await after(watched, clock, 0, 1)
        assert found[0].outcome is Outcome.not_fixed
