import asyncio
import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from silas.agents import ExecutorAgentOutput
from silas.cards import Card, PlanAnswer, PlanCard, ToolCallCard
from silas.plans import WorkItemStatus
from silas.sandbox import (
    Credentials,
    Endpoint,
    Mount,
    Sandbox,
    SandboxConfig,
    SandboxFiles,
    SandboxLimits,
    default,
)
from silas.testing import CallTool, FakeSandbox, Harness, ScriptedChannel, ScriptedModel, plan_text
from silas.testing.tools import a_context, exit_result
from silas.tools import FILE_TOOL_NAMES, FILE_TOOLS, ToolResult
from silas.tools.builtin.files import MAX_TEXT, FileTool
from silas.types import OriginKind, TaintLevel
from silas.workspace.protected import GUARDS
from tests.support.waits import SECONDS

REPORT = ExecutorAgentOutput(summary="worked")


def tool(name: str, sandbox: Sandbox) -> FileTool:
    return next(made for made in FILE_TOOLS if made.name == name)(sandbox)


class Place:
    """A workspace with one directory to read beside it, in the real sandbox."""

    def __init__(self, home: Path) -> None:
        self.sandbox = default(SandboxConfig())
        self.work, self.shown, self.hidden = home / "work", home / "shown", home / "hidden"
        for directory in (self.work, self.shown, self.hidden):
            directory.mkdir()
        (self.hidden / "secret.txt").write_text("a secret of the host\n")
        self.limits = SandboxLimits(wall_seconds=SECONDS)

    def files(self) -> SandboxFiles:
        mounts = (
            Mount(source=self.shown, target=self.shown),
            Mount(source=self.work, target=self.work, writable=True),
        )
        return SandboxFiles(cwd=self.work, mounts=mounts)

    async def call(self, name: str, **args: Any) -> ToolResult:
        made = tool(name, self.sandbox)
        context = a_context(files=self.files(), limits=self.limits)
        async with asyncio.timeout(SECONDS):
            return await made.execute("run", made.validate(args), context)

    async def says(self, name: str, **args: Any) -> str:
        result = await self.call(name, **args)
        assert result.ok, result.error
        assert (result.taint, result.origin) == (TaintLevel.external, OriginKind.file)
        assert result.source == args.get("path", ".")
        return result.return_value

    async def refuses(self, name: str, **args: Any) -> str:
        result = await self.call(name, **args)
        assert not result.ok
        assert result.return_value == ""
        return str(result.error)


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


def state(place: Place) -> dict[str, bytes]:
    return {
        str(path.relative_to(place.work)): path.read_bytes()
        for path in place.work.rglob("*")
        if path.is_file() and not path.is_symlink()
    }


TEN = "".join(f"line {n}\n" for n in range(1, 11))


@pytest.mark.parametrize(
    ("lines", "heading", "text"),
    [
        ({}, "a.txt, lines 1 to 10:", TEN),
        ({"from_line": 9}, "a.txt, lines 9 to 10:", "line 9\nline 10\n"),
        ({"to_line": 2}, "a.txt, lines 1 to 2; more follow:", "line 1\nline 2\n"),
        ({"from_line": 4, "to_line": 4}, "a.txt, lines 4 to 4; more follow:", "line 4\n"),
        ({"from_line": 10, "to_line": 99}, "a.txt, lines 10 to 10:", "line 10\n"),
    ],
)
async def test_a_file_is_read_whole_or_by_lines(
    place: Place, lines: dict[str, int], heading: str, text: str
) -> None:
    (place.work / "a.txt").write_text(TEN)
    assert await place.says("file_read", path="a.txt", **lines) == f"{heading}\n{text}"


