"""Servers put into the configuration file, and taken out, in a terminal: on a yes alone."""

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from silas.config.edit_servers import entry_after, plan_added, plan_removed, write_servers
from silas.config.place import ConfigPlace
from silas.errors import ConfigError
from tests.mcp.house import ENVIRONMENT, PYTHON, SERVER, Fake
from tests.support.command import environment, person, python, run, silas


def _options(fake: Fake) -> list[str]:
    reads = [part for path in (*ENVIRONMENT, str(SERVER)) for part in ("--read", path)]
    program = [PYTHON, str(SERVER), *(str(fake.folder / n) for n in ("script.json", "log.jsonl"))]
    return [*reads, "--write", str(fake.folder), "--", *program]


def test_a_server_is_added_on_a_yes_trusted_and_removed(tmp_path: Path) -> None:
    fake, env = Fake(tmp_path / "fake"), environment(tmp_path / "home")
    file = tmp_path / "home" / "config.yaml"
    file.parent.mkdir()
    file.write_text("silas:\n  # mine\n  sandbox: { tools: { discover: false } }\n")
    assert run(silas("init"), env).code == 0
    before = file.read_text()
    add = silas("mcp", "add", "fake", *_options(fake))
    done = run(add, env)  # nobody is there to say yes
    assert (done.code, file.read_text()) == (3, before), done.err
    assert "Nothing was added." in done.out
    with person(add, env) as owner:
        owner.waits_for("Add the server of tools fake")
        owner.waits_for("no host")
        owner.waits_for("Your choice, 1 to 2:")
        owner.types("1\r")
        assert owner.leaves() == 0
    assert fake.heard == []
    seen = run(silas("mcp", "trust", "fake"), env).out.splitlines()[0]
    assert run(silas("mcp", "trust", "fake", "--approve", seen), env).code == 0
    [state] = json.loads(run(silas("mcp", "list", "--json"), env).out)
    assert state["standing"] == "connected"
    assert run(silas("mcp", "remove", "fake"), env).code == 0
    assert file.read_text() == before
    told = " ".join(run(silas("audit", "show"), env).out.split())
    assert "You added the MCP server fake" in told
    assert "You removed the MCP server fake." in told
    again = run(
        silas("mcp", "add", "fake", "--approve", f"sha256:{'0' * 64}", *_options(fake)), env
    )
    assert (again.code, file.read_text()) == (3, before)


def test_the_terminal_says_it_in_the_owners_language(tmp_path: Path) -> None:
    env = environment(tmp_path / "home")
    assert run(silas("init"), env).code == 0
    (tmp_path / "home" / "config.yaml").write_text("silas:\n  language: de\n")
    done = run(silas("mcp", "add", "git", "no-such-program"), env)
    assert done.code == 2
    assert "gibt es kein Programm no-such-program" in done.err
    told = run(silas("mcp", "list"), env).out
    assert "Es ist kein MCP-Server eingerichtet. Füge mit `silas mcp add` einen hinzu" in told
    assert "unter Mehr, Verbindungen" in told


def _meaning(text: str) -> dict[str, Any]:
    """What a file says below `silas:`; a section with nothing in it says nothing."""
    data: dict[str, Any] = yaml.safe_load(text) or {"silas": {}}
    return {name: value for name, value in data["silas"].items() if value != {}}


@pytest.mark.parametrize(
    "text",
    [
        "silas:\n  language: en\n",
        "silas:\n  mcpServers:\n    # the first\n    a: {command: cat}\n  language: en # mine\n",
        "silas:\n  mcpServers:\n    a:\n      command: cat\n  mcp:\n    a:\n      reads: [x]\n",
        '{"silas": {"language": "en"}}',
        '{"silas": {"mcpServers": {"a": {"command": "cat"}}, "language": "en"}}',
        "silas: {mcpServers: {}, language: en}\n",
        '{"silas": {}}',
        "silas: {}\n",
        "",
    ],
)
def test_a_server_comes_and_goes_and_every_other_byte_stays(tmp_path: Path, text: str) -> None:
    file = tmp_path / "config.yaml"
    file.write_text(text)
    place = ConfigPlace(file, {"SILAS_HOME": str(tmp_path)})
    added = plan_added(place, "b", {"command": "cat", "args": ["-", "ä: #"]}, {"read": ["/usr"]})
    entry = entry_after(added, place)
    assert entry is not None
    assert (entry.server.args, entry.handling.read) == (("-", "ä: #"), (Path("/usr"),))
    write_servers(added, place)
    assert set(yaml.safe_load(file.read_text())["silas"]["mcpServers"]) >= {"b"}
    removed = plan_removed(place, "b")
    assert entry_after(removed, place) is None
    write_servers(removed, place)
    assert _meaning(file.read_text()) == _meaning(text)
    if text.startswith("silas:\n"):
        assert file.read_text() == text


def test_a_file_that_somebody_changed_meanwhile_is_left_alone(tmp_path: Path) -> None:
    file = tmp_path / "config.yaml"
    file.write_text("silas:\n  language: en\n")
    place = ConfigPlace(file, {"SILAS_HOME": str(tmp_path)})
    added = plan_added(place, "b", {"command": "cat"}, {})
    file.write_text("silas:\n  language: de\n")
    with pytest.raises(ConfigError):
        write_servers(added, place)
    assert file.read_text() == "silas:\n  language: de\n"


