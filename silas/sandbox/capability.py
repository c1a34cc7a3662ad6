"""What this machine can do for the sandbox, found out once by really running it."""

import functools
import os
import platform
import re
import subprocess
from collections.abc import Callable, Iterable
from contextlib import ExitStack
from pathlib import Path
from typing import NamedTuple, get_args

from silas.errors import reason
from silas.sandbox.bubblewrap.devices import make_devices
from silas.sandbox.bubblewrap.launch import Launcher, hidden_files, is_trusted_binary
from silas.sandbox.errors import SandboxUnavailable
from silas.sandbox.landlock import Landlock, kernel_version
from silas.sandbox.models import SandboxFiles, SandboxLimits
from silas.sandbox.mounts import Roots
from silas.sandbox.seccomp import Machine
from silas.sandbox.starter import GAVE_UP, STARTER

_PLACES = (
    "/usr/bin/bwrap",
    "/bin/bwrap",
    "/usr/local/bin/bwrap",
    "/run/current-system/sw/bin/bwrap",
)
_OPTIONS = (
    "--disable-userns",
    "--bind-fd",
    "--ro-bind-fd",
    "--size",
    "--json-status-fd",
    "--perms",
)
_NEEDED_KERNEL = (5, 3)  # pidfd_open
_COUNTING_KERNEL = (5, 14)  # RLIMIT_NPROC per user namespace
_SECONDS = 10.0

# (file, content that switches user namespaces off, the one command that switches them on).
_USERNS_SWITCHES = (
    (
        "/proc/sys/kernel/unprivileged_userns_clone",
        "0",
        "sudo sysctl -w kernel.unprivileged_userns_clone=1",
    ),
    (
        "/proc/sys/kernel/apparmor_restrict_unprivileged_userns",
        "1",
        "sudo sysctl -w kernel.apparmor_restrict_unprivileged_userns=0",
    ),
    ("/proc/sys/user/max_user_namespaces", "0", "sudo sysctl -w user.max_user_namespaces=15000"),
)

# (program, the command that installs bubblewrap with it).
_INSTALLERS = (
    ("/usr/bin/apt-get", "sudo apt-get install -y bubblewrap"),
    ("/usr/bin/dnf", "sudo dnf install -y bubblewrap"),
    ("/usr/bin/pacman", "sudo pacman -S --noconfirm bubblewrap"),
    ("/usr/bin/zypper", "sudo zypper install -y bubblewrap"),
    ("/sbin/apk", "sudo apk add bubblewrap"),
)


class CapabilityCheck(NamedTuple):
    """One line of `silas doctor`."""

    name: str
    ok: bool
    words: str


class Machinery(NamedTuple):
    """What a sandbox is built from on this machine."""

    bwrap: Path
    machine: Machine
    count_processes: bool
    landlock: Landlock


def _kernel() -> tuple[int, int]:
    found = re.match(r"(\d+)\.(\d+)", platform.release())
    return (int(found[1]), int(found[2])) if found else (0, 0)


def _install() -> str:
    found = (command for program, command in _INSTALLERS if os.path.exists(program))
    return next(found, "install bubblewrap with your package manager")


def find_bwrap(places: Iterable[str]) -> Path:
    """The distribution's bubblewrap, new enough, which only root can replace.

    Raises:
        SandboxUnavailable: E_SANDBOX_BWRAP_MISSING, with the command that installs it.
    """
    bwrap = next((Path(place) for place in places if is_trusted_binary(Path(place))), None)
    code = "E_SANDBOX_BWRAP_MISSING"
    if bwrap is None:
        raise SandboxUnavailable(f"bubblewrap is not installed; run: {_install()}", code=code)
    told = subprocess.run(
        [bwrap, "--help"], env={}, capture_output=True, text=True, timeout=_SECONDS, check=False
    )
    missing = [option for option in _OPTIONS if f"{option} " not in told.stdout]
    if missing:
        raise SandboxUnavailable(
            f"bubblewrap is too old (no {', '.join(missing)}); it needs 0.8.0 with its security "
            f"updates; run: {_install()}",
            code=code,
        )
    return bwrap


def machine_here() -> Machine:
    """Whose system calls the filter judges. Raises `SandboxUnavailable` for any other."""
    name = platform.machine()
    found = next((known for known in get_args(Machine) if known == name), None)
    if found is None:
        raise SandboxUnavailable(
            f"There is no system-call filter for {name}; use x86_64 or aarch64.",
            code="E_SANDBOX_SECCOMP",
        )
    return found


def supervision() -> bool:
    """Whether the kernel counts processes per namespace.

    Raises:
        SandboxUnavailable: The kernel cannot be watched as the supervisor needs it.
    """
    kernel = _kernel()
    if kernel < _NEEDED_KERNEL or not os.path.exists(f"/proc/self/task/{os.getpid()}/children"):
        raise SandboxUnavailable(
            "The kernel does not tell a supervisor what it needs (pidfd, CONFIG_PROC_CHILDREN); "
            "use Linux 5.3 or newer.",
            code="E_SANDBOX_SUPERVISOR",
        )
    return kernel >= _COUNTING_KERNEL


def _userns_help(detail: str) -> SandboxUnavailable:
    for path, off, command in _USERNS_SWITCHES:
        try:
            content = Path(path).read_text(encoding="ascii").strip()
        except OSError:  # this kernel has no such switch
            continue
        if content == off:
            return SandboxUnavailable(
                f"User namespaces are switched off; run: {command}", code="E_SANDBOX_USERNS"
            )
    return SandboxUnavailable(
        f"bubblewrap cannot make its namespaces here ({detail}); in a container, start it with "
        "--security-opt seccomp=unconfined --security-opt systempaths=unconfined",
        code="E_SANDBOX_USERNS",
    )


