"""One thing changed between signing and running: whatever it is, nothing runs (decision B2)."""

from collections.abc import AsyncGenerator
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from benchmarks.tampering import KINDS, House, approved
from silas.approval import Verdict
from silas.plans.binding import PlanBinding


@pytest.fixture
async def house(tmp_path: Path) -> AsyncGenerator[House]:
    async with approved(tmp_path) as house:
        yield house


@pytest.mark.proves("B2-CHANGED-PLAN-REFUSED", "B2-CHANGED-WORLD-REFUSED")
@settings(
    max_examples=300,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(kind=st.sampled_from(sorted(KINDS)), draw=st.randoms(use_true_random=False))
async def test_one_change_between_signing_and_running_runs_nothing(
    house: House, kind: str, draw: Random
) -> None:
    attack = await house.attack(kind, draw)
    assert not attack.executions, attack


async def test_the_same_unchanged_runs_before_and_after_every_kind_of_change(house: House) -> None:
    for kind in KINDS:
        assert await house.control() == 3
        assert not (await house.attack(kind, Random(kind))).executions
    assert await house.control() == 3


@pytest.mark.parametrize("kind", ["disk", "grants", "skills"])
async def test_a_door_that_does_not_look_is_found_by_the_same_changes(
    house: House, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def careless(*args: Any) -> Verdict:
        return Verdict(True, "Valid")

    for look in ("check", "check_copy"):
        monkeypatch.setattr(PlanBinding, look, careless)
    ran = [(await house.attack(kind, Random(seed))).executions for seed in range(10)]
    assert 2 in ran