async def test_what_is_odd_about_a_file_is_said_in_one_sentence(place: Place) -> None:
    (place.work / "short.txt").write_text("one\n")
    (place.work / "empty.txt").touch()
    (place.work / "picture.png").write_bytes(b"\x89PNG\0\0")
    (place.work / "latin.txt").write_bytes(b"caf\xe9\n")
    assert await place.says("file_read", path="empty.txt") == "empty.txt is empty."
    assert "caf\ufffd" in await place.says("file_read", path="latin.txt")
    assert "no line 3" in await place.refuses("file_read", path="short.txt", from_line=3)
    assert "not text (6 bytes)" in await place.refuses("file_read", path="picture.png")
    assert "No such file" in await place.refuses("file_read", path="missing.txt")
    assert "no regular file" in await place.refuses("file_read", path=".")


async def test_an_answer_is_bounded_whatever_the_file(place: Place) -> None:
    (place.work / "wide.txt").write_text("é" * 1_000_000)
    with (place.work / "huge.txt").open("wb") as huge:
        huge.write(b"start\n")
        huge.truncate(1 << 40)  # sparse: a tebibyte that is not there
    read = await place.says("file_read", path="wide.txt")
    assert "more follow" in read.splitlines()[0]
    assert 60_000 < len(read.encode()) < 70_000
    assert "not text" in await place.refuses("file_read", path="huge.txt")
    assert "(1 files could not be read" in await place.says("file_search", text="start")


async def test_a_file_is_written_whole_with_its_directories_and_keeps_its_permissions(
    place: Place,
) -> None:
    assert "new file" in await place.says("file_write", path="a/b/c.txt", content="é\n")
    assert state(place) == {"a/b/c.txt": "é\n".encode()}
    script = place.work / "run.sh"
    script.write_text("old")
    script.chmod(0o755)
    assert "replaced" in await place.says("file_write", path="run.sh", content="new")
    assert script.read_text() == "new"
    assert script.stat().st_mode & 0o777 == 0o755


async def test_one_exact_text_is_replaced_and_every_other_byte_stays(place: Place) -> None:
    before = b"caf\xe9\r\nalpha beta\r\ngamma\xff\n"
    (place.work / "a.txt").write_bytes(before)
    said = await place.says("file_edit", path="a.txt", old="beta\r\ng", new="ß")
    assert said == "edited a.txt at line 2"
    expected = before.replace(b"beta\r\ng", "ß".encode())
    assert (place.work / "a.txt").read_bytes() == expected


@pytest.mark.parametrize(
    ("old", "told"),
    [
        ("nowhere", "is not in a.txt; nothing was changed"),
        ("x = 1", "more than once (lines 1, 3)"),
        ("aa", "more than once (lines 4, 4)"),  # overlapping places are two
        ("X = 1", "is not in a.txt"),
    ],
)
async def test_a_text_that_is_not_there_or_there_twice_changes_nothing(
    place: Place, old: str, told: str
) -> None:
    text = "x = 1\ny = 2\nx = 1\naaa\n"
    (place.work / "a.txt").write_text(text)
    assert told in await place.refuses("file_edit", path="a.txt", old=old, new="z")
    assert state(place) == {"a.txt": text.encode()}


async def test_a_write_that_fails_leaves_nothing_half_done(place: Place) -> None:
    (place.work / "a.txt").write_text("whole")
    place.limits = SandboxLimits(file_mb=1, wall_seconds=SECONDS)
    content = "x" * MAX_TEXT
    (place.work / "big.txt").write_text(content)
    refused = await place.refuses("file_edit", path="big.txt", old="x" * 1000, new="y" * 100_000)
    assert refused  # found more than once
    (place.work / "big.txt").write_text("end" + content)
    await place.refuses("file_edit", path="big.txt", old="end", new="y" * 100_000)
    assert state(place) == {"a.txt": b"whole", "big.txt": ("end" + content).encode()}


async def test_a_directory_is_listed_in_order_with_what_things_are(place: Place) -> None:
    (place.work / "b").mkdir()
    (place.work / "b" / "inner.py").write_text("12345")
    (place.work / "a.txt").write_text("1")
    (place.work / "link").symlink_to("/etc/passwd")
    (place.work / "two\nlines").touch()
    os.mkfifo(place.work / "pipe")
    lines = ["a.txt  1 bytes", "b/", "link -> /etc/passwd", "pipe  (special)"]
    odd = "'two\\nlines'  0 bytes"
    assert await place.says("file_list") == "\n".join([*lines, odd])
    deep = await place.says("file_list", depth=2)
    assert deep == "\n".join([*lines[:2], "  inner.py  5 bytes", *lines[2:], odd])


