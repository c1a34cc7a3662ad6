"""A goal's check that asks by a script of the workspace is told before its card, too."""

from pathlib import Path
from typing import Any

import pytest

from silas.cards import Card
from silas.plans import WorkItemStatus
from silas.testing import Harness, ScriptedChannel, plan_text
from tests.goals.kit import goal_text

Files = dict[str, str]

BLIND: list[tuple[str, str, Files]] = [
    ("with pgrep for", "sh check.sh", {"check.sh": "#!/bin/sh\npgrep -f bot\n"}),
    ("with pgrep for", "./check.sh", {"check.sh": "#!/bin/sh\npgrep bot || exit 1\necho ok\n"}),
    ("with pgrep for", ". ./check.sh", {"check.sh": "if ! pgrep bot; then exit 1; fi\n"}),
    ("with pgrep for", "cd tools && sh check.sh", {"tools/check.sh": "pgrep bot\n"}),
    ("with pgrep for", "sh a.sh", {"a.sh": "exec sh b.sh\n", "b.sh": "pgrep bot\n"}),
    ("with kill for", "sh check.sh", {"check.sh": "PID=$(cat bot.pid)\nkill -0 $PID\n"}),
    ("asks localhost", "sh check.sh", {"check.sh": "set -e\ncurl -sf localhost\necho fine\n"}),
    (
        "with systemctl for",
        "python3 check.py",
        {"check.py": "import subprocess\nsubprocess.check_call(['systemctl', 'status', 'bot'])\n"},
    ),
    (
        "asks localhost",
        "python3 check.py",
        {
            "check.py": "import requests\nURL = 'http://localhost:8080/health'\n"
            "assert requests.get(URL).ok\n"
        },
    ),
    ("with psutil for", "./check", {"check": "#!/usr/bin/env python3\nimport psutil\n"}),
    (
        "asks localhost",
        "node check.js",
        {"check.js": "require('node:http').get('http://localhost/', r => process.exit(0))\n"},
    ),
]

_SERVED = "import urllib.request\nurllib.request.urlopen('http://localhost')\n"

SEEING: list[tuple[str, Files]] = [
    ("sh check.sh", {"check.sh": "./server &\nsleep 1\ncurl localhost\nkill $!\n"}),
    ("sh check.sh", {"check.sh": "up() {\n until curl localhost; do :; done\n}\n./server &\nup\n"}),
    ("sh check.sh", {"check.sh": "pkill server || true\n./server &\ncurl localhost\n"}),
    ("sh start.sh; curl localhost", {"start.sh": "python3 -m http.server &\n"}),
    ("sh check.sh", {"check.sh": "case $1 in\na) pgrep bot;;\nesac\n"}),
    ("sh check.sh", {"check.sh": "if test -f x; then :; else ps aux; exit 1; fi\ntest -f y\n"}),
    ("sh check.sh", {"check.sh": "command -v ss && ss -ltn\ntest -f y\n"}),
    ("sh check.sh", {"check.sh": '[ -n "$DEBUG" ] && ps aux\ntest -f y\n'}),
    ("sh check.sh", {"check.sh": "# pgrep bot\necho 'curl localhost'\ntest -f y\n"}),
    ("sh check.sh", {"check.sh": "ps aux > log\ndocker ps || true\ntest -s data\n"}),
    ("python3 check.py", {"check.py": f"from http.server import HTTPServer\n{_SERVED}"}),
    ("python3 check.py", {"check.py": f"import helper\n{_SERVED}"}),
    ("python3 check.py", {"check.py": "try:\n    import psutil\nexcept ImportError:\n    pass\n"}),
    (
        "python3 check.py",
        {
            "check.py": "'''http://localhost'''\nimport requests\nBAD = 'http://localhost'\n"
            "assert BAD not in open('x').read()\n"
        },
    ),
    ("sh check.sh", {}),
    ("sh check.sh", {"check.sh": "pgrep \0\n"}),
]


def _no(card: Card[Any]) -> Any:
    return card.safe


def _laid(tmp_path: Path, run: str, files: Files) -> dict[str, Any]:
    """A workspace with these files, and what a plan says of it."""
    workspace = tmp_path / "w"
    for name, text in files.items():
        path = workspace / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        path.chmod(0o755)
    workspace.mkdir(exist_ok=True)
    check = {"name": "up", "run": run, "expect": {"exit_code": 0}}
    return {"workspace": str(workspace), "verify": [check]}


@pytest.mark.parametrize(("words", "run", "files"), BLIND, ids=range(len(BLIND)))
async def test_a_script_that_sees_nothing_is_told_before_any_card(
    words: str, run: str, files: Files, tmp_path: Path
) -> None:
    channel = ScriptedChannel(_no)
    async with Harness(channel) as h:
        result = await h.silas.run(goal_text(**_laid(tmp_path, run, files)))
    assert result.status is WorkItemStatus.blocked
    assert words in result.summary
    assert channel.cards == []


@pytest.mark.parametrize(("run", "files"), SEEING, ids=range(len(SEEING)))
async def test_a_script_that_may_see_it_is_asked_about(
    run: str, files: Files, tmp_path: Path
) -> None:
    channel = ScriptedChannel(_no)
    async with Harness(channel) as h:
        result = await h.silas.run(goal_text(**_laid(tmp_path, run, files)))
    assert len(channel.cards) == 1, result.summary


async def test_the_script_of_a_task_may_be_what_its_work_changes(tmp_path: Path) -> None:
    channel = ScriptedChannel(_no)
    laid = _laid(tmp_path, "sh check.sh", {"check.sh": "pgrep bot\n"})
    async with Harness(channel) as h:
        result = await h.silas.run(plan_text(**laid))
    assert len(channel.cards) == 1, result.summary


async def test_a_script_that_a_link_leads_to_outside_is_not_read(tmp_path: Path) -> None:
    channel = ScriptedChannel(_no)
    laid = _laid(tmp_path, "sh check.sh", {})
    (tmp_path / "other.sh").write_text("pgrep bot\n")
    (tmp_path / "w" / "check.sh").symlink_to(tmp_path / "other.sh")
    async with Harness(channel) as h:
        result = await h.silas.run(goal_text(**laid))
    assert len(channel.cards) == 1, result.summary
