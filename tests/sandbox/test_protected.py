"""Names that other programs execute are shown read-only, and never come back changed or new."""

import os
from pathlib import Path

import pytest

from silas.errors import SandboxError
from silas.workspace.copy import Workspace, undo
from silas.workspace.protected import GUARDS, is_repository, plainest, protection

from .trees import picture

NAMES = [name for guard in GUARDS for name in guard.names]

DISGUISES = {
    "capitals": ".GIT",
    "one capital": ".gIt",
    "an invisible character": ".g\u200cit",
    "a byte order mark": "\ufeff.git",
    "a variation selector": ".git\ufe0f",
    "a wide letter": ".g\uff49t",
    "the Kelvin sign": ".hus\u212ay",
    "a dot at the end": ".git.",
    "spaces at the end": ".git  ",
    "a stream of Windows": ".git::$INDEX_ALLOCATION",
    "a short name of Windows": "GIT~1",
    "another short name": "gitmod~1",
}

ORDINARY = [
    *("Makefile", "package.json", "conftest.py", ".gitignore", ".gitattributes", ".github"),
    *(".gitlab-ci.yml", ".env", ".editorconfig", ".dockerignore", "git", "src", ".gitkeep"),
    *(".python-version", "HEAD", "config", "AGENTS.md", "~1", "...", ":"),
]


def test_each_row_says_why_and_no_name_is_in_two() -> None:
    assert all(guard.why and guard.names for guard in GUARDS)
    assert len({plainest(name) for name in NAMES}) == len(NAMES)


def test_every_row_is_told_on_the_page_of_promises() -> None:
    page = (Path(__file__).parents[2] / "docs" / "security.md").read_text(encoding="utf-8")
    assert [name for name in NAMES if f"`{name}`" not in page] == []


@pytest.mark.parametrize("name", [*NAMES, *DISGUISES.values()])
def test_a_protected_name_is_shown_read_only_and_never_written_back(
    name: str, original: Path, tmp_path: Path
) -> None:
    (original / "src" / name).write_text("the owner's")
    workspace = Workspace.prepare(original, tmp_path / "scratch")
    place = original / "src" / name
    [shown] = [mount for mount in workspace.mounts(writable=True) if mount.target == place]
    assert (shown.source, shown.writable) == (place, False)
    assert (workspace.copy / "src" / name).read_bytes() == b""  # only a place to mount it on
    before = picture(original)
    (workspace.copy / "src" / name).write_text("touch /tmp/owned")
    (workspace.copy / name).mkdir(exist_ok=True)
    (workspace.copy / name / "config").write_text("touch /tmp/owned")
    changes, withheld = workspace.changes(), workspace.changes().withheld
    assert not changes
    assert [words.split(": ")[0] for words in withheld] == [name, f"src/{name}"]
    workspace.apply(tmp_path / "undo")
    assert picture(original) == before


@pytest.mark.parametrize("name", ORDINARY)
def test_what_is_ordinary_work_is_not_protected(name: str) -> None:
    assert protection(name) == ""


REPOSITORIES = {
    "plain": ("HEAD", "objects", "refs", "config"),
    "small letters": ("head", "Objects", "REFS"),
    "another place for its objects": ("HEAD", "commondir"),
}


@pytest.mark.parametrize("kind", REPOSITORIES)
def test_a_directory_that_git_takes_for_a_repository_stays_out(
    kind: str, original: Path, tmp_path: Path
) -> None:
    workspace = Workspace.prepare(original, tmp_path / "scratch")
    before = picture(original)
    for name in REPOSITORIES[kind]:
        (workspace.copy / "new" / name).mkdir(parents=True)
        (workspace.copy / "src" / name).mkdir()
    (workspace.copy / "src" / "a.py").write_text("changed")
    changes = workspace.changes()
    assert not changes
    assert changes.withheld == (
        "new: a git repository's inside stays out",
        "src: a git repository's inside stays out",
    )
    workspace.apply(tmp_path / "undo")
    assert picture(original) == before


def test_a_repository_without_a_work_tree_is_shown_read_only(
    original: Path, tmp_path: Path
) -> None:
    for name in ("objects", "refs"):
        (original / "mirror" / name).mkdir(parents=True)
    (original / "mirror" / "HEAD").write_text("ref: refs/heads/main\n")
    before = picture(original)
    workspace = Workspace.prepare(original, tmp_path / "scratch")
    assert workspace.protected == (".git", "mirror")
    assert os.listdir(workspace.copy / "mirror") == []
    assert not workspace.changes()
    (workspace.copy / "mirror" / "config").write_text("[core]\n\tfsmonitor = touch /tmp/owned\n")
    (workspace.copy / "src" / "a.py").write_text("changed")
    workspace.apply(tmp_path / "undo")
    undo(tmp_path / "undo")
    assert picture(original) == before


def test_the_inside_of_a_repository_is_no_workspace(original: Path, tmp_path: Path) -> None:
    for name in ("objects", "refs"):
        (original / ".git" / name).mkdir()
    with pytest.raises(SandboxError, match="the inside of a git repository") as refused:
        Workspace.prepare(original / ".git", tmp_path / "scratch")
    assert refused.value.code == "E_SANDBOX_WORKSPACE"
    assert list((tmp_path / "scratch").iterdir()) == []


@pytest.mark.parametrize("names", [(), ("HEAD",), ("objects", "refs"), ("HEAD", "objects")])
def test_a_directory_with_a_part_of_it_is_no_repository(names: tuple[str, ...]) -> None:
    assert not is_repository(names)
