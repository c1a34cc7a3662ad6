"""A plan that two processes of one home ask about: whoever answers first, nothing of it is lost."""

import asyncio
import errno
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from silas.cards import Card, PlanAnswer, PlanCard
from silas.goals.models import Outcome
from silas.plans import WorkItemStatus
from silas.plans.goals.standing import StandingLimit
from silas.services.work import scope_work
from silas.testing import Harness, MockClock, ScriptedChannel, ScriptedModel, plan_text
from silas.types import OWNER
from tests.goals.kit import START, WATCHED, Watched, after, goal_text, house, yes
from tests.stream.kit import (
    answering,
    done_sandbox,
    entries_of,
    plans_of,
    proposing,
    said,
    soon,
    to_planner,
)

PLAN = plan_text(verify=None)
NAME = "task-example"
ELSEWHERE = "You approved this plan somewhere else, and it runs there."


class Open(ScriptedChannel):
    """Cards of plans stay open until they are answered or closed."""

    def __init__(self, answer: Callable[[Card[Any]], Any] = yes) -> None:
        super().__init__(answer)
        self.shown = asyncio.Event()
        self.answer = asyncio.get_running_loop().create_future()

    async def ask(self, to: str, card: Card[Any]) -> Any:
        if not isinstance(card, PlanCard) or card.work_item_id == WATCHED:
            return await super().ask(to, card)
        self.cards.append(card)
        self.shown.set()
        return await self.answer


def process(home: Path, channel: ScriptedChannel, clock: MockClock) -> Harness:
    """Another process of this home."""
    return Harness(channel, sandbox=done_sandbox(), home=home, clock=clock, resume=False)


async def test_a_yes_elsewhere_is_said_of_work_that_runs_and_not_of_blocked_work(
    tmp_path: Path,
) -> None:
    clock, here = MockClock(), Open()
    async with process(tmp_path, here, clock) as h:
        asked = asyncio.create_task(h.silas.run(PLAN))
        await soon(here.shown.wait())
        there = ScriptedChannel(answering("approved"))
        async with process(tmp_path, there, clock) as other:
            done = await soon(other.silas.answer(NAME))
        told = await soon(asked)
        assert (told.status, told.summary) == (WorkItemStatus.running, ELSEWHERE)
        assert told.last_error is None
        kept = await h.store.get(NAME)
        assert kept is not None
        assert (kept.status, kept.approval_token is None) == (done.status, False)


