"""The Docker backend: every protection on every command line, and refusals that say what to do.

What needs an engine is in `test_docker_engine.py`; nothing here does.
"""

import array
import errno
import fcntl
import json
import os
import socket
import subprocess
import termios
import time
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from pydantic import SecretBytes

from silas.errors import SandboxError
from silas.plans import PlanParser
from silas.plans.binding import Grants, binding_facts, difference
from silas.sandbox import (
    Mount,
    SandboxConfig,
    SandboxFiles,
    SandboxLimits,
    SandboxUnavailable,
    default,
)
from silas.sandbox.capability import machine_here
from silas.sandbox.docker.backend import DockerSandbox
from silas.sandbox.docker.command import Container, DockerCommands, visible_mounts
from silas.sandbox.docker.container import guard
from silas.sandbox.docker.engine import Client, Engine, find_client, find_engine
from silas.sandbox.docker.group import find
from silas.sandbox.docker.profile import profile
from silas.sandbox.landlock import Landlock
from silas.sandbox.mounts import Roots
from silas.sandbox.network.names import endpoints
from silas.stop.runs import UNREGISTERED
from silas.testing import plan_text
from tests.support.waits import SECONDS

IMAGE = "sha256:1234"
NOWHERE = Client(Path("/nowhere/docker"), Path("/nowhere/docker.sock"))
WHOLE = Engine(NOWHERE, "20.10", IMAGE, True, True, True)


def boxer(engine: Engine = WHOLE) -> DockerCommands:
    return DockerCommands(engine, machine_here(), Landlock(7), Roots.of((), ()))


def made(
    owned: ExitStack,
    mounts: tuple[Mount, ...] = (),
    engine: Engine = WHOLE,
    **limits: Any,
) -> Container:
    files = SandboxFiles(cwd=Path("/work"), mounts=mounts)
    return boxer(engine).prepare(["true"], SandboxLimits(**limits), files, owned)


def has(line: list[str], *words: str) -> bool:
    return any(tuple(line[at : at + len(words)]) == words for at in range(len(line)))


PROTECTIONS = [
    ("--network", "none"),
    ("--ipc", "private"),
    ("--cgroupns", "private"),
    ("--cap-drop", "ALL"),
    ("--security-opt", "no-new-privileges"),
    ("--read-only",),
    ("--pull", "never"),
    ("--log-driver", "none"),
    ("--no-healthcheck",),
    ("--rm",),
    ("--user", f"{os.geteuid()}:{os.getegid()}"),
    ("--ulimit", "fsize=268435456:268435456"),
    ("--ulimit", "core=0:0"),
    ("--ulimit", "nofile=512:512"),
    ("--ulimit", "cpu=60:61"),
    ("--memory", "576m"),
    ("--memory-swap", "576m"),
    ("--pids-limit", "96"),
    ("--entrypoint", "/.silas/guard", IMAGE),
]


@pytest.mark.proves("S9.1-DOCKER")
@pytest.mark.parametrize("words", PROTECTIONS, ids=" ".join)
def test_every_container_gets_every_protection(words: tuple[str, ...], tmp_path: Path) -> None:
    with ExitStack() as owned:
        line = made(owned, (Mount(source=tmp_path, target=Path("/x"), writable=True),)).create
    assert has(line, *words)
    assert line[-1] == IMAGE
    assert any(word.startswith("seccomp=/proc/self/fd/") for word in line)


@pytest.mark.parametrize("word", ["--privileged", "--device", "--volume", "-v", "--publish"])
def test_nothing_that_opens_a_container_is_ever_asked_for(word: str) -> None:
    with ExitStack() as owned:
        assert word not in made(owned).create


def test_root_alone_is_given_one_capability_which_the_starter_drops() -> None:
    with ExitStack() as owned:
        line = made(owned).create
    given = [line[at + 1] for at, word in enumerate(line) if word == "--cap-add"]
    assert given == (["SETFCAP"] if os.geteuid() == 0 else [])


def test_a_limit_the_engine_cannot_set_is_left_to_the_supervisor() -> None:
    bare = WHOLE._replace(limits_memory=False, limits_swap=False, limits_processes=False)
    with ExitStack() as owned:
        line = made(owned, engine=bare).create
    assert not {"--memory", "--memory-swap", "--pids-limit"} & set(line)
    assert "the supervisor alone" in bare.words()


