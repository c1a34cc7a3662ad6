"""What is forgotten is gone from the results on the pages, open, come back or new."""

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from silas.agents import ExecutorAgentOutput
from silas.channels.web.events import MessageEvent, PostExecution
from silas.channels.web.forgotten_content import ForgottenContent
from silas.channels.web.pages import Pages
from silas.channels.web.transcript import Transcript
from silas.clock import SystemClock
from silas.damage import damaged_rows
from silas.db import Database
from silas.home.database import migrate
from silas.stream.scope_work import NOT_SHOWN
from silas.testing import ScriptedModel
from silas.types import OWNER
from tests.cockpit.house import a_house
from tests.cockpit.program_page import ProgramPage, a_page
from tests.support.pages import NothingForgotten
from tests.support.plans import a_workspace, sh_plan
from tests.web.support.cockpit import Cockpit, Home, a_cockpit, forget
from tests.work.kit import owner, sh

SOURCE = "tool:shell_exec"
COPY = "copy the notes"


def telling() -> dict[str, Any]:
    """An executor that does the work, prints a name and reports it."""
    report = ExecutorAgentOutput(summary="Mia is 7.")
    return {"executor": ScriptedModel([sh("cp input.txt result.txt; echo Mia"), report])}


async def ended(page: ProgramPage) -> dict[str, Any]:
    """The result of the work, as it came while nothing was forgotten."""
    await page.say(COPY)
    plan = await page.next("approval_request")
    await page.answer(plan, type="approval_response", verdict="approved")
    result = await page.next("post_execution")
    assert "Mia" in result["output"]
    assert "Mia" in result["report"]
    return result


def kept(cockpit: Cockpit) -> str:
    """The results that are kept of the conversation."""
    part = cockpit.channel.transcript.after(0, 200).kept
    return "\n".join(one.model_dump_json() for one in part if isinstance(one, PostExecution))


async def test_what_is_forgotten_leaves_the_results_on_every_page(tmp_path: Path) -> None:
    home = Home(tmp_path)
    async with (
        a_cockpit(home, models=telling()) as cockpit,
        a_page(cockpit.origin, await cockpit.link()) as page,
    ):
        await page.connect()
        seq = (await ended(page))["seq"]
        earlier = f"/transcript?before={seq + 1}"
        await forget(cockpit.config, "tool:elsewhere")
        assert (await page.next("withheld"))["seqs"] == []
        assert "Mia" in (await page.get(earlier)).text
        await forget(cockpit.config, SOURCE)
        gone = {"type": "withheld", "seqs": [seq], "words": NOT_SHOWN}
        assert await page.next("withheld") == gone
        older: Any = (await page.get(earlier)).json()
        assert "Mia" not in json.dumps(older)
        last = older["transcript"][-1]
        assert (last["output"], last["report"]) == (NOT_SHOWN, NOT_SHOWN)
        await page.gone()
        assert (await page.connect(after=seq))["complete"]
        assert await page.next("withheld") == gone
        await page.gone()
        assert "Mia" not in json.dumps(await page.connect())
        assert "Mia" not in kept(cockpit)


async def test_what_was_forgotten_while_silas_was_away_is_gone_when_it_is_back(
    tmp_path: Path,
) -> None:
    home = Home(tmp_path)
    async with a_cockpit(home, models=telling()) as cockpit:
        page = ProgramPage(cockpit.origin, None)
        async with a_page(cockpit.origin, await cockpit.link()) as other:
            await other.connect()
            seq = (await ended(other))["seq"]
        await page.pair(await cockpit.link())
        port, config = int(cockpit.origin.rpartition(":")[2]), cockpit.config
    await forget(config, SOURCE)
    async with a_cockpit(home, port=port) as cockpit:
        assert "Mia" in kept(cockpit)
        assert "Mia" not in (await page.get(f"/transcript?before={seq + 1}")).text
        await page.connect(after=seq)
        assert (await page.next("withheld"))["seqs"] == [seq]
        await page.end()


async def test_what_an_earlier_run_printed_stays_forgotten_when_the_work_runs_again(
    tmp_path: Path,
) -> None:
    async with a_house(owner()) as house:
        plan = sh_plan("echo Mia", workspace=str(a_workspace(tmp_path / "project")))
        item = (await house.harness.silas.run(plan)).work_item_id
        work = house.parts.context_services.work
        await forget(house.harness.config, SOURCE)
        assert await work.rests_on_forgotten(item, ever=False)
        work.claim(item, OWNER, ())
        assert not await work.rests_on_forgotten(item, ever=False)
        assert await work.rests_on_forgotten(item, ever=True)
        assert await work.rests_on_forgotten("task-nobody-has", ever=False)


async def test_a_result_of_an_earlier_run_is_asked_about_as_one(tmp_path: Path) -> None:
    clock = SystemClock()
    db = Database(tmp_path / "silas.db", clock)
    db.migrate("silas.channels.web")
    transcript = Transcript(db, NothingForgotten())
    for output in ("first", "second", ""):
        transcript.add_result(
            PostExecution(
                seq=0,
                work_item_id="task-1",
                title="Look",
                status="done",
                summary="Done.",
                output=output,
                timestamp=clock.now(),
            )
        )

    looks = ForgottenContent(transcript, Pages(), OfEarlierRuns(), "Gone.")
    await looks.look()
    shown = [one.output for one in transcript.after(0, 9).kept if isinstance(one, PostExecution)]
    assert looks.all().seqs == (1, 2)
    assert shown == ["Gone.", "Gone.", ""]
    db.close()


class OfEarlierRuns:
    """Everything that an earlier run of any work rested on was forgotten."""

    def newest(self) -> int:
        return 1

    async def rests(self, work_item_id: str, *, ever: bool) -> bool:
        assert work_item_id == "task-1"
        return ever

    def gone_since(self, last: int) -> Callable[[Sequence[str]], bool]:
        raise AssertionError(f"there is no message, so nobody asks what was forgotten since {last}")


@pytest.mark.parametrize("damaged", ['{"type":"post_execution"}', "[]", "7", "null", "{"])
async def test_a_damaged_row_is_set_aside_and_hinders_no_look(tmp_path: Path, damaged: str) -> None:
    clock = SystemClock()
    db = Database(tmp_path / "silas.db", clock)
    migrate(db)
    transcript = Transcript(db, NothingForgotten())
    first = MessageEvent(seq=0, id="a", text="before", sender="owner", timestamp=clock.now())
    transcript.add(first)
    with db.write() as tx:
        tx.driver.execute(
            "INSERT INTO web_transcript (id, body) VALUES ('result-x', ?)", (damaged,)
        )
    transcript.add(first.model_copy(update={"id": "b", "text": "after"}))
    for part in (transcript.after(0, 9), transcript.before(9, 9)):
        assert [one.text for one in part.kept if isinstance(one, MessageEvent)] == [
            "before",
            "after",
        ]
    assert transcript.results(0) == []
    transcript.mark_undone("x")
    (noted,) = damaged_rows(db)
    assert noted.words.startswith("place 2 in `web_transcript` of the database was changed")
    db.close()
