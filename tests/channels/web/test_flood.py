"""A program holds a thousand sockets open, and a paired browser is answered meanwhile."""

import asyncio
import json
import re
import subprocess
import sys
import urllib.request
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import pytest
from websockets.asyncio.client import connect
from websockets.typing import Origin

from tests.support import flood
from tests.support.command import ROOT, environment, run, silas
from tests.support.waits import SECONDS

SOCKETS, REFILLED = 1100, 1000
FILES = 1024  # what a process may have open on many machines
MOST_LOG = 64 * 1024
_LINK = re.compile(r"http://127\.0\.0\.1:(\d+)/pair#(\S+)")
_LIMITED = (
    "import os, resource, sys\n"
    f"resource.setrlimit(resource.RLIMIT_NOFILE, ({FILES}, {FILES}))\n"
    "os.execvp(sys.argv[1], sys.argv[1:])"
)


class Cockpit(NamedTuple):
    """A cockpit in a process of its own, and a browser that is paired with it."""

    port: int
    headers: dict[str, str]
    page: str
    log: Path

    def get(self, path: str) -> int:
        """The status of an answer to the paired browser, on a fresh connection."""
        request = urllib.request.Request(
            f"http://127.0.0.1:{self.port}{path}",
            headers={**self.headers, "X-Silas-Page": self.page},
        )
        with urllib.request.urlopen(request, timeout=SECONDS) as answer:
            return int(answer.status)

    async def greeted(self) -> str:
        """The type of the first frame that a fresh live connection gets."""
        async with connect(
            f"ws://127.0.0.1:{self.port}/ws",
            origin=Origin(self.headers["Origin"]),
            additional_headers={"Cookie": self.headers["Cookie"]},
            open_timeout=SECONDS,
            proxy=None,
        ) as page:
            await page.send(json.dumps({"type": "auth", "token": self.page, "after": 0}))
            return str(json.loads(await asyncio.wait_for(page.recv(), SECONDS))["type"])


@pytest.fixture(scope="module")
def cockpit(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cockpit]:
    home = tmp_path_factory.mktemp("flood")
    env, log = environment(home), home / "errors.log"
    assert run(silas("init"), env).code == 0
    limited = [sys.executable, "-c", _LIMITED, *silas("start", "--port", "0")]
    with (
        log.open("wb") as errors,
        subprocess.Popen(
            limited, env=env, cwd=ROOT, stdout=subprocess.PIPE, stderr=errors, text=True
        ) as process,
    ):
        try:
            assert process.stdout is not None
            link = next(filter(None, map(_LINK.search, process.stdout)))
            yield _paired(int(link[1]), link[2], log)
        finally:
            process.terminate()
            process.wait(SECONDS)


def _paired(port: int, token: str, log: Path) -> Cockpit:
    origin = f"http://127.0.0.1:{port}"
    body = {"token": token, "name": "test", "public_key": None, "signature": None}
    request = urllib.request.Request(
        f"{origin}/pair",
        data=json.dumps(body).encode(),
        headers={"Content-Type": "application/json", "Origin": origin},
    )
    with urllib.request.urlopen(request, timeout=SECONDS) as answer:
        cookie = str(answer.headers["Set-Cookie"]).split(";")[0]
        return Cockpit(
            port, {"Origin": origin, "Cookie": cookie}, json.load(answer)["page_token"], log
        )


@contextmanager
def _flooding(cockpit: Cockpit, kind: str) -> Generator[Iterator[str]]:
    argv = [sys.executable, flood.__file__, str(cockpit.port), kind, str(SOCKETS)]
    with subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as crowd:
        assert crowd.stdout is not None
        try:
            yield (line.strip() for line in crowd.stdout)
        finally:
            crowd.communicate(timeout=SECONDS)


@pytest.mark.parametrize("kind", flood.KINDS)
def test_a_paired_browser_is_answered_while_a_thousand_sockets_are_held_and_refilled(
    cockpit: Cockpit, kind: str
) -> None:
    with _flooding(cockpit, kind) as told:
        assert next(told) == "held"
        assert cockpit.get("/work") == 200
        for line in told:
            if line == f"refilled {REFILLED}":
                break
        assert cockpit.get("/work") == 200
        assert asyncio.run(cockpit.greeted()) == "stream_state"
    assert cockpit.log.stat().st_size < MOST_LOG
