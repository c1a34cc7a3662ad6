"""What goes wrong is one clear sentence on stderr with its exit code, and never a traceback."""

import json
import os
import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from silas.main import cli
from tests.support.command import Ended, environment, python, run, silas, without_bubblewrap
from tests.support.plans import check, sh_plan


def invoke(*words: str | Path) -> Result:
    return CliRunner().invoke(cli, [str(word) for word in words])


def one_sentence(text: str) -> str:
    """The only line there is."""
    lines = text.strip().splitlines()
    assert len(lines) == 1, text
    assert "Traceback" not in text
    return lines[0]


OPENING = [
    ["status"],
    ["ask", "hi"],
    ["chat"],
    ["audit", "verify"],
    ["audit", "show"],
    ["undo", "x"],
    ["diff", "x"],
]


@pytest.mark.parametrize("words", OPENING)
def test_without_init_every_command_says_to_run_it(words: list[str], bare: Path) -> None:
    done = invoke(*words)
    assert (done.exit_code, done.stdout) == (2, "")
    assert "run `silas init`" in one_sentence(done.stderr)
    assert not bare.exists()


@pytest.mark.parametrize("words", [["config", "path"], ["config", "show"], ["config", "validate"]])
def test_the_configuration_can_be_looked_at_before_init(words: list[str], bare: Path) -> None:
    done = invoke(*words)
    assert (done.exit_code, done.stderr) == (0, "")
    assert not bare.exists()


def test_doctor_before_init_names_what_is_missing(bare: Path) -> None:
    done = invoke("doctor")
    assert done.exit_code == 2
    assert done.stdout.splitlines()[-1] == "Needs attention: key, database."
    assert done.stdout.count("run `silas init`") == 2
    document = json.loads(invoke("doctor", "--json").stdout)
    assert [part["part"] for part in document if not part["ok"]] == ["key", "database"]


def test_doctor_of_a_good_home_says_so(here: Path) -> None:
    done = invoke("doctor")
    assert done.exit_code == 0, done.stdout
    assert done.stdout.splitlines()[-1] == "Ready, with 1 piece of advice: audit witness."
    assert "does not protect against" in " ".join(done.stdout.split())
    assert all(part["ok"] for part in json.loads(invoke("doctor", "--json").stdout))


def test_a_home_that_is_no_directory_is_named(tmp_path: Path, bare: Path) -> None:
    bare.write_text("a file")
    done = invoke("init")
    assert done.exit_code == 2
    sentence = one_sentence(done.stderr)
    assert str(bare / "data") in sentence
    assert "SILAS_HOME" in sentence


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become somebody else")
def test_an_unreadable_home_is_named(tmp_path: Path) -> None:
    home = tmp_path / "closed"
    (home / "data").mkdir(parents=True)
    home.chmod(0o700)
    code = (
        "import os, silas.main, silas.main.inspect, silas.services.work, silas.config\n"
        "os.setresuid(54321, 54321, 54321)\n"
        "silas.main.cli(['status'])"
    )
    done = run(python(code), environment(home), imported=True)
    assert done.code == 2
    assert "SILAS_HOME" in one_sentence(done.err)


CONFIGURATIONS = [
    ("silas: {aproval: {}}", "approval"),
    ("silas: {approval: {max_execution: 1}}", "approval.max_executions"),
    ("silas: {approval: [", "line 2"),
    ("silas:\n  a: 1\n bad", "line 3"),
    ("silas: {approval: {max_executions: many}}", "approval.max_executions"),
    ("nothing", "silas:"),
]


@pytest.mark.parametrize(("text", "named"), CONFIGURATIONS)
def test_a_broken_configuration_says_where(text: str, named: str, tmp_path: Path) -> None:
    file = tmp_path / "silas.yaml"
    file.write_text(text + "\n")
    for words in (["config", "validate"], ["status"], ["doctor"]):
        done = invoke("--config", file, *words)
        assert (done.exit_code, done.stdout) == (2, "")
        sentence = one_sentence(done.stderr)
        assert named.rpartition(".")[2] in sentence
        assert "silas.yaml" in sentence


def test_a_configuration_that_was_named_must_exist(tmp_path: Path) -> None:
    done = invoke("--config", tmp_path / "no.yaml", "config", "validate")
    assert done.exit_code == 2
    assert "no.yaml" in one_sentence(done.stderr)


def test_a_locked_database_says_so(here: Path) -> None:
    path = here / "data" / "silas.db"
    holder = sqlite3.connect(path, isolation_level=None)
    holder.execute("BEGIN EXCLUSIVE")
    try:
        done = invoke("ask", "hello")
    finally:
        holder.rollback()
        holder.close()
    assert done.exit_code == 2
    assert "locked" in one_sentence(done.stderr)