async def test_changes_wanted_here_and_a_yes_elsewhere_leave_no_open_question(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock, here = MockClock(), Open()
    async with process(tmp_path, here, clock) as h:
        log = h.audit.log
        noting, goes_on = asyncio.Event(), asyncio.Event()

        async def slow(event: str, **data: Any) -> Any:
            if event == "plan_not_approved":
                noting.set()
                await goes_on.wait()
            return await log(event, **data)

        monkeypatch.setattr(h.audit, "log", slow)
        asked = asyncio.create_task(h.silas.run(PLAN))
        await soon(here.shown.wait())
        here.answer.set_result(PlanAnswer(verdict="edit_requested"))
        await soon(noting.wait())
        async with process(tmp_path, ScriptedChannel(answering("approved")), clock) as other:
            await soon(other.silas.answer(NAME))
        goes_on.set()
        told = await soon(asked)
        assert told.summary == ELSEWHERE
        assert await h.silas.runs.proposer.waiting() == []
        assert len(await entries_of(h, "plan_approved")) == 1


class Late(Open):
    """Says nothing, and is no more asked once its card's time is over."""

    def __init__(self, clock: MockClock) -> None:
        super().__init__()
        self._clock = clock

    async def ask(self, to: str, card: Card[Any]) -> Any:
        if not isinstance(card, PlanCard):
            return await super().ask(to, card)
        self.shown.set()
        await self._clock.sleep(card.timeout_seconds)
        return card.safe


async def test_the_time_of_one_card_is_over_and_the_other_stays_open(tmp_path: Path) -> None:
    clock, here = MockClock(), Open()
    late = Late(clock)
    async with process(tmp_path, here, clock) as h:
        asked = asyncio.create_task(h.silas.run(PLAN))
        await soon(here.shown.wait())
        async with process(tmp_path, late, clock) as other:
            asked_late = asyncio.create_task(other.silas.answer(NAME))
            await soon(late.shown.wait())
            clock.advance(30 * 24 * 3600)
            told = await soon(asked_late)
        assert told.status is WorkItemStatus.blocked
        assert told.summary.startswith("The plan waits for its owner; nothing was run.")
        assert [item.id for item in await h.silas.runs.proposer.waiting()] == [NAME]
        here.answer.set_result(PlanAnswer(verdict="approved"))
        assert (await soon(asked)).status is not WorkItemStatus.blocked
        assert len(await entries_of(h, "plan_approved")) == 1


async def test_a_no_of_a_person_closes_every_card(tmp_path: Path) -> None:
    clock, here = MockClock(), Open()
    async with process(tmp_path, here, clock) as h:
        asked = asyncio.create_task(h.silas.run(PLAN))
        await soon(here.shown.wait())
        async with process(tmp_path, ScriptedChannel(answering("declined")), clock) as other:
            await soon(other.silas.answer(NAME))
        told = await soon(asked)
        assert told.summary == "This plan was answered somewhere else, and nothing was run here."
        assert await h.silas.runs.proposer.waiting() == []


async def test_the_last_whose_time_is_over_declines(tmp_path: Path) -> None:
    clock = MockClock()
    late = Late(clock)
    async with process(tmp_path, late, clock) as h:
        asked = asyncio.create_task(h.silas.run(PLAN))
        await soon(late.shown.wait())
        clock.advance(30 * 24 * 3600)
        assert (await soon(asked)).summary == "The plan was not approved; nothing was run."
        assert await h.silas.runs.proposer.waiting() == []


def once(*_: object) -> StandingLimit:
    """One yes starts work once."""
    return StandingLimit(uses=1)


async def test_work_of_a_goal_that_is_approved_elsewhere_stays_approved(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("silas.wiring.session.standing_limit", once)
    here, clock, watched = Open(), MockClock(START), Watched()
    async with house(here, clock, watched, tmp_path) as h:
        await soon(h.silas.run(goal_text()))
        watched.good = False
        found = await after(watched, clock, 30 * 60, 1)
        assert found[0].outcome is Outcome.fixed
        watched.good = False
        clock.advance(30 * 60)
        await soon(here.shown.wait())
        (card,) = here.cards[-1:]
        assert isinstance(card, PlanCard)
        name = card.work_item_id
        async with Harness(
            ScriptedChannel(yes), sandbox=watched.sandbox, home=tmp_path, clock=clock, resume=False
        ) as other:
            done = await soon(other.silas.answer(name))
        assert done.status is WorkItemStatus.done
        found = await after(watched, clock, 0, 2)
        assert found[0].outcome is Outcome.asked
        assert ELSEWHERE in found[0].words
        task = await h.store.get(name)
        assert task is not None
        assert (task.status, task.approval_token is None) == (WorkItemStatus.done, False)


def asked_by_a_stranger(home: Path, channel: ScriptedChannel, clock: MockClock) -> Harness:
    models = {
        "proxy": ScriptedModel([to_planner()]),
        "planner": ScriptedModel([proposing(PLAN)]),
    }
    sandbox = done_sandbox()
    return Harness(channel, models=models, sandbox=sandbox, home=home, clock=clock, resume=False)


async def test_a_strangers_plan_that_is_approved_elsewhere_is_the_strangers_work(
    tmp_path: Path,
) -> None:
    clock, here, asked_for = MockClock(), Open(), list[str]()
    async with asked_by_a_stranger(tmp_path, here, clock) as h:
        asked = asyncio.create_task(h.silas.stream.handle(said(h, "run it", "stranger")))
        await soon(here.shown.wait())

        def answer(card: Card[Any]) -> Any:
            asked_for.append(scope_work(h.db, clock).scope_of(NAME))
            return yes(card)

        async with process(tmp_path, ScriptedChannel(answer), clock) as other:
            await soon(other.silas.answer(NAME))
        assert asked_for[:1] == ["stranger"]  # before its work begins
        reply = await soon(asked)
        assert reply.text.endswith(ELSEWHERE)


@pytest.mark.parametrize("verdict", ["declined", "conditional"])
async def test_an_id_of_a_strangers_plan_that_had_no_yes_is_nobodys(
    verdict: str, tmp_path: Path
) -> None:
    channel = ScriptedChannel(answering(verdict))
    async with asked_by_a_stranger(tmp_path, channel, MockClock()) as h:
        await soon(h.silas.stream.handle(said(h, "run it", "stranger")))
        assert plans_of(channel)
        assert not scope_work(h.db, h.clock).is_claimed(NAME)


OWN = plan_text(verify=None, title="Mine")


@pytest.mark.parametrize("denied", [True, False])
async def test_own_work_under_the_id_of_a_strangers_plan_without_a_yes_is_the_owners(
    denied: bool, tmp_path: Path
) -> None:
    clock = MockClock()
    waits = ScriptedChannel(answering("waiting"))
    async with asked_by_a_stranger(tmp_path, waits, clock) as h:
        await soon(h.silas.stream.handle(said(h, "run it", "stranger")))
    if denied:
        no = ScriptedChannel(answering("declined"))
        async with process(tmp_path, no, clock) as h:
            await soon(h.silas.answer(NAME))
    async with process(tmp_path, ScriptedChannel(yes), clock) as h:
        await soon(h.silas.run(OWN))
        found = scope_work(h.db, clock)
        assert await found.find_work(NAME, "stranger") is None
        assert found.scope_of(NAME) == OWNER


async def test_a_stranger_who_asks_for_the_id_of_an_open_plan_of_the_owners_does_not_get_it(
    tmp_path: Path,
) -> None:
    clock, here = MockClock(), Open()
    async with process(tmp_path, here, clock) as h:
        asked = asyncio.create_task(h.silas.run(OWN))
        await soon(here.shown.wait())
        waits = ScriptedChannel(answering("waiting"))
        async with asked_by_a_stranger(tmp_path, waits, clock) as other:
            await soon(other.silas.stream.handle(said(other, "run it", "stranger")))
            assert plans_of(waits)
        here.answer.set_result(PlanAnswer(verdict="approved"))
        await soon(asked)
        assert scope_work(h.db, clock).scope_of(NAME) == OWNER


async def test_a_pipe_that_cannot_be_opened_now_is_not_taken_for_a_dead_ones(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock, here = MockClock(), Open()
    async with process(tmp_path, here, clock) as h:
        asked = asyncio.create_task(h.silas.run(PLAN))
        await soon(here.shown.wait())
        pipes = sorted(tmp_path.rglob("plans/*.pipe"))
        opening = os.open

        def no_room(path: Any, *rest: Any, **more: Any) -> int:
            if path in pipes:
                raise OSError(errno.ENFILE, os.strerror(errno.ENFILE), str(path))
            return opening(path, *rest, **more)

        monkeypatch.setattr(os, "open", no_room)
        async with process(tmp_path, ScriptedChannel(answering("approved")), clock) as other:
            await soon(other.silas.answer(NAME))
        monkeypatch.undo()
        assert pipes
        assert all(pipe.exists() for pipe in pipes)
        here.answer.set_result(PlanAnswer(verdict="declined"))
        assert (await soon(asked)).summary == ELSEWHERE
