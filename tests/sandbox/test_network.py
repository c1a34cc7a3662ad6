"""Named hosts from inside the real sandbox: through the proxy to those hosts, and no other way."""

import asyncio
import shutil
import socket
import sys
from pathlib import Path
from typing import Any

import pytest

from silas.errors import SandboxError
from silas.sandbox import (
    Endpoint,
    Mount,
    Sandbox,
    SandboxConfig,
    SandboxFiles,
    SandboxLimits,
    default,
)
from silas.sandbox.network.names import Reason
from silas.sandbox.network.traffic import DeniedTraffic, HostOpened, Traffic
from silas.testing import FakeOutside
from tests.support.waits import SECONDS

from .conftest import PYTHON, PYTHON_MOUNTS
from .test_ordinary_user import as_ordinary_user, home
from .test_proxy import ANSWER, HERE, Recorded, answers, echoes, serving

__all__ = ["home"]  # a fixture

HOSTS = (Endpoint("a.example", 80), Endpoint("a.example", 443))

FETCH = """
import sys, urllib.error, urllib.request
for url in sys.argv[1:]:
    try:
        print(urllib.request.urlopen(url, timeout=60).read().decode())
    except urllib.error.HTTPError as error: print(error.code, error.read().decode().strip())
    except OSError as error: print("failed", error)
"""

DIRECT = """
import errno, socket, sys
def attempt(kind, address):
    try:
        with socket.socket(kind, socket.SOCK_STREAM) as s:
            s.settimeout(4); s.connect(address); print("connected", address)
    except OSError as error: print(errno.errorcode.get(error.errno, error))
attempt(socket.AF_INET, ("127.0.0.1", int(sys.argv[1])))
attempt(socket.AF_INET, ("93.184.215.14", 80))
attempt(socket.AF_INET, ("169.254.169.254", 80))
attempt(socket.AF_INET6, ("::1", int(sys.argv[1])))
attempt(socket.AF_INET6, ("2606:4700:4700::1111", 443))
try: print(socket.getaddrinfo("a.example", 80))
except OSError as error: print("no name")
"""


def a_sandbox(outside: FakeOutside) -> Sandbox:
    return default(SandboxConfig(), forbidden=(), outside=outside)


def files(record: Recorded, **more: Any) -> SandboxFiles:
    usual: dict[str, Any] = {"cwd": Path("/work/empty"), "mounts": PYTHON_MOUNTS, "network": HOSTS}
    return SandboxFiles(**{**usual, **more}, record=record)


LIMITS = SandboxLimits(wall_seconds=SECONDS)


@pytest.mark.proves("B1-NAMED-HOSTS")
async def test_a_program_inside_reaches_a_named_host_and_no_other_one() -> None:
    record = Recorded()
    urls = ("http://a.example/x", "http://b.example/", "http://127.0.0.1.nip.example/")
    async with serving(answers) as server:
        outside = FakeOutside({"a.example": [HERE], "b.example": [HERE]}, {HERE: server.port})
        result = await a_sandbox(outside).run(
            [PYTHON, "-I", "-c", FETCH, *urls], LIMITS, files(record)
        )
    first, second, third = result.stdout.splitlines()
    assert first == "hi"
    assert second == "403 Silas: b.example:80: is not among the hosts that the approved plan names."
    assert third.startswith("403 ")
    assert server.received.startswith(b"GET /x HTTP/1.1\r\nHost: a.example\r\n")
    total = Traffic("a.example", 80, 1, len(server.received), len(ANSWER))
    assert result.traffic == (total,)
    assert record.events == [
        HostOpened("a.example", 80, (HERE,)),
        DeniedTraffic("b.example:80", Reason.not_listed),
        DeniedTraffic("127.0.0.1.nip.example:80", Reason.not_listed),
        total,
    ]


@pytest.mark.proves("B1-NAMED-HOSTS", "S9.1-NETWORK-OFF")
async def test_around_the_proxy_nothing_is_reached() -> None:
    record = Recorded()
    async with serving(answers) as server:
        outside = FakeOutside({"a.example": [HERE]}, {HERE: server.port})
        with socket.create_connection(("127.0.0.1", server.port), timeout=SECONDS):
            pass  # it is there
        result = await a_sandbox(outside).run(
            [PYTHON, "-I", "-c", DIRECT, str(server.port)], LIMITS, files(record)
        )
    assert result.stdout.splitlines() == [
        "ECONNREFUSED", "ENETUNREACH", "ENETUNREACH", "ECONNREFUSED", "ENETUNREACH", "no name",
    ]  # fmt: skip
    assert record.events == []