# Whether a filter is loaded says the kernel; whether it is ours shows in what it refuses: here a
# set-id file. Mounts and modes let everybody read the first program; only Landlock does not.
_QUESTIONS = f"""
touch f; chmod 4700 f 2> /dev/null && echo "Set-id: possible" || echo "Set-id: refused"
cat {STARTER} > /dev/null 2>&1 && echo "Ungranted: open" || echo "Ungranted: closed"
cat /proc/self/status /proc/self/net/dev
"""


def _look_inside(launcher: Launcher) -> str:
    """Run the real command line once and return what the kernel says about the process in it."""
    files = SandboxFiles(cwd=Path("/tmp"))  # noqa: S108 - inside the sandbox
    command = ["/bin/sh", "-c", _QUESTIONS]
    with ExitStack() as owned:
        launch = launcher.prepare(command, SandboxLimits(), files, (), owned)
        ended = subprocess.run(
            launch.command,
            stdin=launch.stdin,
            pass_fds=launch.pass_fds,
            env={},
            cwd="/",
            capture_output=True,
            text=True,
            timeout=_SECONDS,
            check=False,
        )
        started = ended.returncode in (0, GAVE_UP) and launch.judge() == 0
    if started:
        return ended.stdout
    detail = ended.stderr.strip().removeprefix("bwrap: ").partition("\n")[0][:200]
    if "seccomp" in detail.lower():
        raise SandboxUnavailable(
            f"The kernel refuses the system-call filter ({detail}); use a kernel with "
            "CONFIG_SECCOMP_FILTER",
            code="E_SANDBOX_SECCOMP",
        )
    raise _userns_help(detail)


# (what the kernel must say, what it means, the code if it does not).
_EXPECTED = (
    (r"^Set-id: refused$", "rules of the system-call filter", "E_SANDBOX_SECCOMP"),
    (r"^Seccomp:\t2$", "system-call filter", "E_SANDBOX_SECCOMP"),
    (r"^NoNewPrivs:\t1$", "no new privileges", "E_SANDBOX_SECCOMP"),
    (r"^CapBnd:\t0+$", "no capabilities", "E_SANDBOX_USERNS"),
    (r"^CapEff:\t0+$", "no effective capabilities", "E_SANDBOX_USERNS"),
)
_EXPECTED_OF_LANDLOCK = ((r"^Ungranted: closed$", "Landlock", "E_SANDBOX_LANDLOCK"),)


def judge(told: str, landlock: Landlock) -> None:
    """Compare what the kernel said inside with what must hold; Landlock where this kernel has it.

    Raises:
        SandboxUnavailable: One protection is not in force.
    """
    for pattern, meaning, code in (*_EXPECTED, *(_EXPECTED_OF_LANDLOCK if landlock.used else ())):
        if not re.search(pattern, told, re.MULTILINE):
            raise SandboxUnavailable(
                f"The sandbox started without its protection '{meaning}'; update bubblewrap and "
                "the kernel.",
                code=code,
            )
    network = told.rpartition("Inter-|")[2]
    devices = re.findall(r"^\s*(\S+):", network, re.MULTILINE)
    if [
        name for name in devices if name != "lo" and not name.startswith("Cap")
    ] or "lo" not in devices:
        raise SandboxUnavailable(
            "The sandbox still sees the host's network; use a kernel with CONFIG_NET_NS.",
            code="E_SANDBOX_NETNS",
        )


def make_launcher(machinery: Machinery, roots: Roots) -> Launcher:
    """The command-line builder for this machine."""
    return Launcher(machinery.bwrap, machinery.machine, machinery.landlock, roots, _devices())


_devices = functools.cache(make_devices)


@functools.cache
def require() -> Machinery:
    """Everything a sandbox needs, tested once per process; a refusal is not remembered.

    Raises:
        SandboxUnavailable: A part is missing; the message holds the command to run.
    """
    landlock = Landlock(kernel_version())
    machinery = Machinery(find_bwrap(_PLACES), machine_here(), supervision(), landlock)
    judge(_look_inside(make_launcher(machinery, Roots.of((), ()))), landlock)
    return machinery


def supervision_words() -> str:
    """Whether the kernel counts processes per namespace, for `silas doctor`."""
    return f"processes counted by the kernel: {'yes' if supervision() else 'no'}"


def forget() -> None:
    """Ask the machine again: after installing something, or after changing the user."""
    for remembered in (require, _devices, hidden_files):
        remembered.cache_clear()


def probe() -> list[CapabilityCheck]:
    """The sandbox's lines for `silas doctor`; never raises."""
    return look(
        ("bubblewrap", lambda: f"{find_bwrap(_PLACES)}"),
        ("system-call filter", lambda: f"written for {machine_here()}"),
        ("supervision", supervision_words),
        ("Landlock", lambda: Landlock(kernel_version()).words()),
        ("isolation", lambda: f"tested in a run: {require().bwrap}"),
    )


def look(*steps: tuple[str, Callable[[], str]]) -> list[CapabilityCheck]:
    """Each step's words, or why it is refused."""
    checks: list[CapabilityCheck] = []
    for name, step in steps:
        try:
            checks.append(CapabilityCheck(name, True, step()))
        except SandboxUnavailable as error:
            checks.append(CapabilityCheck(name, False, str(error)))
        except (OSError, subprocess.SubprocessError) as error:
            checks.append(CapabilityCheck(name, False, f"could not be tested: {reason(error)}"))
    return checks
