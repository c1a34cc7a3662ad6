"""Tasks that wait for their owner hold no place among the four that run at once (spec 5.2.2)."""

import asyncio
from pathlib import Path
from typing import Any

from silas.cards import Card, PlanCard
from silas.cards.models import DecisionAnswer
from silas.plans import WorkItemStatus
from silas.testing import CallTool, FakeSandbox, Harness, ScriptedChannel, ScriptedModel
from silas.testing.tools import exit_result
from silas.work.projects.places import MOST_AT_ONCE, ProjectPlaces
from tests.projects.kit import PROJECT, project_text
from tests.stream.kit import saying_yes, soon
from tests.work.kit import DONE

ASKERS = ("a", "b", "c", "d", "e")
SMALL = {
    "budget": {
        "max_attempts": 1,
        "max_tokens": 1000,
        "max_cost_usd": 0.1,
        "max_wall_time_seconds": 60,
    }
}


class Busy(FakeSandbox):
    """Programs of work run until they are let go.

    Attributes:
        running, most: How many run, and the most that did at once.
        begun: Set as often as one begins.
    """

    def __init__(self) -> None:
        super().__init__(lambda _: exit_result())
        self.running = self.most = 0
        self.begun, self.go = asyncio.Semaphore(0), asyncio.Event()

    async def run(self, argv: Any, limits: Any, files: Any = None, **more: Any) -> Any:
        self.running += 1
        self.most = max(self.most, self.running)
        self.begun.release()
        try:
            await self.go.wait()
            return await super().run(argv, limits, files, **more)
        finally:
            self.running -= 1


class Asking(ScriptedChannel):
    """An owner who approves a plan, and answers each question when he is let."""

    def __init__(self) -> None:
        super().__init__(saying_yes)
        self.asked, self.answers = asyncio.Semaphore(0), asyncio.Event()

    async def ask(self, to: str, card: Card[Any]) -> Any:
        if isinstance(card, PlanCard):
            return await super().ask(to, card)
        self.asked.release()
        await self.answers.wait()
        return DecisionAnswer(selected_value="blue", approved=True)


class Executor(ScriptedModel):
    """A task that asks its owner runs a program then; the last one runs one at once."""

    def __init__(self) -> None:
        super().__init__([])

    async def request(
        self, messages: Any, model_settings: Any, model_request_parameters: Any
    ) -> Any:
        called = [p.tool_name for m in messages for p in m.parts if p.part_kind == "tool-call"]
        asks = any(f"This is about {name}." in str(messages) for name in ASKERS)
        step = DONE if "shell_exec" in called else CallTool("shell_exec", {"argv": ["true"]})
        if asks and not called:
            step = CallTool("ask_owner", {"question": "Which colour?", "options": ["red", "blue"]})
        return await ScriptedModel([step]).request(
            messages, model_settings, model_request_parameters
        )


def tasks(tmp_path: Path) -> dict[str, dict[str, Any]]:
    found = dict[str, dict[str, Any]]()
    for name in (*ASKERS, "f"):
        (tmp_path / name).mkdir()
        fields = {"body": f"This is about {name}.", "verify": None, **SMALL}
        found[name] = {**fields, "workspace": str(tmp_path / name)}
    return found


async def test_five_that_wait_let_a_sixth_run_and_go_on_four_at_a_time(tmp_path: Path) -> None:
    channel, busy = Asking(), Busy()
    async with Harness(channel, models={"executor": Executor()}, sandbox=busy) as h:
        budget = {"max_wall_time_seconds": 600}
        running = asyncio.create_task(h.silas.run(project_text(tasks(tmp_path), budget=budget)))
        for _ in ASKERS:
            await soon(channel.asked.acquire())
        await soon(busy.begun.acquire())  # the sixth
        assert busy.running == 1
        channel.answers.set()
        for _ in range(MOST_AT_ONCE - 1):
            await soon(busy.begun.acquire())
        assert busy.running == MOST_AT_ONCE
        busy.go.set()
        result = await soon(running)
        assert result.status is WorkItemStatus.done, result
        assert busy.most == MOST_AT_ONCE
        project = await h.store.get(PROJECT)
        assert project is not None
        assert project.status is WorkItemStatus.done


async def test_who_comes_back_goes_before_who_has_not_begun_in_the_order_of_the_answers() -> None:
    places, order = ProjectPlaces(), list[str]()
    for name in "abcd":
        places.take(name)
    assert not places.free

    async def again(name: str) -> None:
        await places.take_again(name)
        order.append(name)

    coming = [asyncio.create_task(again(name)) for name in ("x", "y", "z")]
    await asyncio.sleep(0)
    coming[0].cancel()  # it was stopped meanwhile
    await asyncio.wait(coming[:1])
    places.give_back("a")
    assert not places.free
    places.give_back("b")
    await soon(asyncio.wait(coming[1:]))
    assert order == ["y", "z"]
    places.give_back("c")
    assert places.free
