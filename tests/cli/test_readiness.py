"""What `silas doctor` and `silas config validate` say is what happens when Silas is then used."""

import asyncio
import json
import socket
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from silas.main import cli
from tests.agents.openai_server import Answer, Drop, Failure, Hang, Raw, openai_server

KEY = "sk-this-key-shows-nowhere"

MISTAKES: list[tuple[dict[str, Any], str, str]] = [
    ({"models": {"planner": "openay:gpt-5"}}, "model planner", "the nearest is openai"),
    ({"models": {"planner": "nosuch:gpt-5"}}, "model planner", "no provider 'nosuch'"),
    ({"models": {"scorer": "claude-sonnet-4-5"}}, "model scorer", "it names no provider"),
    ({"models": {"proxy": "openai:gpt-5"}}, "model proxy", "OPENAI_API_KEY"),
    (
        {
            "models": {
                "executor": {"name": "m", "base_url": "http://[::1]:9/v1", "api_key_env": "NO"}
            }
        },
        "model executor",
        "export NO",
    ),
    ({"active_goal": "goals/tidy.md"}, "configuration", "set `active_goal: null`"),
    (
        {"gates": {"system": [{"name": "g", "on": "every_user_message", "provider": "llm"}]}},
        "gate g",
        "refuses every message: this version has no provider llm",
    ),
    (
        {"gates": {"system": [{"name": "g", "on": "every_agent_response", "provider": "script"}]}},
        "gate g",
        "withholds every answer: this version has no provider script",
    ),
    (
        {"gates": {"system": [{"name": "g", "on": "every_user_message"}]}},
        "gate g",
        "refuses every message that was tried",
    ),
    (
        {"gates": {"system": [{"name": "g", "on": "on_tool_call", "type": "regex"}]}},
        "gate g",
        "refuses every tool call that was tried",
    ),
    ({"plans_dirs": ["/nowhere/plans"]}, "directory plans_dirs", "/nowhere/plans is not there"),
    ({"workers_dir": "/nowhere/w"}, "directory workers_dir", "change `workers_dir`"),
    ({"skills_dir": "/dev/null"}, "directory skills_dir", "/dev/null is no directory"),
    (
        {"channels": {"web": {"phone": {"address": "no0such"}}}},
        "phone address",
        "no address or interface no0such",
    ),
    (
        {"channels": {"web": {"phone": {"way": "certificate"}}}},
        "phone",
        "channels.web.tls",
    ),
    (
        {"channels": {"web": {"host": "192.0.2.77", "auth_token": "abcdefgh"}}},
        "cockpit address",
        "no address 192.0.2.77",
    ),
    ({"limits": {"max_gate_evals_per_turn": 1}}, "gates", "raise it"),
]


