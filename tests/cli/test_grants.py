"""Grants of a plan, from the command line: shown in words, or refused where they are wrong."""

from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from silas.main import cli
from tests.plans.test_grants_page import EXAMPLES

FRONT = "---\nid: task-x\ntype: task\ntitle: Send the report\n"


def _check(tmp_path: Path, tools: str) -> Result:
    plan = tmp_path / "plan.md"
    plan.write_text(f"{FRONT}{tools}---\nDo it.\n")
    return CliRunner().invoke(cli, ["plan", "check", str(plan)])


def test_a_plan_is_shown_with_the_calls_it_allows(here: Path, tmp_path: Path) -> None:
    done = _check(tmp_path, EXAMPLES[0])
    assert done.exit_code == 2  # no tool sends mail here, which is said below the card
    assert "The plan asks for the tool 'send_email', which is not here" in done.stderr
    lines = [line.strip() for line in done.stdout.splitlines()]
    assert any(line.startswith("Effect: Works in an empty folder of its own") for line in lines)
    assert "may call send_email once, with" in lines
    assert 'recipients: exactly ["alice@example.com"]' in lines


@pytest.mark.parametrize(
    ("tools", "words"),
    [
        ("tools:\n  - tool: send_email\n    arg: {}\n", "line 7, column 10: unknown key `arg`"),
        (
            "tools:\n  - tool: t\n    args: { to: { slot: email } }\n",
            "line 7, column 17: a slot says where its value may come from",
        ),
        ("tools: [{ tool: t, times: 0 }]\n", "line 5, column 27: `times` must be"),
    ],
)
def test_grants_that_are_wrong_are_refused_with_their_place(
    tools: str, words: str, here: Path, tmp_path: Path
) -> None:
    done = _check(tmp_path, tools)
    assert (done.exit_code, done.stdout) == (2, "")
    assert words in done.stderr
    assert "Traceback" not in done.output