def test_a_database_that_is_none_says_so(tmp_path: Path) -> None:
    env = environment(tmp_path / "home")
    assert run(silas("init"), env).code == 0
    data = tmp_path / "home" / "data"
    for file in data.glob("silas.db*"):
        file.unlink()
    (data / "silas.db").write_text("not a database at all, and long enough to be read as one")
    done = run(silas("status"), env)
    assert done.code == 2
    assert "silas.db" in one_sentence(done.err)
    doctor = run(silas("doctor"), env)
    assert doctor.code == 2
    assert doctor.out.splitlines()[-1].startswith("Needs attention: database")


def spoil_mode(home: Path) -> str:
    (home / "data/keys/unlock.key").chmod(0o644)
    return "chmod 600"


def spoil_bytes(home: Path) -> str:
    (home / "data/keys/unlock.key").write_bytes(b"x" * 32)
    return "key file"


def spoil_length(home: Path) -> str:
    (home / "data/keys/unlock.key").write_bytes(b"x")
    return "too short"


def lose(home: Path) -> str:
    (home / "data/keys/unlock.key").unlink()
    return "keys.key_file"


def spoil_record(home: Path) -> str:
    (home / "data/keys/owner.key.json").write_text("{}")
    return "owner.key.json"


@pytest.mark.parametrize("spoil", [spoil_mode, spoil_bytes, spoil_length, lose, spoil_record])
def test_a_key_that_cannot_be_unlocked_says_why(
    spoil: Callable[[Path], str], tmp_path: Path
) -> None:
    env = environment(tmp_path / "home")
    assert run(silas("init"), env).code == 0
    words = spoil(tmp_path / "home")
    done = run(silas("audit", "witness"), env)
    assert (done.code, done.out) == (2, "")
    assert words in one_sentence(done.err)


def test_without_a_sandbox_nothing_is_asked_and_the_command_to_install_it_is_named(
    set_up: dict[str, str], tmp_path: Path
) -> None:
    plan = tmp_path / "plan.md"
    plan.write_text(sh_plan(f"touch {tmp_path}/ran", verify=check("true")))
    done = run(without_bubblewrap(silas("run", plan)), set_up)
    assert (done.code, done.out) == (2, "")
    assert "bubblewrap is not installed; run: " in one_sentence(done.err)
    assert not (tmp_path / "ran").exists()
    listed = run(without_bubblewrap(silas("tools", "list", "--json")), set_up)
    rows = json.loads(listed.out)
    needing = {row["health"] for row in rows if "sandbox.execute" in row["scopes"]}
    assert needing == {"unavailable"}
    doctor = run(without_bubblewrap(silas("doctor")), set_up)
    assert doctor.code == 2
    assert "sandbox bubblewrap" in doctor.out.splitlines()[-1]
    status = run(without_bubblewrap(silas("status")), set_up)
    assert status.code == 0


def closed_input(words: list[str], env: dict[str, str]) -> Ended:
    """A command that was started without any standard input, as some service managers do."""
    close = ["/bin/sh", "-c", 'exec "$@" <&-', "sh", *silas(*words)]
    return run(close, env)


@pytest.mark.parametrize("words", [["ask", "hello"], ["chat"], ["status"], ["init"], ["doctor"]])
def test_without_any_standard_input_commands_work(words: list[str], set_up: dict[str, str]) -> None:
    done = closed_input(words, set_up)
    assert (done.code, done.err) == (0, "")


def test_a_reader_that_goes_away_ends_the_command_quietly(set_up: dict[str, str]) -> None:
    argv = ["/bin/sh", "-c", '"$@" | true; exit 0', "sh", *silas("config", "show")]
    done = run(argv, set_up)
    assert done.err == ""


USAGE = [
    (["frobnicate"], "No such command 'frobnicate'"),
    (["reminders"], "No such command 'reminders'. Did you mean 'remind'?"),
    (["goals", "lst"], "No such command 'lst'. Did you mean 'list'?"),
    (["fix the failing test"], "'fix the failing test'. Ask Silas with: silas ask"),
    (["memory", "--yes"], "No such option '--yes'"),
    (["status", "--jsn"], "--json"),
    (["run"], "Missing argument"),
    (["run", "plan.md", "--approve", "abc"], "64 hex digits"),
    (["run", "plan.md", "--approve", "sha256:" + "A" * 64], "64 hex digits"),
    (["run", "plan.md", "--approve", "md5:" + "a" * 64], "64 hex digits"),
    (["ask", "x", "--workspace", "/no/such/directory"], "/no/such/directory"),
    (["audit", "frob"], "No such command 'frob'"),
    (["audit", "show", "--last", "many"], "many"),
    (["audit", "show", "--last", "0"], "x>=1"),
]


@pytest.mark.parametrize(("words", "named"), USAGE)
def test_a_wrong_command_line_is_explained(words: list[str], named: str) -> None:
    done = invoke(*words)
    assert (done.exit_code, done.stdout) == (2, "")
    assert named in done.stderr
    assert "Usage: " in done.stderr


