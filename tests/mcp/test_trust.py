"""The owner's word on a server: given on a card or by a hash, kept, and never by silence."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from silas.errors import DatabaseError
from silas.tools import HealthStatus, ToolHealth
from silas.tools.health import SqlHealthStore
from tests.mcp.house import Fake, a_tool, service, trust
from tests.support.command import environment, person, run, silas


class At:
    """A home for commands, with one fake server configured."""

    def __init__(self, folder: Path, **handling: Any) -> None:
        self.fake = Fake(folder / "fake", a_tool(description="Acts on what you say."))
        self.home = folder / "home"
        self.env = environment(self.home)
        self.home.mkdir()
        settings = self.fake.settings(**handling)
        (self.home / "config.yaml").write_text(yaml.safe_dump({"silas": settings}))
        assert self.run("init")[0] == 0

    def run(self, *words: str) -> tuple[int, str, str]:
        """A command without a terminal."""
        return run(silas(*words), self.env)


def test_the_owner_sees_each_tool_and_his_yes_is_kept_and_silence_is_none(tmp_path: Path) -> None:
    at = At(tmp_path, rate={"act": "medium"})
    code, out, _ = at.run("mcp", "trust", "fake")
    assert code == 3
    assert "Nothing new is trusted." in out
    assert "never trusted" in at.run("mcp", "list")[1]
    with person(silas("mcp", "trust", "fake"), at.env) as owner:
        owner.waits_for("fake__act: medium risk, may change something")
        owner.waits_for("Acts on what you say.")
        owner.waits_for("Your choice, 1 to 2:")
        owner.types("1\r")
        assert owner.leaves() == 0
    [state] = json.loads(at.run("mcp", "list", "--json")[1])
    assert (state["standing"], state["tools"]) == ("connected", {"fake__act": True})
    [row] = [r for r in json.loads(at.run("tools", "list", "--json")[1]) if "__" in r["name"]]
    assert (row["name"], row["risk"], row["health"]) == ("fake__act", "medium", "healthy")


def test_what_is_trusted_no_more_is_not_started_again_and_is_on_record(tmp_path: Path) -> None:
    at = At(tmp_path)
    seen = at.run("mcp", "trust", "fake")[1].splitlines()[0]
    assert at.run("mcp", "trust", "fake", "--approve", seen)[0] == 0
    assert at.run("mcp", "distrust", "other")[0] != 0
    assert at.run("mcp", "distrust", "fake")[:2] == (0, "No longer trusted: fake.\n")
    assert at.run("mcp", "distrust", "fake")[:2] == (0, "Nothing was trusted: fake.\n")
    [state] = json.loads(at.run("mcp", "list", "--json")[1])
    assert (state["standing"], state["tools"]) == ("untrusted", {})
    told = at.run("audit", "show")[1]
    assert told.count("You trust the MCP server fake no more.") == 1


def test_the_doctor_looks_at_what_was_trusted_and_deep_starts_it(tmp_path: Path) -> None:
    at = At(tmp_path)
    seen = at.run("mcp", "trust", "fake")[1].splitlines()[0]
    assert at.run("mcp", "trust", "fake", "--approve", seen)[0] == 0

    def found(*more: str) -> tuple[str, str]:
        rows = json.loads(at.run("doctor", "--json", *more)[1])
        (row,) = [one for one in rows if one["part"] == "MCP server fake"]
        return row["state"], row["words"]

    heard = len(at.fake.heard)
    assert found() == ("ok", "trusted; Silas starts it when it starts itself")
    assert len(at.fake.heard) == heard
    assert found("--deep") == ("ok", "offers 1 tools")
    at.fake.becomes(a_tool(description="Acts on what I say."))
    state, words = found("--deep")
    assert state == "failed"
    assert words.startswith("out of use: ")


def test_a_hash_trusts_exactly_what_was_looked_at(tmp_path: Path) -> None:
    at = At(tmp_path)
    seen = at.run("mcp", "trust", "fake")[1].splitlines()[0]
    at.fake.becomes(a_tool(description="Acts on what I say."))
    code, out, _ = at.run("mcp", "trust", "fake", "--approve", seen)
    assert code == 3
    now = out.split()[0]
    assert now != seen
    assert at.run("mcp", "trust", "fake", "--approve", now)[0] == 0
    words = " ".join(at.run("audit", "show")[1].split())
    assert "You did not trust the MCP server fake." in words
    assert "You trust the MCP server fake with the tools act." in words
    assert at.run("mcp", "trust", "other")[0] == 2


async def test_a_stored_trust_that_was_changed_is_refused(tmp_path: Path) -> None:
    fake = Fake(tmp_path / "fake")
    await trust(tmp_path, fake.settings(), "fake")
    async with service(tmp_path, fake.settings()) as at:
        with at.db.write() as tx:
            tx.driver.execute(
                "UPDATE mcp_tools SET definition = replace(definition, 'Acts.', 'Acts!')"
            )
        with pytest.raises(DatabaseError, match="was changed or damaged"):
            at.trusted.of("fake")


async def test_a_new_look_replaces_the_old_one_whole(tmp_path: Path) -> None:
    fake = Fake(tmp_path / "fake", a_tool("one"), a_tool("two"))
    await trust(tmp_path, fake.settings(), "fake")
    fake.becomes(a_tool("two"), a_tool("three"))
    [look] = await trust(tmp_path, fake.settings(), "fake")
    assert look.drift == ((), ("three",), ("one",))
    async with service(tmp_path, fake.settings()) as at:
        assert set(at.trusted.of("fake").definitions) == {"two", "three"}


def test_without_servers_nothing_of_it_is_loaded(tmp_path: Path) -> None:
    home = environment(tmp_path)
    source = (
        "import asyncio, sys\n"
        "from silas.testing import Harness\n"
        "async def main():\n"
        "    async with Harness() as h:\n"
        "        await h.silas.ask('hello')\n"
        "asyncio.run(main())\n"
        "print([m for m in sys.modules if m == 'mcp' or m.startswith(('mcp.', 'mcp_types'))])\n"
    )
    done = run([sys.executable, "-c", source], home)
    assert done.out.strip() == "[]", done.err


async def test_the_list_of_tools_shows_how_those_of_a_server_fared_before(tmp_path: Path) -> None:
    fake = Fake(tmp_path / "fake")
    await trust(tmp_path, fake.settings(), "fake")
    async with service(tmp_path, fake.settings()) as at:
        fared = ToolHealth(
            status=HealthStatus.degraded, last_error="E_TOOL_DOWN", consecutive_errors=2
        )
        SqlHealthStore(at.db).keep("fake__act", fared)
        (row,) = await at.rows()
    assert (row["name"], row["health"]) == ("fake__act", "degraded")
    assert row["last_error"] == "E_TOOL_DOWN"


def test_a_hash_of_a_look_covers_how_each_tool_is_rated_and_offered(tmp_path: Path) -> None:
    at = At(tmp_path)
    seen = at.run("mcp", "trust", "fake")[1].splitlines()[0]
    file = at.home / "config.yaml"
    changed: list[dict[str, Any]] = [{"reads": ["act"]}, {"rate": {"act": "low"}}, {"offer": []}]
    for handling in changed:
        file.write_text(yaml.safe_dump({"silas": at.fake.settings(**handling)}))
        assert at.run("mcp", "trust", "fake", "--approve", seen)[0] == 3, handling
    file.write_text(yaml.safe_dump({"silas": at.fake.settings()}))
    assert at.run("mcp", "trust", "fake", "--approve", seen)[0] == 0


def test_why_a_server_is_out_of_use_is_told_to_people_in_their_language(tmp_path: Path) -> None:
    at = At(tmp_path)
    settings = {**at.fake.settings(), "language": "de"}
    (at.home / "config.yaml").write_text(yaml.safe_dump({"silas": settings}))
    never = "du hast ihm nie vertraut; sieh dir seine Werkzeuge mit `silas mcp trust fake` an"
    assert never in at.run("mcp", "list")[1]
    assert "never trusted; look at its tools with" in at.run("mcp", "list", "--json")[1]
    seen = at.run("mcp", "trust", "fake")[1].splitlines()[0]
    assert at.run("mcp", "trust", "fake", "--approve", seen)[0] == 0
    at.fake.becomes(a_tool(description="Acts otherwise."), a_tool("more"))
    told = at.run("mcp", "list")[1]
    assert "geändert, seit du ihm vertraut hast: act; neu, seit du ihm vertraut hast: more" in told


@pytest.mark.parametrize(
    ("language", "words"),
    [
        ("en", ("stands in: {folder}", "is given the variables: ALPHA, TOKEN", "'two words'")),
        ("de", ("steht in: {folder}", "bekommt die Variablen: ALPHA, TOKEN", "'two words'")),
    ],
)
def test_the_card_of_a_server_shows_all_that_its_digest_is_of(
    tmp_path: Path, language: str, words: tuple[str, ...]
) -> None:
    at = At(tmp_path)
    settings = at.fake.settings()
    server = settings["mcpServers"]["fake"]
    server["args"] += ["two words"]
    server |= {"env": {"TOKEN": "none-may-see-this", "ALPHA": "1"}, "cwd": str(at.fake.folder)}
    told = {"silas": {**settings, "language": language}}
    (at.home / "config.yaml").write_text(yaml.safe_dump(told))
    out = at.run("mcp", "trust", "fake")[1]
    shown = out.replace("\n   \\ ", "")  # where a long line was broken
    for part in words:
        assert part.format(folder=at.fake.folder) in shown
    assert "none-may-see-this" not in out
