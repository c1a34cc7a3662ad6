"""The conformance suite holds on this machine, and every one of its checks is able to fail."""

import asyncio
import importlib
import json
import os
import tempfile
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any

import pytest

from silas.sandbox import (
    RefusingSandbox,
    Sandbox,
    SandboxConfig,
    SandboxFiles,
    SandboxLimits,
    SandboxResult,
    SandboxUnavailable,
    default,
    supervise,
)
from silas.sandbox.bubblewrap import launch
from silas.sandbox.bubblewrap.process import BubblewrapSandbox
from silas.sandbox.capability import make_launcher, require
from silas.sandbox.conformance.attempts import Kit, outside
from silas.sandbox.conformance.models import Attack, AttackStage, Side, in_group
from silas.sandbox.conformance.stages import Secret
from silas.sandbox.conformance.suite import (
    CHECKS,
    AttackGroup,
    ConformanceFinding,
    ConformanceVerdict,
    Interpreter,
    examine,
)
from silas.sandbox.landlock import Landlock
from silas.sandbox.mounts import Roots
from silas.sandbox.network.outside import NO_OUTSIDE
from silas.sandbox.seccomp import ALLOW
from silas.stop.runs import UNREGISTERED

from .test_ordinary_user import as_ordinary_user, home

__all__ = ["home"]

Weaken = Callable[[pytest.MonkeyPatch], object]

SHARED = tuple(check for check in CHECKS if check.limits is None)


async def tried(
    sandbox: Sandbox, home: Path, checks: Sequence[Any], python: Interpreter | None = None
) -> dict[str, ConformanceFinding]:
    found = await examine(
        sandbox,
        home=home,
        guarded=(home,),
        checks=checks,
        python=python or Interpreter.own(),
    )
    return {finding.name: finding for finding in found}


def named(found: dict[str, ConformanceFinding], verdict: ConformanceVerdict) -> dict[str, str]:
    return {name: f.words for name, f in found.items() if f.verdict is verdict}


def test_there_are_enough_checks_in_each_group_and_no_name_is_used_twice() -> None:
    assert len({check.name for check in CHECKS}) == len(CHECKS) >= 128
    for group, least in (
        (AttackGroup.network, 20),
        (AttackGroup.files, 40),
        (AttackGroup.processes, 60),
    ):
        assert sum(check.group is group for check in CHECKS) >= least


class NoSandbox:
    """What looks like a sandbox and protects against nothing."""

    name = "none at all"

    def __init__(self) -> None:
        # What the controls are given so that they do no harm, these attacks need as well.
        self._harmless = {check.attack.function: check.namespaces for check in CHECKS}

    async def run(
        self, argv: Sequence[str], limits: SandboxLimits, files: SandboxFiles
    ) -> SandboxResult:
        plan = json.loads(files.stdin)
        for attack in plan["attacks"]:
            attack["namespaces"] = self._harmless[attack["function"]]
        marks = [attack["mark"] for attack in plan["attacks"]]
        side = Side(files.cwd.parent, files.cwd, "", Path(), ())
        kit = Kit.__new__(Kit)
        kit.command = list(argv)
        text, seconds = json.dumps(plan).encode(), limits.wall_seconds
        ended = await asyncio.to_thread(outside, kit, side, text, seconds, marks)
        return SandboxResult(
            exit_code=0,
            stdout="x" * ended.output,
            stderr="",
            ended_by="timeout" if ended.by == "timeout" else "exit",
            duration_seconds=0,
        )


async def test_without_a_sandbox_every_check_that_can_be_tried_here_fails(home: Path) -> None:
    found = await tried(NoSandbox(), home, SHARED)
    assert named(found, ConformanceVerdict.held) == {}
    assert len(named(found, ConformanceVerdict.broken)) >= 64


def first_wall_alone() -> Sandbox:
    """This machine's sandbox without Landlock, which would hold much of what is given away."""
    machinery = require()._replace(landlock=Landlock(0))
    launcher = make_launcher(machinery, Roots.of((), ()))
    return BubblewrapSandbox(
        launcher, NO_OUTSIDE, UNREGISTERED, count_processes=machinery.count_processes
    )


