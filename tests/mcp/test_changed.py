"""A server that is there becomes another one, in a terminal: on a yes, and nothing else changes."""

import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from silas.config.change_server import PartChange, plan_changed
from silas.config.edit_servers import entry_after, write_servers
from silas.config.place import ConfigPlace
from silas.errors import ConfigError
from tests.mcp.house import ENVIRONMENT, PYTHON, SERVER, Fake
from tests.support.command import Ended, environment, person, run, silas

FILE = """silas:
  # mine
  sandbox: { tools: { discover: false } }
  mcpServers:
    far: {"url": "https://a.example/mcp", "headers": {"X-Api-Key": "written-by-hand"}} # one line
    # the other
    cat:
      command: cat # reads
      args:
        - "-"   # the input
        # twice
        - --
        - last
      env: { TOKEN: "${secret:GH}", PLAIN: by-hand }
  mcp:
    cat:
      read: [/usr] # shown anyway
      reads: [x]
"""


class Terminal:
    """A home with servers written by hand, and one secret."""

    def __init__(self, folder: Path, text: str = FILE) -> None:
        self.env, self.file = environment(folder / "home"), folder / "home" / "config.yaml"
        self.file.parent.mkdir()
        self.file.write_text(text)
        assert run(silas("init"), self.env).code == 0
        for name in ("GH", "OTHER"):
            added = run(silas("secrets", "add", name), self.env, stdin="a-long-value-5f0c\n")
            assert added.code == 0, added

    def says(self, *words: str) -> Ended:
        return run(silas("mcp", *words), self.env)

    def changes(self, name: str, *options: str) -> Ended:
        """With the owner's yes."""
        asked = self.says("change", name, *options)
        assert asked.code == 3, asked
        seen = asked.out.splitlines()[0]
        return self.says("change", name, "--approve", seen, *options)

    @property
    def text(self) -> str:
        return self.file.read_text()

    @property
    def events(self) -> list[str]:
        told = json.loads(run(silas("audit", "show", "--json"), self.env).out)
        return [one["event"] for one in told if one["event"].startswith("mcp.")]


@pytest.mark.parametrize(
    ("name", "options", "before", "after"),
    [
        (
            "cat",
            ("--", "head", "-", "-n", "last"),
            'command: cat # reads\n      args:\n        - "-"   # the input\n        # twice\n'
            "        - --\n",
            'command: "head" # reads\n      args:\n        - "-"   # the input\n        # twice\n'
            '        - "-n"\n',
        ),
        (
            "cat",
            ("--", "cat", "last", "more"),
            '        - "-"   # the input\n        # twice\n        - --\n        - last\n',
            '        # twice\n        - last\n        - "more"\n',
        ),
        (
            "cat",
            ("--", "cat", "-"),
            "        # twice\n        - --\n        - last\n",
            "        # twice\n",
        ),
        (
            "cat",
            ("--read", "/usr", "--read", str(SERVER.parent)),
            "read: [/usr] #",
            f'read: [/usr, "{SERVER.parent}"] #',
        ),
        ("cat", ("--read", ""), "      read: [/usr] # shown anyway\n", ""),
        (
            "cat",
            ("--host", "a.example"),
            "    cat:\n      read:",
            '    cat:\n      network: ["a.example"]\n      read:',
        ),
        ("cat", ("--env", "TOKEN=secret:OTHER"), '"${secret:GH}"', '"${secret:OTHER}"'),
        ("cat", ("--env", "PLAIN="), ", PLAIN: by-hand }", " }"),
        (
            "cat",
            ("--env", "MORE=secret:GH"),
            "env: { TOKEN",
            'env: {"MORE": "${secret:GH}",  TOKEN',
        ),
        (
            "far",
            ("--url", "https://b.example/mcp"),
            "https://a.example/mcp",
            "https://b.example/mcp",
        ),
        (
            "far",
            ("--header", "x-api-key=Bearer secret:GH"),
            '{"X-Api-Key": "written-by-hand"}',
            '{"x-api-key": "Bearer ${secret:GH}"}',
        ),
        (
            "far",
            ("--header", "X-Api-Key="),
            ', "headers": {"X-Api-Key": "written-by-hand"}}',
            "}",
        ),
    ],
)
def test_what_is_given_changes_and_every_other_byte_stays(
    tmp_path: Path, name: str, options: tuple[str, ...], before: str, after: str
) -> None:
    at = Terminal(tmp_path)
    done = at.changes(name, *options)
    assert done.code == 0, done
    assert at.text == FILE.replace(before, after, 1) != FILE
    assert at.events == ["mcp.changing", "mcp.changed"]
    assert "by-hand" not in done.out


