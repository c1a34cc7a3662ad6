"""Ask, plan, approve, run, verify, apply: with a model behind a real HTTP server."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from silas import load_config
from silas.services.setup.initialise import initialise
from tests.agents.openai_server import Failure, openai_server
from tests.support.command import environment, person, run, silas
from tests.support.models import ROLES, scripted_fix

BROKEN = 'def open_only(orders):\n    return [o for o in orders if o is "open"]\n'
TEST = (
    "from orders import open_only\n\n\n"
    'def test_open():\n    assert open_only(["".join(["op", "en"])]) == ["open"]\n'
)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "orders.py").write_text(BROKEN)
    (folder / "test_orders.py").write_text(TEST)
    return folder


async def a_home(folder: Path, base_url: str, mode: str) -> dict[str, str]:
    """A home whose configuration names the server for every role."""
    home = folder / "home"
    home.mkdir()
    role = {"name": "scripted", "base_url": base_url, "output": mode}
    config = {"silas": {"models": dict.fromkeys(ROLES, role)}}
    (home / "config.yaml").write_text(json.dumps(config))
    env = environment(home)
    await initialise(load_config(environ=env))
    return env


def ask_as_a_person(env: dict[str, str], project: Path) -> tuple[int, str]:
    argv = silas("ask", "fix the failing test", "--workspace", project)
    with person(argv, {**env, "NO_COLOR": "1"}) as owner:
        owner.waits_for("Compare the status by value")
        owner.waits_for("Your choice, 1 to 3:")
        owner.types("1\r")
        return owner.leaves(), owner.seen


@pytest.mark.parametrize("mode", ["tool", "native"])
async def test_a_model_plans_the_owner_approves_and_the_checks_decide(
    mode: str, project: Path, tmp_path: Path
) -> None:
    script = scripted_fix(project, mode)
    async with openai_server(script) as server:
        env = await a_home(tmp_path, server.base_url, mode)
        code, seen = await asyncio.to_thread(ask_as_a_person, env, project)
    assert code == 0, seen
    assert ' == "open"' in (project / "orders.py").read_text()
    assert "done: Done and verified: tests_pass." in seen
    assert '+    return [o for o in orders if o == "open"]' in seen
    assert len(server.bodies) == len(script)
    asked: Any = server.bodies[0]
    assert ("response_format" in asked) is (mode == "native")
    assert [body["temperature"] for body in server.bodies] == [0.0, 0.0, 0.2, 0.2]
    told = await asyncio.to_thread(run, silas("audit", "show"), env)
    assert "approv" in told.out
    assert (await asyncio.to_thread(run, silas("audit", "verify"), env)).code == 0


async def test_what_the_model_wishes_about_approval_counts_for_nothing(
    project: Path, tmp_path: Path
) -> None:
    async with openai_server(scripted_fix(project, "tool")) as server:
        env = await a_home(tmp_path, server.base_url, "tool")
        words = silas("ask", "fix it", "--workspace", project, "--json")
        done = await asyncio.to_thread(run, words, env)
    assert done.code == 3  # there was nobody to ask
    assert json.loads(done.out)["outcome"] == "declined"
    assert (project / "orders.py").read_text() == BROKEN
    assert len(server.bodies) == 2  # the executor was never asked


async def test_a_server_that_only_fails_is_an_honest_answer_and_exit_1(
    project: Path, tmp_path: Path
) -> None:
    async with openai_server([Failure(500)] * 9) as server:
        env = await a_home(tmp_path, server.base_url, "tool")
        words = silas("ask", "fix it", "--workspace", project, "--json")
        done = await asyncio.to_thread(run, words, env)
    assert done.code == 1
    document = json.loads(done.out)
    assert (document["outcome"], document["plan"]) == ("failed", None)
    assert document["text"].endswith("Nothing was run.")
    assert "Traceback" not in done.err
    assert (project / "orders.py").read_text() == BROKEN


async def test_a_model_that_cannot_be_configured_is_a_usage_error(tmp_path: Path) -> None:
    env = environment(tmp_path / "home", SILAS_MODELS__PLANNER="openai:gpt-4o")
    assert run(silas("init"), env).code == 0
    done = run(silas("ask", "hello"), env)
    assert (done.code, done.out) == (2, "")
    assert "openai:gpt-4o" in done.err
    assert len(done.err.strip().splitlines()) == 1
    assert run(silas("status"), env).code == 0  # looking needs no model
    doctor = run(silas("doctor"), env)
    assert doctor.out.splitlines()[-1] == "Needs attention: model planner."
