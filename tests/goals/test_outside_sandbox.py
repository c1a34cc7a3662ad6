"""A check that calls a host without a network, or looks at a path that no sandbox shows, is told
before the card of any plan; what only looks so is asked about.
"""

from pathlib import Path
from typing import Any

import pytest

from silas.cards import Card
from silas.plans import WorkItemStatus
from silas.testing import Harness, ScriptedChannel, plan_text
from tests.goals.kit import goal_text
from tests.projects.kit import project_text
from tests.stream.kit import entries_of

CALLS = (
    "curl https://example.com",
    "curl -sf https://example.com/health | grep -q ok",
    "curl -fsSL -o page.html 'https://example.com/?a=1&b=2'",
    "curl example.com",
    "curl --max-time 5 http://example.com:8080",
    "timeout 5 curl -s https://example.com",
    "sh -c 'curl -s https://example.com'",
    "wget -qO- https://example.com/",
    "wget --spider http://example.com",
    "ping -c1 example.com",
    "ping -c 1 -W 2 example.com",
    "ssh admin@example.com uptime",
    "ssh -p 2222 example.com 'test -f x'",
    "test -f report.txt && curl -s https://example.com",
    "curl -s https://example.com || exit 1",
    'test "$(curl -s https://example.com)" = ok',
)
LOOKS = (
    ("~/x", "test -f ~/x"),
    ("~/notes/a.txt", "grep -q done ~/notes/a.txt"),
    ("$HOME/x", 'test -f "$HOME/x"'),
    ("/var/log", "ls /var/log"),
    ("/var/log/syslog", "tail -n 5 /var/log/syslog | grep -q error"),
    ("/home/somebody/x", "[ -f /home/somebody/x ]"),
    ("/home/somebody/x", "[[ -f /home/somebody/x ]]"),
    ("/mnt/backup/day.tar", "test -s /mnt/backup/day.tar && echo ok"),
    ("/var/log/x", "ls /var/log/x 2>/dev/null"),
    ("~/x", "test -f ~/x || exit 1"),
)
SEEING = (
    "test -f x  # curl https://example.com",
    "# curl https://example.com\ntest -f x",
    "echo curl https://example.com",
    "grep -q 'curl https://example.com' install.sh",
    "curl --version",
    "wget --help",
    "command -v curl",
    "which curl ssh ping",
    "ssh -V",
    "ssh -G example.com",
    "curl file:///etc/hosts",
    'curl -s "$URL"',
    "python3 -m http.server 8080 & sleep 1; curl -s localhost:8080",
    "./serve & curl --resolve example.com:80:127.0.0.1 http://example.com/",
    "./serve & curl -x http://localhost:8080 http://example.com/",
    "./serve & http_proxy=http://localhost:1 curl http://example.com/",
    "./serve & curl -H 'Referer: https://example.com' -e https://example.com localhost:80",
    "./curl https://example.com",
    "PATH=./stubs:$PATH curl https://example.com",
    "curl() { cat page.html; }; curl https://example.com",
    "! curl -s https://example.com",
    "if curl -s https://example.com; then exit 1; fi",
    "curl -s https://example.com || test -f cached.html",
    "curl -s https://example.com || true; test -f x",
    "sh ping.sh example.com",
    "cat ssh example.com",
    "./deploy --dry-run https://example.com",
    "git config --get remote.origin.url",
    "grep -q '~/x' readme",
    "grep -q /var/log/syslog config.ini",
    "grep -rqe /home/somebody/x .",
    "echo /var/log",
    'test "$(cat where)" = /home/somebody/x',
    "[ /home/somebody/x = \"$(cat where)\" ]",
    "test -f x  # ~/x",
    "mkdir -p ~/x && test -d ~/x",
    "./install && test -f ~/x",
    "cp a ~/x; test -f ~/x",
    "touch ~/.seen; ls -a ~/.seen",
    "HOME=. cat ~/x",
    "test -f ~/x || test -f x",
    "exit $(cat $HOME/exit 2>/dev/null || echo 1)",
    'test "$(curl -s https://example.com || cat cached)" = ok',
    "test -x /usr/bin/git && test -f /etc/passwd",
    "ls /tmp /dev/shm",
    "ls /home/somebody/.pyenv/bin",
    "basename /var/log/x",
    "find . -path /home/somebody/x",
    "echo a > /var/log/x",
    "test -d home/somebody/x",
    "cat var/log/x",
)  # fmt: skip


