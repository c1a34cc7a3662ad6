"""What `silas` the command, `silas init`, `silas doctor` and the end of a run promise."""

import json
import pkgutil
import sqlite3
import sys
import tomllib
from contextlib import closing
from importlib import resources
from pathlib import Path

import pytest
from click.testing import CliRunner
from nacl.pwhash import argon2id
from nacl.secret import SecretBox

from silas.main import cli
from silas.sandbox.landlock import Landlock, kernel_version
from tests.support.command import ROOT, environment, run, silas
from tests.support.plans import a_workspace, check, sh_plan

SERVE = """
import socket
with socket.create_server(("127.0.0.1", 0)) as server:
    with socket.create_connection(server.getsockname(), timeout=2):
        print("connected")
"""

DIFF = """\
What changed:
input.txt -> result.txt: renamed, with the same content
"""


@pytest.mark.proves("A1-ENTRY-POINT")
def test_the_command_is_the_front_page_of_silas_main() -> None:
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["scripts"]
    assert declared == {"silas": "silas.main:cli"}
    assert pkgutil.resolve_name(declared["silas"]) is cli
    shown = CliRunner().invoke(cli, ["--help"])
    assert shown.exit_code == 0
    assert "init" in shown.stdout


@pytest.mark.proves("S12-INIT-KEYS")
def test_init_makes_a_key_that_signs_and_shows_nothing_of_it(tmp_path: Path) -> None:
    done = run(silas("init"), environment(tmp_path / "home"))
    assert done.code == 0, done.err
    keys = tmp_path / "home/data/keys"
    unlocks = (keys / "unlock.key").read_bytes()
    said = json.loads((keys / "owner.key.json").read_text())
    salt, box = bytes.fromhex(said["salt"]), bytes.fromhex(said["box"])
    key = argon2id.kdf(SecretBox.KEY_SIZE, unlocks, salt, said["operations"], said["memory"])
    seed = SecretBox(key).decrypt(box)
    assert said["public_key"][:16] in done.out  # the public half is what it may show
    shown = done.out + done.err
    for secret in (seed, unlocks, key, box):
        assert len(secret) >= 32
        assert secret.hex()[:16] not in shown


@pytest.mark.proves("S12-INIT-DATABASE")
def test_init_creates_the_database_with_every_migration_there_is(tmp_path: Path) -> None:
    assert run(silas("init"), environment(tmp_path / "home")).code == 0
    with closing(sqlite3.connect(tmp_path / "home/data/silas.db")) as connection:
        rows = connection.execute("SELECT domain, name FROM schema_migrations").fetchall()
    shipped = Path(str(resources.files("silas"))).glob("**/migrations/*.sql")
    assert sorted(rows) == sorted((path.parents[1].name, path.name) for path in shipped)
    assert rows


@pytest.mark.proves("S12-INIT-DIRECTORIES")
def test_init_creates_two_directories_that_are_the_owners_alone(tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    apart = {"verify_dir": "bench", "customer_context_dir": "customers"}
    (home / "config.yaml").write_text(f"silas: {json.dumps({'sandbox': apart})}\n")
    assert run(silas("init"), environment(home)).code == 0
    for name in apart.values():
        assert (home / "data" / name).is_dir()
        assert (home / "data" / name).stat().st_mode & 0o777 == 0o700
    same = dict.fromkeys(apart, "bench")
    (home / "config.yaml").write_text(f"silas: {json.dumps({'sandbox': same})}\n")
    refused = run(silas("init"), environment(home))
    assert refused.code == 2
    assert "customer_context_dir" in refused.err


@pytest.mark.proves("A14-DOCTOR-SAYS-SO")
@pytest.mark.parametrize("provider", ["guardrails_ai", "llm", "script", "custom"])
def test_doctor_names_a_gate_without_its_provider_and_what_to_do(
    provider: str, here: Path, tmp_path: Path
) -> None:
    gates = [
        {"name": "ranges", "on": "on_tool_call", "provider": "predicate", "extract": "amount"},
        {"name": "tone", "on": "every_agent_response", "provider": provider},
    ]
    home = tmp_path / "config.yaml"
    settings = {"data_dir": str(here / "data"), "gates": {"system": gates}}
    home.write_text(f"silas: {json.dumps(settings)}\n")
    done = CliRunner().invoke(cli, ["--config", str(home), "doctor", "--json"])
    assert done.exit_code == 2
    found = {part["part"]: part for part in json.loads(done.stdout)}
    assert [name for name, part in found.items() if not part["ok"]] == ["gate tone"]
    words = found["gate tone"]["words"]
    assert words.startswith(f"withholds every answer: this version has no provider {provider};")
    assert "provider: predicate" in words
    assert "gates.system" in words


@pytest.mark.proves("B3-DIFF-SHOWN")
def test_after_a_task_exactly_what_changed_is_shown(set_up: dict[str, str], tmp_path: Path) -> None:
    work = a_workspace(tmp_path / "work")
    (work / "kept.txt").write_text("untouched\n")
    (work / "input.txt").chmod(0o644)
    plan = tmp_path / "plan.md"
    commands = ("mv input.txt result.txt", "touch kept.txt", "cat kept.txt")
    given = {"workspace": str(work), "verify": check("test -s result.txt")}
    plan.write_text(sh_plan(*commands, id="task-exactly", **given))
    digest = run(silas("plan", "check", plan), set_up).out.splitlines()[-1]
    done = run(silas("run", plan, "--approve", digest), set_up)
    assert done.code == 0, done.err
    shown = done.out[done.out.index("What changed:") :]
    assert shown.partition("\nTo take it back:")[0].strip() == DIFF.strip()


def test_doctor_prints_the_public_key_that_the_verifier_asks_for(tmp_path: Path) -> None:
    at_home = environment(tmp_path / "home")
    assert run(silas("init"), at_home).code == 0
    findings = json.loads(run(silas("doctor", "--json"), at_home).out)
    (key,) = [part["words"] for part in findings if part["part"] == "public key"]
    export = tmp_path / "audit.jsonl"
    assert run(silas("audit", "export", str(export)), at_home).code == 0
    verify = [sys.executable, "-m", "silas.audit.verify", str(export), key]
    assert run(verify, at_home).code == 0


@pytest.mark.proves("A20-LANDLOCK")
def test_doctor_says_which_landlock_protects_what(tmp_path: Path) -> None:
    at_home = environment(tmp_path / "home")
    assert run(silas("init"), at_home).code == 0
    findings = json.loads(run(silas("doctor", "--json"), at_home).out)
    (found,) = [part for part in findings if part["part"] == "sandbox Landlock"]
    assert found["ok"]
    assert found["words"] == Landlock(kernel_version()).words()


def test_work_can_start_a_server_of_its_own_and_its_check_can_too(
    set_up: dict[str, str], tmp_path: Path
) -> None:
    """Test suites do; the loopback they use is the sandbox's own, and nothing else is on it."""
    work = a_workspace(tmp_path / "work")
    (work / "serve.py").write_text(SERVE)
    (work / "input.txt").chmod(0o644)
    plan = tmp_path / "plan.md"
    given = {"workspace": str(work), "verify": check("python3 serve.py | grep connected")}
    plan.write_text(sh_plan("python3 serve.py > result.txt", id="task-serve", **given))
    digest = run(silas("plan", "check", plan), set_up).out.splitlines()[-1]
    done = run(silas("run", plan, "--approve", digest), set_up)
    assert done.code == 0, done.err
    assert (work / "result.txt").read_text() == "connected\n"