def unshare_all_but(kind: str) -> Weaken:
    kinds = [f"--unshare-{name}" for name in ("user", "ipc", "pid", "net", "uts", "cgroup")]
    rest = [option for option in launch.ISOLATION if option != "--unshare-all"]
    options = (*(name for name in kinds if name != f"--unshare-{kind}"), *rest)
    return lambda patch: patch.setattr(launch, "ISOLATION", options)


def no_filter(patch: pytest.MonkeyPatch) -> None:
    allow = ALLOW.to_bytes(4, "little")

    def let_all_through(machine: str) -> bytes:
        del machine
        return b"\x06\0\0\0" + allow

    patch.setattr(launch, "filter_for", let_all_through)


def both(one: Weaken, other: Weaken) -> Weaken:
    def weaken(patch: pytest.MonkeyPatch) -> None:
        one(patch)
        other(patch)

    return weaken


OWN = frozenset({"/etc", "/tmp", "/dev", "/proc"})
"""What every run makes anew; were the host's own shown there, its files would be written over."""


def whole_host() -> tuple[str, ...]:
    """Everything below `/` as it is and writable, but never `/` itself."""
    shown: list[str] = []
    for path in sorted(str(entry) for entry in Path("/").iterdir() if str(entry) not in OWN):
        link = os.path.islink(path)
        shown += ["--symlink", os.readlink(path), path] if link else ["--bind", path, path]
    return tuple(shown)


