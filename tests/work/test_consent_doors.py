"""A model elsewhere and a directory: asked once in chat; an MCP client changes no answer."""

import asyncio
import json
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from silas.tools.builtin.git_look import WORKSPACE_TOOL_NAMES
from tests.agents.openai_server import OpenAIServer, Reply, openai_server
from tests.mcp.test_serve import said
from tests.support.client import client
from tests.support.command import Person, environment, person, run, silas
from tests.support.models import ROLES, answer

CONTENT = "rosters-of-this-week.txt"  # in the directory, and nowhere else
LOOKS: Reply = answer("workspace_list", "tool", {"depth": 1})
SAYS: Reply = answer(
    "route",
    "tool",
    {
        "route": "direct",
        "reason": "r",
        "response": {"message": "That is all."},
        "interaction_register": "status",
        "interaction_mode": "act_and_report",
        "context_profile": "conversation",
    },
)


class Elsewhere:
    """A home whose model is called as one elsewhere is, and a directory with one file."""

    def __init__(self, folder: Path, server: OpenAIServer) -> None:
        self.server = server
        self.place = folder / "rosters"
        self.place.mkdir()
        (self.place / CONTENT).write_text("early, late\n")
        home = folder / "home"
        home.mkdir()
        role = {"name": "scripted", "base_url": server.base_url, "output": "tool"}
        cloud = {**role, "name": "some-cloud"}  # as Ollama names what it passes on
        config = {"silas": {"models": {**dict.fromkeys(ROLES, role), "proxy": cloud}}}
        (home / "config.yaml").write_text(json.dumps(config))
        self.env = {**environment(home), "NO_COLOR": "1"}
        assert run(silas("init"), self.env).code == 0

    @property
    def answers(self) -> list[str]:
        listed = json.loads(run(silas("approvals", "showing", "--json"), self.env).out)
        return [row["answer"] for row in listed if row["workspace"] == str(self.place)]

    @property
    def shown(self) -> list[bool]:
        """Of each request so far: whether what lies in the directory is in it."""
        return [CONTENT in json.dumps(body) for body in self.server.bodies]

    @property
    def offered(self) -> list[bool]:
        """Of each request so far: whether the model could look."""
        return [bool(_tools(body) & WORKSPACE_TOOL_NAMES) for body in self.server.bodies]

    def answered(self, choice: str) -> None:
        """What the owner answers in one `silas ask`."""
        words = silas("ask", "what is in this folder?", "--workspace", self.place)
        with person(words, self.env) as owner:
            asks(owner)
            owner.types(f"{choice}\r")
            assert owner.leaves() == 0, owner.seen


def _tools(body: dict[str, Any]) -> set[str]:
    return {tool["function"]["name"] for tool in body.get("tools", [])}


@asynccontextmanager
async def elsewhere(folder: Path, replies: Sequence[Reply]) -> AsyncGenerator[Elsewhere]:
    async with openai_server(list(replies)) as server:
        yield await asyncio.to_thread(Elsewhere, folder, server)


def asks(owner: Person) -> None:
    owner.waits_for("Never show it this directory")
    owner.waits_for("Your choice")


def in_chat(at: Elsewhere, choice: str, turns: int) -> None:
    """One `silas chat` about the directory: asked in the first turn where there is a choice."""
    with person(silas("chat"), at.env, cwd=at.place) as owner:
        owner.waits_for("Ctrl-D")
        for number in range(turns):
            owner.types("what is in this folder?\r")
            if choice and number == 0:
                asks(owner)
                owner.types(f"{choice}\r")
            owner.waits_for("That is all.")
        owner.types("\x04")
        assert owner.leaves() == 0, owner.seen
        assert owner.seen.count("Never show it this directory") == int(bool(choice))


async def test_in_chat_a_yes_is_asked_for_once_and_kept_for_the_next_chat(tmp_path: Path) -> None:
    async with elsewhere(tmp_path, [LOOKS, SAYS] * 3) as at:
        await asyncio.to_thread(in_chat, at, "1", 2)
        assert at.shown[:2] == [False, True]
        assert at.answers == ["yes"]
        await asyncio.to_thread(in_chat, at, "", 1)
        assert (at.shown[-1], len(at.shown)) == (True, 6)


async def test_in_chat_a_never_holds_in_the_next_turn_and_the_next_chat(tmp_path: Path) -> None:
    async with elsewhere(tmp_path, [LOOKS, *[SAYS] * 3]) as at:
        await asyncio.to_thread(in_chat, at, "2", 2)
        await asyncio.to_thread(in_chat, at, "", 1)
        assert at.shown == [False] * 4
        assert at.offered == [True, True, False, False]
        assert at.answers == ["never"]


@pytest.mark.parametrize(("choice", "kept"), [("1", ["yes"]), ("2", ["never"]), ("3", [])])
async def test_an_mcp_client_is_shown_nothing_asks_nobody_and_changes_no_answer(
    tmp_path: Path, choice: str, kept: list[str]
) -> None:
    """A look is for the owner's own words alone, so his yes is not for a client's."""
    async with elsewhere(tmp_path, [LOOKS, SAYS, SAYS]) as at:
        await asyncio.to_thread(at.answered, choice)
        before = len(at.shown)
        async with client(at.env) as session:
            words = {"text": "what is in this folder?", "workspace": str(at.place)}
            text, failed = await said(session, "ask", **words)
            assert (text, failed) == ("That is all.", False)
        assert (len(at.shown), at.shown[before:], at.offered[before:]) == (3, [False], [False])
        assert await asyncio.to_thread(lambda: at.answers) == kept
