"""What time a model is told: the owner's, with the day and the zone that his schedules count in."""

import pytest

from silas.testing import Harness, ScriptedModel
from tests.stream.kit import answer, soon, to_planner


@pytest.mark.parametrize(
    ("zone", "now", "today"),
    [
        ("Europe/Berlin", "2026-01-02T04:04:05+01:00", "Friday in Europe/Berlin"),
        ("America/Los_Angeles", "2026-01-01T19:04:05-08:00", "Thursday in America/Los_Angeles"),
    ],
)
async def test_models_are_told_the_owners_time_and_day(zone: str, now: str, today: str) -> None:
    proxy, planner = ScriptedModel([to_planner()]), ScriptedModel([answer("It is late.")])
    models = {"proxy": proxy, "planner": planner}
    async with Harness(models=models, settings={"scheduler": {"timezone": zone}}) as harness:
        assert harness.clock.now().isoformat().startswith("2026-01-02T03:04:05")
        await soon(harness.silas.ask("tell me every evening what changed today"))
    for model in (proxy, planner):
        facts = model.requests[-1].text
        assert f"now: {now}\n" in facts
        assert f"today: {today}\n" in facts
