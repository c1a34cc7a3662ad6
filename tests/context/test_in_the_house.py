"""The context of a whole Silas in a window of a few thousand tokens (spec 5.1, 5.7)."""

import asyncio

from silas.context import sections
from silas.testing import Harness, ScriptedModel
from silas.types import OWNER
from tests.context.kit import words
from tests.stream.kit import direct
from tests.support.waits import SECONDS

TURNS = 14


def _said(turn: int) -> str:
    return f"Note number {turn}: the code of door {turn} is {turn * 7919}. {words(60, 'and more')}"


async def test_what_leaves_a_small_window_is_found_again_byte_for_byte() -> None:
    model = ScriptedModel([direct(f"Noted {turn}.") for turn in range(TURNS)])
    small = {"context": {"total_tokens": 7000}}
    async with Harness(models={"proxy": model}, settings=small) as harness:
        for turn in range(TURNS):
            await asyncio.wait_for(harness.silas.ask(_said(turn)), SECONDS)
        in_view = {one.content for one in harness.context.in_view(OWNER)}
        first = f"[owner] {OWNER}: {_said(0)}"
        assert first not in in_view
        found = await harness.memory.search_keyword("code door 0 number", 20)
        assert first in {one.content for one in found}
        last = model.requests[-1].text
        assert [s.kind for s in sections(last)].count("message") == 1
        assert last.count(_said(TURNS - 1)) == 1, "what is answered is shown once"
        assert _said(TURNS - 2) in last
        assert _said(0) not in last.partition("--- memory")[0]
