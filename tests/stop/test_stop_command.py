"""`silas stop --now` and `silas resume` in processes of their own, against a Silas at work."""

import asyncio
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Generator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from silas.main import cli
from silas.plans import WorkItemStatus
from silas.services.record import open_audit
from silas.services.work import open_work
from silas.stop import Sentinel
from tests.support.command import (
    ROOT,
    SECONDS,
    Ended,
    person,
    processes_saying,
    python,
    run,
    silas,
    started,
    without_bubblewrap,
)
from tests.support.home import Home, soon

STOP = silas("stop", "--now")
BESIDE_TESTS = """
import runpy, sys
sys.path.insert(0, sys.argv.pop(1))
runpy.run_module("silas", run_name="__main__", alter_sys=True)
"""
"""Silas where the tests are packages, too, as a model of the owner's is that he names."""
SENTENCE = "`silas resume` starts it again"


@pytest.fixture
async def home(tmp_path: Path) -> Home:
    return await Home.set_up(tmp_path)


def stop(home: Home) -> Ended:
    return run(STOP, home.env)


def sentinel_of(home: Home) -> Sentinel:
    return Sentinel(home.config.data_dir)


def untouched(home: Home) -> bool:
    return [path.name for path in home.work.iterdir()] == ["input.txt"]


async def status_of(home: Home, work_item_id: str = "task-nap") -> WorkItemStatus | None:
    async with open_work(home.config) as service:
        found = {item.id: item.status for item in await service.items()}
    return found.get(work_item_id)


async def record_of(home: Home) -> str:
    async with open_audit(home.config) as service:
        verdict = await service.verify_chain()
        assert verdict.valid, verdict.reason
        return "\n".join(await service.narrate(200))


@contextmanager
def busy_processors() -> Generator[None]:
    """Two programs that compute for ever."""
    argv = [sys.executable, "-c", "while True: pass"]
    burners = [subprocess.Popen(argv) for _ in range(2)]
    try:
        yield
    finally:
        for burner in burners:
            burner.kill()
            burner.wait(timeout=SECONDS)


@pytest.mark.proves("B10-STOPS", "B10-STAYS-STOPPED")
async def test_a_stop_needs_nothing_of_the_process_that_works(home: Home) -> None:
    with started(home.command(), home.env) as process:
        await asyncio.to_thread(soon, home.asleep, "the step")
        process.send_signal(signal.SIGSTOP)  # it can do nothing at all now
        with busy_processors():
            ended = await asyncio.to_thread(stop, home)
        assert ended.code == 0, ended.err
        assert "tools killed: 1" in ended.out
        assert SENTENCE in ended.out
        assert not home.asleep()
        await asyncio.to_thread(soon, home.nobody, "the end of the sandbox")
        # it did not say what became of its work, so the stopping process did
        assert "paused: task-nap" in ended.out
        assert await status_of(home) is WorkItemStatus.paused
        process.send_signal(signal.SIGCONT)
        assert process.wait(timeout=SECONDS) == 4
    assert untouched(home)
    assert await status_of(home) is WorkItemStatus.paused

    # it stays stopped: the approval given on the command line is not even looked at
    (home.signals / "go").touch()
    for argv in (home.command(), silas("chat")):
        refused = await asyncio.to_thread(run, argv, home.env)
        assert refused.code == 4
        assert SENTENCE in refused.err
        assert refused.err.count("\n") == 1
    assert untouched(home)

    # resumed, nothing restarts by itself, and a new approval is what it takes
    assert (await asyncio.to_thread(run, silas("resume", "--yes"), home.env)).code == 0
    async with asyncio.timeout(SECONDS), home.reopened(resume=True) as (silas_, channel):
        assert silas_.executor.running() == ()
        assert channel.cards == []
    assert untouched(home)
    again = await asyncio.to_thread(run, home.command(), home.env)
    assert again.code == 0, again.err
    told = await record_of(home)
    assert told.count("The emergency stop: ") == 1
    assert told.count("You ended the emergency stop") == 1


