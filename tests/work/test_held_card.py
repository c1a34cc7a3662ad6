"""What the card of changes that wait tells besides them, and that it forgets with memory (B22)."""

from pathlib import Path

import pytest

from silas.agents import ExecutorAgentOutput
from silas.stream.scope_work import NOT_SHOWN
from silas.testing import CallTool
from tests.web.support.cockpit import forget
from tests.work.kit import at_work, sh
from tests.work.test_held import CHECK, Owner, held_on, lines

TELLS = ExecutorAgentOutput(summary="The notes speak of milk for Mia.")
PRINTED = "What it printed (not Silas's words)"
REPORT = "The executor's report (its own words; on record: 2 calls ran)"


@pytest.fixture
def desk(tmp_path: Path) -> Path:
    root = tmp_path / "desk"
    root.mkdir()
    (root / "notes.md").write_text("Buy milk for Mia.\n")
    (root / "run.sh").write_text("grep -q milk notes.md\n")
    return root


async def test_the_card_tells_what_was_found_printed_and_reported(desk: Path) -> None:
    owner = Owner()
    steps = (CallTool("shell_exec", {"argv": ["cat", "notes.md"]}), sh("echo : >> run.sh"), TELLS)
    check = [{**CHECK[0], "run": "sh run.sh"}]
    async with at_work(*steps, channel=owner.channel) as work:
        await held_on(work, desk, verify=check)
    [card] = owner.held
    assert lines(card, "What its checks found").startswith("there: ")
    assert lines(card, "What its own checks run, and it changed") == "run.sh"
    assert "Buy milk for Mia." in lines(card, PRINTED)
    assert lines(card, REPORT) == "The notes speak of milk for Mia."


async def test_what_was_forgotten_is_on_no_card_of_changes_that_wait(
    desk: Path, tmp_path: Path
) -> None:
    home, owner = tmp_path / "home", Owner()
    home.mkdir()
    steps = (CallTool("shell_exec", {"argv": ["cat", "notes.md"]}), sh("rm run.sh"), TELLS)
    async with at_work(*steps, channel=owner.channel, home=home) as work:
        await held_on(work, desk)
        await forget(work.harness.config, "tool:elsewhere")
        await work.silas.answer("task-example")
        await forget(work.harness.config, "tool:shell_exec")
        await work.silas.answer("task-example")
    first, second, third = owner.held
    assert first == second
    assert (lines(third, PRINTED), lines(third, REPORT)) == (NOT_SHOWN, NOT_SHOWN)
    assert "run.sh: it is deleted" in lines(third, "What needs your word, and why")
    assert third.digest == first.digest
