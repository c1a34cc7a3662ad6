"""`output: auto` remembers, for each server and model, which form of answer works."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from silas.agents import ModelChoice, ModelRunFailed, OutputSetting, ProxyAgent
from silas.agents.providers.factory import make_model
from silas.agents.providers.output_modes import ModeFile
from tests.agents.openai_server import Failure, OpenAIServer, Reply, Tool, openai_server
from tests.agents.test_providers_over_http import NONE, TURN, Waits, unused
from tests.support.command import environment, run, silas
from tests.support.waits import SECONDS

GREETING: dict[str, Any] = {"route": "direct", "message": "Good morning!"}
AS_JSON, AS_CALL = json.dumps(GREETING), Tool.call("route", **GREETING)
NO_GRAMMAR = Failure(400, "this server has no grammars")
NO_TOOLS = Failure(400, "this model does not support tools")


async def ask(
    server: OpenAIServer, place: Path, name: str = "tiny", output: OutputSetting = "auto"
) -> str:
    """One turn of a new Silas, with what the former ones left in the file."""
    choice = ModelChoice(name=name, base_url=server.base_url, output=output)
    model = make_model(choice, runbook=unused, modes=ModeFile(place))
    async with asyncio.timeout(SECONDS), model:
        proxy = ProxyAgent(model, Waits(), output=output, default_profile="conversation")
        done = await proxy.route(TURN, toolset=NONE, deps=None)
    assert done.output.response is not None
    return done.output.response.message


def forms(server: OpenAIServer) -> list[str]:
    return ["native" if "response_format" in body else "tool" for body in server.bodies]


async def test_the_next_run_begins_with_what_worked(tmp_path: Path) -> None:
    place = tmp_path / "models" / "modes.json"
    async with openai_server([NO_GRAMMAR, AS_CALL, AS_CALL, AS_JSON]) as server:
        assert await ask(server, place) == "Good morning!"
        assert await ask(server, place) == "Good morning!"
        assert await ask(server, place, "another") == "Good morning!"
    assert forms(server) == ["native", "tool", "tool", "native"]
    assert list(json.loads(place.read_text()).values()) == ["tool"]


async def test_what_the_server_refuses_now_is_forgotten(tmp_path: Path) -> None:
    place = tmp_path / "modes.json"
    no_calls = Failure(400, "this server has no function calls any more")
    script: list[Reply] = [NO_GRAMMAR, AS_CALL, no_calls, AS_JSON, AS_JSON]
    async with openai_server(script) as server:
        for _ in range(3):
            await ask(server, place)
    assert forms(server) == ["native", "tool", "tool", "native", "native"]
    assert json.loads(place.read_text()) == {}


async def test_where_nothing_works_nothing_is_kept(tmp_path: Path) -> None:
    place = tmp_path / "modes.json"
    async with openai_server([NO_GRAMMAR, NO_TOOLS, Failure(400, "nor words")]) as server:
        with pytest.raises(ModelRunFailed, match="nor words"):
            await ask(server, place)
    assert not place.exists()


async def test_a_mode_that_is_named_is_neither_looked_up_nor_kept(tmp_path: Path) -> None:
    place = tmp_path / "modes.json"
    async with openai_server([NO_GRAMMAR, AS_CALL, AS_JSON]) as server:
        await ask(server, place)
        before = place.read_text()
        await ask(server, place, output="native")
    assert forms(server) == ["native", "tool", "native"]
    assert place.read_text() == before


@pytest.mark.parametrize("content", ["", "[1]", "{", '{"x": 3}', "\x00"])
async def test_a_damaged_file_counts_as_empty(content: str, tmp_path: Path) -> None:
    place = tmp_path / "modes.json"
    place.write_text(content)
    async with openai_server([AS_JSON]) as server:
        assert await ask(server, place) == "Good morning!"


async def test_a_mode_that_there_is_not_is_no_mode(tmp_path: Path) -> None:
    place = tmp_path / "modes.json"
    async with openai_server([NO_GRAMMAR, AS_CALL, AS_JSON]) as server:
        await ask(server, place)
        place.write_text(place.read_text().replace('"tool"', '"shell"'))
        await ask(server, place)
    assert forms(server) == ["native", "tool", "native"]


async def test_a_file_that_cannot_be_written_costs_only_the_next_run_a_request(
    tmp_path: Path,
) -> None:
    (tmp_path / "models").write_text("a file stands where the directory would be")
    place = tmp_path / "models" / "modes.json"
    async with openai_server([NO_GRAMMAR, AS_CALL, NO_GRAMMAR, AS_CALL]) as server:
        for _ in range(2):
            assert await ask(server, place) == "Good morning!"
    assert len(server.bodies) == 4


async def test_the_next_command_asks_as_the_last_one_was_answered(tmp_path: Path) -> None:
    async with openai_server([NO_GRAMMAR, AS_CALL, AS_CALL]) as server:
        choice = json.dumps({"name": "tiny", "base_url": server.base_url})
        env = environment(tmp_path, SILAS_MODELS__PROXY=choice)
        assert (await asyncio.to_thread(run, silas("init"), env)).code == 0
        for _ in range(2):
            done = await asyncio.to_thread(run, silas("ask", "good morning"), env)
            assert done.code == 0, done.err
            assert "Good morning!" in done.out
    assert forms(server) == ["native", "tool", "tool"]
