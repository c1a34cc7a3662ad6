"""The first program inside finds the command and becomes it, or says why it cannot."""

from pathlib import Path

import pytest

from silas.sandbox import Mount
from silas.sandbox.starter import StartCommand

from .conftest import Run


async def test_a_program_is_found_along_the_path_that_was_given(run: Run, workdir: Path) -> None:
    for name, mode in (("first", 0o644), ("second", 0o755)):
        (workdir / name).mkdir()
        (workdir / name / "tool").write_text(f"#!/bin/sh\necho {name} $1\n")
        (workdir / name / "tool").chmod(mode)
    mounts = (Mount(source=workdir, target=Path("/tools")),)
    env = {"PATH": "/nowhere:/tools/first:/tools/second:/bin"}
    assert (await run(["tool", "x"], mounts=mounts, env=env)).stdout == "second x\n"
    (workdir / "second" / "tool").unlink()
    refused = await run(["tool"], mounts=mounts, env=env)
    assert (refused.exit_code, refused.stderr) == (127, "tool: Permission denied\n")


async def test_a_script_that_names_no_interpreter_is_run_by_the_shell(
    run: Run, workdir: Path
) -> None:
    (workdir / "script").write_text("echo shell $0 $1\n")
    (workdir / "script").chmod(0o755)
    mounts = (Mount(source=workdir, target=Path("/tools")),)
    result = await run(["/tools/script", "x"], mounts=mounts)
    assert result.stdout == "shell /tools/script x\n"


@pytest.mark.parametrize(
    ("argv", "why"),
    [
        ([""], "No such file or directory"),
        (["/tmp"], "Permission denied"),
        (["/etc/passwd"], "Permission denied"),
        (["/etc/passwd/x"], "Not a directory"),
    ],
)
async def test_a_command_that_cannot_be_started_says_why(
    run: Run, argv: list[str], why: str
) -> None:
    result = await run(argv)
    assert (result.exit_code, result.ended_by) == (127, "exit")
    assert result.stderr == f"{argv[0]}: {why}\n"


def test_an_empty_part_of_the_path_is_the_working_directory() -> None:
    assert StartCommand(["a"], {"PATH": ":/b"}).candidates() == (b"a", b"/b/a")
    assert StartCommand(["./a"], {"PATH": "/b"}).candidates() == (b"./a",)
