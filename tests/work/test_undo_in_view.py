"""What was taken back is told to who answers next, at once and after a restart."""

from pathlib import Path

from silas.plans import WorkItemStatus
from silas.testing import Harness, ScriptedModel
from tests.stream.kit import direct, soon
from tests.work.kit import DONE, EVERYTHING, at_work

TAKEN_BACK = (
    "status: done\ntaken back by the owner: what it changed is as it was before\nresult: Done"
)


async def seen(harness: Harness, proxy: ScriptedModel) -> str:
    """What the model that answers is shown of the work."""
    await soon(harness.silas.ask("where do my files lie now?"))
    return proxy.requests[-1].text


async def test_what_answers_knows_that_work_was_taken_back(project: Path, tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    async with at_work(EVERYTHING, DONE, home=home) as work:
        assert (await work.run(workspace=str(project))).status is WorkItemStatus.done
    proxy = ScriptedModel([direct("There."), direct("Back."), direct("Back.")])
    async with Harness(models={"proxy": proxy}, home=home) as harness:
        text = await seen(harness, proxy)
        assert "work item task-example: " in text
        assert "status: done\nresult: Done" in text
        await harness.silas.undo("task-example")
        assert TAKEN_BACK in await seen(harness, proxy)
    async with Harness(models={"proxy": proxy}, home=home) as again:
        assert TAKEN_BACK in await seen(again, proxy)


async def test_work_that_was_taken_back_is_not_named_again(project: Path, tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    async with at_work(EVERYTHING, DONE, home=home) as work:
        assert (await work.run(workspace=str(project))).status is WorkItemStatus.done
    async with Harness(models={"proxy": ScriptedModel([])}, home=home) as h:
        assert "`silas undo task-example`" in (await soon(h.silas.ask("undo that"))).text
        await h.silas.undo("task-example")
        assert "task-example" not in (await soon(h.silas.ask("undo that"))).text
