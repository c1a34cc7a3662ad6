"""A stored goal whose plan and approval were both forged is shown as not valid at once (D305)."""

from pathlib import Path

import pytest

from silas.approval import token_bytes
from silas.approval.models import token_id_of
from silas.clock import SystemClock
from silas.config import load_config
from silas.home.database import open_existing_database
from silas.language import speak
from silas.plans import plan_hash
from silas.plans.store import SqlWorkItemStore
from silas.services.approvals import how_it_stands
from silas.testing import ScriptedChannel, a_signer
from silas.testing.clock import MockClock
from tests.goals.kit import START, WATCHED, Watched, goal_text, house, yes
from tests.goals.test_ahead import GOAL
from tests.goals.test_doors import ahead
from tests.support.clocks import far_hour
from tests.support.command import environment, run, silas

FORGED = {
    "en": "The signature does not match",
    "de": "Die Unterschrift passt nicht",
}


async def _forge(store: SqlWorkItemStore, goal_id: str = WATCHED) -> None:
    """Somebody who writes the database exchanges plan and approval, signed with his own key."""
    own, item = a_signer("a thief"), await store.get(goal_id)
    assert item is not None
    assert item.approval_token is not None
    item.failure_context = "```sh\nexfiltrate\n```"
    forged = item.approval_token.model_copy(update={"plan_hash": plan_hash(item)})
    data = token_bytes(forged)
    forged = forged.model_copy(update={"token_id": token_id_of(data), "signature": own.sign(data)})
    item.approval_token = forged
    await store.save(item)


@pytest.mark.parametrize("language", ["en", "de"])
async def test_a_goal_whose_plan_and_approval_were_both_forged_is_not_in_force(
    language: str,
) -> None:
    channel, clock, watched = ScriptedChannel(yes), MockClock(START), Watched()
    try:
        async with house(channel, clock, watched, language=language) as h:
            await h.silas.run(goal_text())
            service = watched.parts.ahead_service()
            [alone] = (await service.look(7)).alone
            assert alone.lapsed == ""
            await _forge(watched.parts.store)
            [alone] = (await service.look(7)).alone
            assert alone.lapsed.startswith(FORGED[language])
            item = await h.store.get(WATCHED)
            assert item is not None
            assert item.approval_token is not None
            stands = await how_it_stands(
                item,
                item.approval_token,
                service.nonces,
                service.stops,
                clock.now(),
                service.lapsed,
            )
            assert stands.state == "lapsed"
            assert f"goal {WATCHED} (Watch the state) starts nothing" in await ahead(h)
    finally:
        speak("en")


async def test_the_commands_say_so_too(tmp_path: Path) -> None:
    place, plan = tmp_path / "place", tmp_path / "goal.md"
    place.mkdir()
    (place / "list.txt").write_text("one\n")
    plan.write_text(GOAL.format(place=place, hour=far_hour()))
    env = environment(tmp_path / "home", TZ="UTC")
    run(silas("init"), env)
    approved = run(silas("plan", "check", plan), env).out.rpartition("sha256:")[2].strip()
    run(silas("run", plan, "--approve", f"sha256:{approved}"), env)
    assert "used 0 of 20" in run(silas("ahead"), env).out
    config = load_config(environ=env)
    with open_existing_database(config, SystemClock()) as db:
        await _forge(SqlWorkItemStore(db, SystemClock()), "goal-there")
    for command in ("ahead", "approvals list", "goals list"):
        told = run(silas(*command.split()), env).out
        assert FORGED["en"] in told, told
