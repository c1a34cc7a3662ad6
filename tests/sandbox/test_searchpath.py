"""Where commands are looked for inside: never where the work can write."""

from pathlib import Path

import pytest

from silas.errors import SandboxError
from silas.sandbox import Mount, SandboxFiles
from silas.sandbox.searchpath import SYSTEM, python_alias, search_path

from .conftest import Run


def tool(directory: Path, name: str, says: str) -> Path:
    directory.mkdir(parents=True, exist_ok=True)
    path = directory / name
    path.write_text(f"#!/bin/sh\necho {says}\n")
    path.chmod(0o755)
    return directory


@pytest.mark.skipif(not python_alias(), reason="this system has a `python`, or no `python3`")
async def test_python_runs_where_python3_does(run: Run) -> None:
    """Many systems have no `python`; every example, habit and model says so."""
    version = await run(["/bin/sh", "-c", "python --version; python3 --version"])
    first, second = version.stdout.splitlines()
    assert first == second
    prefix = await run(["python", "-c", "import sys, json; print(sys.prefix)"])
    assert prefix.stdout == "/usr\n"


async def test_its_link_cannot_be_replaced(run: Run) -> None:
    plant = "cd /silas/bin && touch x; ln -sf /bin/true /silas/bin/python; mkdir /silas/y"
    result = await run(["/bin/sh", "-c", plant])
    assert not result.ok
    assert "Read-only" in result.stderr


async def test_tools_that_are_shown_come_before_those_of_the_system(
    run: Run, tmp_path: Path
) -> None:
    first, second = (tool(tmp_path / name, "env", name) for name in ("one", "two"))
    shown = tuple(Mount(source=path, target=path) for path in (first, second))
    result = await run(["env"], mounts=shown, path=(first, second))
    assert result.stdout == "one\n"
    assert (await run(["env"], mounts=shown, path=(second, first))).stdout == "two\n"


WORK = Path("/project")
TOOLS = Path("/tools")


def _mount(target: Path, *, writable: bool = False) -> Mount:
    return Mount(source=Path("/somewhere"), target=target, writable=writable)


@pytest.mark.parametrize(
    ("path", "mounts", "why"),
    [
        ("bin", (), "not an absolute path"),
        ("", (), "not an absolute path"),
        (".", (), "not an absolute path"),
        ("/tools/../etc", (_mount(TOOLS),), "not an absolute path"),
        ("/tools/a:b", (_mount(TOOLS),), "not an absolute path"),
        ("/tools", (), "nothing is shown there"),
        ("/tmp/bin", (), "nothing is shown there"),
        ("/tools", (_mount(TOOLS, writable=True),), "can write to it"),
        ("/tools/bin", (_mount(TOOLS, writable=True),), "can write to it"),
        ("/project/bin", (_mount(WORK, writable=True),), "can write to it"),
        ("/tools", (_mount(TOOLS), _mount(TOOLS, writable=True)), "can write to it"),
        ("/tools", (_mount(TOOLS), _mount(TOOLS / "in", writable=True)), "to a part of it"),
    ],
)
def test_a_directory_that_the_work_can_write_is_never_in_the_path(
    path: str, mounts: tuple[Mount, ...], why: str
) -> None:
    with pytest.raises(SandboxError, match=why) as refused:
        search_path(SandboxFiles(cwd=WORK, mounts=mounts, path=(Path(path),)))
    assert refused.value.code == "E_SANDBOX_PATH"


@pytest.mark.parametrize("place", [*SYSTEM, "/usr", "/usr/local", "/silas", "/silas/bin"])
def test_no_work_writes_where_the_systems_commands_are_looked_for(place: str) -> None:
    files = SandboxFiles(cwd=WORK, mounts=(_mount(Path(place), writable=True),))
    if place.startswith("/silas") and "/silas/bin" not in search_path(SandboxFiles(cwd=WORK)):
        pytest.skip("this system has a python of its own, so nothing is put there")
    with pytest.raises(SandboxError, match="the work can write"):
        search_path(files)


def test_a_part_of_the_workspace_that_is_shown_read_only_may_be_in_it() -> None:
    mounts = (_mount(WORK, writable=True), _mount(WORK / ".venv"))
    files = SandboxFiles(cwd=WORK, mounts=mounts, path=(WORK / ".venv" / "bin",))
    assert search_path(files).startswith("/project/.venv/bin:/usr/local/bin:")