def test_exactly_the_given_paths_are_shown_and_read_only_unless_asked(tmp_path: Path) -> None:
    work, odd = tmp_path / "work", tmp_path / 'a,"b'
    work.mkdir()
    odd.mkdir()
    mounts = (
        Mount(source=work, target=Path("/w"), writable=True),
        Mount(source=odd, target=Path("/o")),
    )
    with ExitStack() as owned:
        line = made(owned, mounts).create
    binds = [line[at + 1] for at, word in enumerate(line) if word == "--mount"]
    common = "bind-propagation=rprivate,bind-nonrecursive=true"
    assert f"type=bind,src={work},dst=/w,{common}" in binds
    source = str(odd).replace('"', '""')
    assert f'type=bind,"src={source}",dst=/o,{common},readonly' in binds
    ours = [bind for bind in binds if "/silas-run-" in bind]
    assert len(binds) == len(ours) + 3  # those two, and /sys
    assert all(bind.endswith(",readonly") for bind in binds if "dst=/w," not in bind)


def test_what_a_later_mount_covers_is_not_shown_at_all() -> None:
    def at(target: str) -> Mount:
        return Mount(source=Path("/s"), target=Path(target))

    assert visible_mounts([at("/w/a"), at("/w"), at("/w/b"), at("/w/b")]) == [1, 3]
    assert visible_mounts([at("/w"), at("/w/a"), at("/x")]) == [0, 1, 2]


@pytest.mark.parametrize(
    ("files", "code"),
    [
        (SandboxFiles(cwd=Path("/a:b")), "E_SANDBOX_MOUNT"),
        (SandboxFiles(cwd=Path("/")), "E_SANDBOX_MOUNT"),
        (SandboxFiles(cwd=Path("/w"), env={"A=B": ""}), "E_SANDBOX_ENV"),
        (
            SandboxFiles(cwd=Path("/w"), mounts=(Mount(source=Path("/"), target=Path("/h")),)),
            "E_SANDBOX_MOUNT",
        ),
        (
            SandboxFiles(cwd=Path("/w"), mounts=(Mount(source=Path("/run"), target=Path("/r")),)),
            "E_SANDBOX_MOUNT",
        ),
    ],
)
def test_what_cannot_be_shown_is_refused_before_the_engine_is_asked(
    files: SandboxFiles, code: str
) -> None:
    with ExitStack() as owned, pytest.raises(SandboxError) as refused:
        boxer().prepare(["true"], SandboxLimits(), files, owned)
    assert refused.value.code == code


async def test_a_run_with_named_hosts_is_refused_and_told_where_it_can_run() -> None:
    files = SandboxFiles(cwd=Path("/w"), network=endpoints("pypi.org"))
    sandbox = DockerSandbox(WHOLE, boxer(), UNREGISTERED)
    with pytest.raises(SandboxError, match=r"pypi\.org.*subprocess") as refused:
        await sandbox.run(["true"], SandboxLimits(), files)
    assert refused.value.code == "E_SANDBOX_NETWORK"


async def test_a_run_with_secrets_is_refused_and_no_secret_is_told() -> None:
    files = SandboxFiles(cwd=Path("/w"), secrets=SecretBytes(b'{"token": "hunter-2-hunter-2"}'))
    sandbox = DockerSandbox(WHOLE, boxer(), UNREGISTERED)
    with pytest.raises(SandboxError) as refused:
        await sandbox.run(["true"], SandboxLimits(), files)
    assert refused.value.code == "E_SANDBOX_SECRETS"
    assert "hunter" not in str(refused.value)


def test_an_approval_binds_the_image_as_well_as_the_backend() -> None:
    def bound_to(engine: Engine) -> dict[str, Any]:
        name = DockerSandbox(engine, boxer(engine), UNREGISTERED).name
        grants = Grants(name, SandboxLimits())
        return binding_facts(PlanParser().parse(plan_text()), {}, {}, grants, {}, {}, {})

    signed = bound_to(WHOLE)
    assert difference(signed, bound_to(WHOLE)) == ""
    assert difference(signed, bound_to(WHOLE._replace(image="sha256:5678"))) != ""


def refused_calls() -> dict[str, list[dict[str, Any]]]:
    calls: dict[str, list[dict[str, Any]]] = {}
    for entry in json.loads(profile("x86_64"))["syscalls"]:
        for name in entry["names"]:
            calls.setdefault(name, []).append(entry)
    return calls


