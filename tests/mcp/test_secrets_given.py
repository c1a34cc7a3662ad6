"""Servers that need a key are given it from the owner's secrets, by name; nobody else sees it."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from silas.errors import ConfigError, ToolError
from silas.services.mcp_servers.trust_card import server_lines
from silas.testing import CallTool
from tests.mcp.house import ENVIRONMENT, PYTHON, REPORT, SERVER, Fake, a_tool, house, service, trust
from tests.mcp.test_over_http import ACT as ACT_ON_THE_WEB
from tests.mcp.test_over_http import Web, on_the_web
from tests.support.command import environment, person, run, silas

ACT = CallTool("fake__act", {"what": "it"})
OLD, NEW = "ghp-old-value-5f0c9d1e", "ghp-new-value-77aa0b3c"
PLAIN = {"sandbox": {"tools": {"discover": False}}}


def _settings(fake: Fake, text: str = "${secret:GH}", **handling: Any) -> dict[str, Any]:
    settings = fake.settings(**handling)
    settings["mcpServers"]["fake"]["env"] = {"TOKEN": text}
    return {**PLAIN, **settings}


def _write(home: Path, settings: dict[str, Any]) -> None:
    (home / "config.yaml").write_text(yaml.safe_dump({"silas": settings}), encoding="utf-8")


def _holds(home: Path, value: str) -> list[Path]:
    """The files of a home that hold a value, but for what the server itself was told."""
    files = [path for path in home.rglob("*") if path.is_file() and "fake" not in path.parts]
    return [path for path in files if value.encode() in path.read_bytes()]


async def _stores(home: Path, name: str, value: str) -> None:
    """A secret of this name, in the place of a former one, as `silas secrets` does it."""
    async with service(home, {}) as at:
        vault, now = at.secrecy.vault, at.trusted._clock.now()  # pyright: ignore[reportPrivateUsage]
        if any(fact.name == name for fact in vault.facts()):
            vault.remove(name)
        vault.add(name, value, now)


def _options(fake: Fake, *given: str) -> list[str]:
    reads = [part for path in (*ENVIRONMENT, str(SERVER)) for part in ("--read", path)]
    program = [PYTHON, str(SERVER), *(str(fake.folder / n) for n in ("script.json", "log.jsonl"))]
    return [*reads, "--write", str(fake.folder), *given, "--", *program]


def test_a_program_that_needs_a_key_is_added_with_a_secret_of_the_owner(tmp_path: Path) -> None:
    fake, home = Fake(tmp_path / "fake", variable="TOKEN"), tmp_path / "home"
    env = environment(home)
    home.mkdir()
    _write(home, PLAIN)
    assert run(silas("init"), env).code == 0
    add = silas("mcp", "add", "fake", *_options(fake, "--env", "TOKEN=secret:GH"))
    before = (home / "config.yaml").read_text()
    refused = run(add, env)
    assert refused.code == 2
    assert "There is no secret GH for TOKEN; store it first: `silas secrets add GH`." in (
        " ".join(refused.err.split())
    )
    assert (home / "config.yaml").read_text() == before
    assert run(silas("secrets", "add", "GH"), env, stdin=f"{OLD}\n").code == 0
    with person(add, env) as owner:
        owner.waits_for("is given the variable TOKEN from your secret GH")
        owner.waits_for("Your choice, 1 to 2:")
        owner.types("1\r")
        assert owner.leaves() == 0
    assert yaml.safe_load((home / "config.yaml").read_text())["silas"]["mcpServers"]["fake"][
        "env"
    ] == {"TOKEN": "${secret:GH}"}
    seen = run(silas("mcp", "trust", "fake"), env)
    assert "is given the variable TOKEN from your secret GH" in " ".join(seen.out.split())
    first = seen.out.splitlines()[0]
    assert run(silas("mcp", "trust", "fake", "--approve", first), env).code == 0
    [state] = json.loads(run(silas("mcp", "list", "--json"), env).out)
    assert state["standing"] == "connected"
    assert set(fake.given) == {OLD}
    told = run(silas("audit", "show"), env).out
    assert "given from secrets: TOKEN: ${secret:GH}" in " ".join(told.split())
    assert "The MCP server fake is given the secret ref_" in " ".join(told.split())
    assert "used 20" in run(silas("secrets", "list"), env).out
    assert "the server of tools fake is given it" in run(silas("secrets", "list"), env).out
    assert _holds(home, OLD) == []
    gone = run(silas("secrets", "remove", "GH"), env)
    assert gone.code == 0
    assert "The server of tools fake is given it: it ends, and does not start" in " ".join(
        gone.out.split()
    )
    [state] = json.loads(run(silas("mcp", "list", "--json"), env).out)
    assert state["standing"] == "down"
    assert "The secret GH is not stored" in state["last_error"]
    assert "the secret GH is not stored" in " ".join(run(silas("doctor"), env).out.split())


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--env", f"TOKEN={OLD}"], "--env takes no value"),
        (["--header", f"Authorization=Bearer {OLD}"], "--header takes no value"),
        (["--env", OLD], "--env takes no value"),
        (["--header", f"X: {OLD} secret:GH"], "--header is written NAME=secret:SECRET"),
        (["--env", "PATH=secret:GH"], "PATH is given to no server"),
    ],
)
def test_a_value_on_a_command_line_is_refused_and_never_repeated(
    tmp_path: Path, options: list[str], words: str
) -> None:
    env = environment(tmp_path / "home")
    assert run(silas("init"), env).code == 0
    refused = run(silas("mcp", "add", "git", *options, "--", "cat"), env)
    assert refused.code == 2
    assert words in refused.err
    assert OLD not in refused.err + refused.out
    assert "mcp." not in run(silas("audit", "show", "--json"), env).out


async def test_an_address_is_sent_the_secret_behind_its_word(tmp_path: Path) -> None:
    web = Web()
    web.answer = f"acted for {OLD}"
    await _stores(tmp_path, "GH", OLD)
    async with on_the_web(web) as settings:
        settings["mcpServers"]["web"]["headers"] = {"Authorization": "Bearer ${secret:GH}"}
        [look] = await trust(tmp_path, settings, "web")
        line = "is sent the header Authorization from your secret GH: Bearer ${secret:GH}"
        assert line in server_lines(look.entry)
        async with house(tmp_path, settings, ACT_ON_THE_WEB) as at:
            await at.work()
            assert "acted for [secret GH]" in at.last_said
            assert {one["server"] for one in await at.events("mcp.secret_given")} == {"web"}
    assert {seen["authorization"] for seen in web.headers} == {f"Bearer {OLD}"}
    assert _holds(tmp_path, OLD) == []


async def test_a_secret_that_changed_is_given_from_the_next_work_on_and_trust_stays(
    tmp_path: Path,
) -> None:
    fake = Fake(tmp_path / "fake", variable="TOKEN")
    await _stores(tmp_path, "GH", OLD)
    await trust(tmp_path, _settings(fake), "fake")
    async with house(tmp_path, _settings(fake), ACT, REPORT, ACT, REPORT, ACT) as at:
        await at.work()
        await at.work()
        assert fake.given == [OLD, OLD]  # looked at, then started once
        await _stores(tmp_path, "GH", NEW)
        await at.work()
        assert fake.given == [OLD, OLD, NEW]
        assert len(fake.calls) == 3
        assert len(await at.events("mcp.secret_given")) == 3  # once when it was looked at


async def test_a_server_whose_secret_is_gone_ends_and_comes_back_with_it(tmp_path: Path) -> None:
    fake = Fake(tmp_path / "fake", variable="TOKEN")
    await _stores(tmp_path, "GH", OLD)
    await trust(tmp_path, _settings(fake), "fake")
    async with house(tmp_path, _settings(fake), ACT, REPORT, REPORT, ACT) as at:
        await at.work()
        async with service(tmp_path, {}) as elsewhere:
            elsewhere.secrecy.vault.remove("GH")
        await at.work()
        health, error = at.health("fake__act")
        assert health == "unavailable"
        assert "The secret GH is not stored" in error
        await _stores(tmp_path, "GH", NEW)
        await at.work()
        assert fake.given[-1] == NEW
        assert len(fake.calls) == 2


async def test_another_secret_is_another_server_that_nobody_trusted(tmp_path: Path) -> None:
    fake = Fake(tmp_path / "fake", variable="TOKEN")
    await _stores(tmp_path, "GH", OLD)
    await _stores(tmp_path, "OTHER", NEW)
    await trust(tmp_path, _settings(fake), "fake")
    async with house(tmp_path, _settings(fake, "${secret:OTHER}"), "nothing") as at:
        await at.work()
        assert at.h.silas.registry.get("fake__act") is None
    assert fake.given == [OLD]


async def test_what_a_server_says_of_its_secret_is_in_no_error_and_no_record(
    tmp_path: Path,
) -> None:
    fake = Fake(tmp_path / "fake", a_tool(), call="tell")
    await _stores(tmp_path, "GH", OLD)
    await trust(tmp_path, _settings(fake), "fake")
    async with house(tmp_path, _settings(fake), ACT) as at:
        await at.work()
        await at.until("mcp.disconnected")
        [gone, *_] = await at.events("mcp.disconnected")
        assert "my token is [secret GH]" in gone["why"]
        assert OLD not in at.health("fake__act")[1]
    assert _holds(tmp_path, OLD) == []


async def test_a_tool_that_says_the_secret_is_neither_trusted_nor_shown_nor_on_record(
    tmp_path: Path,
) -> None:
    said = a_tool("more", f"Uses {OLD}.")
    fake = Fake(tmp_path / "fake", a_tool(), said, a_tool(OLD))
    await _stores(tmp_path, "GH", OLD)
    [look] = await trust(tmp_path, _settings(fake), "fake")
    assert set(look.listing.definitions) == {"act"}
    assert set(look.listing.refused) == {"more", "[secret GH]"}
    fake.becomes(a_tool(), said, a_tool(OLD), a_tool(f"other-{OLD}"))
    async with house(tmp_path, _settings(fake), ACT) as at:
        await at.work()
        assert "fake__act" in at.offered
        assert not [name for name in at.offered if OLD in name]
    assert _holds(tmp_path, OLD) == []


async def test_a_secret_that_is_no_header_is_sent_nowhere(tmp_path: Path) -> None:
    web = Web()
    await _stores(tmp_path, "GH", "two-lines\r\nX-Other: y")
    async with on_the_web(web) as settings:
        settings["mcpServers"]["web"]["headers"] = {"Authorization": "${secret:GH}"}
        async with service(tmp_path, settings) as at:
            with pytest.raises(ToolError) as refused:
                await at.look("web")
    assert "holds a line break" in refused.value.message
    assert "two-lines" not in refused.value.message
    assert web.headers == []


@pytest.mark.parametrize(
    ("server", "words"),
    [
        ({"command": "cat", "args": ["${secret:GH}"]}, "in `env` and `headers` alone"),
        ({"url": "https://a.example/${secret:GH}"}, "in `env` and `headers` alone"),
        ({"command": "cat", "env": {"TOKEN": "${secret:}"}}, "needs its name"),
        ({"command": "cat", "env": {"TOKEN": "${secret:no name}"}}, "needs its name"),
    ],
)
async def test_a_secret_is_named_in_variables_and_headers_alone(
    tmp_path: Path, server: dict[str, Any], words: str
) -> None:
    env = environment(tmp_path / "home")
    assert (await asyncio.to_thread(run, silas("init"), env)).code == 0
    _write(tmp_path / "home", {"mcpServers": {"a": server}})
    done = await asyncio.to_thread(run, silas("mcp", "list"), env)
    assert done.code == 2
    assert words in done.err


async def test_a_secret_that_is_not_there_is_said_before_a_server_is_started(
    tmp_path: Path,
) -> None:
    fake = Fake(tmp_path / "fake", variable="TOKEN")
    async with service(tmp_path, _settings(fake)) as at:
        with pytest.raises(ConfigError, match="The secret GH is not stored"):
            await at.look("fake")
    assert fake.heard == []


async def test_what_else_is_written_beside_a_secret_is_shown_to_nobody(tmp_path: Path) -> None:
    fake = Fake(tmp_path / "fake", variable="TOKEN")
    await _stores(tmp_path, "GH", OLD)
    [look] = await trust(tmp_path, _settings(fake, "hidden-one:${secret:GH}"), "fake")
    assert fake.given == [f"hidden-one:{OLD}"]
    [line] = [one for one in server_lines(look.entry) if "TOKEN" in one]
    assert line.endswith("from your secret GH: **********${secret:GH}")
    env = environment(tmp_path / "home")
    assert (await asyncio.to_thread(run, silas("init"), env)).code == 0
    _write(tmp_path / "home", _settings(fake, "hidden-one:${secret:GH}"))
    shown = (await asyncio.to_thread(run, silas("config", "show"), env)).out
    assert "TOKEN: '**********${secret:GH}'" in shown