@pytest.mark.proves("B10-STOPS")
async def test_a_file_made_by_hand_is_enough_though_the_event_loop_is_blocked(home: Home) -> None:
    sign, release = home.signals / "asleep", home.signals / "release"
    argv = [sys.executable, "-m", "tests.stop.blocked_loop", home.plan, sign, release]
    with started([str(word) for word in argv], home.env) as process:
        await asyncio.to_thread(soon, home.asleep, "the step")
        sign.touch()
        await asyncio.to_thread(soon, lambda: computing(process.pid), "the blocked loop")
        with busy_processors():
            sentinel_of(home).path.touch()
            await asyncio.to_thread(soon, home.nobody, "the end of the sandbox")
        assert process.poll() is None  # a program that Silas is only a part of is not ended
        release.touch()
        out, err = await asyncio.to_thread(process.communicate, timeout=SECONDS)
    assert process.returncode == 0, err
    assert out.startswith("paused - Silas ")
    assert "needs a new approval" in out
    assert untouched(home)
    assert (await record_of(home)).count("The emergency stop: ") == 1


def computing(pid: int) -> bool:
    """Whether a process runs just now and does not wait."""
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "R"


@pytest.mark.parametrize("by_hand", [False, True])
async def test_a_command_whose_model_blocks_it_ends_itself(
    home: Home, tmp_path: Path, by_hand: bool
) -> None:
    sign = tmp_path / "asked"
    env = {
        **home.env,
        "BUSY_SIGN": str(sign),
        "SILAS_MODELS__EXECUTOR": "python:tests.stop.busy_model:make",
    }
    words = home.command()[len(silas()) :]
    with started(python(BESIDE_TESTS, ROOT, *words), env, imported=True) as process:
        await asyncio.to_thread(soon, sign.exists, "the question to the model")
        if by_hand:
            sentinel_of(home).path.touch()
        else:
            ended = await asyncio.to_thread(stop, home)
            assert "paused: task-nap" in ended.out
        _, err = await asyncio.to_thread(process.communicate, timeout=SECONDS)
    assert process.returncode == 4
    assert "The work under way did not end by itself." in err
    assert untouched(home)
    if by_hand:
        resumed = await asyncio.to_thread(run, silas("resume", "--yes"), home.env)
        assert "paused: task-nap" in resumed.out
    assert await status_of(home) is WorkItemStatus.paused


async def test_a_stop_while_the_owner_is_asked_is_no_approval(home: Home) -> None:
    with person(silas("run", home.plan), home.env) as owner:
        owner.waits_for("Your choice, 1 to 3:")
        assert stop(home).code == 0
        assert owner.leaves() == 4
    assert SENTENCE in owner.seen
    assert await status_of(home) is None
    assert untouched(home)


def test_a_stop_with_nothing_running_and_a_second_one_say_what_they_found(home: Home) -> None:
    first, second = stop(home), stop(home)
    assert (first.code, second.code) == (0, 0)
    assert "is stopped; every approval is void; tools killed: 0." in first.out
    assert "was stopped already; every approval is void; tools killed: 0." in second.out
    assert (first.err, second.err) == ("", "")


def test_without_now_or_without_a_silas_nothing_is_stopped(home: Home, tmp_path: Path) -> None:
    plain = run(silas("stop"), home.env)
    assert (plain.code, sentinel_of(home).stands()) == (2, False)
    assert "silas stop --now" in plain.err
    nowhere = run(STOP, {**home.env, "SILAS_HOME": str(tmp_path / "nowhere")})
    assert (nowhere.code, nowhere.out) == (2, "")
    assert str(tmp_path / "nowhere" / "data") in nowhere.err


def test_a_broken_configuration_does_not_keep_it_from_stopping(home: Home) -> None:
    (home.config.data_dir.parent / "config.yaml").write_text("silas: [what, is, this")
    ended = stop(home)
    assert ended.code == 0
    assert sentinel_of(home).stands()
    assert "could not be recorded yet" in ended.err


