"""What asks once loads nothing of jobs; whoever waits for a moment to come is a job."""

import ast
from pathlib import Path

import pytest

SILAS = Path(__file__).resolve().parents[2] / "silas"

OWN_TIMERS = {
    "services/emergency_stop.py": "the watch for the stop must not depend on the database",
    "channels/web/waiting_plans.py": "what open pages show of other processes' questions",
    "channels/web/forgotten_content.py": "what open pages must not show any more",
    "channels/web/undone_work.py": "what open pages show of undos by other processes",
    "channels/web/serve.py": "sockets of this process alone",
    "channels/live_terminal.py": "frames of a status line",
    "main/terminal.py": "frames of a status line",
    "home/garbage_collection.py": "objects of this process alone",
    "plans/budget.py": "a time limit that stands still while the work waits",
    "agents/call_meter.py": "waits for the next request to a model that may be made",
    "tools/mcp/link.py": "pauses between tries of a connection",
    "memory/store.py": "lets others have a turn while it writes",
    "memory/embedding.py": "pauses between tries of a model that is away",
    "sandbox/docker/supervisor.py": "looks at a process that dies",
    "sandbox/network/egress_proxy.py": "lets other connections have a turn",
    "sandbox/conformance/stages.py": "looks at a process of the measurement",
    "sandbox/conformance/attack_processes.py": "attacks",
    "sandbox/conformance/attack_driver.py": "attacks",
    "testing/clock.py": "a clock for tests",
}
"""Loops that wait by themselves, each with why it is no job."""


def loops_that_sleep(path: Path) -> bool:
    text = path.read_text(encoding="utf-8")
    return ".sleep" in text and any(
        isinstance(call.func, ast.Attribute) and call.func.attr == "sleep"
        for loop in ast.walk(ast.parse(text))
        if isinstance(loop, ast.While)
        for call in ast.walk(loop)
        if isinstance(call, ast.Call)
    )


def test_nothing_but_jobs_keeps_a_timer_of_its_own_unless_it_has_a_reason() -> None:
    found = {
        path.relative_to(SILAS).as_posix()
        for path in SILAS.rglob("*.py")
        if path.relative_to(SILAS).parts[0] != "jobs" and loops_that_sleep(path)
    }
    assert found - OWN_TIMERS.keys() == set()


LATER = ("silas.jobs", "silas.reminders", "silas.goals", "cronsim", "dateutil", "dateparser")

_LOADED = """
import sys
{what}
print(sorted(name for name in sys.modules
             if any(f"{{name}}.".startswith(f"{{one}}.") for one in {names})))
"""

_ASK = """
import asyncio
from silas.testing import Harness

async def work():
    async with Harness(resume=False) as h:
        await h.silas.ask("hello")

asyncio.run(work())
"""

_HELP = """
from click.testing import CliRunner
from silas.main import cli
CliRunner().invoke(cli, ["--help"])
"""


@pytest.mark.parametrize("what", [_ASK, _HELP])
def test_asking_once_and_the_help_load_nothing_of_it(what: str, tmp_path: Path) -> None:
    import subprocess
    import sys

    script = tmp_path / "script.py"
    script.write_text(_LOADED.format(what=what, names=LATER), encoding="utf-8")
    done = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, check=True)
    loaded = set(ast.literal_eval(done.stdout))
    # their migrations are found beside their first pages, which have no code
    assert loaded <= {"silas.jobs", "silas.reminders", "silas.goals"}
    for name in loaded:
        (page,) = ast.parse(
            (SILAS.parent / name.replace(".", "/") / "__init__.py").read_text()
        ).body
        assert isinstance(page, ast.Expr)
        assert isinstance(page.value, ast.Constant)
