"""What a running Silas does for its memories by itself."""

import asyncio

from silas.memory import TrustLevel
from silas.testing import Harness, ScriptedChannel
from tests.memory.memories import a_memory
from tests.support.waits import SECONDS

HALF_AN_HOUR = 30 * 60


async def test_a_running_silas_tidies_its_memories_and_asks_before_it_confirms_one() -> None:
    channel = ScriptedChannel(lambda card: card.actions[0].value)
    async with Harness(channel) as h:
        for item in (
            a_memory("a", "Anna likes tea.", sources=("x",)),
            a_memory("b", "Anna likes tea.", sources=("y",)),
            a_memory("often", "Anna lives in Graz.", taint="auth", access_count=7),
        ):
            await h.memory.store(item)
        async with asyncio.timeout(SECONDS):
            while not await confirmed(h):
                h.clock.advance(HALF_AN_HOUR)
                await asyncio.sleep(0)
        assert await h.memory.get("b") is None
        merged = await h.memory.get("a")
        assert merged is not None
        assert merged.sources == ("x", "y")
        assert [card.intent for card in channel.cards] == ["Keep this memory as confirmed"]


async def confirmed(h: Harness) -> bool:
    found = await h.memory.get("often")
    return found is not None and found.trust_level is TrustLevel.verified
