"""A task whose changes wait for a yes: its project waits, goes on after it, or fails after a no."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from silas.cards import Card, HeldCard, PlanAnswer, PlanCard
from silas.plans import WorkItemResult, WorkItemStatus
from silas.services.approvals import ApprovalService
from silas.services.tools.bindings import lapsed_by
from silas.stop import Sentinel
from silas.stop.epochs import StopEpochs
from silas.stream.look_answers import LookAnswers
from silas.stream.session import Session
from silas.testing import Harness, ScriptedChannel
from silas.testing.clock import MockClock
from silas.wiring.parts import Parts
from tests.goals.kit import until
from tests.projects.kit import PROJECT, project_text
from tests.support.waits import SECONDS


class Owner:
    """Says yes to plans, and one word to changes that wait."""

    def __init__(self, word: str = "keep") -> None:
        self.word = word
        self.channel = ScriptedChannel(self._answer)

    def _answer(self, card: Card[Any]) -> Any:
        if isinstance(card, PlanCard):
            return PlanAnswer(verdict="approved")
        return self.word if isinstance(card, HeldCard) else card.safe


def made(name: str, place: Path, **changes: Any) -> dict[str, Any]:
    """A task that makes a file of its name."""
    check = {"name": "there", "run": f"test -f {name}.txt", "expect": {"exit_code": 0}}
    body = f"```sh\ntouch {name}.txt\n```"
    return {"workspace": str(place), "verify": [check], "body": body, **changes}


def tasks(base: Path) -> dict[str, dict[str, Any]]:
    """`second` makes what its plan does not let it make; `third` waits for it, `aside` does not."""
    site, other = base / "site", base / "other"
    site.mkdir(exist_ok=True)
    other.mkdir(exist_ok=True)
    return {
        "first": made("first", site),
        "second": made("second", site, writes=["else.txt"], depends_on=["first"]),
        "third": made("third", site, depends_on=["second"]),
        "aside": made("aside", other, depends_on=["first"]),
    }


async def stands(h: Harness) -> dict[str, str]:
    found = [await h.store.get(name) for name in (PROJECT, "first", "second", "third", "aside")]
    return {one.id: one.status.value for one in found if one is not None}


def service_of(parts: Parts) -> ApprovalService:
    """What `silas approvals` works with, over the same home."""
    stops = StopEpochs(parts.db, parts.runtime.clock, Sentinel(parts.config.data_dir))
    return ApprovalService(
        parts.store, parts.waiting, parts.holding.held, parts.nonces, parts.audit, parts.time,
        stops, parts.context_services.work, [], LookAnswers(parts.db, parts.runtime.clock),
        lapsed_by(parts.binding, parts.signer, parts.runtime.ring, parts.config.scheduler.zone),
    )  # fmt: skip


async def ran(h: Harness, base: Path) -> WorkItemResult:
    result = await h.silas.run(project_text(tasks(base)))
    assert (await stands(h)) == {
        PROJECT: "blocked", "first": "done", "second": "blocked", "third": "pending",
        "aside": "done",
    }  # fmt: skip
    assert result.summary.startswith("The changes of its task second wait for your yes (`")
    assert result.summary.endswith("goes on with third, on a no it has failed.")
    assert not (base / "site" / "second.txt").exists()
    return result


ALL = {PROJECT: "done", "first": "done", "second": "done", "third": "done", "aside": "done"}
NONE = {
    PROJECT: "failed", "first": "done", "second": "blocked", "third": "blocked", "aside": "done"
}  # fmt: skip


async def test_it_waits_and_goes_on_after_a_yes(tmp_path: Path) -> None:
    owner = Owner()
    async with Harness(owner.channel) as h:
        await ran(h, tmp_path)
        owner.word = "apply"
        result = await h.silas.answer("second")
        assert (result.work_item_id, result.status) == (PROJECT, WorkItemStatus.done)
        assert await stands(h) == ALL
    assert sorted(p.name for p in (tmp_path / "site").iterdir()) == [
        "first.txt", "second.txt", "third.txt"
    ]  # fmt: skip


@pytest.mark.parametrize("where", ["card", "beside", "command"])
async def test_it_has_failed_after_a_no_and_nothing_more_of_it_begins(
    where: str, tmp_path: Path
) -> None:
    owner, parts = Owner(), list[Parts]()

    @asynccontextmanager
    async def beside(wired: Parts, session: Session) -> AsyncGenerator[None]:
        del session
        parts.append(wired)
        yield

    async with Harness(owner.channel, beside=beside) as h:
        await ran(h, tmp_path)
        owner.word = "drop"
        if where == "card":
            result = await h.silas.answer("second")
            assert (result.work_item_id, result.status) == (PROJECT, WorkItemStatus.failed)
        elif where == "beside":
            await h.silas.ask_again("second")
            async with asyncio.timeout(SECONDS):
                while (await stands(h))[PROJECT] == "blocked":
                    await asyncio.sleep(0)
            await h.silas.wait_for_work()
        else:
            await service_of(parts[0]).deny("second")
        assert await stands(h) == NONE
        known = await h.store.get_result(PROJECT)
        assert known is not None
        assert known.summary.endswith("Not begun: “Do third”.")
    assert not (tmp_path / "site" / "third.txt").exists()


async def test_silence_keeps_it_waiting_and_a_yes_after_a_restart_goes_on(tmp_path: Path) -> None:
    owner, clock, home = Owner(), MockClock(), tmp_path / "home"
    home.mkdir()
    async with Harness(owner.channel, home=home, clock=clock) as h:
        await ran(h, tmp_path)
        assert (await h.silas.answer("second")).work_item_id == "second"
        assert (await stands(h))[PROJECT] == "blocked"
    async with Harness(owner.channel, home=home, clock=clock) as h:
        await h.silas.wait_for_work()
        assert (await stands(h))["third"] == "pending"
        owner.word = "apply"
        await h.silas.answer("second")
        assert await stands(h) == ALL


async def test_a_process_that_ends_between_the_yes_and_going_on_goes_on_at_its_next_start(
    tmp_path: Path,
) -> None:
    owner, clock, home = Owner(), MockClock(), tmp_path / "home"
    home.mkdir()
    async with Harness(owner.channel, home=home, clock=clock) as h:
        await ran(h, tmp_path)
        owner.word = "apply"
        task = await h.store.get("second")
        assert task is not None
        await h.silas.runs.holding.answer(task)  # the crash comes here
        assert (await stands(h))[PROJECT] == "blocked"
    async with Harness(owner.channel, home=home, clock=clock) as h:
        await h.silas.wait(PROJECT)
        assert await stands(h) == ALL


async def test_a_yes_that_comes_while_it_still_runs_is_noticed_by_it(tmp_path: Path) -> None:
    owner = Owner()
    async with Harness(owner.channel) as h:
        given = tasks(tmp_path)
        given["aside"]["depends_on"] = ["first"]
        owner.word = "apply"
        result = await h.silas.run(project_text(given))
        assert result.status is WorkItemStatus.done  # the card was answered at once
        assert await stands(h) == ALL
        await until(lambda: not h.silas.runs.executor.running())


async def test_once_its_approval_has_expired_a_yes_applies_the_changes_and_begins_no_further(
    tmp_path: Path,
) -> None:
    owner = Owner()
    async with Harness(owner.channel) as h:
        await ran(h, tmp_path)
        h.clock.advance(24 * 3600)
        owner.word = "apply"
        result = await h.silas.answer("second")
        assert result.status is WorkItemStatus.blocked
        assert "expired" in result.summary
        assert (await stands(h))["third"] == "blocked"