def test_a_hash_adds_exactly_the_server_that_was_shown_under_its_name(tmp_path: Path) -> None:
    env = environment(tmp_path / "home")
    assert run(silas("init"), env).code == 0
    file = tmp_path / "home" / "config.yaml"
    before = file.read_bytes() if file.exists() else None
    key = "https://a.example/mcp?key=none-may-keep-this"
    seen = run(silas("mcp", "add", "far", "--url", key), env).out.splitlines()[0]
    other = run(silas("mcp", "add", "near", "--approve", seen, "--url", key), env)
    assert (other.code, file.read_bytes() if file.exists() else None) == (3, before), other.err
    assert run(silas("mcp", "add", "far", "--approve", seen, "--url", key), env).code == 0
    told = run(silas("audit", "show", "--json"), env).out
    assert "https://a.example/mcp" in told
    assert "none-may-keep-this" not in told


def test_no_server_may_write_where_the_link_to_the_configuration_lies(tmp_path: Path) -> None:
    home, elsewhere = tmp_path / "home", tmp_path / "dotfiles"
    env = {**environment(home), "SILAS_DATA_DIR": str(tmp_path / "data")}
    env["HOME"] = str(tmp_path / "person")  # no home is ever shown as a whole
    home.mkdir()
    elsewhere.mkdir()
    (elsewhere / "silas.yaml").write_text("silas: {}\n")
    (home / "config.yaml").symlink_to(elsewhere / "silas.yaml")
    assert run(silas("init"), env).code == 0
    for folder in (home, elsewhere):
        refused = run(silas("mcp", "add", "git", "--write", folder, "--", "cat"), env)
        assert (refused.code, "is shown to no program" in refused.err) == (2, True), refused


_KILLED = """
import os, signal
import silas.services.mcp_servers.configuration as saved
write = saved.write_servers
def killed(edit, place):
    if {after}:
        write(edit, place)
    os.kill(os.getpid(), signal.SIGKILL)
saved.write_servers = killed
from silas.main import cli
cli()
"""
"""Silas, killed just before or after it writes the file."""

FAR = ("--url", "https://a.example/mcp")


def _events(env: dict[str, str]) -> list[str]:
    told = json.loads(run(silas("audit", "show", "--json"), env).out)
    return [one["event"] for one in told if one["event"].startswith("mcp.")]


@pytest.mark.parametrize("after", [False, True])
def test_a_record_says_of_no_server_what_a_kill_kept_from_happening(
    tmp_path: Path, after: bool
) -> None:
    env, file = environment(tmp_path / "home"), tmp_path / "home" / "config.yaml"
    assert run(silas("init"), env).code == 0
    file.write_text("silas: {}\n")
    seen = run(silas("mcp", "add", "far", *FAR), env).out.splitlines()[0]
    killed = python(_KILLED.format(after=after), "mcp", "add", "far", "--approve", seen, *FAR)
    done = run(killed, env, imported=True)
    assert done.code == -9, done
    assert ("a.example" in file.read_text(), _events(env)) == (after, ["mcp.adding"])
    if not after:
        assert run(silas("mcp", "add", "far", "--approve", seen, *FAR), env).code == 0
        assert _events(env) == ["mcp.adding", "mcp.adding", "mcp.added"]
    killed = python(_KILLED.format(after=after), "mcp", "remove", "far")
    done = run(killed, env, imported=True)
    assert done.code == -9, done
    assert ("a.example" in file.read_text(), _events(env)[-1]) == (not after, "mcp.removing")


def test_a_file_that_changed_while_the_card_waited_is_told_as_not_written(tmp_path: Path) -> None:
    env, file = environment(tmp_path / "home"), tmp_path / "home" / "config.yaml"
    assert run(silas("init"), env).code == 0
    file.write_text("silas: {}\n")
    with person(silas("mcp", "add", "far", *FAR), env) as owner:
        owner.waits_for("Your choice, 1 to 2:")
        file.write_text("silas:\n  language: en\n")
        owner.types("1\r")
        assert owner.leaves() == 2
    assert file.read_text() == "silas:\n  language: en\n"
    assert _events(env) == ["mcp.adding", "mcp.not_written"]


_UNRECORDED = """
import silas.services.mcp_servers.configuration as saved
from silas.audit.log import AuditLog
from silas.errors import ConfigError, DatabaseError
log = AuditLog.log
async def full(self, event, **data):
    if event in ("mcp.not_written", "mcp.added"):
        raise DatabaseError("The disk is full; free some of it.", code="E_DB_OPERATION")
    return await log(self, event, **data)
AuditLog.log = full
write = saved.write_servers
def failed(edit, place):
    if {fails}:
        raise ConfigError("The file is somebody else's; give yourself the right to it.")
    write(edit, place)
saved.write_servers = failed
from silas.main import cli
cli()
"""
"""Silas, whose disk is full once a change was made, or has failed."""


@pytest.mark.parametrize(
    ("fails", "language", "said"),
    [
        (
            True,
            "en",
            "The file is somebody else's; give yourself the right to it. That it failed could not "
            "be recorded: The disk is full; free some of it.",
        ),
        (
            False,
            "en",
            "It is done, and that could not be recorded: The disk is full; free some of it.",
        ),
        (True, "de", "Dass es misslang, konnte nicht festgehalten werden: The disk is full"),
    ],
)
def test_what_became_of_a_change_is_told_where_it_cannot_be_recorded(
    tmp_path: Path, fails: bool, language: str, said: str
) -> None:
    env, file = environment(tmp_path / "home"), tmp_path / "home" / "config.yaml"
    assert run(silas("init"), env).code == 0
    file.write_text(f"silas:\n  language: {language}\n")
    seen = run(silas("mcp", "add", "far", *FAR), env).out.splitlines()[0]
    program = python(_UNRECORDED.format(fails=fails), "mcp", "add", "far", "--approve", seen, *FAR)
    done = run(program, env, imported=True)
    assert done.code not in (0, -9), done
    assert said in " ".join((done.out + done.err).split())
    assert ("a.example" in file.read_text()) is not fails
