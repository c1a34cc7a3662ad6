"""What the Docker backend needs, found out by really running a container."""

import asyncio
import functools
import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from silas.sandbox.capability import (
    CapabilityCheck,
    judge,
    look,
    machine_here,
    supervision,
    supervision_words,
)
from silas.sandbox.docker.backend import DockerSandbox
from silas.sandbox.docker.command import DockerCommands
from silas.sandbox.docker.engine import CLIENTS, Engine, find_client, find_engine
from silas.sandbox.errors import SandboxUnavailable
from silas.sandbox.landlock import Landlock, kernel_version
from silas.sandbox.models import SandboxFiles, SandboxLimits
from silas.sandbox.mounts import Roots
from silas.stop.runs import UNREGISTERED, Register

# As in any sandbox: the kernel says whether a filter is loaded; whether it is ours shows in what it
# refuses. Every user may change the name of an own process; only Landlock does not let it.
_QUESTIONS = """
touch f && chmod 700 f || exit 1
chmod 4700 f 2> /dev/null && echo "Set-id: possible" || echo "Set-id: refused"
(echo x > /proc/self/comm) 2> /dev/null && echo "Ungranted: open" || echo "Ungranted: closed"
cat /proc/self/status /proc/self/net/dev
"""


def make_sandbox(
    image: str, forbidden: tuple[Path, ...], allowed: tuple[Path, ...], register: Register
) -> DockerSandbox:
    """The backend, tested first.

    Raises:
        SandboxUnavailable: A part is missing; the message says what to run.
    """
    engine = require(image)
    return _sandbox(engine, Roots.of(forbidden, allowed), register)


def _sandbox(engine: Engine, roots: Roots, register: Register) -> DockerSandbox:
    boxer = DockerCommands(engine, machine_here(), Landlock(kernel_version()), roots)
    return DockerSandbox(engine, boxer, register)


def engine_here(image: str) -> Engine:
    """The engine that answers, with the image in it."""
    return find_engine(find_client(CLIENTS, os.environ), image)


@functools.cache
def require(image: str) -> Engine:
    """Everything a container needs, tested once per process; a refusal is not remembered.

    Raises:
        SandboxUnavailable: A part is missing; the message says what to run.
    """
    machine_here()
    supervision()
    landlock = Landlock(kernel_version())
    engine = engine_here(image)
    with ThreadPoolExecutor(1) as apart:  # the caller may have an event loop of its own
        told = apart.submit(lambda: asyncio.run(_look_inside(engine))).result()
    judge(told, landlock)
    return engine


async def _look_inside(engine: Engine) -> str:
    """Run the real command lines once and return what the kernel says about the process in it."""
    sandbox = _sandbox(engine, Roots.of((), ()), UNREGISTERED)
    files = SandboxFiles(cwd=Path("/tmp"))  # noqa: S108 - inside the sandbox
    ended = await sandbox.run(["/bin/sh", "-c", _QUESTIONS], SandboxLimits(), files)
    if not ended.ok:
        raise SandboxUnavailable(
            "The image cannot run the test of its own isolation "
            f"({ended.stderr.strip()[-200:] or ended.ended_by}); it needs /bin/sh, cat and chmod.",
            code="E_SANDBOX_DOCKER_IMAGE",
        )
    return ended.stdout


def probe_docker(image: str) -> list[CapabilityCheck]:
    """The backend's lines for `silas doctor`; never raises."""
    return look(
        ("docker", lambda: f"{find_client(CLIENTS, os.environ).program}"),
        ("docker engine", lambda: engine_here(image).words()),
        ("docker image", lambda: f"{image}, {engine_here(image).image[:19]}"),
        ("system-call filter", lambda: f"written for {machine_here()}"),
        ("supervision", supervision_words),
        ("Landlock", lambda: Landlock(kernel_version()).words()),
        ("isolation", lambda: f"tested in a run: {require(image).client.program}"),
    )
