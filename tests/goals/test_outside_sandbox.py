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
_OPEN = "import urllib.request; urllib.request.urlopen"
CALLS_OF_CODE = (
    f"python3 -c \"{_OPEN}('https://example.com')\"",
    f"python3 -I -c \"{_OPEN}('https://example.com', timeout=5).read()\"",
    "python3 -c \"from urllib.request import urlopen; print(urlopen('http://example.com').read())\"",
    "python3 -c \"import requests; assert requests.get('https://example.com').ok\"",
    "python3 -c \"import httpx; httpx.get('https://example.com/x').raise_for_status()\"",
    f"python3 - <<'E'\n{_OPEN}('https://example.com')\nE",
    f"timeout 9 python3 -c \"{_OPEN}('https://example.com')\"",
    "git clone https://example.com/a/b.git",
    "git clone --depth 1 -b main git@example.com:a/b.git there",
    "git -C sub fetch https://example.com/a/b.git main",
    "git ls-remote ssh://git@example.com/a/b",
    "git pull https://example.com/a/b.git",
    "git push https://user@example.com/a/b.git main",
    "nc -z example.com 443",
    "nc -w 3 -zv example.com 22",
)
CALLS_OF_PACKAGES = {
    "pip download rich": "pypi.org",
    "pip install -U rich": "pypi.org",
    "python3 -m pip install --upgrade 'rich>=13' -q": "pypi.org",
    "pip3 install --target lib rich": "pypi.org",
}
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


SEEING_OF_TOOLS = (
    "git status",
    "git log --grep https://example.com/a.git",
    "git fetch origin",
    "git pull",
    "git push --dry-run origin main",
    "git clone . there",
    "git clone ../other there",
    "git clone file:///srv/a.git",
    "git clone http://localhost:3000/a.git & git daemon",
    "git remote add origin https://example.com/a.git",
    "git remote get-url origin | grep -q https://example.com",
    "git commit -m 'git clone https://example.com/a.git'",
    "git config url.file:///srv/.insteadOf https://example.com/ && git clone https://example.com/a",
    "git -c url.x.insteadOf=https://example.com/ clone https://example.com/a",
    "GIT_CONFIG_GLOBAL=c git clone https://example.com/a.git",
    "git clone https://example.com/a.git || test -d a",
    "! git ls-remote https://example.com/a.git",
    "git clone --help",
    "pip install rich",
    "pip install -e .",
    "pip install .",
    "pip install -U ./lib",
    "pip install --no-index -U rich",
    "pip install -U --find-links wheels rich",
    "pip install -U dist/a-1.0-py3-none-any.whl",
    "pip install -r requirements.txt",
    "pip download -r requirements.txt",
    "pip list",
    "python3 -m pip --version",
    "PIP_NO_INDEX=1 pip install -U rich",
    "echo pip download rich",
    "npm install",
    "npm ci",
    "npm test",
    "npm install ./lib",
    "npm install --offline left-pad",
    "grep -q 'npm install left-pad' README.md",
    "python3 -m http.server 80 & nc -z 127.0.0.1 80",
    "nc -l 8080 < /dev/null & sleep 1",
    "cat nc curl git",
    "cat curl",
    "test -f curl",
    "nc -h",
    "./nc example.com 80",
    "python3 -c \"print('https://example.com')\"",
    "python3 -c \"import urllib.request; print('https://example.com')\"",
    "python3 -c \"import urllib.request as u; u.urlopen('file:///etc/hosts')\"",
    f"python3 -c \"{_OPEN}('file:///etc/hosts')\"",
    "python3 -c \"import sys, urllib.request; urllib.request.urlopen(sys.argv[1])\" x",
    "python3 -c \"import urllib.parse; urllib.parse.urlparse('https://example.com')\"",
    f"python3 -c \"{_OPEN}('https://example.com')\" || test -f x",
    f"! python3 -c \"{_OPEN}('https://example.com')\"",
    "python3 - <<'E'\nimport urllib.request\ntry:\n    urllib.request.urlopen('https://example.com')\n"
    "except OSError:\n    pass\nE",
    "python3 - <<'E'\nimport urllib.request\ndef look():\n"
    "    urllib.request.urlopen('https://example.com')\nE",
    "python3 - <<'E'\nimport requests\nimport responses\nrequests.get('https://example.com')\nE",
    "python3 -c \"get = dict().get; get('https://example.com')\"",
    "python3 -c \"requests = {}; requests.get('https://example.com')\"",
    "grep -q \"urlopen('https://example.com')\" a.py",
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


@pytest.mark.parametrize("kind", ["task", "goal"])
async def test_a_call_of_code_and_tools_is_told_before_any_card(tmp_path: Path, kind: str) -> None:
    told = {**dict.fromkeys(CALLS_OF_CODE, "example.com"), **CALLS_OF_PACKAGES}
    channel = ScriptedChannel(_no)
    async with Harness(channel) as h:
        for run, host in [*told.items()][:: 1 if kind == "task" else 5]:
            result = await h.silas.run(plans(tmp_path, run)[kind])
            assert f"asks {host}, and it has no network" in result.summary, (run, result.summary)
    assert channel.cards == []


async def test_what_only_looks_like_a_call_of_code_or_tools_is_asked_about(tmp_path: Path) -> None:
    channel = ScriptedChannel(_no)
    async with Harness(channel) as h:
        for number, run in enumerate(SEEING_OF_TOOLS, start=1):
            result = await h.silas.run(plans(tmp_path, run)["task"])
            assert len(channel.cards) == number, (run, result.summary)


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
