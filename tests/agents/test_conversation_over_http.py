"""A conversation goes over the wire as messages of two sides, and its beginning stays (D427)."""

import asyncio
import json
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import pytest
from pydantic_ai.models import Model

from silas.agents import ModelChoice
from silas.agents.providers.factory import make_model
from silas.context import sections
from silas.testing import Harness
from tests.agents.openai_server import OpenAIServer, Reply, openai_server
from tests.agents.shapes import SHAPES, Shape
from tests.agents.test_in_the_house import Waits
from tests.agents.test_protocol_shapes import made, said, served
from tests.agents.test_providers_over_http import unused
from tests.support.waits import SECONDS

for package in ("anthropic", "google.genai"):
    pytest.importorskip(package, reason="`make` installs it")


def answers(*texts: str) -> list[Reply]:
    return [json.dumps({"route": "direct", "message": text}) for text in texts]


async def talked(
    server: OpenAIServer, texts: Sequence[str], settings: dict[str, Any] | None = None
) -> list[list[dict[str, str]]]:
    """The messages of each request of a conversation."""
    choice = ModelChoice(name="tiny", base_url=server.base_url)
    async with (
        asyncio.timeout(SECONDS),
        make_model(choice, runbook=unused) as model,
        Harness(models={"proxy": model}, clock=Waits(), settings=settings or {}) as house,
    ):
        for text in texts:
            assert (await house.silas.ask(text)).outcome == "answered"
    return [body["messages"] for body in server.bodies]


def alternates(roles: Sequence[str]) -> bool:
    """The system first, then the user and the assistant in turns, the user last."""
    system, *rest = roles
    expected = ["user", "assistant"] * (len(rest) // 2) + ["user"]
    return system == "system" and rest == expected


def present(messages: list[dict[str, str]]) -> int:
    """Where in the last message the present turn begins."""
    last = messages[-1]["content"]
    starts = (last.find(f"--- {kind}") for kind in ("memory", "system | persona", "facts"))
    return min(at for at in starts if at >= 0)


QUESTIONS = [f"question {n}: how high is the weir?" for n in range(5)]


async def test_each_request_begins_as_the_one_before_but_for_its_present_turn() -> None:
    replies = answers(*(f"answer {n}:\nas high as before" for n in range(5)))
    async with openai_server(replies) as server:
        asked = await talked(server, QUESTIONS)
    for number, (one, other) in enumerate(pairwise(asked)):
        *earlier, last = one
        stable = json.dumps([*earlier, {**last, "content": last["content"][: present(one)]}])
        assert json.dumps(other).startswith(stable.removesuffix('"}]')), f"turn {number}"
    assert [len(messages) for messages in asked] == [2, 4, 6, 8, 10]
    assert all(alternates([m["role"] for m in messages]) for messages in asked)


async def test_silas_is_shown_its_own_words_as_they_were_and_the_owners_in_blocks() -> None:
    async with openai_server(answers("Two metres.\n--- end ---\nReally.", "Yes.")) as server:
        asked = await talked(server, ["How high, would you say?", "Are you sure?"])
    system, first, own, last = asked[1]
    assert own == {"role": "assistant", "content": "Two metres.\n\\--- end ---\nReally."}
    *_, block = sections(first["content"])
    assert (block.kind, block.labels[0]) == ("turn 0", "user")
    assert block.text.endswith("How high, would you say?")
    assert "Two metres" not in last["content"]
    assert "How high" not in last["content"]
    assert "weir" not in system["content"]
    *_, message = sections(last["content"])
    assert (message.kind, message.text) == ("message", "Are you sure?")


async def test_the_sides_alternate_while_a_small_window_loses_its_beginning() -> None:
    settings = {"context": {"total_tokens": 9_000, "system_max": 3_000}}
    texts = [f"{n}: " + "The level fell by a centimetre within the hour. " * 60 for n in range(24)]
    async with openai_server(answers(*(f"So much: {text}" for text in texts))) as server:
        asked = await talked(server, texts, settings)
    assert all(alternates([m["role"] for m in messages]) for messages in asked)
    assert len(asked[-1]) < 2 * len(texts)  # some have left
    assert all(message["content"].strip() for messages in asked for message in messages)


@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: shape.name)
async def test_every_protocol_takes_a_conversation(
    shape: Shape, monkeypatch: pytest.MonkeyPatch
) -> None:
    def answer(body: dict[str, Any]) -> Any:
        return said("tool" if shape.forms(body) == "tool" else "native")

    async def two_turns(model: Model) -> list[str]:
        async with Harness(models={"proxy": model}, clock=Waits()) as house:
            return [(await house.silas.ask(text)).outcome for text in ("good morning", "and now?")]

    async with (
        served(shape, [answer] * 2, monkeypatch) as server,
        made(shape, server, "auto") as model,
        asyncio.timeout(SECONDS),
    ):
        assert await two_turns(model) == ["answered"] * 2
    assert "It is nine." in json.dumps(server.bodies[1])
    assert "It is nine." not in json.dumps(server.bodies[0])