async def test_a_search_finds_lines_by_text_or_expression_in_the_files_named(place: Place) -> None:
    (place.work / "src").mkdir()
    (place.work / "src" / "a.py").write_text("import os\nvalue = 41\n")
    (place.work / "notes.md").write_text("value = 42\n")
    (place.work / "node_modules").mkdir()
    (place.work / "node_modules" / "x.js").write_text("value = 43\n")
    (place.work / "picture.png").write_bytes(b"\0value = 44\n")
    both = "notes.md:1: value = 42\nsrc/a.py:2: value = 41"
    assert await place.says("file_search", text="value = 4") == both
    found = await place.says("file_search", text=r"=\s\d1$", regex=True)
    assert found == "src/a.py:2: value = 41"
    found = await place.says("file_search", text="value", files="*.md")
    assert found == "notes.md:1: value = 42"
    assert await place.says("file_search", text=r"=\s") == "Nothing found."
    assert "no regular expression" in await place.refuses("file_search", text="(", regex=True)


async def test_a_search_that_would_find_too_much_says_so(place: Place) -> None:
    for number in range(3):
        (place.work / f"{number}.txt").write_text("hit\n" * 100)
    lines = (await place.says("file_search", text="hit")).splitlines()
    assert len(lines) == 201
    assert lines[-1] == "(more than 200 lines; ask for less)"


async def test_an_expression_that_never_ends_ends_with_the_run(place: Place) -> None:
    (place.work / "a.txt").write_text("a" * 60 + "!\n")
    place.limits = SandboxLimits(wall_seconds=1)
    refused = await place.refuses("file_search", text="(a+)+$", regex=True)
    assert refused == "file_search broke off (timeout); nothing is known."


async def test_a_read_path_of_the_plan_may_be_read_and_not_written(place: Place) -> None:
    inside = place.shown / "doc.txt"
    inside.write_text("for reading\n")
    assert "for reading" in await place.says("file_read", path=str(inside))
    assert "may only be read" in await place.refuses("file_write", path=str(inside), content="x")
    assert inside.read_text() == "for reading\n"


@pytest.mark.parametrize("way", ["link", "directory link", "link in a read path", "absolute"])
async def test_no_way_leads_out_of_the_workspace_and_its_read_paths(place: Place, way: str) -> None:
    secret = place.hidden / "secret.txt"
    (place.work / "out.txt").symlink_to(secret)
    (place.work / "dir").symlink_to(place.hidden)
    (place.shown / "out.txt").symlink_to("/usr/bin/env")
    path = {
        "link": "out.txt",
        "directory link": "dir/secret.txt",
        "link in a read path": str(place.shown / "out.txt"),
        "absolute": str(secret),
    }[way]
    calls: list[tuple[str, dict[str, Any]]] = [
        ("file_read", {}),
        ("file_write", {"content": "gone"}),
        ("file_edit", {"old": "secret", "new": "gone"}),
        ("file_search", {"text": "secret"}),
    ]
    for name, args in calls:
        refused = await place.refuses(name, path=path, **args)
        assert "outside the workspace" in refused
    assert secret.read_text() == "a secret of the host\n"


async def test_the_sandbox_holds_even_where_the_program_inside_checks_nothing(
    place: Place,
) -> None:
    """The same program, told that everything may be read and written."""
    secret = place.hidden / "secret.txt"
    made = tool("file_write", place.sandbox)
    for path, name, args in (
        (secret, "file_read", {}),
        (place.shown / "new.txt", "file_write", {"content": "x"}),
    ):
        made = tool(name, place.sandbox)
        argv, files = made.command({"path": str(path), **args}, place.files())
        wide = files.stdin.replace(b'"roots":[', b'"roots":["/",').replace(
            b'"writable":[', b'"writable":["/",'
        )
        assert wide != files.stdin
        run = files.model_copy(update={"stdin": wide})
        assert not (await place.sandbox.run(argv, place.limits, run)).ok
    assert list(place.shown.iterdir()) == []


