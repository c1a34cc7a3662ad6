"""No test reaches a network beyond this machine, a real key store, or a real home."""

import gc
import ipaddress
import os
import secrets
import signal
import socket
import uuid
from collections.abc import Generator
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

from silas.language import ENGLISH, language_of, speak
from tests.support.made_once import made_once
from tests.support.quick import SLOW, Learner, Quick, slow_in
from tests.support.unwaited import not_waited_for
from tests.web.support.chromium import HOW

# The same inputs for the same test each time, on any machine and however busy it is: a change is
# not blamed for what chance found beside it. `make search` looks for what they do not find.
settings.register_profile(
    "repeatable",
    derandomize=True,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.register_profile("search", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("repeatable")

if language_of(os.environ) != ENGLISH:  # tests read English sentences, on any machine
    os.environ["LC_ALL"] = "C.UTF-8"

_made, _by_chance = count(1), secrets.token_hex

_connect = socket.socket.connect

_WAITS = pytest.StashKey[pytest.MonkeyPatch]()

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    # Started in the background of a script, where Ctrl-C is ignored, and so it would be in every
    # command that a test starts in order to interrupt it.
    signal.signal(signal.SIGINT, signal.default_int_handler)


def _falling(nbytes: int = 32) -> str:
    """Unguessable as ever, but what is made later sorts first, so that no test (and no list) can
    lean on ids that happened to fall into the order in which they were made."""
    first = min(nbytes, 4)
    head = (256**first - next(_made)) % 256**first
    return f"{head:0{2 * first}x}{_by_chance(nbytes - first)}"


def _falling_uuid() -> uuid.UUID:
    return uuid.UUID(hex=_falling(16), version=4)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--ids", choices=("falling", "chance"), default="falling")
    parser.addoption("--quick", action="store_true", help="only what starts no process")
    parser.addoption("--learn-slow", action="store_true", help="measure, and write tests/slow.txt")


def pytest_configure(config: pytest.Config) -> None:
    if config.getoption("--quick"):
        slow = slow_in(config.rootpath / SLOW)
        config.pluginmanager.register(Quick(slow, config.rootpath), "quick")
    if config.getoption("--learn-slow"):
        config.pluginmanager.register(Learner(config.rootpath / SLOW), "learn-slow")
    monkeypatch = pytest.MonkeyPatch()
    config.add_cleanup(monkeypatch.undo)
    made_once(monkeypatch)
    config.stash[_WAITS] = waits = pytest.MonkeyPatch()
    config.add_cleanup(waits.undo)
    not_waited_for(waits)
    if config.getoption("ids") == "falling":
        monkeypatch.setattr(secrets, "token_hex", _falling)
        monkeypatch.setattr(uuid, "uuid4", _falling_uuid)


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, Any, Any]:
    """What is collected lives until the end: searched for garbage again and again, a million
    objects cost a tenth of all processor time. What the tests make is searched as ever."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()
        gc.collect()
        gc.freeze()


def _loopback_only(self: socket.socket, address: Any) -> None:
    if self.family in (socket.AF_INET, socket.AF_INET6):
        host = str(address[0])
        if host != "localhost" and not ipaddress.ip_address(host).is_loopback:
            raise AssertionError(f"a test tried to reach {host}")
    _connect(self, address)


@pytest.fixture(autouse=True)
def _english_again() -> Generator[None]:
    """The language is the whole process's: a test that speaks another leaves it to no other."""
    yield
    speak(ENGLISH)


@pytest.fixture
def the_disk(request: pytest.FixtureRequest) -> Generator[None]:
    """What is written is waited for as at an owner's."""
    waits = request.config.stash[_WAITS]
    waits.undo()
    yield
    not_waited_for(waits)


@pytest.fixture(autouse=True)
def closed_world(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(socket.socket, "connect", _loopback_only)
    monkeypatch.setenv("SILAS_HOME", str(tmp_path / "silas-home"))
    for name in ("OPENROUTER_API_KEY", "OPENAI_API_KEY", "ANTHROPIC_API_KEY"):
        monkeypatch.delenv(name, raising=False)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """A green run without a browser has not tried the page, and says so in its last lines."""
    skipped = terminalreporter.stats.get("skipped", [])
    left_out = [report for report in skipped if HOW in str(report.longrepr)]
    if left_out:
        terminalreporter.section("browser tests skipped", yellow=True)
        terminalreporter.write_line(f"{len(left_out)} tests in a browser were skipped: {HOW}")
