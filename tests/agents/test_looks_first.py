"""A small model on this machine is asked once the folder was looked at, through the same tools."""

import asyncio
import json
from dataclasses import replace
from typing import Any

import pytest
from pydantic_ai.toolsets import FunctionToolset

from silas.agents import ModelChoice, PlannerAgent, ProxyAgent, TurnRequest
from silas.agents.choice import OutputSetting
from silas.agents.prefetch import asks_about_files
from silas.agents.prompt import EarlierLook, PlanningBrief, ReturnedPlan
from silas.agents.providers.factory import make_model
from silas.context import NOTHING, RenderedContext, frame_text
from silas.testing import MockClock
from silas.types import Origin, OriginKind, TaintLevel
from tests.agents.openai_server import OpenAIServer, openai_server
from tests.support.waits import SECONDS

ROUTE = json.dumps({"route": "direct", "message": "It is a catalogue of shells."})
WORDS = json.dumps({"action": "answer", "message": "There is nothing to do."})
_SIZES = {"README.md": 40, "notes.txt": 30, ".env": 20, "big.txt": 90_000, "photo.jpg": 10}
_AT = "2026-01-02 03:04:05 UTC"


def looks() -> tuple[FunctionToolset[None], list[tuple[str, dict[str, Any]]]]:
    made: list[tuple[str, dict[str, Any]]] = []
    toolset = FunctionToolset[None]()

    @toolset.tool_plain
    def workspace_files(count: int, order: str = "name", names: list[str] | None = None) -> str:
        """List."""
        del names
        made.append(("files", {"count": count, "order": order}))
        lines = [f"{size} bytes, {_AT}: {name}" for name, size in _SIZES.items()]
        return "\n".join((f"{len(lines)} files, 90100 bytes in all; by name:", *lines))

    @toolset.tool_plain
    def workspace_read(path: str) -> str:
        """Read."""
        made.append(("read", {"path": path}))
        return f"{path}, lines 1 to 1:\nshells"

    @toolset.tool_plain
    def workspace_list() -> str:
        """List."""
        raise AssertionError

    @toolset.tool_plain
    def workspace_search(pattern: str) -> str:
        """Search."""
        raise AssertionError(pattern)

    @toolset.tool_plain
    def workspace_git() -> str:
        """Git."""
        raise AssertionError

    return toolset, made


def asking(
    text: str, taint: TaintLevel = TaintLevel.owner, context: RenderedContext = NOTHING
) -> TurnRequest:
    now, place = MockClock().now(), "/home/o/desk"
    return TurnRequest(text=text, now=now, taint=taint, workspace=place, context=context)


async def routed(
    server: OpenAIServer, request: TurnRequest, output: OutputSetting = "auto"
) -> list[tuple[str, dict[str, Any]]]:
    toolset, made = looks()
    choice = ModelChoice(name="llama", base_url=server.base_url)
    model = make_model(choice, runbook=lambda: pytest.fail("nobody asks it"))
    async with asyncio.timeout(SECONDS), model:
        agent = ProxyAgent(model, MockClock(), output=output, default_profile="conversation")
        await agent.route(request, toolset=toolset, deps=None)
    return made


async def test_a_question_about_the_folder_is_asked_with_its_texts() -> None:
    async with openai_server([ROUTE]) as server:
        made = await routed(server, asking("What does this project do?"))
    assert made[0][0] == "files"
    assert {one["path"] for name, one in made if name == "read"} == {"README.md", "notes.txt"}
    (body,) = server.bodies
    told = [one["content"] for one in body["messages"] if one["role"] == "tool"]
    assert len(told) == 3
    assert "README.md, lines 1 to 1:\nshells" in told


async def test_a_sentence_that_is_known_is_looked_up_as_it_says() -> None:
    async with openai_server([ROUTE]) as server:
        made = await routed(server, asking("What is the biggest file here?"))
    assert [(name, one.get("order")) for name, one in made] == [("files", "biggest")]


async def test_a_text_that_is_named_and_in_view_is_read_and_nothing_else() -> None:
    head = "--- subscription:file | /home/o/desk/notes.txt | live | taint: external | mark: a1 ---"
    for text, reads in (("shells", ["notes.txt"]), ("x" * 3001, [])):
        seen = RenderedContext(present=f"{head}\n{text}\n--- end a1 ---")
        async with openai_server([ROUTE]) as server:
            made = await routed(server, asking("What is in notes.txt?", context=seen))
        assert made == [("read", {"path": one}) for one in reads]


@pytest.mark.parametrize(
    "request_",
    [
        asking("Good morning! Who are you?"),
        asking("What is 17 percent of 240?"),
        asking("What does this project do?", TaintLevel.external),
    ],
)
async def test_other_messages_are_asked_at_once(request_: TurnRequest) -> None:
    async with openai_server([ROUTE]) as server:
        assert await routed(server, request_) == []
    assert len(server.bodies) == 1


async def test_a_model_that_can_call_tools_looks_for_itself() -> None:
    answer = [ROUTE, ROUTE]  # words where a call of the tool `route` is wanted, and once more
    async with openai_server(answer) as server:
        assert await routed(server, asking("What does this project do?"), "tool") == []


async def planned_looks(request: TurnRequest) -> int:
    toolset, made = looks()
    async with openai_server([WORDS]) as server:
        choice = ModelChoice(name="llama", base_url=server.base_url)
        model = make_model(choice, runbook=lambda: pytest.fail("nobody asks it"))
        async with asyncio.timeout(SECONDS), model:
            agent = PlannerAgent(model, MockClock(), output="auto")
            await agent.plan(request, toolset=toolset, deps=None)
    return len(made)


async def test_a_plan_is_always_asked_for_with_a_look_and_one_that_returns_with_the_list() -> None:
    first = asking("Tidy up.")
    assert await planned_looks(first) == 3
    assert await planned_looks(replace(first, returned=ReturnedPlan("x", ("no",)))) == 1


async def test_what_was_looked_up_before_the_planner_is_asked_is_not_looked_up_again() -> None:
    first = asking("Tidy up.")

    def told(tool: str, name: str, text: str) -> EarlierLook:
        origin = Origin(kind=OriginKind.file, name=name, tool=tool, taint=TaintLevel.external)
        return EarlierLook(tool, frame_text(text, origin))

    lines = "\n".join(f"{size} bytes, {_AT}: {name}" for name, size in _SIZES.items())
    listing = f"{len(_SIZES)} files, 90100 bytes in all; by name:\n{lines}"
    listed = told("workspace_files", ".", listing)
    read = told("workspace_read", "README.md", "shells")
    for looked, more in (((listed,), 2), ((read,), 2), ((listed, read), 1)):
        request = replace(first, brief=PlanningBrief(looked=looked))
        assert await planned_looks(request) == more
    back = replace(request, returned=ReturnedPlan("x", ("no",)))
    assert await planned_looks(back) == 0


async def test_a_plan_for_a_question_is_not_made_from_what_a_file_says() -> None:
    """A small model takes an order that it reads for the owner's, who only asked."""
    assert await planned_looks(asking("What does this project do?")) == 1


def test_which_messages_may_be_about_files() -> None:
    about = ["Who is responsible for the budget?", "which of these files sets a timeout of 30?"]
    others = ["What does the HTTP status 429 mean?", "when is my wife's birthday?", "thanks"]
    assert [asks_about_files(one) for one in about + others] == [True, True, False, False, False]
