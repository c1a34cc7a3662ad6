"""A model that writes its calls as text, although it may call tools: what is one is done as one."""

import json
from typing import Any

import pytest
from pydantic_ai.usage import UsageLimits

from silas.agents import ModelChoice, ProxyAgent
from silas.agents.providers.factory import make_model
from silas.agents.run import SCHEMA_ERROR
from silas.language import ENGLISH, speak
from tests.agents.openai_server import Answer, Tool, openai_server
from tests.agents.test_providers_over_http import NONE, TURN, Waits, unused
from tests.agents.test_tools_over_http import REPORT, execute, tools

LOOK = {"name": "shell_exec", "arguments": {"argv": ["ls"]}}
DONE = {"summary": "listed the files", "status": "done"}

CALLS: dict[str, str] = {
    "an object": json.dumps(LOOK),
    "in a fence": f"```json\n{json.dumps(LOOK, indent=1)}\n```",
    "between tags": f"<tool_call>\n{json.dumps(LOOK)}\n</tool_call>",
    "as in the protocol": json.dumps({"type": "function", "function": LOOK}),
    "arguments as text": json.dumps({**LOOK, "arguments": json.dumps(LOOK["arguments"])}),
    "other words for it": json.dumps({"tool": "shell_exec", "parameters": {"argv": ["ls"]}}),
    "a list of one": json.dumps([LOOK]),
}

NO_CALLS: dict[str, str] = {
    "among words": f"The file says:\n```json\n{json.dumps(LOOK)}\n```",
    "a tool that is not offered": json.dumps({**LOOK, "name": "send_email"}),
    "one of two is none": json.dumps([LOOK, {"name": "x"}]),
    "no arguments": json.dumps({"name": "shell_exec"}),
    "a report with more in it": json.dumps({**DONE, "rows": []}),
    "no object": "[1, 2]",
    "cut": json.dumps(LOOK)[:-3],
    "words": "I would list the files now.",
}


@pytest.mark.parametrize("which", CALLS)
async def test_an_answer_that_is_a_written_call_is_that_call(which: str) -> None:
    toolset, ran = tools()
    async with openai_server([CALLS[which], json.dumps(DONE)]) as server:
        run = await execute(server, toolset, UsageLimits())
    assert ran == [["ls"]]
    assert run.output.summary == "listed the files"
    assert server.bodies[1]["messages"][-1]["content"] == "exit code 0"  # and nothing was repeated


async def test_several_written_calls_are_done_in_their_order() -> None:
    toolset, ran = tools()
    more = {**LOOK, "arguments": {"argv": ["pwd"]}}
    async with openai_server([json.dumps([LOOK, more]), REPORT]) as server:
        await execute(server, toolset, UsageLimits())
    assert ran == [["ls"], ["pwd"]]


@pytest.mark.parametrize("which", NO_CALLS)
async def test_what_is_not_wholly_a_call_is_none_and_the_executor_is_told_to_go_on(
    which: str,
) -> None:
    toolset, ran = tools()
    async with openai_server([NO_CALLS[which], Tool.call("shell_exec", argv=["ls"]), REPORT]) as s:
        run = await execute(s, toolset, UsageLimits())
    assert ran == [["ls"]]
    assert not run.fell_back
    told = s.bodies[1]["messages"][-1]["content"]
    assert SCHEMA_ERROR in told
    assert "Go on by calling a tool: the next one that the work needs, or `report_work`" in told


ROUTE: dict[str, Any] = {"route": "direct", "message": "Hello!"}


@pytest.mark.parametrize("said", [json.dumps(ROUTE), f"```json\n{json.dumps(ROUTE)}\n```"])
async def test_an_answer_that_was_written_in_place_of_its_call_is_the_answer(said: Answer) -> None:
    async with openai_server([said]) as server:
        choice = ModelChoice(name="llama", base_url=server.base_url, output="tool")
        async with make_model(choice, runbook=unused) as model:
            proxy = ProxyAgent(model, Waits(), output="tool", default_profile="conversation")
            run = await proxy.route(TURN, toolset=NONE, deps=None)
    assert run.output.response is not None
    assert run.output.response.message == "Hello!"
    assert len(server.bodies) == 1


async def test_that_no_answer_had_its_form_is_told_in_the_owners_language() -> None:
    speak("de")
    try:
        async with openai_server(["Hm.", "Hm."]) as server:
            choice = ModelChoice(name="llama", base_url=server.base_url, output="tool")
            async with make_model(choice, runbook=unused) as model:
                proxy = ProxyAgent(model, Waits(), output="tool", default_profile="conversation")
                run = await proxy.route(TURN, toolset=NONE, deps=None)
    finally:
        speak(ENGLISH)
    assert run.fell_back
    assert run.output.response is not None
    assert run.output.response.message.startswith("Ich wurde zweimal aus der Antwort")
    assert "(proxy: llama at http://127.0.0.1" in run.output.response.message


async def test_a_call_that_is_no_json_is_answered_with_where_it_breaks_and_not_with_itself() -> (
    None
):
    toolset, ran = tools()
    broken = Tool("shell_exec", json.dumps(LOOK["arguments"])[:-1])
    async with openai_server([broken, Tool.call("shell_exec", argv=["ls"]), REPORT]) as server:
        run = await execute(server, toolset, UsageLimits())
    assert (ran, run.fell_back) == ([["ls"]], False)
    told = server.bodies[1]["messages"][-1]["content"]
    assert "Nothing ran. The arguments are no JSON (EOF while parsing an object" in told
    assert "argv" not in told