async def test_a_pipe_or_a_device_is_refused_without_waiting(place: Place) -> None:
    os.mkfifo(place.work / "pipe")
    for name, args in (
        ("file_read", {}),
        ("file_write", {"content": "x"}),
        ("file_edit", {"old": "x", "new": "y"}),
        ("file_search", {"text": "x"}),
    ):
        result = await place.call(name, path="pipe", **args)
        assert "no regular file" in (result.error or result.return_value)


async def test_a_write_through_a_second_name_does_not_reach_the_first(place: Place) -> None:
    """A hard link to a file outside, as a copy could never hold one."""
    outside = place.hidden / "secret.txt"
    os.link(outside, place.work / "same.txt")
    await place.says("file_write", path="same.txt", content="changed")
    await place.says("file_edit", path="same.txt", old="changed", new="again")
    assert outside.read_text() == "a secret of the host\n"


async def test_no_file_of_the_workspace_stands_in_for_a_module(place: Place) -> None:
    for module in ("json", "os", "re", "sitecustomize", "fnmatch"):
        (place.work / f"{module}.py").write_text("raise SystemExit('taken over')\n")
    (place.work / "a.txt").write_text("fine\n")
    assert "fine" in await place.says("file_read", path="a.txt")


PROTECTED = [name for guard in GUARDS for name in guard.names]


@pytest.mark.parametrize("name", ["file_write", "file_edit"])
def test_a_protected_name_is_refused_before_anything_runs(name: str) -> None:
    made = tool(name, FakeSandbox(lambda run: exit_result()))
    rest = {"content": "x"} if name == "file_write" else {"old": "x", "new": "y"}
    for part in [*PROTECTED, ".GIT", ".git.", "git~1"]:
        for path in (part, f"a/{part}", f"{part}/hooks/pre-commit", f"/w/{part}/x"):
            with pytest.raises(ValueError, match="is protected"):
                made.validate({"path": path, **rest})
    assert made.validate({"path": ".gitignore", **rest})["path"] == ".gitignore"


BAD: list[tuple[str, dict[str, Any]]] = [
    ("file_read", {}),
    ("file_read", {"path": ""}),
    ("file_read", {"path": "../x"}),
    ("file_read", {"path": "a/../../x"}),
    ("file_read", {"path": "a\0b"}),
    ("file_read", {"path": "a\nb"}),
    ("file_read", {"path": "\ud800"}),
    ("file_read", {"path": "x" * 5000}),
    ("file_read", {"path": 1}),
    ("file_read", {"path": "a", "from_line": 0}),
    ("file_read", {"path": "a", "from_line": True}),
    ("file_read", {"path": "a", "from_line": "1"}),
    ("file_read", {"path": "a", "from_line": 3, "to_line": 2}),
    ("file_read", {"path": "a", "roots": ["/"]}),
    ("file_write", {"path": "a"}),
    ("file_write", {"path": "a", "content": "x" * (MAX_TEXT + 1)}),
    ("file_write", {"path": "a", "content": "\ud800"}),
    ("file_write", {"path": "a", "content": b"x"}),
    ("file_edit", {"path": "a", "old": "", "new": "x"}),
    ("file_edit", {"path": "a", "old": "x"}),
    ("file_list", {"depth": 0}),
    ("file_list", {"depth": 11}),
    ("file_search", {"text": ""}),
    ("file_search", {"text": "x" * 1001}),
    ("file_search", {"text": "x", "regex": "yes"}),
]


@pytest.mark.parametrize(("name", "args"), BAD, ids=range(len(BAD)))
def test_malformed_arguments_are_refused_in_one_sentence(name: str, args: dict[str, Any]) -> None:
    with pytest.raises(ValueError) as caught:
        tool(name, FakeSandbox(lambda run: exit_result())).validate(args)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 300


