"""A project that a model plans and that fails, and the doors at which its rest is asked for."""

from collections.abc import Awaitable, Callable
from typing import Any

from silas.agents import RouteDecision
from silas.plans import WorkItemStatus
from silas.testing import Harness, ScriptedModel
from silas.types import InteractionMode, InteractionRegister
from tests.projects.kit import PROJECT, Ran
from tests.stream.kit import proposing, soon

REST = f"{PROJECT}-rest"
_TO_PLANNER = RouteDecision(
    route="planner",
    reason="it needs work",
    interaction_register=InteractionRegister.execution,
    interaction_mode=InteractionMode.act_and_report,
    context_profile="conversation",
)

Door = Callable[[Harness], Awaitable[object]]


def planning(project: str) -> dict[str, Any]:
    """Models that propose this project to whoever says anything."""
    return {
        "proxy": ScriptedModel([_TO_PLANNER]),
        "planner": ScriptedModel([proposing(project)]),
    }


async def fails(h: Harness, ran: Ran) -> None:
    """Until the project has failed at its second task, which can be done from then on."""
    result = await soon(h.silas.wait(PROJECT))
    assert result is not None
    assert result.status is WorkItemStatus.failed, result
    ran.failing.clear()


async def run_rest(h: Harness) -> None:
    """Its text, as a plan of the owner's."""
    await soon(h.silas.run(await h.silas.rest_of(PROJECT)))


async def press_button(h: Harness) -> None:
    """As the cockpit's page of a project does."""
    assert await h.silas.ask_for_rest(PROJECT) == REST
    await soon(h.silas.runs.stream.questions.wait_for_answer(REST))
    await soon(h.silas.wait(REST))


async def say_words(h: Harness) -> None:
    """In a conversation."""
    await soon(h.silas.ask(f"Run the rest of {PROJECT}."))
    await soon(h.silas.wait(REST))
