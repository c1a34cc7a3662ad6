"""`workspace_files` in the real sandbox: what it counts, what it leaves out, what it refuses."""

import asyncio
import os
from pathlib import Path
from typing import Any

import pytest

from silas.errors import SilasError
from silas.sandbox import SandboxConfig, default
from silas.testing.tools import a_context
from silas.tools import ToolResult
from silas.tools.builtin.folder_look import MOST_FILES, WorkspaceFilesTool
from silas.tools.look_limits import LOOK_SCOPE, MAX_ANSWER, LookLimits
from silas.types import TaintLevel
from tests.support.waits import SECONDS


async def _yes() -> str:
    return ""


async def look(place: Path, **args: Any) -> ToolResult:
    tool = WorkspaceFilesTool(default(SandboxConfig()))
    looks = LookLimits(str(place), "", _yes)
    context = a_context(looks=looks, granted_scopes=frozenset({LOOK_SCOPE}))
    async with asyncio.timeout(SECONDS):
        return await tool.execute("look", tool.validate(args), context)


def made(place: Path, **sizes: int) -> Path:
    for number, (name, size) in enumerate(sizes.items()):
        path = place / name.replace("__", "/").replace("_", ".")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"x" * size)
        os.utime(path, (1_700_000_000 + number, 1_700_000_000 + number))
    return place


@pytest.mark.parametrize(
    ("args", "names"),
    [
        ({}, ["a.PDF", "b.txt", "sub/c.pdf"]),
        ({"names": ["*.pdf"]}, ["a.PDF", "sub/c.pdf"]),
        ({"names": ["c.*", "B.TXT"]}, ["b.txt", "sub/c.pdf"]),
        ({"names": ["sub/*"]}, ["sub/c.pdf"]),
        ({"path": "sub"}, ["c.pdf"]),
        ({"order": "biggest"}, ["sub/c.pdf", "b.txt", "a.PDF"]),
        ({"order": "smallest", "count": 1}, ["a.PDF"]),
        ({"order": "newest"}, ["sub/c.pdf", "b.txt", "a.PDF"]),
        ({"order": "oldest", "count": 2}, ["a.PDF", "b.txt"]),
        ({"names": ["*.zip"]}, []),
    ],
)
async def test_files_are_counted_and_shown_in_the_order_that_is_asked_for(
    args: dict[str, Any], names: list[str], tmp_path: Path
) -> None:
    place = made(tmp_path / "w", a_PDF=1, b_txt=20, sub__c_pdf=300)
    said = await look(place, **args)
    assert (said.ok, said.taint) == (True, TaintLevel.external)
    shown = [one.partition(": ")[2] for one in said.return_value.split("\n")[1:] if ": " in one]
    assert shown == names
    if not args:
        assert said.return_value.startswith("3 files, 321 bytes in all; by name:\n1 bytes, 2023-")


async def test_links_pipes_and_what_git_and_others_keep_are_left_out(tmp_path: Path) -> None:
    place = made(tmp_path / "w", a_txt=1)
    made(place / "node_modules", x_js=5)
    (place / "link").symlink_to("/etc")
    (place / "file-link.txt").symlink_to(place / "a.txt")
    os.mkfifo(place / "pipe.txt")
    (place / "two\nlines.txt").write_text("")
    said = await look(place)
    assert said.return_value.split("\n")[0] == "2 files, 1 bytes in all; by name:"
    assert said.return_value.endswith("(left out: what lies in node_modules)")
    assert "'two\\nlines.txt'" in said.return_value
    assert "passwd" not in said.return_value


@pytest.mark.parametrize("path", ["/etc", "link", "link/sub", "a.txt", "nothere"])
async def test_a_place_that_is_no_directory_of_the_workspace_is_refused(
    path: str, tmp_path: Path
) -> None:
    place = made(tmp_path / "w", a_txt=1)
    (place / "link").symlink_to("/etc")
    said = await look(place, path=path)
    assert not said.ok
    assert said.return_value == ""


async def test_many_files_are_counted_and_not_all_shown(tmp_path: Path) -> None:
    place = tmp_path / "w"
    place.mkdir()
    for number in range(MOST_FILES + 50):
        (place / f"{'n' * 120}{number:04}.txt").write_text("")
    said = (await look(place, count=MOST_FILES)).return_value
    assert said.startswith(f"{MOST_FILES + 50} files, 0 bytes in all")
    assert "more are not shown)" in said
    assert len(said.encode()) <= MAX_ANSWER


@pytest.mark.parametrize(
    "args",
    [
        {"path": "../x"},
        {"names": []},
        {"names": [""]},
        {"names": ["*"] * 21},
        {"order": "random"},
        {"count": 0},
        {"count": 201},
        {"run": "id"},
    ],
)
def test_other_arguments_are_refused(args: dict[str, Any]) -> None:
    tool = WorkspaceFilesTool(default(SandboxConfig()))
    with pytest.raises((ValueError, SilasError)):
        tool.validate(args)
