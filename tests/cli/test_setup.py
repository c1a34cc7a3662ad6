"""`silas setup` finds who can answer, tries it once and writes it down, and nothing else."""

import asyncio
import json
import socket
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from silas.agents.choice import ModelChoice
from silas.agents.providers.hosted import HOSTED
from silas.agents.providers.known_names import provider_fault, unlisted_model
from silas.config import load_config
from silas.main import cli
from silas.services.setup import model_servers as modelservers
from tests.agents.openai_server import (
    Answer,
    Drop,
    Failure,
    Hang,
    OpenAIServer,
    Raw,
    openai_server,
)
from tests.support.command import ROOT, environment, person, silas

KEY = "sk-this-key-shows-nowhere"
PROXIES = ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy", "NO_PROXY", "no_proxy")


def models(*names: str) -> dict[str, Answer]:
    """What an OpenAI-compatible server says that it has."""
    data = [{"id": name, "object": "model"} for name in names]
    return {"/v1/models": Raw(json.dumps({"object": "list", "data": data}))}


def tags(*rows: dict[str, str]) -> dict[str, Answer]:
    """What Ollama says that it has."""
    return {"/api/tags": Raw(json.dumps({"models": rows}))}


@pytest.fixture(autouse=True)
def no_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    """No key and no proxy of the tester's."""
    for name in (*(one.variable for one in HOSTED), *PROXIES, "OPENAI_BASE_URL"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def settings(here: Path, tmp_path: Path) -> Path:
    """A configuration file of a home that is set up, with a comment and a setting of its own."""
    file = tmp_path / "config.yaml"
    file.write_text(f"# mine\nsilas:\n  data_dir: {here / 'data'}  # kept\n\n  owner_id: owner\n")
    return file


def invoke(settings: Path, *words: str) -> Result:
    return CliRunner().invoke(cli, ["--config", str(settings), *words])


async def setup(settings: Path, server: OpenAIServer, *words: str) -> Result:
    return await asyncio.to_thread(invoke, settings, "setup", "--port", str(server.port), *words)


def role_models(settings: Path) -> list[ModelChoice]:
    """The distinct models of the roles."""
    every = list(dict(load_config(settings).models).values())
    return [one for at, one in enumerate(every) if one not in every[:at]]


async def test_a_served_model_is_asked_once_and_written_for_every_role(settings: Path) -> None:
    before = settings.read_text()
    async with openai_server(["ok"], listing=models("tiny", "text-embedding-x")) as server:
        done = await setup(settings, server, "--model", "tiny", "--output", "native")
    assert done.exit_code == 0, done.output
    assert server.looked_at == ["/v1/models"]
    assert [body["model"] for body in server.bodies] == ["tiny"]
    assert role_models(settings) == [
        ModelChoice(name="tiny", base_url=server.base_url, output="native")
    ]
    assert f"Nothing leaves this machine, unless the server at {server.base_url}" in done.output
    # every line of the file stays, and the former file is kept
    section = [line for line in settings.read_text().splitlines() if "tiny" in line]
    assert len(section) == 4
    kept = [
        line
        for line in settings.read_text().splitlines()
        if line not in section and line.strip() != "models:"
    ]
    assert kept == before.splitlines()
    assert settings.with_name("config.yaml.bak").read_text() == before
    checked = await asyncio.to_thread(invoke, settings, "config", "validate")
    assert checked.exit_code == 0, checked.output


async def test_a_section_that_is_there_is_replaced_only_where_that_was_said(
    settings: Path,
) -> None:
    own = settings.read_text()
    head, tail = own.split("  owner_id")
    before = (
        f"{head}  models:\n    # old\n    proxy: runbook\n    planner: {{name: runbook}}  # x\n"
        f"  # of the next\n  owner_id{tail}"
    )
    settings.write_text(before)
    async with openai_server(["ok"], listing=models("tiny")) as server:
        refused = await setup(settings, server, "--model", "tiny")
        assert (refused.exit_code, settings.read_text(), server.bodies) == (2, before, [])
        assert "--replace" in refused.stderr
        done = await setup(settings, server, "--model", "tiny", "--replace")
    assert done.exit_code == 0, done.output
    after = settings.read_text()
    assert after.startswith(head)
    assert after.endswith(f"  # of the next\n  owner_id{tail}")
    assert "runbook" not in after
    assert {one.name for one in role_models(settings)} == {"tiny"}


FILES = [
    ("", "silas:\n  models:\n"),
    ("# only words", "# only words\nsilas:\n  models:\n"),
    ("silas:", "silas:\n  models:\n"),
    ("silas: # here\n    limits: {}\n", "silas: # here\n    models:\n      proxy:"),
    ("silas:\r\n  limits: {}\r\n", "silas:\r\n  models:\r\n    proxy:"),
    ("silas:\n  limits: {}\n  models: {proxy: runbook}", "silas:\n  limits: {}\n  models:\n"),
    ("silas:\n  models:\n    proxy:\n  # end\n", "silas:\n  models:\n    proxy: "),
]


@pytest.mark.parametrize(("before", "begins"), FILES)
def test_the_section_goes_into_a_file_of_any_form(before: str, begins: str, here: Path) -> None:
    file = here.parent / "forms" / "config.yaml"
    file.parent.mkdir(exist_ok=True)
    file.write_bytes(before.encode())
    done = invoke(file, "setup", "--port", str(_unused_port()), "--model", "runbook", "--replace")
    assert done.exit_code == 0, done.output
    assert file.read_bytes().decode().startswith(begins)
    assert role_models(file) == [ModelChoice(name="runbook")]
    assert before.rstrip("\r\n").endswith("# end") == file.read_text().endswith("# end\n")


def test_a_file_in_another_form_is_left_alone_and_the_lines_are_told(
    here: Path, tmp_path: Path
) -> None:
    file = tmp_path / "config.yaml"
    file.write_text(before := json.dumps({"silas": {"data_dir": str(here / "data")}}))
    done = invoke(file, "setup", "--port", str(_unused_port()), "--model", "runbook")
    assert (done.exit_code, file.read_text()) == (2, before)
    assert '    planner: "runbook"' in done.stderr
    assert sorted(tmp_path.iterdir()) == [file]


def test_a_variable_that_wins_over_the_file_is_told_and_nothing_is_written(
    settings: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SILAS_MODELS__PLANNER", "openai:gpt-99")
    before = settings.read_text()
    done = invoke(settings, "setup", "--port", str(_unused_port()), "--model", "runbook")
    assert (done.exit_code, settings.read_text()) == (2, before)
    assert "unset them" in done.stderr
    assert list(settings.parent.glob("*config.yaml*")) == [settings]


FAULTS: list[tuple[Answer, str]] = [
    (Failure(401, f"bad {KEY}"), "it refuses the key (401)"),
    (Failure(503), "it fails with HTTP status 503"),
    (Drop(), "it cannot be reached"),
]


@pytest.mark.parametrize(("answer", "words"), FAULTS, ids=lambda each: type(each).__name__)
async def test_a_model_that_does_not_answer_is_not_written(
    answer: Answer, words: str, settings: Path
) -> None:
    before = settings.read_text()
    async with openai_server([answer], listing=models("tiny")) as server:
        done = await setup(settings, server, "--model", "tiny")
    assert (done.exit_code, settings.read_text()) == (2, before)
    assert done.stderr.startswith("Nothing was written: tiny at ")
    assert words in done.stderr
    assert KEY not in done.output


LISTINGS: list[tuple[dict[str, Answer], str]] = [
    ({"/v1/models": Hang()}, "did not say within 0.3 seconds which models it has"),
    ({"/v1/models": Drop()}, "broke the connection off"),
    ({}, "names no language model"),
    ({"/v1/models": Failure(401, "no key")}, "wants a key: say which with `silas setup --model"),
    ({"/v1/models": Raw("<html>")}, "names no language model"),
    ({"/v1/models": Raw('{"data": [1, {"id": 2}, {"id": "a\\u001b[2J"}]}')}, "names no language"),
    ({"/v1/models": Raw('{"data": [{"id": "${HOME}"}, {"id": ""}]}')}, "names no language model"),
    ({"/v1/models": Raw("[" * 100_000)}, "names no language model"),
    ({"/v1/models": Raw(" " * (2 << 20))}, "names no language model"),
]


@pytest.mark.parametrize(("listing", "words"), LISTINGS)
async def test_a_server_that_names_no_model_is_told_and_offers_none(
    listing: dict[str, Answer], words: str, settings: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    places = modelservers.named_ports
    async with openai_server([], listing=listing) as server:
        found = await modelservers.find_servers(places([server.port]), 0.3)
        assert [(one.models, one.base_url) for one in found] == [((), server.base_url)]
        assert words in found[0].fault
        done = await setup(settings, server)
    assert done.exit_code == 2
    assert "0  none: the built-in runbook" in done.stdout
    assert server.base_url in done.stdout


async def test_ollama_is_read_by_its_own_list_and_what_it_passes_on_is_told(
    settings: Path,
) -> None:
    rows = ({"name": "qwen3:8b"}, {"name": "big:1t-cloud", "remote_host": "https://ollama.com"})
    async with openai_server(["ok", "ok"], listing=tags(*rows)) as server:
        near = await setup(settings, server, "--model", "ollama:qwen3:8b", "--json")
        assert near.exit_code == 0, near.output
        far = await setup(settings, server, "--model", "ollama:big:1t-cloud", "--json", "--replace")
    assert json.loads(near.stdout)["leaves"].startswith("Nothing leaves this machine")
    assert "to another machine" in json.loads(far.stdout)["leaves"]
    assert [body["model"] for body in server.bodies] == ["qwen3:8b", "big:1t-cloud"]


async def test_without_a_terminal_and_a_name_it_says_what_it_found_and_asks_for_one(
    settings: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DEEPSEEK_API_KEY", KEY)
    monkeypatch.setenv("MISTRAL_API_KEY", KEY)
    before = settings.read_text()
    async with openai_server([], listing=models("tiny")) as server:
        told = await setup(settings, server)
        document = await setup(settings, server, "--json")
    assert (told.exit_code, document.exit_code) == (2, 2)
    assert "silas setup --model NAME" in told.stderr
    assert "tiny" in told.stdout
    assert 'pip install "pydantic-ai-slim[mistral]"' in told.stdout
    said = json.loads(document.stdout)
    assert said["keys"] == ["DEEPSEEK_API_KEY", "MISTRAL_API_KEY"]
    assert said["offers"][0] == {
        "name": "tiny",
        "base_url": server.base_url,
        "words": f"server at {server.base_url}",
    }
    assert KEY not in told.output + document.output
    assert settings.read_text() == before


async def test_a_hosted_model_gets_its_variables_name_and_never_its_value(
    settings: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    async with openai_server(["ok"]) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        done = await setup(
            settings, server, "--model", "openai-chat:gpt-99", "--api-key-env", "OPENAI_API_KEY"
        )
    assert done.exit_code == 0, done.output
    assert server.headers[0]["authorization"] == f"Bearer {KEY}"
    (choice,) = role_models(settings)
    assert (choice.name, choice.api_key_env) == ("openai-chat:gpt-99", "OPENAI_API_KEY")
    assert f"go to {server.base_url}; the key stays in OPENAI_API_KEY." in done.output
    assert KEY not in done.output + settings.read_text()


@pytest.mark.parametrize(
    ("words", "fault"),
    [
        (("--model", "m", "--api-key-env", KEY), "takes the name of a variable"),
        (("--model", "m", "--api-key-env", "NOT_SET_ANYWHERE"), "takes the name of a variable"),
        (("--model", "m", "--base-url", f"http://me:{KEY}@127.0.0.1/v1"), "without a user"),
        (("--model", "m", "--base-url", "ftp://127.0.0.1/v1"), "takes an address"),
        (("--model", "runbook", "--base-url", "http://127.0.0.1/v1"), "takes no --base-url"),
        (("--model", "a\x1b[2J"), "one short line"),
        (("--model", "nobody-serves-this"), "No server here has the model"),
    ],
)
def test_what_cannot_be_meant_is_refused_and_a_key_typed_by_mistake_is_not_repeated(
    words: tuple[str, ...], fault: str, settings: Path
) -> None:
    before = settings.read_text()
    done = invoke(settings, "setup", "--port", str(_unused_port()), *words)
    assert (done.exit_code, settings.read_text()) == (2, before)
    assert fault in done.stderr
    assert KEY not in done.output


async def test_servers_are_looked_for_past_every_proxy(
    settings: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with openai_server([]) as proxy, openai_server([], listing=models("tiny")) as server:
        for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
            monkeypatch.setenv(name, f"http://127.0.0.1:{proxy.port}")
        done = await setup(settings, server, "--json")
    assert [one["name"] for one in json.loads(done.stdout)["offers"]] == ["tiny"]
    assert proxy.looked_at == []


async def test_that_a_proxy_sees_what_a_loopback_server_is_told_is_said(
    settings: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with openai_server(["ok"], listing=models("tiny")) as server:
        monkeypatch.setenv("http_proxy", f"http://localhost:{server.port}")
        done = await setup(settings, server, "--model", "tiny", "--json")
    assert done.exit_code == 0, done.output
    assert "go to the proxy localhost" in json.loads(done.stdout)["leaves"]


_QUESTIONS = (
    "Which number? [0]: ",
    "Write them? [y/N]: ",
    "A passphrase or a key file? [1]: ",
    "signing key: ",
    "again: ",
)


def _at_terminal(env: dict[str, str], port: int, *typed: str) -> str:
    """Somebody who answers the questions in order."""
    with person(silas("setup", "--port", str(port)), env, cwd=ROOT) as owner:
        for question, answer in zip(_QUESTIONS, typed, strict=False):
            owner.waits_for(question)
            owner.types(f"{answer}\r")
        owner.leaves()
    return owner.seen


async def test_in_a_terminal_a_number_and_a_yes_are_enough_and_the_key_is_made_once(
    tmp_path: Path,
) -> None:
    env = environment(tmp_path / "home")
    async with openai_server(["ok"], listing=models("tiny")) as server:
        seen = await asyncio.to_thread(
            _at_terminal, env, server.port, "1", "y", "1", "correct horse", "correct horse"
        )
    assert "Silas is ready." in seen
    file = tmp_path / "home/config.yaml"
    assert {one.name for one in role_models(file)} == {"tiny"}
    assert file.stat().st_mode & 0o777 == 0o600
    assert (tmp_path / "home/data/keys").is_dir()


async def test_a_key_file_is_taken_where_the_owner_chooses_it_and_no_passphrase_is_asked(
    tmp_path: Path,
) -> None:
    env = environment(tmp_path / "home")
    async with openai_server(["ok"], listing=models("tiny")) as server:
        seen = await asyncio.to_thread(_at_terminal, env, server.port, "1", "y", "2")
    assert "Choose a passphrase" not in seen
    assert "Silas is ready." in seen
    assert (tmp_path / "home/data/keys/unlock.key").stat().st_mode & 0o777 == 0o600


async def test_a_model_that_does_not_answer_is_told_and_another_can_be_chosen(
    tmp_path: Path,
) -> None:
    env = environment(tmp_path / "home")

    def typed(port: int) -> str:
        with person(silas("setup", "--port", str(port)), env, cwd=ROOT) as owner:
            owner.waits_for("Which number? [0]: ")
            owner.types("1\r")
            owner.waits_for("Choose another one")
            owner.waits_for("Which number? [0]: ")
            owner.types("0\r")
            owner.waits_for("Write them? [y/N]: ")
            owner.types("n\r")
            owner.leaves()
        return owner.seen

    async with openai_server([Failure(401, "no key")], listing=models("tiny")) as server:
        seen = await asyncio.to_thread(typed, server.port)
    assert "Nothing was written: tiny at " in seen
    assert not (tmp_path / "home").exists()


async def test_passphrases_that_differ_are_asked_for_again_and_ctrl_c_leaves_the_models(
    tmp_path: Path,
) -> None:
    env = environment(tmp_path / "home")

    def typed(port: int) -> tuple[str, int]:
        with person(silas("setup", "--port", str(port)), env, cwd=ROOT) as owner:
            for question, answer in (
                ("Which number? [0]: ", "1"),
                ("Write them? [y/N]: ", "y"),
                ("A passphrase or a key file? [1]: ", ""),
                ("signing key: ", "correct horse"),
                ("again: ", "battery staple"),
            ):
                owner.waits_for(question)
                owner.types(f"{answer}\r")
            owner.waits_for("The two passphrases differ")
            owner.waits_for("signing key: ")
            owner.types("\x03")
            code = owner.leaves()
        return owner.seen, code

    async with openai_server(["ok"], listing=models("tiny")) as server:
        seen, code = await asyncio.to_thread(typed, server.port)
    assert code == 4
    assert "The models are written; `silas init` makes the key." in seen
    assert {one.name for one in role_models(tmp_path / "home/config.yaml")} == {"tiny"}
    assert not list((tmp_path / "home/data/keys").glob("*"))


@pytest.mark.parametrize("typed", [("", ""), ("0", "n")])
def test_enter_alone_writes_nothing(typed: tuple[str, ...], tmp_path: Path) -> None:
    env = environment(tmp_path / "home")
    seen = _at_terminal(env, _unused_port(), *typed)
    assert "Nothing was written." in seen
    assert not (tmp_path / "home").exists()


@pytest.mark.parametrize("one", HOSTED, ids=lambda each: each.variable)
def test_each_model_that_is_offered_is_known_to_its_provider(one: Any) -> None:
    choice = ModelChoice(name=one.model)
    assert (provider_fault(choice), unlisted_model(choice)) == ("", "")


def _unused_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
