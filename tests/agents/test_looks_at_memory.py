"""A small model that cannot call tools is asked once memory was searched for earlier words."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from silas.agents import ModelChoice
from silas.agents.earlier_talk import earlier_query
from silas.agents.providers.factory import make_model
from silas.testing import Harness
from tests.agents.openai_server import OpenAIServer, openai_server
from tests.agents.test_in_the_house import Waits
from tests.agents.test_providers_over_http import unused
from tests.support.waits import SECONDS

ROUTE = json.dumps({"route": "direct", "message": "Noted."})
SETTINGS: dict[str, Any] = {"rehydration": {"max_chronicle_entries": 1}}


async def asked(server: OpenAIServer, home: Path, *texts: str) -> None:
    choice = ModelChoice(name="llama", base_url=server.base_url)
    async with (
        asyncio.timeout(SECONDS),
        make_model(choice, runbook=unused) as model,
        Harness(models={"proxy": model}, clock=Waits(), settings=SETTINGS, home=home) as house,
    ):
        for text in texts:
            assert (await house.silas.ask(text)).outcome == "answered"


def tools_told(body: dict[str, Any]) -> list[str]:
    return [one["content"] for one in body["messages"] if one["role"] == "tool"]


@pytest.mark.parametrize(
    ("said", "later"),
    [
        ("The locker at the pool opens with 4711.", "What did I say about the locker earlier?"),
        ("Das Schließfach im Bad geht mit 4711 auf.", "Wie war das nochmal mit dem Schließfach?"),
    ],
)
async def test_a_late_follow_up_is_asked_with_what_was_said(
    tmp_path: Path, said: str, later: str
) -> None:
    home = tmp_path / "home"
    home.mkdir()
    async with openai_server([ROUTE] * 4) as server:
        await asked(server, home, said, "Thanks, bye.")
        await asked(server, home, later)
    body = server.bodies[-1]
    (told,) = tools_told(body)
    assert "4711" in told
    others = [one["content"] for one in body["messages"] if one["role"] != "tool"]
    assert "4711" not in json.dumps(others)


async def test_any_other_message_is_asked_at_once(tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    async with openai_server([ROUTE] * 2) as server:
        await asked(server, home, "The locker at the pool opens with 4711.", "Tell me a joke.")
    assert [tools_told(body) for body in server.bodies] == [[], []]


@pytest.mark.parametrize(
    ("text", "goes_on"),
    [
        ("Do that again for the invoices.", True),
        ("What was the name you suggested last week?", True),
        ("Welchen Namen hattest du vorgeschlagen?", True),
        ("What did we agree on?", True),
        ("What does HTTP 429 mean?", False),
        ("Summarise the notes in this folder.", False),
        ("Guten Morgen!", False),
    ],
)
def test_which_messages_go_on_from_what_was_said(text: str, goes_on: bool) -> None:
    assert bool(earlier_query(text)) is goes_on
