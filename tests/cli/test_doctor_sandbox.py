"""`silas doctor --sandbox`: every attack, one line each, and an exit code that tells."""

import importlib
import json
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from silas.main import cli
from silas.sandbox.bubblewrap import launch
from silas.sandbox.conformance.suite import CHECKS
from silas.services.doctor import sandbox as conform
from tests.support.command import run, silas, without_bubblewrap


def doctor(*words: str) -> Result:
    return CliRunner().invoke(cli, ["doctor", "--sandbox", *words])


def only(monkeypatch: pytest.MonkeyPatch, *names: str) -> None:
    monkeypatch.setattr(conform, "CHECKS", [check for check in CHECKS if check.name in names])


@pytest.mark.proves("A20-NAMESPACES-AND-CAPABILITIES", "A20-SECCOMP", "B8-OUT-OF-REACH")
def test_every_attack_is_withstood_on_this_machine(here: Path) -> None:
    done = doctor("--json")
    document = json.loads(done.stdout)
    wrong = [check for check in document["checks"] if check["verdict"] == "broken"]
    assert wrong == []
    assert (done.exit_code, document["holds"], document["backend"]) == (0, True, "bubblewrap")
    assert document["held"] >= 100
    one_of_each = {"tcp-ipv4", "read", "signal", "filter", "nested-namespace"}
    assert one_of_each <= {check["name"] for check in document["checks"]}
    assert len(document["checks"]) == len(CHECKS)
    ours = {c["name"]: c["verdict"] for c in document["checks"] if c["name"].startswith("audit-")}
    assert ours == {"audit-read": "held", "audit-write": "held"}


def test_each_check_is_a_line_and_the_last_one_counts(
    here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    only(monkeypatch, "tcp-ipv4", "read")
    done = doctor()
    lines = done.stdout.splitlines()
    assert done.exit_code == 0
    assert lines[0].split(maxsplit=3) == [
        "ok",
        "network",
        "tcp-ipv4",
        "No TCP connection reaches the host.",
    ]
    assert lines[-1] == "bubblewrap: 2 attacks held, 0 worked, 0 not testable here."


def test_an_attack_that_works_is_named_and_the_command_fails(
    here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    only(monkeypatch, "udp-ipv4", "read")
    monkeypatch.setattr(launch, "ISOLATION", (*launch.ISOLATION, "--share-net"))
    done = doctor()
    assert done.exit_code == 1
    assert "NO  network udp-ipv4" in done.stdout
    assert "-> 5 bytes arrived" in done.stdout
    assert (
        done.stdout.splitlines()[-1] == "bubblewrap: 1 attacks held, 1 worked, 0 not testable here."
    )
    assert json.loads(doctor("--json").stdout)["holds"] is False


def test_the_process_that_measures_never_loads_an_attack(here: Path) -> None:
    """In a process of its own, which begins with no module of Silas, and to the end."""
    looked = """
import atexit, sys
from silas.main import cli
from silas.services.doctor import sandbox

sandbox.CHECKS = [check for check in sandbox.CHECKS if check.name in ("tcp-ipv4", "read")]
atexit.register(lambda: print([name for name in sys.modules if ".attack_" in name]))
cli(["doctor", "--sandbox"])
"""
    command = [sys.executable, "-c", looked]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    *_, counted, loaded = done.stdout.splitlines()
    assert counted == "bubblewrap: 2 attacks held, 0 worked, 0 not testable here.", done.stderr
    assert loaded == "[]"


def test_every_attack_that_a_check_names_is_there() -> None:
    for check in CHECKS:
        module = importlib.import_module(f"silas.sandbox.conformance.{check.attack.module}")
        assert callable(getattr(module, check.attack.function))


def test_where_nothing_can_be_tested_nothing_is_promised(
    here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    only(monkeypatch)
    done = doctor()
    assert done.exit_code == 1


def test_without_a_sandbox_there_is_one_sentence_and_no_table(set_up: dict[str, str]) -> None:
    done = run(without_bubblewrap(silas("doctor", "--sandbox")), set_up)
    assert done.code != 0
    assert done.out == ""
    assert "bubblewrap is not installed" in done.err
