"""Files that a goal moves inside one folder, under one yes: used, counted, narrowed, taken back."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

from silas.cards import Card, PlanCard
from silas.goals.models import Cycle, GoalState, Outcome
from silas.language import speak
from silas.testing import ScriptedChannel, plan_text
from silas.testing.clock import MockClock
from tests.cockpit.house import House, a_house, proof
from tests.goals.kit import START, yes
from tests.goals.test_narrowing import widened
from tests.projects.test_held import service_of
from tests.support.waits import SECONDS

MOVES = "goal-downloads"
DAY = 24 * 3600
FRIDAY = datetime(2026, 12, 4, 22, 59, tzinfo=UTC)
DOES = (
    "Starts work by itself in `Downloads` each time one of its checks fails; that work may change "
    "files ending in `.pdf` and files in `Papers`, without a network; you can undo it."
)
MAY_DE = "was darfst du ohne zu fragen tun?"
MAY = "what may you do without asking?"
TEMPLATE = """$failed_checks

Move every PDF of the folder itself into Papers.

```sh
mkdir -p Papers
mv -n -- *.pdf Papers/
```
"""


def moves_text(folder: Path) -> str:
    """A goal that moves what lies around."""
    fields: dict[str, Any] = {
        "id": MOVES,
        "type": "goal",
        "title": "Papers are where they belong",
        "schedule": "0 7 * * *",
        "workspace": str(folder),
        "writes": ["*.pdf", "Papers", "Papers/*"],
        "verify": [
            {
                "name": "no_pdf_lies_around",
                "run": "test -z \"$(find . -maxdepth 1 -name '*.pdf')\"",
                "expect": {"exit_code": 0},
            }
        ],
        "on_failure": "spawn_task",
        "failure_context": TEMPLATE,
    }
    return plan_text(**fields)


class Owner(NamedTuple):
    """Who lives with the goal: a folder, a Silas with its pages, and cards with answers."""

    folder: Path
    cockpit: House
    clock: MockClock
    channel: ScriptedChannel
    answers: list[str]

    def files(self) -> list[str]:
        """What the folder has, below it too."""
        found = (one for one in self.folder.rglob("*") if one.is_file())
        return sorted(str(one.relative_to(self.folder)) for one in found)

    async def bill_comes(self, name: str) -> Cycle:
        """A bill lies around, and the goal is due."""
        (self.folder / f"{name}.pdf").write_bytes(b"%PDF-1.4 " + name.encode())
        return await self.a_day()

    async def a_day(self) -> Cycle:
        """The goal is due once."""
        store = self.cockpit.parts.goals().store

        def ended() -> list[Cycle]:
            return [one for one in store.history(MOVES, 100) if one.ended_at is not None]

        before = len(ended())
        self.clock.advance(DAY)
        async with asyncio.timeout(SECONDS):
            while len(ended()) == before:
                await asyncio.sleep(0)
        return ended()[0]

    async def says(self, words: str) -> str:
        """What Silas answers."""
        return (await self.cockpit.harness.silas.ask(words)).text

    async def may_do(self) -> str:
        """What of this yes is left, the same at each door."""
        (row,) = (await self.cockpit.get("/ahead"))["alone"]
        assert row["does"] == DOES
        (alone,) = (await self.cockpit.harness.silas.ahead(1)).alone
        assert alone.does == DOES
        told = await self.says(MAY)
        assert f"- “{row['title']}”: {DOES} {row['left']}." in told
        rows = await service_of(self.cockpit.parts).list_given()
        (given,) = [one for one in rows if one.item.id == MOVES]
        assert (given.used, given.of_all) == (alone.used, alone.uses)
        assert given.token.expires_at == alone.until
        return str(row["left"])


@asynccontextmanager
async def an_owner(folder: Path, **settings: Any) -> AsyncGenerator[Owner]:
    """The folder, and a Silas that moves nothing yet."""
    folder.mkdir()
    (folder / "song.mp3").write_bytes(b"a song")
    answers: list[str] = []

    def answer(card: Card[Any]) -> Any:
        return yes(card) if (answers.pop(0) if answers else "yes") == "yes" else card.safe

    channel, clock = ScriptedChannel(answer), MockClock(START)
    async with a_house(channel, clock=clock, settings=settings) as cockpit:
        yield Owner(folder, cockpit, clock, channel, answers)


def asked(owner: Owner) -> list[str]:
    """Which work had a card."""
    return [card.work_item_id for card in owner.channel.cards if isinstance(card, PlanCard)]


async def test_thirty_times_until_friday_used_narrowed_used_up_and_taken_back(
    tmp_path: Path,
) -> None:
    async with an_owner(tmp_path / "Downloads") as owner:
        silas = owner.cockpit.harness.silas
        await widened(owner.cockpit.harness, "40")
        await silas.run(moves_text(owner.folder))
        (card,) = owner.channel.cards
        assert isinstance(card, PlanCard)
        assert card.effect == DOES
        await silas.narrow(MOVES, uses=30, until=FRIDAY)
        assert await owner.may_do() == "used 0 of 30, until Friday 4 December 2026, 23:59"
        moved = list[Cycle]()
        for number, name in enumerate(("rent", "water", "light"), start=1):
            moved.append(await owner.bill_comes(name))
            assert moved[-1].outcome is Outcome.fixed, moved
            left = f"used {number} of 30, until Friday 4 December 2026, 23:59"
            assert await owner.may_do() == left
        healthy = await owner.a_day()
        assert (healthy.outcome, healthy.task_id) == (Outcome.healthy, "")
        assert owner.files() == [
            *(f"Papers/{n}.pdf" for n in ("light", "rent", "water")),
            "song.mp3",
        ]
        assert asked(owner) == [MOVES]
        # what one cycle moved goes back, and the next one moves it again
        assert (await silas.undo(moved[-1].task_id)).taken_back == (moved[-1].task_id,)
        assert "light.pdf" in owner.files()
        assert (await owner.a_day()).outcome is Outcome.fixed
        assert await owner.may_do() == "used 4 of 30, until Friday 4 December 2026, 23:59"
        # narrowed on the page to one more time; the time after that has a card, and a no is one
        body = {"uses": 1, "proof": proof()}
        assert (await owner.cockpit.client.post(f"/goals/{MOVES}/narrow", json=body)).is_success
        assert await owner.may_do() == "used 4 of 5, until Friday 4 December 2026, 23:59"
        assert (await owner.bill_comes("phone")).outcome is Outcome.fixed
        assert (await owner.cockpit.get("/ahead"))["alone"] == []
        (over,) = (await owner.cockpit.get("/ahead"))["asking"]
        assert over["why"].startswith("What it starts asks you each time, because every use ")
        owner.answers[:] = ["no"]
        declined = await owner.bill_comes("heat")
        assert declined.outcome is Outcome.declined
        assert asked(owner) == [MOVES, declined.task_id]
        assert "heat.pdf" in owner.files()
        await _taken_back(owner)


async def _taken_back(owner: Owner) -> None:
    silas = owner.cockpit.harness.silas
    # approved anew it works; taken back it pauses, moves nothing, and asks when run again
    await silas.run(moves_text(owner.folder))
    assert (await owner.a_day()).outcome is Outcome.fixed
    assert "heat.pdf" not in owner.files()
    assert "Taken back" in await owner.says(f"take back the approval of {MOVES}")
    assert "Nothing. Each piece of work asks you first." in await owner.says(MAY)
    assert (await owner.bill_comes("tax")).outcome is Outcome.refused
    assert owner.cockpit.parts.goals().get(MOVES).state is GoalState.paused
    assert "tax.pdf" in owner.files()
    cards = len(owner.channel.cards)
    await silas.run(moves_text(owner.folder))
    assert len(owner.channel.cards) == cards + 1
    assert (await owner.a_day()).outcome is Outcome.fixed
    assert await owner.may_do() == "used 1 of 40, until Saturday 2 January 2027, 09:10"


async def test_the_owner_reads_it_in_german(tmp_path: Path) -> None:
    try:
        async with an_owner(tmp_path / "Downloads", language="de") as owner:
            await owner.cockpit.harness.silas.run(moves_text(owner.folder))
            assert (await owner.bill_comes("rent")).outcome is Outcome.fixed
            told = await owner.says(MAY_DE)
            assert (
                "diese Arbeit darf Dateien mit der Endung `.pdf` und Dateien in `Papers` ändern"
                in told
            ), told
            assert "1 von 20 Mal benutzt, bis Donnerstag, 24. Dezember 2026, 09:10." in told, told
            told = await owner.says(f"begrenze die Freigabe von {MOVES} auf 2")
            assert "darf seine Arbeit noch 2 Mal beginnen, ohne zu fragen" in told, told
            assert (
                "1 von 3 Mal benutzt, bis Donnerstag, 24. Dezember 2026, 09:10."
                in await owner.says(MAY_DE)
            )
            told = await owner.says(f"nimm die Freigabe von {MOVES} zurück")
            assert "Zurückgenommen" in told, told
            assert "Nichts." in await owner.says(MAY_DE)
    finally:
        speak("en")
