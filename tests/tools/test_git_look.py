"""`workspace_git` on real repositories in the real sandbox, hostile ones among them."""

import asyncio
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from silas.sandbox import SandboxConfig, default
from silas.testing.tools import a_context
from silas.tools import ToolResult
from silas.tools.builtin.git_look import WorkspaceGitTool
from silas.tools.look_limits import LOOK_SCOPE, LookLimits
from silas.types import TaintLevel
from tests.support.waits import SECONDS

NOBODY = {"GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_NOSYSTEM": "1", "PATH": os.environ["PATH"]}


def git(place: Path, *words: str) -> None:
    who = ("-c", "user.name=Ada", "-c", "user.email=ada@example.com")
    argv = ["git", *who, "-c", "protocol.file.allow=always", *words]
    subprocess.run(argv, cwd=place, check=True, capture_output=True, env=NOBODY)


async def _yes() -> str:
    return ""


async def look(place: Path, **args: Any) -> ToolResult:
    tool = WorkspaceGitTool(default(SandboxConfig()))
    looks = LookLimits(str(place), "", _yes)
    context = a_context(looks=looks, granted_scopes=frozenset({LOOK_SCOPE}))
    async with asyncio.timeout(SECONDS):
        return await tool.execute("look", tool.validate(args), context)


@pytest.fixture
def place(tmp_path: Path) -> Path:
    place = tmp_path / "work"
    (place / "src").mkdir(parents=True)
    git(place, "init", "-q", "-b", "main")
    (place / "src" / "slots.py").write_text("first\n")
    (place / "notes.txt").write_text("notes\n")
    (place / ".env").write_text("PASSWORD=one\n")
    (place / "server.pem").write_text("one\n")
    git(place, "add", "-Af")
    git(place, "commit", "-q", "-m", "begin the rosters")
    (place / ".git" / "info").mkdir(exist_ok=True)
    (place / ".git" / "info" / "exclude").write_text("ignored.txt\n")
    return place


def change(place: Path) -> None:
    (place / "src" / "slots.py").write_text("second\n")
    (place / "notes.txt").write_text("more notes\n")
    (place / ".env").write_text("PASSWORD=hunter2\n")
    (place / "server.pem").write_text("hunter2\n")
    (place / "new.txt").write_text("hunter2\n")
    (place / "ignored.txt").write_text("hunter2\n")


async def test_status_log_and_diff_are_what_git_says(place: Path) -> None:
    change(place)
    before = {one: one.lstat().st_mtime_ns for one in place.rglob("*")}
    status, log, diff, one = [
        await look(place, **args)
        for args in ({}, {"show": "log"}, {"show": "diff"}, {"show": "diff", "path": "notes.txt"})
    ]
    assert {said.ok for said in (status, log, diff, one)} == {True}, status.error
    assert {said.taint for said in (status, log, diff)} == {TaintLevel.external}
    assert status.return_value.splitlines() == [
        "## main", " M .env", " M notes.txt", " M server.pem", " M src/slots.py", "?? new.txt",
    ]  # fmt: skip
    assert log.return_value.strip().endswith("Ada: begin the rosters")
    assert "-first\n+second" in diff.return_value
    assert "+more notes" in diff.return_value
    assert "hunter2" not in diff.return_value
    assert "second" not in one.return_value
    assert {each: each.lstat().st_mtime_ns for each in place.rglob("*")} == before


async def test_a_clean_and_an_unborn_repository_have_nothing_to_show(
    place: Path, tmp_path: Path
) -> None:
    assert (await look(place, show="diff")).return_value.strip() == "Nothing to show."
    fresh = tmp_path / "fresh"
    fresh.mkdir()
    git(fresh, "init", "-q", "-b", "main")
    (fresh / "a.txt").write_text("a\n")
    git(fresh, "add", "a.txt")
    assert "+a" in (await look(fresh, show="diff")).return_value
    assert "A  a.txt" in (await look(fresh)).return_value
    refused = await look(fresh, show="log")
    assert not refused.ok
    assert "git cannot say" in str(refused.error)


async def test_where_there_is_no_repository_it_says_so(tmp_path: Path) -> None:
    assert "There is no git repository at the top" in str((await look(tmp_path)).error)
    (tmp_path / ".git").write_text("gitdir: /etc\n")
    assert "leads elsewhere" in str((await look(tmp_path)).error)


@pytest.mark.parametrize(
    "name", ["packed-refs", "shallow", "HEAD", "index", "config", "info/exclude"]
)
@pytest.mark.parametrize("absolute", [False, True])
async def test_a_link_inside_the_repository_shows_nothing_of_where_it_leads(
    place: Path, name: str, absolute: bool
) -> None:
    """git quotes the line of `packed-refs` that it cannot read, and such a line may be a key."""
    change(place)
    link = place / ".git" / name
    link.unlink(missing_ok=True)
    link.symlink_to(place / ".env" if absolute else os.path.relpath(place / ".env", link.parent))
    for show in ("status", "log", "diff"):
        said = await look(place, show=show)
        assert "hunter2" not in f"{said.return_value}{said.error}"
        assert "broke off" not in str(said.error)


@pytest.mark.parametrize("name", ["config", "HEAD", "packed-refs", "index", "info/exclude"])
async def test_a_pipe_inside_the_repository_is_not_waited_for(place: Path, name: str) -> None:
    pipe = place / ".git" / name
    pipe.unlink(missing_ok=True)
    os.mkfifo(pipe)
    said = await look(place, show="log")
    assert "broke off" not in str(said.error)


