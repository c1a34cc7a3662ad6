"""The Docker engine of this machine: its client, socket and image, and what it can limit."""

import json
import os
import re
import stat
import subprocess
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from silas.sandbox.bubblewrap.launch import is_trusted_binary
from silas.sandbox.errors import SandboxUnavailable

CLIENTS = ("/usr/bin/docker", "/usr/local/bin/docker", "/run/current-system/sw/bin/docker")
_SOCKET = "/var/run/docker.sock"
_SECONDS = 20.0
_IMAGE_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._/:@-]{0,254}", re.ASCII)
_UNMAPPED = ("name=rootless", "name=userns")


class Client(NamedTuple):
    """The `docker` program and the engine it speaks to."""

    program: Path
    socket: Path

    @property
    def environment(self) -> dict[str, str]:
        """All it is told: no context, no plugins and no credentials of the owner's."""
        return {"DOCKER_HOST": f"unix://{self.socket}", "DOCKER_CONFIG": "/nonexistent"}

    def argv(self, arguments: Sequence[str]) -> list[str]:
        """A command line."""
        return [str(self.program), *arguments]

    def ask(self, arguments: Sequence[str]) -> "subprocess.CompletedProcess[str]":
        """Run one short command to its end, whatever that is.

        Raises:
            SandboxUnavailable: The engine does not answer in time.
        """
        try:
            return subprocess.run(
                self.argv(arguments),
                env=self.environment,
                cwd="/",
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                timeout=_SECONDS,
                check=False,
            )
        except subprocess.TimeoutExpired as error:
            raise SandboxUnavailable(
                f"The Docker engine did not answer within {_SECONDS:.0f} seconds; "
                "look at `docker info`.",
                code="E_SANDBOX_DOCKER_ENGINE",
            ) from error


class Engine(NamedTuple):
    """What answers.

    Attributes:
        client: How to reach it.
        version: Its own.
        image: The digest of the base image, so that a name that moves changes nothing.
        limits_memory, limits_swap, limits_processes: What the kernel lets it limit.
    """

    client: Client
    version: str
    image: str
    limits_memory: bool
    limits_swap: bool
    limits_processes: bool

    def words(self) -> str:
        """One line for `silas doctor`."""
        kinds = (
            ("memory", self.limits_memory),
            ("swap", self.limits_swap),
            ("processes", self.limits_processes),
        )
        held = ", ".join(name for name, has in kinds if has) or "nothing; the supervisor alone does"
        return f"Docker {self.version} at {self.client.socket}, limits {held}"


def find_client(places: Iterable[str], environment: Mapping[str, str]) -> Client:
    """The client, which only root can replace, and the socket of an engine on this machine.

    Raises:
        SandboxUnavailable: There is no such program, or the engine is elsewhere or not root's.
    """
    program = next((Path(place) for place in places if is_trusted_binary(Path(place))), None)
    if program is None:
        raise SandboxUnavailable(
            "The `docker` program is not installed; install Docker (on Debian: sudo apt-get "
            "install -y docker.io), or set `sandbox.backend: subprocess`.",
            code="E_SANDBOX_DOCKER_MISSING",
        )
    told = environment.get("DOCKER_HOST", "") or f"unix://{_SOCKET}"
    scheme, _, path = told.partition("://")
    if scheme != "unix" or not path.startswith("/"):
        raise SandboxUnavailable(
            f"DOCKER_HOST is {told}, which is not a socket of this machine; a sandbox must run "
            "here, so unset it or name a unix:// path.",
            code="E_SANDBOX_DOCKER_ENGINE",
        )
    return Client(program, _socket(Path(path)))


