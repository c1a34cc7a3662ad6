"""A second machine: a network namespace with two cables to this one, and what runs in it."""

import asyncio
import itertools
import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import AsyncGenerator, Generator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import pytest

from tests.support.waits import SECONDS
from tests.web.support.chromium import FOUND

if TYPE_CHECKING:
    from playwright.async_api import Browser

OWN_NETWORK = "SILAS_PHONE_TESTS"
"""The variable that says to the tests of a phone that they have a network of their own."""

_NUMBERS = itertools.count()

_LOOK_SECONDS = 0.01

_ASKS = """
import json, socket, ssl, sys
def asks(one):
    with socket.socket() as link:
        link.settimeout(one["seconds"])
        if one["device"]:
            link.setsockopt(socket.SOL_SOCKET, socket.SO_BINDTODEVICE, one["device"].encode())
        link.connect((one["host"], one["port"]))
        if one["authority"]:
            tls = ssl.create_default_context(cafile=one["authority"])
            link = tls.wrap_socket(link, server_hostname=one["host"])
        link.sendall(one["head"].encode())
        said = b""
        while piece := link.recv(65536):
            said += piece
        return said.decode("latin-1")
def tried(one):
    try:
        return asks(one)
    except OSError as error:
        return f"{type(error).__name__}"
print(json.dumps([tried(one) for one in json.load(sys.stdin)]))
"""


def _ip(*words: str) -> bytes:
    done = subprocess.run(("ip", *words), check=True, capture_output=True, timeout=SECONDS)
    return done.stdout


def namespaces_work() -> bool:
    """Whether this machine lets these tests make a network namespace."""
    if os.geteuid() != 0 or shutil.which("ip") is None:
        return False
    name = f"silas-try-{os.getpid()}"
    try:
        _ip("netns", "add", name)
        _ip("netns", "del", name)
    except (OSError, subprocess.SubprocessError):
        return False
    return True


in_a_second_namespace = pytest.mark.skipif(
    not os.environ.get(OWN_NETWORK) or not namespaces_work(),
    reason="`make phone-tests` runs these, as root and in a "
    "network of their own: new cables end the connections of every browser that shares it",
)
trusts_an_authority = pytest.mark.skipif(
    shutil.which("certutil") is None, reason="there is no certutil; install libnss3-tools"
)


class Machine(NamedTuple):
    """The second machine.

    Attributes:
        name: Of its namespace.
        near, far: This machine's addresses on the first and on the second cable.
        near_link, far_link: This machine's interfaces.
        far_end: The second machine's interface of the second cable.
    """

    name: str
    near: str
    far: str
    near_link: str
    far_link: str
    far_end: str

    def moves(self, way: Literal["up", "down"]) -> None:
        """The second machine's ends of both cables are drawn, or put in."""
        for end in (self.near_end, self.far_end):
            _ip("-n", self.name, "link", "set", end, way)
        if way == "up":
            self.finds_its_way()

    def finds_its_way(self) -> None:
        """It reaches the first address by the first cable, or else by the second."""
        for end in (self.near_end, self.far_end):
            _wait_until_carried(end, "-n", self.name)
        route = ("-n", self.name, "route", "replace", f"{self.near}/32")
        _ip(*route, "via", self.far, "dev", self.far_end, "metric", "9")
        _ip(*route, "dev", self.near_end, "metric", "1")

    def loses(self) -> None:
        """What the second machine sends by the first cable gets lost; nobody is told."""
        nowhere = ("lladdr", "02:00:00:00:00:99", "nud", "permanent")
        _ip("-n", self.name, "neigh", "replace", self.near, "dev", self.near_end, *nowhere)

    def delivers(self) -> None:
        """What it sends arrives again."""
        _ip("-n", self.name, "neigh", "del", self.near, "dev", self.near_end)

    @property
    def near_end(self) -> str:
        """The second machine's interface of the first cable."""
        return f"{self.near_link}e"

    def asks(self, *requests: Mapping[str, Any]) -> list[str]:
        """What each request gets from here: the raw answer, or the name of the error."""
        usual = {"device": "", "authority": "", "head": "", "seconds": SECONDS}
        done = subprocess.run(
            ("ip", "netns", "exec", self.name, sys.executable, "-I", "-c", _ASKS),
            input=json.dumps([{**usual, **one} for one in requests]),
            capture_output=True,
            text=True,
            check=True,
            timeout=SECONDS,
        )
        answers: list[str] = json.loads(done.stdout)
        return answers

    async def answers(self, *requests: Mapping[str, Any]) -> list[str]:
        """As `asks`, beside the event loop that serves them."""
        return await asyncio.to_thread(self.asks, *requests)