PLANS = [
    ("", "line 1"),
    ("# no front matter\n", "front matter"),
    ("---\nid: x\n---\n\nbody\n", "line"),
    ("---\nid: task-x\ntype: task\ntitle: T\nneeds_approvel: no\n---\n\nbody\n", "line 5"),
]


@pytest.mark.parametrize(("text", "named"), PLANS)
@pytest.mark.parametrize("command", [["plan", "check"], ["run"]])
def test_a_plan_that_cannot_be_read_says_where(
    text: str, named: str, command: list[str], here: Path, tmp_path: Path
) -> None:
    plan = tmp_path / "bad.md"
    plan.write_text(text)
    done = invoke(*command, plan)
    assert (done.exit_code, done.stdout) == (2, "")
    sentence = one_sentence(done.stderr)
    assert sentence.startswith(f"{plan}, line ")
    assert named in sentence


@pytest.mark.parametrize("command", [["plan", "check"], ["run"]])
def test_a_plan_file_that_cannot_be_opened_is_named(
    command: list[str], here: Path, tmp_path: Path
) -> None:
    latin = tmp_path / "latin.md"
    latin.write_bytes(b"caf\xe9")
    for path, why in (
        (tmp_path / "no.md", "No such file"),
        (tmp_path, "Is a directory"),
        (latin, "not UTF-8"),
    ):
        done = invoke(*command, path)
        assert done.exit_code == 2
        sentence = one_sentence(done.stderr)
        assert str(path) in sentence
        assert why in sentence


def test_exporting_to_where_nothing_can_be_written_says_so(here: Path) -> None:
    done = invoke("audit", "export", "/no/such/place/record.jsonl")
    assert done.exit_code == 2
    assert "/no/such/place" in one_sentence(done.stderr)


def test_undoing_what_was_not_done_says_so(here: Path) -> None:
    for name in ("task-nosuch", "../../etc", "."):
        done = invoke("undo", name)
        assert done.exit_code == 2
        assert "silas status" in one_sentence(done.stderr)


_A_COMMAND = """
import click
from silas.main.shared import run_to_exit

@click.group()
def silas(): ...

@silas.command()
def status(): run_to_exit(work)

"""
"""A command that does `work`, by the name of one that only looks."""


def test_a_fault_of_silas_itself_is_one_sentence_and_a_file(tmp_path: Path) -> None:
    env = environment(tmp_path / "home")
    code = f"{_A_COMMAND}async def work(): raise KeyError('surprise')\nsilas(['status'])"
    done = run(python(code), env, imported=True)
    assert (done.code, done.out) == (1, "")
    sentence = one_sentence(done.err)
    assert "did not foresee (KeyError)" in sentence
    file = Path(sentence.rpartition(" in ")[2].rstrip("."))
    assert "surprise" in file.read_text()
    assert file.stat().st_mode & 0o077 == 0


@pytest.mark.parametrize("signal_name", ["TERM", "HUP", "INT"])
def test_being_told_to_end_is_stopping(signal_name: str, tmp_path: Path) -> None:
    code = (
        "import asyncio, os, signal, sys\n"
        f"{_A_COMMAND}"
        "async def work():\n"
        f"    os.kill(os.getpid(), signal.SIG{signal_name})\n"
        "    try: await asyncio.sleep(60)\n"
        "    finally: print('cleaned up')\n"
        "silas(['status'])"
    )
    done = run(python(code), environment(tmp_path), imported=True)
    assert (done.code, done.out) == (4, "cleaned up\n")
    assert one_sentence(done.err).startswith("Stopped; ")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("channels: {web: {port: x}}", "must be a whole number"),
        ("channels: {web: {port: 99999999}}", "or less"),
        ("channels: {web: {enabled: perhaps}}", "must be true or false"),
        ("channels: {web: 7}", "must have keys of its own"),
        ("keys: {backend: paper}", "must be '"),
    ],
)
def test_a_wrong_setting_is_told_in_words_of_silas(text: str, words: str, tmp_path: Path) -> None:
    file = tmp_path / "silas.yaml"
    file.write_text(f"silas:\n  {text}\n", encoding="utf-8")
    done = invoke("--config", file, "config", "show")
    assert done.exit_code == 2
    sentence = one_sentence(done.stderr)
    assert words in sentence
    assert "Input should" not in sentence
    assert "silas.yaml" in sentence


def test_a_database_that_cannot_be_opened_is_told_without_an_errors_number(tmp_path: Path) -> None:
    home = tmp_path / "home"
    (home / "data").mkdir(parents=True)
    (home / "data/silas.db").symlink_to("silas.db")  # leads to itself
    done = run(silas("init"), environment(home))
    assert done.code == 2
    sentence = one_sentence(done.err)
    assert "silas.db cannot be opened: " in sentence
    assert "Errno" not in sentence