def _socket(path: Path) -> Path:
    try:
        facts = path.stat()
    except OSError as error:
        raise SandboxUnavailable(
            f"No Docker engine runs at {path} ({error.strerror}); start it: sudo systemctl start "
            "docker, or set `sandbox.backend: subprocess`.",
            code="E_SANDBOX_DOCKER_ENGINE",
        ) from error
    if not stat.S_ISSOCK(facts.st_mode) or facts.st_uid != 0:
        raise SandboxUnavailable(
            f"{path} is not a socket of root's, so whoever made it could pose as the Docker "
            "engine; use the system's own.",
            code="E_SANDBOX_DOCKER_ENGINE",
        )
    if not os.access(path, os.R_OK | os.W_OK):
        raise SandboxUnavailable(
            f"You may not use the Docker engine at {path}; run: sudo usermod -aG docker $USER, "
            "and log in again. Who is in that group can become root.",
            code="E_SANDBOX_DOCKER_PERMISSION",
        )
    return path


def _last_line(text: str) -> str:
    return text.strip().rpartition("\n")[2][:300]


def find_engine(client: Client, image: str) -> Engine:
    """What the engine can do, and the image in it; nothing is fetched.

    Raises:
        SandboxUnavailable: It does not answer, maps users so that files would belong to
            strangers, or has no such image.
    """
    facts = engine_facts(client)
    options: list[str] = facts.get("SecurityOptions") or []
    mapped = next((name for name in _UNMAPPED if any(name in each for each in options)), "")
    if mapped:
        raise SandboxUnavailable(
            f"This Docker engine maps users ({mapped}), so that files would not belong to you; "
            "use one that does not, or set `sandbox.backend: subprocess`.",
            code="E_SANDBOX_DOCKER_ENGINE",
        )
    if not any("name=seccomp" in each for each in options):
        raise SandboxUnavailable(
            "This Docker engine has no system-call filter; use a kernel with "
            "CONFIG_SECCOMP_FILTER and an engine built for it.",
            code="E_SANDBOX_SECCOMP",
        )
    return Engine(
        client=client,
        version=str(facts.get("ServerVersion", "")),
        image=find_image(client, image),
        limits_memory=facts.get("MemoryLimit") is True,
        limits_swap=facts.get("SwapLimit") is True,
        limits_processes=facts.get("PidsLimit") is True,
    )


def engine_facts(client: Client) -> dict[str, Any]:
    """What the engine says of itself."""
    ended = client.ask(["info", "--format", "{{json .}}"])
    facts: dict[str, Any] = {}
    if ended.returncode == 0:
        facts = _json(ended.stdout)
    if not facts.get("ServerVersion"):
        words = _last_line(ended.stderr) or "; ".join(facts.get("ServerErrors") or ["no answer"])
        raise SandboxUnavailable(
            f"No Docker engine answers at {client.socket} ({words}); start it: sudo systemctl "
            "start docker, or set `sandbox.backend: subprocess`.",
            code="E_SANDBOX_DOCKER_ENGINE",
        )
    return facts


def _json(text: str) -> dict[str, Any]:
    try:
        return json.loads(text)
    except ValueError:
        return {}


def find_image(client: Client, image: str) -> str:
    """The digest of an image that is here.

    Raises:
        SandboxUnavailable: It is not, or it would give every container a writable disk.
    """
    if not _IMAGE_NAME.fullmatch(image):
        raise SandboxUnavailable(
            f"`sandbox.base_image` is {image!r}, which is not the name of an image.",
            code="E_SANDBOX_DOCKER_IMAGE",
        )
    ended = client.ask(["image", "inspect", "--format", "{{json .}}", image])
    if ended.returncode != 0:
        raise SandboxUnavailable(
            f"The image {image} is not here, and Silas fetches none by itself; run: docker pull "
            f"{image}",
            code="E_SANDBOX_DOCKER_IMAGE",
        )
    facts = _json(ended.stdout)
    config: dict[str, Any] = facts.get("Config") or {}
    if not facts.get("Id") or config.get("Volumes"):
        raise SandboxUnavailable(
            f"The image {image} declares volumes, which would be writable and unlimited; name "
            "another one as `sandbox.base_image`.",
            code="E_SANDBOX_DOCKER_IMAGE",
        )
    return str(facts["Id"])
