"""Running work says how it is going to a channel that can show it, and to no other."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from silas.cards import Card, PlanAnswer, PlanCard, ToolCallCard
from silas.channels.web.events import Progress
from silas.channels.web.reports import progress_of
from silas.plans import WorkItem, WorkItemResult
from silas.testing import CallTool, MockClock, ScriptedChannel, ScriptedModel
from silas.work.models import ENDED, NOTHING_YET, Notify, ProgressEvent
from silas.work.progress_board import MOST_LINES, MOST_STEPS, ProgressBoard
from silas.work.step_descriptions import step_words
from tests.cockpit.house import a_house
from tests.cockpit.test_secrets import CANARY
from tests.support.plans import a_workspace, check, sh_plan
from tests.support.waits import SECONDS
from tests.work.kit import DONE, argv, owner, sh


class Screen(ScriptedChannel):
    """Shows running work, and keeps every picture of it."""

    def __init__(self, *, call: bool = False) -> None:
        def answer(card: Card[Any]) -> Any:
            if isinstance(card, PlanCard):
                return PlanAnswer(verdict="approved")
            return "approve" if call and isinstance(card, ToolCallCard) else card.safe

        super().__init__(answer)
        self.shown: list[Progress] = []

    def showing(
        self, item: WorkItem, result: Callable[[str], Awaitable[WorkItemResult | None]]
    ) -> Notify:
        """As the cockpit's channel does."""
        del result

        async def notify(event: ProgressEvent) -> None:
            self.shown.append(progress_of(item, event))

        return notify


def _plan(workspace: Path, **more: Any) -> str:
    return sh_plan("true", workspace=str(workspace), verify=check("true"), **more)


async def _run(tmp_path: Path, screen: Screen, *steps: Any, **house: Any) -> list[Progress]:
    model = ScriptedModel([*steps, DONE], tokens=(10, 5), cost_usd="0.01")
    workspace = a_workspace(tmp_path / "project")
    async with a_house(screen, models={"executor": model}, **house) as cockpit:
        await cockpit.harness.silas.run(_plan(workspace))
        await asyncio.wait_for(cockpit.harness.silas.wait_for_work(), SECONDS)
    return screen.shown


async def test_each_call_is_shown_when_it_begins_and_how_it_ended(tmp_path: Path) -> None:
    shown = await _run(
        tmp_path, Screen(), sh("echo one; echo two"), argv("false"), argv("cat", "input.txt")
    )
    running = [p.steps[-1].words for p in shown if p.steps and p.steps[-1].state == "running"]
    assert "Run sh -c 'echo one; echo two'" in running
    assert "Run cat input.txt" in running
    last = shown[-1]
    assert [(step.words, step.state) for step in last.steps] == [
        ("Run sh -c 'echo one; echo two'", "done"),
        ("Run false", "failed"),
        ("Run cat input.txt", "done"),
        ("Checking: checked", "done"),
    ]
    assert all(step.seconds >= 0 for step in last.steps)
    assert {"one", "two", "as it was"} <= set(last.log_tail)
    assert last.status in ENDED
    assert not last.stoppable


async def test_the_budget_counts_what_the_run_under_way_has_used(tmp_path: Path) -> None:
    shown = await _run(tmp_path, Screen(), argv("true"), argv("true"))
    tokens = [int(p.budget[0].words.split()[0]) for p in shown if p.budget]
    assert tokens == sorted(tokens)
    assert tokens[0] == 0
    assert tokens[-1] == 45  # three answers of the model
    assert 15 in tokens
    last = {line.words: line.share for line in shown[-1].budget}
    assert last["1 of 5 attempts"] == 0.2
    assert not any(line.tight for line in shown[-1].budget)
    assert "$0.03 of $2.00" in last


async def test_what_tools_put_out_is_shown_without_secrets_and_without_tricks(
    tmp_path: Path,
) -> None:
    screen = Screen()
    model = ScriptedModel([sh(f"printf '{CANARY}\\n\\033[2Jwiped\\n'"), DONE])
    workspace = a_workspace(tmp_path / "project")
    async with a_house(screen, models={"executor": model}) as house:
        house.harness.secrets.add("TOKEN", CANARY, house.harness.clock.now())
        house.parts.secrecy.refresh()
        await house.harness.silas.run(_plan(workspace))
    said = "\n".join(progress.model_dump_json() for progress in screen.shown)
    assert "wiped" in said
    assert CANARY not in said
    assert "\\u001b" not in said


async def test_what_runs_is_heard_while_it_runs_and_no_part_of_a_secret_is() -> None:
    async with a_house(Screen()) as house:
        house.harness.secrets.add("TOKEN", CANARY, house.harness.clock.now())
        house.parts.secrecy.refresh()
        board, news = house.parts.board, asyncio.Event()
        board.follow("task-1", news.set)
        hear, half = board.hears("task-1"), len(CANARY) // 2
        shown = list[tuple[str, ...]]()
        for piece in (f"the token: {CANARY[:half]}", f"{CANARY[half:]}\nand \033[2Jmore\n"):
            hear(piece.encode())
            await asyncio.wait_for(news.wait(), SECONDS)
            news.clear()
            shown.append(board.going("task-1").log_tail)
        hear(b"x" * 1_000_000)
        await asyncio.wait_for(news.wait(), SECONDS)
        assert max(map(len, board.going("task-1").log_tail)) <= 241
        board.leave("task-1")
        hear(b"nobody follows")
        assert board.going("task-1") == NOTHING_YET
    first, second = ("\n".join(tail) for tail in shown)
    assert first.startswith("the token:")
    assert CANARY[:half] not in first + second
    assert "more" in second
    assert "\033" not in second