@contextmanager
def second_machine() -> Generator[Machine]:
    """One with two cables that carry; everything of it ends with this.

    A cable's ends get no IPv6 address: the kernel gives it a second or two later, and Chromium ends
    the connections of its pages whenever an address comes.
    """
    number = f"{os.getpid() % 100_000}{next(_NUMBERS) % 100:02}"
    name, cables = f"silas-{number}", (f"sa{number}", f"sb{number}")
    net = f"10.{200 + os.getpid() // 250 % 50}.{os.getpid() % 250}"
    _ip("netns", "add", name)
    try:
        _ip("-n", name, "link", "set", "lo", "up")
        for cable, here, there in ((cables[0], 1, 2), (cables[1], 5, 6)):
            end = f"{cable}e"
            _ip("link", "add", cable, "type", "veth", "peer", "name", end, "netns", name)
            for where, link, number in (((), cable, here), (("-n", name), end, there)):
                _ip(*where, "link", "set", link, "addrgenmode", "none")
                _ip(*where, "addr", "add", f"{net}.{number}/30", "dev", link)
                _ip(*where, "link", "set", link, "up")
            _wait_until_carried(cable)
        machine = Machine(name, f"{net}.1", f"{net}.5", *cables, f"{cables[1]}e")
        machine.finds_its_way()
        yield machine
    finally:
        for cable in cables:
            subprocess.run(("ip", "link", "del", cable), check=False, capture_output=True)
        _ip("netns", "del", name)


def _wait_until_carried(link: str, *where: str) -> None:
    """Until the kernel says that this end of a cable carries."""
    for _ in range(int(SECONDS / _LOOK_SECONDS)):
        said = json.loads(_ip("-j", *where, "link", "show", "dev", link))
        if said[0]["operstate"] == "UP":
            return
        time.sleep(_LOOK_SECONDS)
    raise AssertionError(f"{link} does not carry")


@asynccontextmanager
async def chromium_there(
    machine: Machine, folder: Path, authorities: Sequence[Path]
) -> AsyncGenerator["Browser"]:
    """A browser on the second machine that trusts these authorities as its owner made it to."""
    from playwright.async_api import async_playwright

    assert FOUND is not None
    home = folder / "home"
    for place in (".pki/nssdb", ".local/share/pki/nssdb"):
        store = home / place
        store.mkdir(parents=True)
        _certutil(store, "-N", "--empty-password")
        for number, authority in enumerate(authorities):
            _certutil(store, "-A", "-t", "C,,", "-n", f"silas-{number}", "-i", str(authority))
    program = folder / "chromium"
    program.write_text(f'#!/bin/sh\nexec ip netns exec {machine.name} {FOUND} "$@"\n')
    program.chmod(0o755)
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(
            executable_path=program,
            args=["--disable-gpu", "--disable-dev-shm-usage", "--no-sandbox"],
            chromium_sandbox=False,
            env={**os.environ, "HOME": str(home)},
        )
        try:
            yield browser
        finally:
            await browser.close()


def _certutil(store: Path, *words: str) -> None:
    subprocess.run(("certutil", "-d", f"sql:{store}", *words), check=True, capture_output=True)