def test_a_program_becomes_an_address_and_the_card_says_before_and_after(tmp_path: Path) -> None:
    at = Terminal(tmp_path)
    with person(silas("mcp", "change", "cat", "--url", "https://c.example/mcp"), at.env) as owner:
        owner.waits_for("Change the server of tools cat")
        owner.waits_for("before: runs: in the sandbox")
        owner.waits_for("before: is given the variable TOKEN from your secret GH")
        owner.waits_for("after: runs: over HTTP")
        owner.waits_for("Your choice, 1 to 2:")
        owner.types("1\r")
        assert owner.leaves() == 0
    block = at.text[at.text.index("    cat:") :]
    assert block == (
        '    cat:\n      url: "https://c.example/mcp"\n  mcp:\n    cat:\n      reads: [x]\n'
    )
    assert at.changes("cat", "--", "cat").code == 0
    assert '    cat:\n      command: "cat"\n  mcp:' in at.text


@pytest.mark.parametrize(
    ("name", "options", "words"),
    [
        ("cat", (), "There is nothing to change."),
        ("cat", ("--read", "/usr"), "There is nothing to change."),
        ("cat", ("--env", "TOKEN=secret:GH"), "There is nothing to change."),
        ("none", ("--", "cat"), "names no server 'none'."),
        ("cat", ("--env", "NONE="), "NONE is not among what it is given."),
        ("cat", ("--env", "TOKEN=secret:GONE"), "There is no secret GONE for TOKEN"),
        ("cat", ("--env", "TOKEN=in-clear"), "--env takes no value"),
        ("cat", ("--env", "PATH=secret:GH"), "PATH is given to no server"),
        ("cat", ("--header", "X-Key=secret:GH"), "Headers are for an address"),
        ("cat", ("--url", "https://a.example", "--", "cat"), "Write either"),
        ("cat", ("--url", "http://a.example"), "The address must be https://"),
        ("cat", ("--", "no-such-program"), "There is no program no-such-program"),
        ("far", ("--host", "a.example"), "an address has none"),
        ("far", ("--header", "Host=secret:GH"), "belongs to the connection"),
    ],
)
def test_what_cannot_be_is_refused_in_a_sentence_and_changes_nothing(
    tmp_path: Path, name: str, options: tuple[str, ...], words: str
) -> None:
    at = Terminal(tmp_path)
    refused = at.says("change", name, *options)
    assert refused.code == 2, refused
    assert words in refused.err
    assert "in-clear" not in refused.out + refused.err
    assert (at.text, at.events) == (FILE, [])


def test_a_changed_server_is_trusted_no_more_and_not_started(tmp_path: Path) -> None:
    fake = Fake(tmp_path / "fake")
    settings = {"sandbox": {"tools": {"discover": False}}, **fake.settings()}
    at = Terminal(tmp_path, json.dumps({"silas": settings}))
    seen = at.says("trust", "fake").out.splitlines()[0]
    assert at.says("trust", "fake", "--approve", seen).code == 0
    heard = len(fake.heard)
    assert at.changes("fake", "--host", "a.example").code == 0
    assert at.changes("fake", "--host", "").code == 0  # it is as it was trusted, and asked again
    [state] = json.loads(at.says("list", "--json").out)
    assert (state["standing"], len(fake.heard)) == ("untrusted", heard)
    assert at.events[-5:] == [
        "mcp.changing",
        "mcp.changed",
        "mcp.distrusted",
        "mcp.changing",
        "mcp.changed",
    ]


def test_a_change_whose_end_of_trust_cannot_be_recorded_says_what_is_changed(
    tmp_path: Path,
) -> None:
    fake = Fake(tmp_path / "fake")
    settings = {"sandbox": {"tools": {"discover": False}}, **fake.settings()}
    at = Terminal(tmp_path, json.dumps({"silas": settings}))
    seen = at.says("trust", "fake").out.splitlines()[0]
    assert at.says("trust", "fake", "--approve", seen).code == 0
    with closing(sqlite3.connect(next(at.file.parent.rglob("silas.db")))) as driver:
        driver.execute(
            "CREATE TRIGGER broken BEFORE DELETE ON mcp_tools BEGIN SELECT RAISE(ABORT, 'no'); END"
        )
        driver.commit()
    heard, done = len(fake.heard), at.changes("fake", "--host", "a.example")
    assert done.code not in (0, -9), done
    assert "fake is changed, and is not started until you trust it anew" in done.err
    assert "a.example" in at.text
    [state] = json.loads(at.says("list", "--json").out)
    assert (state["standing"], len(fake.heard)) == ("untrusted", heard)


