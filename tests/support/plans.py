"""Plans that are quick, real, and easy to tell apart."""

from pathlib import Path
from typing import Any

from silas.testing import plan_text


def sh_plan(*commands: str, **front_matter: Any) -> str:
    """A plan whose briefing is commands for the built-in model."""
    body = "\n".join(["# What to do", "", "```sh", *commands, "```"])
    return plan_text(body=body, **front_matter)


def check(run: str, name: str = "checked") -> list[dict[str, Any]]:
    """One check: a command that must exit with 0."""
    return [{"name": name, "run": run, "expect": {"exit_code": 0}}]


def writing_plan(workspace: Path, **front_matter: Any) -> str:
    """Writes `result.txt` into a workspace and checks that it is there."""
    given = {"workspace": str(workspace), "verify": check("test -s result.txt"), **front_matter}
    return sh_plan("cp input.txt result.txt", **given)


def a_workspace(folder: Path) -> Path:
    """A directory with one file."""
    folder.mkdir(parents=True)
    (folder / "input.txt").write_text("as it was\n", encoding="utf-8")
    return folder