def everything_shown(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(launch, "_system", whole_host)
    patch.setattr(tempfile, "tempdir", "/var/tmp")  # /tmp is covered in any case


def no_limits(patch: pytest.MonkeyPatch) -> None:
    def nothing(*given: object, **more: object) -> None:
        del given, more

    def uncounted(init: int, most: int) -> AbstractContextManager[bool]:
        del init, most
        return nullcontext(False)

    patch.setattr(supervise, "impose", nothing)
    patch.setattr(supervise, "counted_by_the_kernel", uncounted)
    patch.setattr(supervise.Run, "_look", nothing)


WEAKER: dict[str, tuple[Weaken, str]] = {
    "the host's network": (
        unshare_all_but("net"),
        "devices dns-query multicast namespace-net port-list server tcp-ipv4 udp-ipv4"
        " unix-abstract unix-abstract-datagram",
    ),
    "the host's processes": (
        unshare_all_but("pid"),
        "daemon deaf-daemon limits namespace-pid signal signal-descriptor signal-group visible",
    ),
    "the host's messages": (
        both(unshare_all_but("ipc"), no_filter),  # the filter alone refuses most of them, too
        "message namespace-ipc posix-message semaphore",
    ),
    "no system-call filter": (
        no_filter,
        "clock io-uring netlink newest-clone randomisation read-own-memory set-group-id"
        " set-id-created set-user-id trace-own uncounted-memory uncounted-segment userfaultfd",
    ),
    "no limits": (no_limits, "file-size fork-bomb memory memory-together processor"),
    "the whole file system": (
        everything_shown,
        "audit-read browser cloud-key dots-read kernel-tree list own-link read ready-link-read"
        " ssh-key unix-path unix-path-datagram",
    ),
}


@pytest.mark.parametrize("what", WEAKER)
async def test_a_sandbox_that_gives_away_one_thing_is_found_out(
    what: str, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    weaken, names = WEAKER[what]
    expected = set(names.split())
    sandbox = first_wall_alone()
    weaken(monkeypatch)
    before = {path: Path(path).read_bytes() for path in launch.ETC}
    found = await tried(sandbox, home, [check for check in CHECKS if check.name in expected])
    assert (
        named(found, ConformanceVerdict.held) == named(found, ConformanceVerdict.untestable) == {}
    )
    assert found.keys() == expected
    assert {path: Path(path).read_bytes() for path in launch.ETC} == before


def readable_python() -> Interpreter:
    """A Python that an ordinary user may start; the one that runs the tests may be root's alone."""
    own = Interpreter.own()
    open_to_all = all(path.stat().st_mode & 0o005 for path in (own.program, *own.program.parents))
    return own if open_to_all else Interpreter(Path("/usr/bin/python3").resolve(), Path("/usr"))


@pytest.mark.proves("A20-NAMESPACES-AND-CAPABILITIES", "A20-SECCOMP")
def test_an_ordinary_user_is_protected_against_every_attack_as_root_is(home: Path) -> None:
    python = readable_python()
    importlib.import_module("concurrent.futures.thread")  # who gave up root may not be able to

    def act() -> dict[str, dict[str, str]]:
        tempfile.tempdir = str(home)
        sandbox = default(SandboxConfig(), forbidden=())
        found = asyncio.run(tried(sandbox, home, CHECKS, python))
        return {verdict.value: named(found, verdict) for verdict in ConformanceVerdict}

    found = as_ordinary_user(act, home, seconds=90.0)
    assert found[ConformanceVerdict.broken.value] == {}
    assert len(found[ConformanceVerdict.held.value]) >= 100, found[
        ConformanceVerdict.untestable.value
    ]


async def test_a_refusing_sandbox_refuses_to_be_examined(home: Path) -> None:
    reason = SandboxUnavailable("nothing here")
    with pytest.raises(SandboxUnavailable, match="nothing here"):
        await tried(RefusingSandbox(reason), home, SHARED[:1])


class Silent:
    """A sandbox in which the attacks never come to run."""

    name = "silent"

    async def run(
        self, argv: Sequence[str], limits: SandboxLimits, files: SandboxFiles
    ) -> SandboxResult:
        return SandboxResult(exit_code=0, stdout="", stderr="", ended_by="exit", duration_seconds=0)


async def test_an_attack_that_never_ran_is_no_proof(home: Path) -> None:
    checks = [check for check in CHECKS if check.name in ("read", "filter", "signal", "memory")]
    found = await tried(Silent(), home, checks)
    assert named(found, ConformanceVerdict.broken).keys() == {"read", "filter", "signal", "memory"}


def nowhere(side: Side) -> AttackStage:
    return Secret(side, {"path": str(side.root / "nothing")})


async def test_an_attack_that_fails_without_a_sandbox_too_proves_nothing(home: Path) -> None:
    check = in_group(AttackGroup.files)(
        "nothing", "Nothing is read.", Attack("attack_files", "read"), nowhere
    )
    found = await tried(default(SandboxConfig()), home, [check])
    assert found["nothing"].verdict is ConformanceVerdict.untestable
    assert found["nothing"].words == "the attack fails without a sandbox, too: ENOENT"


class Blind(AttackStage):
    """A look that the host cannot take."""

    looks = True

    def look(self, pid: int) -> str:
        raise PermissionError(13, "not yours")


async def test_what_the_host_cannot_see_counts_as_broken(home: Path) -> None:
    check = in_group(AttackGroup.files)(
        "blind", "Nothing happens.", Attack("attack_network", "nothing"), lambda side: Blind()
    )
    found = await tried(default(SandboxConfig()), home, [check])
    assert found["blind"].verdict is ConformanceVerdict.broken
    assert found["blind"].words == "the host could not look at its process: not yours"


async def test_nothing_of_the_examination_is_left_on_the_host(home: Path) -> None:
    names = ("daemon", "deaf-daemon", "disk-fill", "memory-in-files", "shared-memory", "ssh-key")
    await tried(NoSandbox(), home, [check for check in CHECKS if check.name in names])
    assert list(home.iterdir()) == []
    places = ("/tmp", "/dev/shm", tempfile.gettempdir())
    mine = f"silas-conformance-{os.getpid()}-"
    assert not [name for place in places for name in os.listdir(place) if name.startswith(mine)]
    assert not [
        name for name in os.listdir("/proc") if name.isdigit() and is_ours(Path("/proc", name))
    ]


def is_ours(process: Path) -> bool:
    """Whether a living process was made for an attack by this very process, by its mark."""
    try:
        name = (process / "comm").read_text().strip()
        state = (process / "stat").read_text().rpartition(")")[2].split()[0]
    except OSError:  # it ended while we looked
        return False
    return state != "Z" and name.startswith(f"sc{os.getpid():06x}")
