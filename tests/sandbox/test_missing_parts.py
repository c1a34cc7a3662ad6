"""Each part that is missing refuses with a sentence of its own, and nothing runs (A20)."""

import errno
from collections.abc import Iterator
from pathlib import Path

import pytest

from silas.sandbox import SandboxConfig, SandboxUnavailable, capability, default
from silas.sandbox.seccomp import Machine, compile_filter, instructions

OPTIONS = "--disable-userns --bind-fd --ro-bind-fd --size --json-status-fd --perms"
ALLOW_ALL = b"\x06\0\0\0\0\0\xff\x7f"

pytestmark = pytest.mark.proves("A20-MISSING-PART-REFUSES")


@pytest.fixture(autouse=True)
def asked_anew() -> Iterator[None]:
    """The machine is looked at in each test, and again after the last one."""
    capability.forget()
    yield
    capability.forget()


def refusal() -> SandboxUnavailable:
    """How Silas refuses on this machine."""
    with pytest.raises(SandboxUnavailable) as refused:
        default(SandboxConfig())
    return refused.value


def pretend(monkeypatch: pytest.MonkeyPatch, folder: Path, script: str) -> None:
    """A bubblewrap that knows every option and then does something else."""
    path = folder / "bwrap"
    path.write_text(
        f'#!/bin/sh\n[ "$1" = --help ] && echo "{OPTIONS} " && exit 0\n{script}\n', encoding="utf-8"
    )
    path.chmod(0o755)
    monkeypatch.setattr(capability, "_PLACES", (str(path),))
    monkeypatch.setattr(capability, "is_trusted_binary", Path.is_file)


NAMESPACES = "echo 'bwrap: No permissions to create new namespace' >&2; exit 1"


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("unprivileged_userns_clone", "0", "kernel.unprivileged_userns_clone=1"),
        ("apparmor_restrict_unprivileged_userns", "1", "apparmor_restrict_unprivileged_userns=0"),
        ("max_user_namespaces", "0", "user.max_user_namespaces=15000"),
        ("max_user_namespaces", "99", "No permissions to create new namespace"),
    ],
)
def test_without_user_namespaces_the_switch_is_named(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, name: str, content: str, words: str
) -> None:
    (tmp_path / name).write_text(f"{content}\n")
    switches = tuple(
        (str(tmp_path / Path(path).name), off, command)
        for path, off, command in vars(capability)["_USERNS_SWITCHES"]
    )
    monkeypatch.setattr(capability, "_USERNS_SWITCHES", switches)
    pretend(monkeypatch, tmp_path, NAMESPACES)
    refused = refusal()
    assert refused.code == "E_SANDBOX_USERNS"
    assert words in str(refused)


@pytest.mark.parametrize(
    ("script", "code", "words"),
    [
        ("exit 0", "E_SANDBOX", "did not report"),
        ("echo Seccomp: 2; exit 126", "E_SANDBOX", "did not report"),
        (
            "echo 'bwrap: prctl(PR_SET_SECCOMP) reported EINVAL' >&2; exit 1",
            "E_SANDBOX_SECCOMP",
            "CONFIG_SECCOMP_FILTER",
        ),
    ],
)
def test_a_bubblewrap_that_does_something_else_is_refused(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, script: str, code: str, words: str
) -> None:
    pretend(monkeypatch, tmp_path, script)
    refused = refusal()
    assert refused.code.startswith(code)
    assert words in str(refused)


@pytest.mark.parametrize(
    ("program", "words"),
    [
        (b"", "The kernel refuses the system-call filter"),
        (-3, "must be multiple of 8"),
        (-8, "The kernel refuses the system-call filter"),
        (ALLOW_ALL, "without its protection 'rules of the system-call filter'"),
    ],
    ids=["absent", "cut in an instruction", "without its end", "one that allows everything"],
)
def test_a_filter_that_is_absent_truncated_or_empty_is_refused(
    monkeypatch: pytest.MonkeyPatch, program: bytes | int, words: str
) -> None:
    def other(machine: Machine) -> bytes:
        return compile_filter(machine)[:program] if isinstance(program, int) else program

    monkeypatch.setattr("silas.sandbox.bubblewrap.launch.filter_for", other)
    refused = refusal()
    assert refused.code == "E_SANDBOX_SECCOMP"
    assert words in str(refused)


@pytest.mark.parametrize("machine", ["x86_64", "aarch64"])
def test_no_beginning_of_the_filter_is_a_filter(machine: Machine) -> None:
    """Wherever it is cut, a jump leads beyond the end, and the kernel takes no such program."""
    program = instructions(machine)
    jumps = (0x15, 0x35, 0x25, 0x45)
    furthest = 0
    for at, step in enumerate(program):
        assert at == 0 or furthest >= at, "what comes before would be a filter of its own"
        if step.code in jumps:
            furthest = max(furthest, at + 1 + max(step.jump_true, step.jump_false))
        elif step.code != 0x06:
            furthest = max(furthest, at + 1)
    assert furthest == len(program) - 1


def test_a_machine_without_a_filter_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("platform.machine", lambda: "riscv64")
    refused = refusal()
    assert refused.code == "E_SANDBOX_SECCOMP"
    assert "no system-call filter for riscv64" in str(refused)


def test_a_kernel_too_old_to_be_watched_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("platform.release", lambda: "5.2.0")
    refused = refusal()
    assert refused.code == "E_SANDBOX_SUPERVISOR"
    assert "Linux 5.3" in str(refused)


def test_a_landlock_that_cannot_be_asked_for_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    def hidden() -> int:
        raise SandboxUnavailable(os_says, code="E_SANDBOX_LANDLOCK")

    os_says = f"The kernel cannot be asked for Landlock ({errno.EPERM})."
    monkeypatch.setattr(capability, "kernel_version", hidden)
    assert refusal().code == "E_SANDBOX_LANDLOCK"
    assert {c.name for c in capability.probe() if not c.ok} == {"Landlock", "isolation"}