@pytest.mark.proves("B1-NO-NETWORK", "S9.1-NETWORK-OFF")
async def test_without_named_hosts_there_is_no_proxy() -> None:
    result = await a_sandbox(FakeOutside({}, {})).run(
        [PYTHON, "-I", "-c", DIRECT, "3128"], LIMITS, files(Recorded(), network=(), loopback=True)
    )
    assert result.stdout.splitlines()[0] == "ECONNREFUSED"
    assert result.traffic == ()


@pytest.mark.parametrize("network", [(), HOSTS])
async def test_programs_are_told_of_the_proxy_where_there_is_one(
    network: tuple[Endpoint, ...],
) -> None:
    result = await a_sandbox(FakeOutside({}, {})).run(
        ["/usr/bin/env"], LIMITS, files(Recorded(), network=network)
    )
    variables = dict(line.split("=", 1) for line in result.stdout.splitlines())
    told = {name for name in variables if name.lower().endswith("_proxy")}
    names = ("http_proxy", "https_proxy", "all_proxy", "no_proxy")
    assert told == ({*names, *map(str.upper, names)} if network else set())
    assert variables.get("https_proxy", "http://127.0.0.1:3128") == "http://127.0.0.1:3128"


async def test_a_run_that_is_broken_off_has_its_bytes_on_record() -> None:
    record = Recorded()
    hold = """
import socket, sys
s = socket.create_connection(("127.0.0.1", 3128)); f = s.makefile("rwb")
f.write(b"POST http://a.example/ HTTP/1.1\\r\\nHost: a.example\\r\\nContent-Length: 9\\r\\n\\r\\n")
f.write(b"abc"); f.flush(); f.read()
"""
    async with serving(echoes) as server:
        outside = FakeOutside({"a.example": [HERE]}, {HERE: server.port})
        run = asyncio.create_task(
            a_sandbox(outside).run([PYTHON, "-I", "-c", hold], LIMITS, files(record))
        )
        async with asyncio.timeout(SECONDS):
            while not server.received.endswith(b"abc"):
                await asyncio.wait([run], timeout=0.01)
        run.cancel()
        with pytest.raises(asyncio.CancelledError):
            await run
    [opened, used] = record.events
    assert isinstance(opened, HostOpened)
    assert isinstance(used, Traffic)
    assert used.bytes_out == len(server.received)


async def test_where_the_proxy_cannot_be_put_in_place_nothing_is_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mount = Mount(source=tmp_path, target=Path("/out"), writable=True)
    monkeypatch.setattr(sys, "executable", "/nowhere/python")
    sandbox = a_sandbox(FakeOutside({}, {}))
    with pytest.raises(SandboxError) as caught:
        await sandbox.run(
            ["/usr/bin/touch", "/out/ran"], LIMITS, files(Recorded(), mounts=(mount,))
        )
    assert caught.value.code == "E_SANDBOX_NETWORK"
    assert "nothing was run" in caught.value.message
    await sandbox.run(
        ["/usr/bin/touch", "/out/control"], LIMITS, files(Recorded(), mounts=(mount,), network=())
    )
    assert [path.name for path in tmp_path.iterdir()] == ["control"]


async def test_a_listener_that_the_kernel_refuses_starts_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "executable", "/bin/false")
    mount = Mount(source=tmp_path, target=Path("/out"), writable=True)
    with pytest.raises(SandboxError, match="nothing was run"):
        await a_sandbox(FakeOutside({}, {})).run(
            ["/usr/bin/touch", "/out/ran"], LIMITS, files(Recorded(), mounts=(mount,))
        )
    assert list(tmp_path.iterdir()) == []


@pytest.mark.proves("B1-NAMED-HOSTS")
def test_an_ordinary_user_reaches_a_named_host_and_nothing_around_it(home: Path) -> None:
    interpreter = shutil.which("python3", path="/usr/bin:/bin") or sys.executable

    async def act() -> list[str]:
        record = Recorded()
        async with serving(answers) as server:
            outside = FakeOutside({"a.example": [HERE]}, {HERE: server.port})
            told = SandboxFiles(cwd=Path("/work"), network=HOSTS, record=record)
            urls = ("http://a.example/", "http://b.example/")
            fetched = await a_sandbox(outside).run(
                [interpreter, "-I", "-c", FETCH, *urls], LIMITS, told
            )
            around = await a_sandbox(outside).run(
                [interpreter, "-I", "-c", DIRECT, str(server.port)], LIMITS, told
            )
        return [*fetched.stdout.splitlines(), *around.stdout.splitlines(), fetched.stderr]

    def as_user() -> list[str]:
        sys.executable = interpreter  # the one of these tests may be another user's
        return asyncio.run(act())

    lines = as_ordinary_user(as_user, home)
    assert lines[0] == "hi", lines
    assert lines[1].startswith("403 Silas: b.example:80")
    assert lines[2:5] == ["ECONNREFUSED", "ENETUNREACH", "ENETUNREACH"]