def _check(run: str, **more: Any) -> list[dict[str, Any]]:
    return [{"name": "up", "run": run, "expect": {"exit_code": 0}, **more}]


def _no(card: Card[Any]) -> Any:
    return card.safe


def plans(workspace: Path, run: str, **more: Any) -> dict[str, str]:
    """The same check in a plan of each kind."""
    given: dict[str, Any] = {"workspace": str(workspace), "verify": _check(run, **more)}
    return {
        "task": plan_text(**given),
        "goal": goal_text(**given),
        "recurring": goal_text(
            **given, cycle="work", on_failure=None, failure_context=None, body="```sh\nls\n```"
        ),
        "task of a project": project_text({"a": given}),
        "project": project_text({"a": {}}, **given),
    }


KINDS = ("task", "goal", "recurring", "task of a project", "project")


@pytest.mark.parametrize("kind", KINDS)
async def test_a_call_without_a_network_is_told_before_any_card(tmp_path: Path, kind: str) -> None:
    channel = ScriptedChannel(_no)
    async with Harness(channel) as h:
        for run in CALLS if kind == "task" else CALLS[:2]:
            result = await h.silas.run(plans(tmp_path, run)[kind])
            assert result.status is WorkItemStatus.blocked
            assert "asks example.com, and it has no network" in result.summary, run
            assert "Nothing was asked, and nothing was run." in result.summary
        assert await entries_of(h, "approval.issued") == []
    assert channel.cards == []


@pytest.mark.parametrize("kind", KINDS)
async def test_a_look_outside_of_the_sandbox_is_told_before_any_card(
    tmp_path: Path, kind: str
) -> None:
    channel = ScriptedChannel(_no)
    async with Harness(channel) as h:
        for path, run in LOOKS if kind == "task" else (LOOKS[0], LOOKS[3]):
            result = await h.silas.run(plans(tmp_path, run)[kind])
            assert result.status is WorkItemStatus.blocked
            assert f"looks at {path}, and the sandbox" in result.summary, run
    assert channel.cards == []


async def test_what_only_looks_like_it_is_asked_about(tmp_path: Path) -> None:
    channel = ScriptedChannel(_no)
    async with Harness(channel) as h:
        for number, run in enumerate(SEEING, start=1):
            result = await h.silas.run(plans(tmp_path, run)["task"])
            assert len(channel.cards) == number, (run, result.summary)


async def test_what_a_plan_gives_its_check_is_asked_about(tmp_path: Path) -> None:
    """A network, a folder under `read`, its own workspace, and a check that is to fail."""
    channel, kept = ScriptedChannel(_no), tmp_path / "kept"
    kept.mkdir()
    host = "curl -s https://example.com"
    work = Path("/home/somebody/work")
    given = [
        plans(tmp_path, host, network=["example.com"])["task"],
        plans(tmp_path, host, network=True)["task"],
        plan_text(verify=_check(host, network=True), network=["example.com"]),
        plan_text(verify=_check(host, expect={"exit_code": 6})),
        plan_text(verify=_check("ls /var/log/app"), read=["/var/log/app"]),
        plan_text(verify=_check("ls /var/log"), read=["/var/log/app"]),
        plans(work, "ls /home/somebody/work/x")["task"],
        plan_text(verify=_check("ls /home/somebody/work/x")),
    ]
    async with Harness(channel) as h:
        for text in given:
            result = await h.silas.run(text)
            assert "The check" not in result.summary, result.summary