def test_the_engines_filter_is_made_of_the_same_table() -> None:
    calls = refused_calls()
    for name in ("ptrace", "bpf", "mount", "io_uring_setup", "keyctl", "setns", "perf_event_open"):
        assert [entry["args"] for entry in calls[name]] == [[]]
    assert calls["clone3"][0]["errnoRet"] == errno.ENOSYS
    assert {entry["action"] for entries in calls.values() for entry in entries} == {
        "SCMP_ACT_ERRNO"
    }


def test_the_engines_filter_leaves_one_namespace_to_the_starter_and_no_other() -> None:
    unshared = {entry["args"][0]["value"] for entry in refused_calls()["unshare"]}
    cloned = {entry["args"][0]["value"] for entry in refused_calls()["clone"]}
    assert cloned - unshared == {0x10000000}
    assert unshared - cloned == {0x80}


def test_the_control_group_is_found_in_both_versions() -> None:
    first = "9:memory:/docker/abc\n8:pids:/docker/abc\n0::/\n"
    found = find(first, "abc", Path("/c"))
    assert found.processes == Path("/c/pids/docker/abc/cgroup.procs")
    assert found.memory == Path("/c/memory/docker/abc/memory.oom_control")
    second = find("0::/system.slice/docker-abc.scope\n", "abc", Path("/c"))
    assert second.processes == Path("/c/system.slice/docker-abc.scope/cgroup.procs")


@pytest.mark.parametrize("told", ["0::/\n", "0::/../docker/abc\n", "8:pids:/docker/other\n", ""])
def test_a_container_whose_group_is_not_seen_is_not_run_in(told: str) -> None:
    with pytest.raises(SandboxError) as refused:
        find(told, "abc", Path("/c"))
    assert refused.value.code == "E_SANDBOX_SUPERVISOR"


# The guard, outside any container.


def took(pipe: int) -> None:
    """Write one byte and wait until the other side has taken it."""
    os.write(pipe, b"x")
    waiting, end = array.array("i", [1]), time.monotonic() + SECONDS
    while waiting[0] and time.monotonic() < end:
        fcntl.ioctl(pipe, termios.FIONREAD, waiting)
    assert not waiting[0]


@pytest.mark.proves("S4.7-DESTROYED")
@pytest.mark.parametrize("bytes_taken", [0, 1, 2])
def test_the_guard_ends_when_silas_lets_go_of_the_pipe_and_not_before(
    bytes_taken: int, tmp_path: Path
) -> None:
    process, life = held(tmp_path)
    try:
        for _ in range(bytes_taken):
            took(life)
        with pytest.raises(subprocess.TimeoutExpired):
            process.wait(0.1)
        os.close(life)
        assert process.wait(SECONDS) is not None
    finally:
        process.kill()
        process.wait()


def held(folder: Path) -> tuple["subprocess.Popen[bytes]", int]:
    os.mkfifo(folder / "life")
    pipe = os.open(folder / "life", os.O_RDWR | os.O_CLOEXEC)
    return started(folder), pipe


def started(folder: Path) -> "subprocess.Popen[bytes]":
    program = folder / "guard"
    program.write_bytes(guard(machine_here(), str(folder / "life")))
    program.chmod(0o755)
    return subprocess.Popen([program], env={}, stdin=subprocess.DEVNULL)


def test_a_guard_that_starts_when_silas_is_gone_already_ends_at_once(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "life")
    process = started(tmp_path)
    try:
        assert process.wait(SECONDS) is not None
    finally:
        process.kill()
        process.wait()


# What is missing, and what is said about it.


@pytest.fixture
def program(tmp_path: Path) -> str:
    if os.geteuid() != 0:
        return "/usr/bin/true"  # only a file of root's counts
    path = tmp_path / "docker"
    path.write_text("#!/bin/sh\n")
    path.chmod(0o755)
    return str(path)


def code_of(program: str, host: str) -> tuple[str, str]:
    with pytest.raises(SandboxUnavailable) as refused:
        find_client([program], {"DOCKER_HOST": host})
    return refused.value.code, str(refused.value)


def test_without_the_program_the_words_name_what_installs_it(tmp_path: Path) -> None:
    code, words = code_of(str(tmp_path / "none"), "")
    assert code == "E_SANDBOX_DOCKER_MISSING"
    assert "apt-get install" in words


@pytest.mark.parametrize("host", ["tcp://10.0.0.1:2375", "ssh://me@host", "unix://relative"])
def test_an_engine_of_another_machine_is_refused(host: str, program: str) -> None:
    code, words = code_of(program, host)
    assert code == "E_SANDBOX_DOCKER_ENGINE"
    assert host in words