@pytest.mark.parametrize("named_in", ["file", "environment"])
def test_it_stops_the_directory_that_the_configuration_names(
    home: Home, tmp_path: Path, named_in: str
) -> None:
    place = tmp_path / "elsewhere"
    place.mkdir()
    env = dict(home.env)
    if named_in == "file":
        config = home.config.data_dir.parent / "config.yaml"
        config.write_text(f"silas:\n  data_dir: {place}\n")
    else:
        env["SILAS_DATA_DIR"] = str(place)
    run(STOP, env)
    assert Sentinel(place).stands()
    assert not sentinel_of(home).stands()


async def test_a_locked_database_does_not_keep_it_from_killing(home: Home) -> None:
    with started(home.command(), home.env) as process:
        await asyncio.to_thread(soon, home.asleep, "the step")
        with closing(sqlite3.connect(home.config.data_dir / "silas.db")) as lock:
            lock.execute("BEGIN IMMEDIATE")
            ended = await asyncio.to_thread(stop, home)
            assert ended.code == 0
            assert "tools killed: 1" in ended.out
            assert "could not be recorded yet" in ended.err
            assert not home.asleep()
            await asyncio.to_thread(soon, home.nobody, "the end of the sandbox")
            lock.rollback()
        process.wait(timeout=SECONDS)
    assert untouched(home)
    assert (await asyncio.to_thread(run, silas("resume", "--yes"), home.env)).code == 0
    assert "The emergency stop: " in await record_of(home)


async def test_where_nothing_can_be_written_it_kills_and_says_that_it_does_not_last(
    home: Home,
) -> None:
    with started(home.command(), home.env):
        await asyncio.to_thread(soon, home.asleep, "the step")
        killed = set(processes_saying(home.nap))
        argv = without_bubblewrap(STOP)
        data = str(home.config.data_dir)
        read_only = [*argv[:4], "--ro-bind", data, data, *STOP]
        ended = await asyncio.to_thread(run, read_only, home.env)
        assert ended.code == 1
        assert "Silas is not stopped" in ended.err
        assert "Running tools killed: 1." in ended.err

        def gone() -> bool:  # Silas is not stopped, and may have begun another attempt
            return killed.isdisjoint(processes_saying(home.nap))

        await asyncio.to_thread(soon, gone, "the end of the sandbox")


LOOKING = ("status", "status --json", "audit show", "audit verify", "tools list", "config show")


def test_while_stopped_looking_works_and_says_so(
    home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in home.env.items():
        monkeypatch.setenv(name, value)

    def look(words: str) -> Result:
        return CliRunner().invoke(cli, words.split())

    before = {words: look(words) for words in LOOKING}
    sentinel_of(home).place()
    for words in LOOKING:
        ended = look(words)
        assert (ended.exit_code, ended.stdout) == (0, before[words].stdout)
        assert (SENTENCE in before[words].stderr, SENTENCE in ended.stderr) == (False, True)
    assert "NO  emergency stop" in look("doctor").stdout


@pytest.mark.parametrize(("typed", "code"), [("\r", 3), ("n\r", 3), ("y\r", 0)])
def test_resuming_asks_and_silence_means_no(home: Home, typed: str, code: int) -> None:
    sentinel_of(home).place()
    with person(silas("resume"), home.env) as owner:
        owner.waits_for("[y/N]:")
        owner.types(typed)
        assert owner.leaves() == code
    assert sentinel_of(home).stands() == (code != 0)


def test_resuming_without_anybody_to_ask_needs_to_be_said_twice(home: Home) -> None:
    sentinel_of(home).place()
    refused = run(silas("resume"), home.env, stdin="y\n")
    assert refused.code == 3
    assert "silas resume --yes" in refused.err
    assert run(silas("resume", "--yes"), home.env).code == 0
    nothing = run(silas("resume"), home.env)
    assert (nothing.code, nothing.out) == (0, "Silas is not stopped.\n")