def test_a_no_and_a_file_that_changed_while_the_card_waited_change_nothing(tmp_path: Path) -> None:
    fake = Fake(tmp_path / "fake")
    settings = {"sandbox": {"tools": {"discover": False}}, **fake.settings()}
    at = Terminal(tmp_path, json.dumps({"silas": settings}))
    seen = at.says("trust", "fake").out.splitlines()[0]
    assert at.says("trust", "fake", "--approve", seen).code == 0
    change = silas("mcp", "change", "fake", "--host", "a.example")
    before = at.text
    for meanwhile, key, code in (("", "2\r", 3), ("\n", "1\r", 2)):
        with person(change, at.env) as owner:
            owner.waits_for("Your choice, 1 to 2:")
            at.file.write_text(before + meanwhile)
            owner.types(key)
            assert owner.leaves() == code
        assert at.text == before + meanwhile
    [state] = json.loads(at.says("list", "--json").out)
    assert state["standing"] == "connected"  # what was not written ends no trust
    assert at.events.count("mcp.changed") == at.events.count("mcp.distrusted") == 0
    assert "mcp.not_written" in at.events


@pytest.mark.parametrize(
    "text",
    [
        'silas: {mcpServers: {a: {command: cat, args: [x, "y"]}}}\n',
        '{"silas": {"mcpServers": {"a": {\n  "command": "cat",\n  "args": [\n    "x",\n    "y"\n'
        "  ]}}}}\n",
        "silas:\r\n  mcpServers:\r\n    a:\r\n      command: cat\r\n      args:\r\n      - x\r\n"
        "      - y\r\n",
        "silas:\n  mcpServers:\n    a:\n      command: cat\n      args: [x, y]",
        "silas:\n  mcpServers:\n    a:\n      command: cat\n      args:\n        - x\n        - y",
    ],
)
@pytest.mark.parametrize(
    "after", [("x",), ("y",), ("x", "z", "y"), ("z",), ("x", "y", "z"), ("z", "x", "y"), ()]
)
def test_arguments_become_others_however_the_file_is_written(
    tmp_path: Path, text: str, after: tuple[str, ...]
) -> None:
    file = tmp_path / "config.yaml"
    file.write_bytes(text.encode())
    place = ConfigPlace(file, {"SILAS_HOME": str(tmp_path)})
    edit = plan_changed(place, "a", [PartChange(("args",), ("x", "y"), after)])
    entry = entry_after(edit, place)
    assert entry is not None
    assert (entry.server.args, entry.server.command) == (after, "cat")
    write_servers(edit, place)
    assert (b"\r\n" in file.read_bytes()) == ("\r\n" in text)
    assert file.read_bytes().count(b"\n") == file.read_bytes().count(b"\r\n") or "\r\n" not in text


def test_a_comment_that_would_be_lost_is_left_to_the_owner(tmp_path: Path) -> None:
    file = tmp_path / "config.yaml"
    file.write_text(
        "silas:\n  mcpServers:\n    a:\n      command: cat\n      args: [ # why\n        x]\n"
    )
    place = ConfigPlace(file, {"SILAS_HOME": str(tmp_path)})
    with pytest.raises(ConfigError, match=r"write into it yourself: mcpServers\.a\.args"):
        plan_changed(place, "a", [PartChange(("args",), ("x",), ("y",))])


def test_the_fake_server_works_as_another_program(tmp_path: Path) -> None:
    fake = Fake(tmp_path / "fake")
    at = Terminal(tmp_path, "silas:\n  mcpServers:\n    fake: {command: cat}\n")
    reads = [part for path in (*ENVIRONMENT, str(SERVER)) for part in ("--read", path)]
    args = [str(SERVER), *(str(fake.folder / n) for n in ("script.json", "log.jsonl"))]
    options = [*reads, "--write", str(fake.folder), "--", PYTHON, *args]
    assert at.changes("fake", *options).code == 0
    seen = at.says("trust", "fake").out.splitlines()[0]
    assert at.says("trust", "fake", "--approve", seen).code == 0
    [state] = json.loads(at.says("list", "--json").out)
    assert state["standing"] == "connected"
