"""A machine that lacks a part of the isolation is refused, with the command to run (A20)."""

import os
import re
from pathlib import Path

import pytest

import silas.sandbox
from silas.sandbox import (
    Mount,
    RefusingSandbox,
    Sandbox,
    SandboxConfig,
    SandboxFiles,
    SandboxLimits,
    SandboxUnavailable,
    default,
)
from silas.sandbox.capability import CapabilityCheck, find_bwrap, forget, judge, probe
from silas.sandbox.landlock import Landlock

GOOD = """Set-id: refused
Ungranted: closed
Name:\tcat
CapEff:\t0000000000000000
CapBnd:\t0000000000000000
NoNewPrivs:\t1
Seccomp:\t2
Inter-|   Receive                                                |  Transmit
 face |bytes    packets errs drop fifo frame compressed multicast|bytes
    lo:       0       0    0    0    0     0          0         0        0
"""


def test_what_the_kernel_must_confirm_passes() -> None:
    judge(GOOD, Landlock(7))
    judge(GOOD.replace("closed", "open"), Landlock(0))


@pytest.mark.proves("A20-MISSING-PART-REFUSES", "S5.3-NO-NETWORK")
@pytest.mark.parametrize(
    ("was", "now", "code"),
    [
        ("Seccomp:\t2", "Seccomp:\t0", "E_SANDBOX_SECCOMP"),
        ("Seccomp:\t2", "", "E_SANDBOX_SECCOMP"),
        ("Set-id: refused", "Set-id: possible", "E_SANDBOX_SECCOMP"),
        ("NoNewPrivs:\t1", "NoNewPrivs:\t0", "E_SANDBOX_SECCOMP"),
        ("CapBnd:\t0000000000000000", "CapBnd:\t0000000000200000", "E_SANDBOX_USERNS"),
        ("CapEff:\t0000000000000000", "CapEff:\t000001ffffffffff", "E_SANDBOX_USERNS"),
        ("    lo:", "  eth0: 0\n    lo:", "E_SANDBOX_NETNS"),
        ("    lo:", "  eth0:", "E_SANDBOX_NETNS"),
        ("closed", "open", "E_SANDBOX_LANDLOCK"),
        ("Ungranted: closed", "", "E_SANDBOX_LANDLOCK"),
    ],
)
def test_each_protection_not_in_force_is_a_refusal(was: str, now: str, code: str) -> None:
    assert was in GOOD
    with pytest.raises(SandboxUnavailable) as refused:
        judge(GOOD.replace(was, now), Landlock(7))
    assert refused.value.code == code


def test_no_answer_at_all_is_a_refusal() -> None:
    with pytest.raises(SandboxUnavailable):
        judge("", Landlock(0))


def fake(path: Path, options: str) -> str:
    path.write_text(f"#!/bin/sh\necho '{options}'\n")
    path.chmod(0o755)
    return str(path)


@pytest.mark.proves("A20-MISSING-PART-REFUSES")
def test_a_missing_bubblewrap_is_refused_with_the_command_that_installs_it(
    tmp_path: Path,
) -> None:
    with pytest.raises(SandboxUnavailable) as refused:
        find_bwrap([str(tmp_path / "bwrap")])
    assert refused.value.code == "E_SANDBOX_BWRAP_MISSING"
    assert "bubblewrap" in str(refused.value)


def test_a_bubblewrap_that_others_may_replace_is_not_used(tmp_path: Path) -> None:
    path = fake(tmp_path / "bwrap", "")
    os.chmod(path, 0o777)
    with pytest.raises(SandboxUnavailable, match="not installed"):
        find_bwrap([path])


@pytest.mark.proves("A20-MISSING-PART-REFUSES")
def test_an_old_bubblewrap_is_refused_and_the_missing_options_named(tmp_path: Path) -> None:
    path = fake(tmp_path / "bwrap", "--bind-fd FD --ro-bind-fd FD --size N --perms P")
    if os.geteuid() != 0:  # only a file of root's is looked at, so the probe stops earlier
        with pytest.raises(SandboxUnavailable, match="E_SANDBOX_BWRAP_MISSING"):
            find_bwrap([path])
        return
    with pytest.raises(SandboxUnavailable, match="--disable-userns") as refused:
        find_bwrap([path])
    assert refused.value.code == "E_SANDBOX_BWRAP_MISSING"


def test_this_machine_is_ready_and_doctor_can_say_so() -> None:
    checks = silas.sandbox.probe(SandboxConfig())
    assert [check.name for check in checks] == [
        "bubblewrap",
        "system-call filter",
        "supervision",
        "Landlock",
        "isolation",
    ]
    assert all(isinstance(check, CapabilityCheck) and check.ok and check.words for check in checks)
    assert not any(re.search("True|False|None", check.words) for check in checks)
    assert default(SandboxConfig(), forbidden=()).name == "bubblewrap"


@pytest.mark.proves("A20-MISSING-PART-REFUSES")
def test_doctor_reports_a_missing_part_without_failing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("silas.sandbox.capability._PLACES", ("/nowhere/bwrap",))
    forget()
    try:
        checks = {check.name: check for check in probe()}
        assert not checks["bubblewrap"].ok
        assert not checks["isolation"].ok
        assert "E_SANDBOX_BWRAP_MISSING" in checks["isolation"].words
        with pytest.raises(SandboxUnavailable):
            default(SandboxConfig(), forbidden=())
    finally:
        forget()


@pytest.mark.proves("A20-MISSING-PART-REFUSES")
async def test_without_the_isolation_every_run_is_refused_with_the_same_words(
    tmp_path: Path,
) -> None:
    missing = SandboxUnavailable(
        "bubblewrap is not installed; run `apt install bubblewrap`.", code="E_SANDBOX_BWRAP_MISSING"
    )
    sandbox: Sandbox = RefusingSandbox(missing)
    mount = Mount(source=tmp_path, target=tmp_path, writable=True)
    files = SandboxFiles(cwd=tmp_path, mounts=(mount,))
    with pytest.raises(SandboxUnavailable, match="apt install"):
        await sandbox.run(["/usr/bin/touch", "ran"], SandboxLimits(), files)
    assert list(tmp_path.iterdir()) == []
