"""What runs and what waits is told by code, where no language model answers (0.5.1)."""

import pytest

from silas.testing import Harness, ScriptedModel
from tests.stream.kit import direct, soon

NOTHING = "Nothing runs, and nothing waits for you."


@pytest.mark.parametrize(
    "asked", ["what are you doing?", "Status", "is anything waiting for me?", "was läuft gerade?"]
)
async def test_where_nothing_is_it_is_said(asked: str) -> None:
    async with Harness() as h:
        reply = await soon(h.silas.ask(asked))
    assert (reply.text, reply.outcome) == (NOTHING, "answered")


async def test_a_language_model_answers_such_words_itself() -> None:
    proxy = ScriptedModel([direct("I am counting the photos.")])
    async with Harness(models={"proxy": proxy, "planner": proxy}) as h:
        assert (await soon(h.silas.ask("what are you doing?"))).text == "I am counting the photos."