@given(st.text(max_size=60))
def test_a_path_that_passes_stays_below_where_it_starts(path: str) -> None:
    made = tool("file_read", FakeSandbox(lambda run: exit_result()))
    try:
        checked = made.validate({"path": path})
    except ValueError:
        return
    assert made.validate(checked) == checked
    assert ".." not in Path(checked["path"]).parts


def test_the_tools_ask_for_the_plans_approval_and_carry_nothing_out() -> None:
    for made in FILE_TOOLS:
        one = made(FakeSandbox(lambda run: exit_result()))
        facts = one.facts("run", {"path": "a"})
        assert one.requires_authority
        assert one.capabilities == ["executor"]
        writes = one.tool_name in ("file_write", "file_edit")
        assert (facts.state_changing, facts.egress, facts.addressed) == (False, False, False)
        assert (facts.contained, one.idempotent) == (writes, not writes)


async def test_a_file_tool_is_given_neither_network_nor_secrets() -> None:
    sandbox = FakeSandbox(lambda run: exit_result(0, "text"))
    files = SandboxFiles(
        cwd=Path("/work"),
        network=(Endpoint("example.com", 443),),
        loopback=True,
        credentials=Credentials(refs={"KEY": "keyring:key"}),
    )
    await tool("file_read", sandbox).execute("run", {"path": "a"}, a_context(files=files))
    given_to_it = sandbox.runs[0].files
    assert (given_to_it.network, given_to_it.loopback) == ((), False)
    assert given_to_it.credentials == Credentials()


def approves(card: Card[Any]) -> Any:
    return PlanAnswer(verdict="approved") if isinstance(card, PlanCard) else card.safe


async def test_under_an_approved_plan_files_are_worked_on_and_only_verified_changes_come_back(
    tmp_path: Path,
) -> None:
    project = tmp_path / "project"
    (project / "src").mkdir(parents=True)
    (project / "src" / "app.py").write_text("def answer():\n    return 41\n")
    plan = plan_text(
        workspace=str(project),
        verify=[{"name": "right", "run": "cat src/app.py", "expect": {"contains": "42"}}],
        body="# What to do\n\nMake the answer right.",
    )
    calls = [
        CallTool("file_list", {"depth": 2}),
        CallTool("file_search", {"text": "41", "files": "*.py"}),
        CallTool("file_read", {"path": "src/app.py"}),
        CallTool("file_edit", {"path": "src/app.py", "old": "41", "new": "42"}),
        CallTool("file_edit", {"path": "src/app.py", "old": "41", "new": "43"}),
        CallTool("file_write", {"path": ".git/hooks/pre-commit", "content": "touch /tmp/x"}),
        CallTool("file_write", {"path": "NOTES.md", "content": "Fixed.\n"}),
    ]
    executor, channel = ScriptedModel([*calls, REPORT]), ScriptedChannel(approves)
    async with Harness(channel, models={"executor": executor}) as h:
        async with asyncio.timeout(SECONDS):
            result = await h.silas.run(plan)
        rows = {row["name"]: row for row in h.silas.tool_rows()}
    assert result.status is WorkItemStatus.done, result.model_dump()
    assert (project / "src" / "app.py").read_text() == "def answer():\n    return 42\n"
    assert (project / "NOTES.md").read_text() == "Fixed.\n"
    assert not (project / ".git").exists()
    assert not [card for card in channel.cards if isinstance(card, ToolCallCard)]
    seen = [one.text for one in executor.requests]
    assert "app.py  28 bytes" in seen[1]
    assert "src/app.py:2:     return 41" in seen[2]
    assert "is not in src/app.py" in seen[5]
    assert ".git is protected" in seen[6]
    assert set(rows) >= FILE_TOOL_NAMES
    assert {rows[name]["risk"] for name in FILE_TOOL_NAMES} == {"low"}
