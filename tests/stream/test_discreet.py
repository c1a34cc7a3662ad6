"""What Silas says whole is as clean of known secrets as what it says in pieces."""

import asyncio
import base64
from contextlib import AbstractAsyncContextManager
from pathlib import Path

import pytest

from silas.agents import PlanAction, PlanActionType
from silas.stream.session import Session
from silas.testing import Harness, ScriptedChannel
from silas.types import OWNER
from silas.wiring.build import alone
from silas.wiring.parts import Parts
from tests.stream.test_drafts import DraftChannel
from tests.support.speaking import Speaker, direct, pieces
from tests.support.waits import SECONDS

SECRET = "Xk9-hunter2-pq"
ENCODED = base64.b64encode(f"user:{SECRET}".encode()).decode()


def a_house(channel: ScriptedChannel, known: list[Parts], body: str, home: Path) -> Harness:
    def beside(parts: Parts, session: Session) -> AbstractAsyncContextManager[object]:
        known.append(parts)
        return alone(parts, session)

    speaker = Speaker(pieces(body))
    return Harness(channel, models={"proxy": speaker.model}, beside=beside, home=home)


@pytest.mark.parametrize("channel", [ScriptedChannel, DraftChannel])
@pytest.mark.parametrize("secret", [SECRET, ENCODED])
async def test_a_known_secret_is_neither_sent_nor_kept_with_a_whole_answer(
    channel: type[ScriptedChannel], secret: str, tmp_path: Path
) -> None:
    said, known = channel(), list[Parts]()
    async with a_house(said, known, direct(f"The password is {secret}, keep it."), tmp_path) as h:
        known[0].secrecy.learn({"door": SECRET})
        reply = await asyncio.wait_for(h.silas.ask("hello"), SECONDS)
        kept = await known[0].context_services.chronicle.get_recent(OWNER, 10)
    assert said.texts == [reply.text]
    assert "[secret door]" in reply.text
    assert any("[secret door]" in one.content for one in kept)
    for text in (reply.text, *(one.content for one in kept)):
        assert secret[3:-3] not in text


async def test_what_became_of_a_plan_is_said_without_a_known_secret(tmp_path: Path) -> None:
    channel, known = ScriptedChannel(), list[Parts]()
    unread = PlanAction(
        action=PlanActionType.propose, plan_markdown=f"---\n{SECRET}: 1\n---\nDo it.\n"
    )
    body = direct("Here it is.", plan_action=unread)
    async with a_house(channel, known, body, tmp_path) as house:
        known[0].secrecy.learn({"door": SECRET})
        reply = await asyncio.wait_for(house.silas.ask("hello"), SECONDS)
    assert reply.outcome == "blocked"
    assert channel.texts == [reply.text]
    assert "[secret door]" in reply.text
    assert SECRET not in reply.text
