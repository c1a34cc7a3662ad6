"""Several processes on one home, and one that is killed in the middle."""

import asyncio
import signal
from pathlib import Path

import pytest

from silas.services.record import open_audit
from tests.support.command import run, silas, started
from tests.support.home import Home, soon
from tests.support.waits import SECONDS


@pytest.fixture
async def home(tmp_path: Path) -> Home:
    return await Home.set_up(tmp_path)


async def test_after_a_kill_in_the_middle_the_call_is_unknown_and_the_work_resumes(
    home: Home,
) -> None:
    with started(home.command(), home.env) as process:
        await asyncio.to_thread(soon, home.asleep, "the step")
        process.send_signal(signal.SIGKILL)
        process.wait(timeout=SECONDS)
        await asyncio.to_thread(soon, home.nobody, "the end of the sandbox")
    assert home.statuses() == ["attempted"]
    assert [path.name for path in home.work.iterdir()] == ["input.txt"]

    (home.signals / "go").touch()
    async with asyncio.timeout(SECONDS), home.reopened(resume=True) as (silas_, channel):
        assert home.statuses()[0] == "unknown"
        result = await silas_.wait("task-nap")
    assert result is not None
    assert result.status == "done", result.summary
    assert channel.cards == []  # it was approved, and is not asked about again
    assert home.statuses()[0] == "unknown"  # never assumed done, and never overwritten
    assert (home.work / "result.txt").read_text() == "as it was\n"
    async with open_audit(home.config) as service:
        assert (await service.verify_chain()).valid
        assert any("resume" in line.lower() for line in await service.narrate(60))


async def test_a_second_process_neither_resumes_nor_disturbs_what_the_first_is_doing(
    home: Home,
) -> None:
    with started(home.command(), home.env) as process:
        await asyncio.to_thread(soon, home.asleep, "the step")
        async with asyncio.timeout(SECONDS), home.reopened(resume=True) as (silas_, channel):
            assert silas_.executor.running() == ()
            reply = await silas_.ask("hello")
            assert reply.outcome == "answered"
        assert home.statuses()[0] == "attempted"  # the looks for the answer come after it
        assert home.asleep()
        assert channel.cards == []
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=SECONDS) == 4
    async with open_audit(home.config) as service:
        verdict = await service.verify_chain()
    assert verdict.valid, verdict.reason


async def test_many_processes_write_one_chain(home: Home) -> None:
    def asks() -> int:
        return run(silas("ask", "hello"), home.env).code

    codes = await asyncio.gather(*(asyncio.to_thread(asks) for _ in range(4)))
    assert codes == [0] * 4
    async with open_audit(home.config) as service:
        verdict = await service.verify_chain()
    assert verdict.valid, verdict.reason
    assert verdict.entries_checked >= 4 * 4