def test_without_an_engine_the_words_name_what_starts_it(program: str, tmp_path: Path) -> None:
    code, words = code_of(program, f"unix://{tmp_path}/docker.sock")
    assert code == "E_SANDBOX_DOCKER_ENGINE"
    assert "systemctl start docker" in words


def test_a_socket_that_is_not_roots_is_not_trusted(program: str, tmp_path: Path) -> None:
    path = tmp_path / "docker.sock"
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(path))
        if os.geteuid() == 0:
            os.chown(path, 54321, -1)
        code, words = code_of(program, f"unix://{path}")
    assert code == "E_SANDBOX_DOCKER_ENGINE"
    assert "pose as the Docker engine" in words


def test_a_socket_one_may_not_use_is_refused_with_the_command_that_allows_it(
    program: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def never(path: object, mode: int) -> bool:
        del path, mode
        return False

    path = tmp_path / "docker.sock"
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(path))
        if os.geteuid() == 0:
            monkeypatch.setattr(os, "access", never)
            code, words = code_of(program, f"unix://{path}")
            assert code == "E_SANDBOX_DOCKER_PERMISSION"
            assert "usermod -aG docker" in words


GOOD: dict[str, Any] = {
    "ServerVersion": "20.10",
    "SecurityOptions": ["name=seccomp,profile=default"],
    "MemoryLimit": True,
    "SwapLimit": False,
    "PidsLimit": True,
}


VOLUMES: dict[str, Any] = {"Id": IMAGE, "Config": {"Volumes": {"/v": {}}}}


def answering(tmp_path: Path, facts: object, image: object) -> Client:
    """A client that answers without any engine."""
    (tmp_path / "info").write_text(json.dumps(facts))
    (tmp_path / "image").write_text(json.dumps(image))
    script = tmp_path / "client"
    script.write_text(
        f"#!/bin/sh\ncd {tmp_path}\ncase $1 in info) /bin/cat info;; *) /bin/cat image;; esac\n"
        '[ "$5" != absent ]\n'
    )
    script.chmod(0o755)
    return Client(script, tmp_path / "socket")


def test_the_image_is_named_by_its_digest_from_then_on(tmp_path: Path) -> None:
    engine = find_engine(answering(tmp_path, GOOD, {"Id": IMAGE, "Config": {}}), "name")
    assert engine.image == IMAGE
    assert (engine.limits_memory, engine.limits_swap, engine.limits_processes) == (
        True,
        False,
        True,
    )


@pytest.mark.parametrize(
    ("facts", "image", "name", "code", "words"),
    [
        ({}, {"Id": IMAGE}, "name", "E_SANDBOX_DOCKER_ENGINE", "systemctl start docker"),
        (
            {**GOOD, "SecurityOptions": ["name=seccomp", "name=rootless"]},
            {"Id": IMAGE},
            "name",
            "E_SANDBOX_DOCKER_ENGINE",
            "rootless",
        ),
        (
            {**GOOD, "SecurityOptions": ["name=seccomp", "name=userns"]},
            {"Id": IMAGE},
            "name",
            "E_SANDBOX_DOCKER_ENGINE",
            "userns",
        ),
        ({**GOOD, "SecurityOptions": []}, {"Id": IMAGE}, "name", "E_SANDBOX_SECCOMP", "filter"),
        (GOOD, {}, "absent", "E_SANDBOX_DOCKER_IMAGE", "run: docker pull absent"),
        (GOOD, VOLUMES, "name", "E_SANDBOX_DOCKER_IMAGE", "volumes"),
        (GOOD, {"Id": IMAGE}, "--privileged", "E_SANDBOX_DOCKER_IMAGE", "not the name"),
    ],
)  # fmt: skip
def test_an_engine_or_image_that_does_not_fit_is_refused_with_its_own_words(
    facts: object, image: object, name: str, code: str, words: str, tmp_path: Path
) -> None:
    with pytest.raises(SandboxUnavailable) as refused:
        find_engine(answering(tmp_path, facts, image), name)
    assert refused.value.code == code
    assert words in str(refused.value)


def test_docker_is_never_chosen_unless_the_configuration_says_so(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("DOCKER_HOST", "unix:///nowhere/docker.sock")
    assert default(SandboxConfig()).name == "bubblewrap"
    with pytest.raises(SandboxUnavailable) as refused:
        default(SandboxConfig(backend="docker"))
    assert refused.value.code in {"E_SANDBOX_DOCKER_ENGINE", "E_SANDBOX_DOCKER_MISSING"}