async def test_a_check_that_fails_is_a_step_that_failed_and_its_output_is_shown(
    tmp_path: Path,
) -> None:
    screen = Screen()
    workspace = a_workspace(tmp_path / "project")
    model = ScriptedModel([argv("true"), DONE])
    verify = check("echo looked; sleep 0.4; false")
    budget = {"max_attempts": 1}
    plan = sh_plan("true", workspace=str(workspace), verify=verify, budget=budget)
    async with a_house(screen, models={"executor": model}) as house:
        await house.harness.silas.run(plan)
    live = [p for p in screen.shown if p.steps and p.steps[-1].state == "running"]
    assert any("looked" in p.log_tail for p in live if p.steps[-1].words == "Checking: checked")
    last = screen.shown[-1].steps[-1]
    assert (last.words, last.state) == ("Checking: checked", "failed")


async def test_a_call_that_is_asked_about_begins_when_it_was_allowed(tmp_path: Path) -> None:
    screen = Screen(call=True)
    call = CallTool("web_fetch", {"url": "https://example.org/"})
    shown = await _run(tmp_path, screen, call)
    states = {(step.words, step.state) for p in shown for step in p.steps}
    assert ("Read the page https://example.org/", "running") in states
    assert len(shown[-1].steps) == 2


async def test_work_that_was_stopped_says_so_to_every_page(tmp_path: Path) -> None:
    screen = Screen()
    workspace = a_workspace(tmp_path / "project")
    plan = sh_plan("sleep 60", workspace=str(workspace))
    async with a_house(screen) as house:
        silas = house.harness.silas
        item = silas.parse(plan)
        run = asyncio.create_task(silas.run(plan))
        async with asyncio.timeout(SECONDS):
            while not any(p.steps for p in screen.shown):
                await asyncio.wait([run], timeout=0.01)
        assert screen.shown[-1].message == "Run sleep 60"
        assert (await house.post(f"/work/{item.id}/cancel")).status_code == 200
        await asyncio.wait_for(asyncio.wait([run]), SECONDS)
        last = screen.shown[-1]
    assert (last.status, last.stoppable) == ("paused", False)


async def test_work_that_runs_again_is_shown_again(tmp_path: Path) -> None:
    screen = Screen()
    model = ScriptedModel([argv("true"), DONE, argv("false"), argv("true"), DONE])
    workspace = a_workspace(tmp_path / "project")
    async with a_house(screen, models={"executor": model}) as house:
        plan = _plan(workspace)
        await house.harness.silas.run(plan)
        assert len(screen.shown[-1].steps) == 2
        await house.harness.silas.run(plan)
        assert [step.state for step in screen.shown[-1].steps] == ["failed", "done", "done"]
        assert house.parts.board.followed == ()


async def test_lines_of_text_are_told_as_ever(tmp_path: Path) -> None:
    channel = owner()
    model = ScriptedModel([argv("true"), argv("true"), DONE])
    workspace = a_workspace(tmp_path / "project")
    async with a_house(channel, models={"executor": model}) as house:
        await house.harness.silas.run(_plan(workspace))
        assert house.parts.board.followed == ()  # nobody follows, so nothing is kept
    assert channel.texts == [
        "working: attempt 1",
        "The executor's report (its own words; on record: 2 calls ran):\n    Did it.",
        "done: Done and verified: checked.",
    ]


def test_of_long_work_only_the_last_is_kept_and_a_repeat_says_so() -> None:
    from silas.plans import BudgetTracker, PlanParser
    from silas.tools import ToolResult

    item = PlanParser().parse(sh_plan("true"))
    board, looks = ProgressBoard(str, str, MockClock()), list[int]()
    tracker = BudgetTracker(item.budget, item.budget_used, MockClock())
    board.follow(item.id, lambda: looks.append(1))
    with board.attempt(item, tracker, lambda: item.budget_used) as watch:
        for number in range(100):
            with watch("shell_exec", {"argv": ["echo", str(number)]}) as ended:
                ended(ToolResult(ok=True, return_value=f"{number}\n" * 500 + "x" * 9000))
        with watch("shell_exec", {"argv": ["echo", "again"]}) as ended:
            ended(ToolResult(ok=True, return_value="shown before", deduped=True))
    going = board.going(item.id)
    repeat = "Run echo again (answered from before; it did not run again)"
    assert going.steps[-1].words == repeat
    assert "shown before" not in going.log_tail
    assert len(going.steps) == MOST_STEPS
    assert going.steps[-2].words == "Run echo 99"
    assert len(going.log_tail) == MOST_LINES
    assert max(map(len, going.log_tail)) <= 241
    assert len(looks) == 204
    board.leave(item.id)
    assert board.going(item.id) == NOTHING_YET


@pytest.mark.parametrize(
    ("tool", "args", "words"),
    [
        ("shell_exec", {"argv": ["pytest", "-q", "a b"]}, "Run pytest -q 'a b'"),
        ("shell_exec", {"argv": "no list"}, "Run "),
        ("shell_exec", {}, "Run "),
        ("python_exec", {"code": "print(1)"}, "Run Python "),
        ("file_read", {"path": "src/a.py"}, "Read src/a.py"),
        ("file_edit", {"path": None}, "Change "),
        ("file_search", {"regex": "a.*b"}, "Search for a.*b"),
        ("ask_owner", {"question": "?"}, "Ask you"),
        ("mail.send", {"to": "x"}, "Call mail.send"),
        ("file_read", {"path": "a\nb\x1b[2J"}, "Read a b<U+001B>[2J"),
    ],
)
def test_a_call_is_told_in_plain_words(tool: str, args: dict[str, Any], words: str) -> None:
    assert step_words(tool, args) == words.strip()


def test_words_of_a_call_are_never_long() -> None:
    assert len(step_words("shell_exec", {"argv": ["x" * 10_000]})) == 161