@pytest.mark.parametrize("names", [("key.pem", "key.txt"), ("key.txt", "key.pem")])
async def test_a_secret_file_that_was_renamed_stays_out_under_both_names(
    place: Path, names: tuple[str, str]
) -> None:
    (place / names[0]).write_text("hunter2\n" * 20)
    git(place, "add", "-A")
    git(place, "commit", "-q", "-m", "a key")
    git(place, "mv", *names)
    (place / "notes.txt").write_text("more notes\n")
    for path in (".", *names):
        said = await look(place, show="diff", path=path)
        assert said.ok, said.error
        assert "hunter2" not in said.return_value
    assert "+more notes" in (await look(place, show="diff")).return_value


async def test_a_worktree_is_said_to_lead_elsewhere(place: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    git(place, "worktree", "add", "-q", str(other))
    assert "leads elsewhere" in str((await look(other)).error)


async def test_a_large_file_is_said_to_differ_and_not_held_in_memory(place: Path) -> None:
    (place / "notes.txt").write_text("a line of words\n" * 600_000)
    said = await look(place, show="diff")
    assert "notes.txt differ" in said.return_value, said.error


async def test_a_sparse_index_is_understood(place: Path) -> None:
    (place / "far").mkdir()
    (place / "far" / "x.txt").write_text("x\n")
    git(place, "add", "-A")
    git(place, "commit", "-q", "-m", "far")
    git(place, "sparse-checkout", "init", "--cone", "--sparse-index")
    git(place, "sparse-checkout", "set", "src")
    (place / "src" / "slots.py").write_text("second\n")
    assert (await look(place)).return_value.splitlines() == ["## main", " M src/slots.py"]


async def test_a_long_answer_is_cut_and_says_so(place: Path) -> None:
    (place / "notes.txt").write_text("a line of words\n" * 20_000)
    said = (await look(place, show="diff", path="notes.txt")).return_value
    assert len(said) < 17_000
    assert said.rstrip().endswith("(cut here; ask for one path)")


PROGRAM = "#!/bin/sh\necho ran >> {marker}\ncat\n"

HOSTILE = """
[core]
    fsmonitor = {program}
    hooksPath = {hooks}
    pager = {program}
    sshCommand = {program}
    editor = {program}
    attributesFile = {attributes}
[filter "evil"]
    clean = {program}
    smudge = {program}
    process = {program}
    required = true
[diff]
    external = {program}
[diff "evil"]
    textconv = {program}
    command = {program}
[merge "evil"]
    driver = {program}
[credential]
    helper = {program}
[gpg]
    program = {program}
[log]
    showSignature = true
[pager]
    status = {program}
    log = {program}
    diff = {program}
[alias]
    status = !{program}
    diff = !{program}
[status]
    submoduleSummary = true
[extensions]
    partialClone = origin
[remote "origin"]
    url = ext::{program}
    promisor = true
[include]
    path = {included}
[includeIf "gitdir:**"]
    path = {included}
"""


async def test_nothing_that_a_repository_names_is_run(place: Path) -> None:
    """Each program would leave a mark: in the sandbox, whose own answer then shows it."""
    marker = "/tmp/ran"
    program = place / "evil.sh"
    program.write_text(PROGRAM.format(marker=marker))
    program.chmod(0o755)
    hooks = place / "hooks"
    hooks.mkdir()
    for hook in ("post-index-change", "fsmonitor-watchman", "reference-transaction"):
        (hooks / hook).symlink_to(program)
        (place / ".git" / "hooks").mkdir(exist_ok=True)
        (place / ".git" / "hooks" / hook).symlink_to(program)
    included = place / "included"
    included.write_text(
        f'[filter "later"]\n    clean = {program}\n[diff]\n    external={program}\n'
    )
    (place / ".gitattributes").write_text("*.py filter=evil diff=evil\n*.txt filter=later\n")
    (place / ".git" / "info" / "attributes").write_text("* filter=evil diff=evil merge=evil\n")
    inner = place / "inner"
    inner.mkdir()
    git(inner, "init", "-q")
    (inner / "x").write_text("x")
    git(inner, "add", "x")
    git(inner, "commit", "-q", "-m", "inner")
    git(place, "add", "inner")
    facts = {
        "program": program,
        "hooks": hooks,
        "attributes": place / ".git" / "info" / "attributes",
        "included": included,
    }
    for config in (place / ".git" / "config", inner / ".git" / "config"):
        config.write_text(config.read_text() + HOSTILE.format(**facts))
    change(place)
    (inner / "x").write_text("y")
    tool = WorkspaceGitTool(default(SandboxConfig()))
    for show in ("status", "log", "diff"):
        argv, files = tool.command(tool.validate({"show": show}), LookLimits(str(place), "", _yes))
        script = argv.index("-c") + 1
        argv[script] += f'\n[ ! -e {marker} ] || echo "A PROGRAM RAN"\necho looked'
        async with asyncio.timeout(SECONDS):
            ran = await tool.sandbox.run(argv, tool.limits, files)
        assert "A PROGRAM RAN" not in ran.stdout
        assert ran.stdout.endswith("looked\n"), (show, ran.stdout, ran.stderr)
        assert "hunter2" not in ran.stdout


async def test_the_hostile_repository_would_run_programs_if_it_were_believed(
    place: Path, tmp_path: Path
) -> None:
    """What the test above rests on: the same configuration, read by git, does run them."""
    marker = tmp_path / "ran"
    program = place / "evil.sh"
    program.write_text(PROGRAM.format(marker=marker))
    program.chmod(0o755)
    (place / ".gitattributes").write_text("*.py filter=evil diff=evil\n")
    names = ("hooks", "attributes", "included")
    config = place / ".git" / "config"
    said = HOSTILE.format(program=program, **dict.fromkeys(names, "/dev/null"))
    config.write_text(config.read_text() + said)
    change(place)
    subprocess.run(["git", "diff", "HEAD"], cwd=place, check=False, capture_output=True, env=NOBODY)
    assert marker.exists()
