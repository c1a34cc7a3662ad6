"""A question of a project outlives the process that asked it, however that ends (spec 5.2.2)."""

import asyncio
import json
import os
import signal
from pathlib import Path
from typing import Any

import pytest

from silas import load_config
from silas.services.setup.initialise import initialise
from tests.agents.openai_server import Answer, Hang, OpenAIServer, Tool, openai_server
from tests.projects.kit import PROJECT, chain, project_text
from tests.support.command import environment, person, run, silas
from tests.support.models import ROLES

ASKED = f"the task 'Do a' (a) of the project 'Deploy it' ({PROJECT})"


class Model:
    """The task `a` asks its owner, every other one runs a command; the first request hangs."""

    def __init__(self) -> None:
        self.asked = asyncio.Event()

    def first(self, _: Any) -> Answer:
        self.asked.set()
        return Hang()

    def then(self, body: Any) -> Answer:
        told = body["messages"]
        if told[-1]["role"] == "tool":
            return Tool.call("report_work", summary="Done.")
        if "This is about a." not in json.dumps(told):
            return Tool.call("shell_exec", argv=["true"])
        return Tool.call("ask_owner", question="Which colour?", options=["red", "blue"])


async def a_home(folder: Path, base_url: str) -> dict[str, str]:
    home = folder / "home"
    home.mkdir()
    role = {"name": "scripted", "base_url": base_url, "output": "tool"}
    text = json.dumps({"silas": {"models": dict.fromkeys(ROLES, role)}})
    (home / "config.yaml").write_text(text, encoding="utf-8")
    env = environment(home)
    await initialise(load_config(environ=env))
    return env


def approved(env: dict[str, str], plan: Path) -> list[str]:
    checked = json.loads(run(silas("plan", "check", "--json", plan), env).out)
    return silas("run", plan, "--approve", checked["approve"])


def asks(env: dict[str, str]) -> list[str]:
    (row,) = json.loads(run(silas("projects", "list", "--json"), env).out)
    assert row["status"] == "running", row
    return row["asks"]


def begin(env: dict[str, str], plan: Path, model: Model, loop: asyncio.AbstractEventLoop) -> None:
    """The owner says yes; then his process is killed before anything was asked."""
    with person(approved(env, plan), env) as owner:
        asyncio.run_coroutine_threadsafe(model.asked.wait(), loop).result()
        os.kill(owner.pid, signal.SIGKILL)
        owner.leaves()
    assert asks(env) == []


def walk(
    env: dict[str, str],
    plan: Path,
    model: Model,
    loop: asyncio.AbstractEventLoop,
    number: signal.Signals,
) -> tuple[str, str]:
    begin(env, plan, model, loop)
    with person(silas("start", "--port", "0"), env) as cockpit:
        cockpit.waits_for("Ctrl-C ends it")
        while not asks(env):  # each look is a process: nothing is asked in between
            pass
        os.kill(cockpit.pid, number)
        cockpit.leaves()
        said = cockpit.seen
    assert asks(env) == ["a"]
    with person(silas("chat"), env) as owner:
        owner.waits_for("Which colour?")
        owner.waits_for("Your choice, 1 to 3")
        owner.types("2\r")
        owner.waits_for("All 2 tasks are done")
        owner.types("\x04")
        assert owner.leaves() == 0
        return said, " ".join(owner.seen.replace("\\", " ").split())


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
async def test_a_question_is_asked_again_after_the_process_ended_and_its_answer_counts(
    number: signal.Signals, tmp_path: Path
) -> None:
    given = chain("a", "b")
    for name, fields in given.items():
        fields.update(body=f"This is about {name}.", verify=None, budget={"max_attempts": 3})
    plan, model = tmp_path / "plan.md", Model()
    plan.write_text(project_text(given), encoding="utf-8")
    async with openai_server([model.first, *[model.then] * 20]) as server:
        env = await a_home(tmp_path, server.base_url)
        loop = asyncio.get_running_loop()
        said, seen = await asyncio.to_thread(walk, env, plan, model, loop, number)
    assert ASKED in seen
    if number is signal.SIGTERM:
        assert f"Ending: what {PROJECT} asks you is asked again" in said
    (told,) = answered(server)
    assert "The owner chose 2: blue" in told


def answered(server: OpenAIServer) -> list[str]:
    """What the model was told of the owner's answers, each once."""
    told = (one.get("content") for body in server.bodies for one in body["messages"])
    return sorted({text for text in told if isinstance(text, str) and "owner chose" in text})