@pytest.fixture
def settings(here: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A configuration file of the home that is set up, without any provider's key around."""
    for name in ("ANTHROPIC_API_KEY", "OPENAI_API_KEY", "OPENROUTER_API_KEY", "NO"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path / "config.yaml"


def write(settings: Path, here: Path, given: dict[str, Any]) -> None:
    settings.write_text(json.dumps({"silas": {"data_dir": str(here / "data"), **given}}))


def invoke(settings: Path, *words: str) -> Result:
    return CliRunner().invoke(cli, ["--config", str(settings), *words])


def failing(done: Result) -> dict[str, str]:
    """The words of what failed, by part."""
    return {one["part"]: one["words"] for one in json.loads(done.stdout) if not one["ok"]}


@pytest.mark.parametrize("command", [("doctor",), ("config", "validate")])
@pytest.mark.parametrize(("given", "part", "words"), MISTAKES)
def test_what_silas_would_refuse_is_not_called_ready(
    given: dict[str, Any],
    part: str,
    words: str,
    command: tuple[str, ...],
    here: Path,
    settings: Path,
) -> None:
    write(settings, here, given)
    done = invoke(settings, *command, "--json")
    found = failing(done)
    assert list(found) == [part]
    assert words in found[part]
    told = invoke(settings, *command)
    assert (done.exit_code, told.exit_code) == (2, 2)
    assert told.stdout.splitlines()[-1] == f"Needs attention: {part}."


@pytest.mark.parametrize(
    "given", [given for given, part, _ in MISTAKES if part in {"configuration", "model planner"}]
)
def test_what_is_not_called_ready_is_really_refused(
    given: dict[str, Any], here: Path, settings: Path
) -> None:
    write(settings, here, given)
    done = invoke(settings, "ask", "hello")
    assert (done.exit_code, done.stdout) == (2, "")
    (words,) = failing(invoke(settings, "config", "validate", "--json")).values()
    assert done.stderr.startswith(words)


def test_advice_is_no_failure_and_the_headline_counts_it(here: Path, settings: Path) -> None:
    write(settings, here, {})
    done = invoke(settings, "doctor", "--json")
    states = {one["part"]: one["state"] for one in json.loads(done.stdout)}
    assert done.exit_code == 0
    assert states["audit witness"] == "advice"
    assert set(states.values()) == {"ok", "advice"}
    count = list(states.values()).count("advice")
    told = invoke(settings, "doctor").stdout.splitlines()[-1]
    assert told.startswith(f"Ready, with {count} piece")
    assert "audit witness" in told


def test_a_model_that_its_provider_does_not_list_is_advice(
    here: Path, settings: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    write(settings, here, {"models": {"proxy": "openai:gpt-99"}})
    done = invoke(settings, "config", "validate")
    assert done.exit_code == 0
    assert "gpt-99 is not among the known models of openai" in " ".join(done.stdout.split())
    assert done.stdout.splitlines()[-1] == "Ready, with 1 piece of advice: model proxy."


def test_a_dead_server_is_named_by_doctor_and_not_asked_for_by_validate(
    here: Path, settings: Path
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]  # nobody else gets it, and nobody listens once it is closed
    url = f"http://127.0.0.1:{port}/v1"
    write(settings, here, {"models": {"planner": {"name": "m", "base_url": url}}})
    done = invoke(settings, "doctor", "--json")
    assert done.exit_code == 2
    assert failing(done).keys() == {"model planner"}
    assert f"nothing answers at 127.0.0.1:{port} (Connection refused)" in done.stdout
    assert invoke(settings, "config", "validate").exit_code == 0


def test_validate_says_which_servers_it_did_not_look_at(here: Path, settings: Path) -> None:
    url = "http://127.0.0.1:9/v1"
    write(settings, here, {"models": {"planner": {"name": "m", "base_url": url}}})
    assert invoke(settings, "config", "validate").stdout.splitlines() == [
        "The configuration is valid.",
        f"Not looked at: whether {url} answers, `silas doctor` says.",
    ]
    write(settings, here, {})
    assert invoke(settings, "config", "validate").stdout == "The configuration is valid.\n"


@pytest.mark.parametrize("command", [("doctor",), ("config", "validate")])
def test_a_toolset_that_cannot_be_imported_is_not_called_valid(
    command: tuple[str, ...], here: Path, settings: Path
) -> None:
    write(settings, here, {"toolset_allow": ["no_such."], "toolsets": {"no_such.Tools": {}}})
    done = invoke(settings, *command, "--json")
    assert done.exit_code == 2
    assert "it cannot be imported" in failing(done)["toolset no_such.Tools"]


@pytest.mark.parametrize(
    ("server", "state", "words"),
    [
        ({"command": "/no/such/program"}, "failed", "/no/such/program does not exist"),
        ({"url": "http://127.0.0.1:9/mcp"}, "failed", "nothing answers at 127.0.0.1:9"),
        ({"command": "cat"}, "advice", "never trusted; look at its tools with `silas mcp trust s`"),
    ],
)
def test_an_mcp_server_that_is_out_of_use_is_not_called_ready(
    server: dict[str, str], state: str, words: str, here: Path, settings: Path
) -> None:
    write(settings, here, {"mcpServers": {"s": server}})
    done = invoke(settings, "doctor", "--json")
    (found,) = [one for one in json.loads(done.stdout) if one["part"] == "MCP server s"]
    assert (found["state"], done.exit_code) == (state, 2 if state == "failed" else 0)
    assert words in found["words"]


@pytest.mark.parametrize(
    ("content", "words"),
    [(None, "cannot be read"), (b"short", "too short"), (b"x" * 32, "does not open")],
    ids=["gone", "short", "another"],
)
def test_a_key_file_that_opens_nothing_is_not_called_ready(
    content: bytes | None, words: str, here: Path, settings: Path, tmp_path: Path
) -> None:
    file = tmp_path / "unlock.key"
    if content is not None:
        file.write_bytes(content)
        file.chmod(0o600)
    write(settings, here, {"keys": {"key_file": str(file)}})
    done = invoke(settings, "doctor", "--json")
    assert done.exit_code == 2
    assert words in failing(done)["key"]
    asked = invoke(settings, "ask", "hello")
    assert (asked.exit_code, asked.stderr.startswith(failing(done)["key"])) == (2, True)


def test_a_host_that_does_not_exist_is_named(here: Path, settings: Path) -> None:
    model = {"name": "m", "base_url": "http://no-such-host.invalid/v1"}
    write(settings, here, {"models": {"planner": model}})
    done = invoke(settings, "doctor", "--json")
    assert "no-such-host.invalid" in failing(done)["model planner"]


TRIALS: list[tuple[Answer, str]] = [
    (Failure(401, f"Incorrect API key provided: {KEY}"), "it refuses the key (401)"),
    (Failure(404, "no such model"), "it knows no such address or model (404)"),
    (Failure(429), "it limits requests"),
    (Failure(503), "it fails with HTTP status 503"),
    (Raw("<html>this is a router's login</html>"), "its answer is none that a model gives"),
    (Raw('{"choices": []}'), "its answer is none that a model gives"),
    (Drop(), "it cannot be reached"),
    (Hang(), "it did not answer within 0.5 seconds"),
]


@pytest.mark.parametrize(("answer", "words"), TRIALS, ids=lambda each: type(each).__name__)
async def test_a_deep_look_says_in_one_sentence_why_a_model_does_not_answer(
    answer: Answer, words: str, here: Path, settings: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ITS_KEY", KEY)
    async with openai_server([answer]) as server:
        model = {
            "name": "tiny",
            "base_url": server.base_url,
            "api_key_env": "ITS_KEY",
            "timeout_seconds": 0.5 if isinstance(answer, Hang) else 20,
        }
        write(settings, here, {"models": {"planner": model, "executor": model}})
        plain = await asyncio.to_thread(invoke, settings, "doctor", "--json")
        assert plain.exit_code == 0
        assert server.bodies == []  # a look that is not deep sends nothing
        done = await asyncio.to_thread(invoke, settings, "doctor", "--deep", "--json")
        assert len(server.bodies) == 1  # one request to each distinct model
    found = failing(done)
    assert list(found) == ["answer planner, executor"]
    assert f"tiny at {server.base_url}: {words}" in found["answer planner, executor"]
    assert done.exit_code == 2
    assert KEY not in done.output


async def test_a_deep_look_tells_who_answered_where_and_how_fast(
    here: Path, settings: Path
) -> None:
    async with openai_server(["ok", "ok"]) as server:
        small, large = ({"name": name, "base_url": server.base_url} for name in ("small", "large"))
        models = {"proxy": small, "planner": large, "scorer": small}
        write(settings, here, {"models": models})
        done = await asyncio.to_thread(invoke, settings, "doctor", "--deep", "--json")
    assert done.exit_code == 0, done.stdout
    answers = {
        one["part"]: one["words"]
        for one in json.loads(done.stdout)
        if one["part"].startswith("answer ")
    }
    assert answers.keys() == {"answer proxy, scorer", "answer planner"}
    assert answers["answer planner"].startswith(f"large at {server.base_url} answered in ")
    assert answers["answer planner"].endswith(" s")
    assert [body["model"] for body in server.bodies] == ["small", "large"]
    assert all(body["max_completion_tokens"] <= 16 for body in server.bodies)
