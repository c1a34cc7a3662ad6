"""A plan that this version cannot run is refused by the command that reads it, and asks nobody."""

import json
import re
from pathlib import Path

import pytest

from silas.testing import plan_text
from tests.support.command import run, silas

UNSUPPORTED = {
    "goal": plan_text(type="goal"),
    "project": plan_text(type="project", tasks=["task-a"]),
    "provider": plan_text(gates=[{"name": "tone", "on": "on_tool_call", "provider": "llm"}]),
    "gate": plan_text(gates=[{"name": "in", "on": "every_user_message"}]),
}


@pytest.fixture(params=UNSUPPORTED)
def plan(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """A plan as a file."""
    file = tmp_path / "plan.md"
    file.write_text(UNSUPPORTED[request.param], encoding="utf-8")
    return file


@pytest.mark.parametrize("form", [[], ["--json"]])
def test_checking_it_says_so_in_one_sentence(
    plan: Path, form: list[str], set_up: dict[str, str]
) -> None:
    done = run(silas("plan", "check", plan, *form), set_up)
    assert done.code == 2
    assert len(done.err.splitlines()) == 1
    found = re.search(r"[0-9a-f]{64}", done.out)  # it can be read and hashed all the same
    assert found is not None
    assert "[E_PLAN_UNSUPPORTED]" in done.err


@pytest.mark.parametrize("form", [[], ["--json"]])
def test_running_it_shows_no_card_and_keeps_no_question(
    plan: Path, form: list[str], set_up: dict[str, str]
) -> None:
    done = run(silas("run", plan, *form), set_up)
    assert done.code == 3
    assert "Nothing was asked, and nothing was run." in done.out + done.err
    assert "Your choice" not in done.out + done.err
    assert "sha256" not in done.err
    if form:
        assert json.loads(done.out)["status"] == "blocked"
    assert "task-example" not in run(silas("status"), set_up).out
