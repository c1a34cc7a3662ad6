"""The tests' own promise: nothing in them reaches a model provider (spec 14)."""

import asyncio
import os
import socket
from pathlib import Path

import httpx
import pytest

from silas.config import load_config
from silas.db import Database
from silas.testing import MockClock

ABROAD = "203.0.113.7"  # an address reserved for documentation


@pytest.mark.proves("S14-NO-PROVIDER-IN-TESTS")
def test_no_connection_beyond_this_machine_can_be_made() -> None:
    with socket.socket() as plain, pytest.raises(AssertionError, match=ABROAD):
        plain.connect((ABROAD, 443))
    with (
        socket.socket(socket.AF_INET6) as sixth,
        pytest.raises(AssertionError, match="2001:db8::7"),
    ):
        sixth.connect(("2001:db8::7", 443))


@pytest.mark.proves("S14-NO-PROVIDER-IN-TESTS")
async def test_the_clients_that_models_use_cannot_either() -> None:
    with pytest.raises(AssertionError, match=ABROAD):
        await asyncio.open_connection(ABROAD, 443)
    async with httpx.AsyncClient() as client:
        with pytest.raises(BaseExceptionGroup) as refused:
            await client.get(f"http://{ABROAD}/v1/models")
    assert refused.value.subgroup(AssertionError) is not None


@pytest.mark.proves("S14-NO-PROVIDER-IN-TESTS")
def test_without_a_key_every_model_is_the_built_in_one() -> None:
    assert not [name for name in os.environ if name.endswith("_API_KEY")]
    models = load_config().models
    roles = (models.proxy, models.planner, models.executor, models.scorer)
    assert {role.name for role in roles} == {"runbook"}


def test_no_test_waits_for_the_disk_but_one_that_asks_to(
    tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    assert _asked(tmp_path / "hasty.db") == 0
    with (tmp_path / "written").open("wb") as file:
        descriptor = file.fileno()
    with pytest.raises(OSError, match="Bad file descriptor"):
        os.fsync(descriptor)
    request.getfixturevalue("the_disk")
    assert _asked(tmp_path / "patient.db") == 1


def _asked(path: Path) -> int:
    database = Database(path, MockClock())
    try:
        with database.write() as tx:
            answer: int = tx.driver.execute("PRAGMA synchronous").fetchone()[0]
        return answer
    finally:
        database.close()
