"""A check that asks for what no sandbox shows is told before its card; what it can see is asked."""

from typing import Any

import pytest

from silas.cards import Card
from silas.plans import WorkItemStatus
from silas.testing import Harness, ScriptedChannel
from tests.goals.kit import goal_text
from tests.stream.kit import entries_of

BLIND = {
    "asks localhost": (
        "curl http://localhost:8080",
        "curl 'http://localhost/?a=1&b=2'",
        "timeout 5 nc -z localhost 80",
        'sh -c "curl localhost:80"',
        "cat 3<>/dev/tcp/localhost/80",
        "psql 'host=localhost dbname=x'",
        "python3 -c 'from urllib.request import urlopen; urlopen(\"http://localhost:80\")'",
    ),
    "asks 127.0.0.1": ("curl -sf 127.0.0.1/health | jq .", "nc -z 127.0.0.1 80"),
    "asks [::1]": ("wget -qO- http://[::1]:80/",),
    "looks at /proc": (
        "test -d /proc/1234",
        '[ -d "/proc/$(cat bot.pid)" ]',
        "[[ -d /proc/$PID ]]",
        "ls /proc",
        "cat /proc/net/tcp",
    ),
    "looks at /run/": ("cat /run/x.pid", "python3 -c 'open(\"/run/x.pid\")'"),
    "looks at /var/run/": (
        "test -S /var/run/docker.sock",
        "curl --unix-socket /var/run/docker.sock http://docker/ps",
        "PID=$(cat /var/run/bot.pid); echo $PID",
    ),
    "for processes of this machine": (
        "kill -0 1234",
        "nice -n 5 ps aux",
        "xargs -n1 kill -0 < pids",
        'test -n "$(pgrep bot)"',
        "lsof -i :80",
        'python -c "import psutil"',
    ),
    "for connections of this machine": ("ss -ltn", "netstat -an", "redis-cli ping"),
    "for containers of this machine": ("docker ps -q | grep x",),
    "for services of this machine": ("journalctl -u bot", "systemctl status bot & wait"),
    "for sessions of this machine": ("who",),
    "for network interfaces of this machine": ("ip addr",),
}
"""Words of the refusal, and the commands that it is said of."""

SEEING = (
    "python3 -m http.server 8080 & sleep 1; curl localhost:8080",
    "sh -c 'python3 -m http.server & curl -s localhost:8000'",
    "./server --daemon && curl http://localhost:80",
    "curl -H 'Host: localhost' https://example.com",
    "curl -sf 'https://example.com/?to=localhost'",
    "grep -q localhost config.ini",
    "grep -q /run/nginx.pid nginx.conf",
    "echo curl localhost",
    "find . -name ps",
    "./ps",
    "python -c \"print('docker ps')\"",
    "cat /proc/cpuinfo /proc/self/status",
    "command -v docker",
    "docker --version",
    "timeout 5 pytest -k top",
    "cat run/x.pid",
    'test "$(cat where)" = /run/x.pid',
    "psql -h db.example.com -c 'select 1'",
    "sleep 30 & kill $!",
)


def _goal(run: str) -> str:
    check = {"name": "up", "run": run, "expect": {"exit_code": 0}, "network": ["example.com"]}
    return goal_text(verify=[check])


def _no(card: Card[Any]) -> Any:
    return card.safe


@pytest.mark.parametrize("words", BLIND)
async def test_what_no_sandbox_shows_is_told_before_any_card(words: str) -> None:
    channel = ScriptedChannel(_no)
    async with Harness(channel) as h:
        for run in BLIND[words]:
            result = await h.silas.run(_goal(run))
            assert result.status is WorkItemStatus.blocked
            assert words in result.summary, run
            assert "Nothing was asked, and nothing was run." in result.summary
        assert await entries_of(h, "approval.issued") == []
    assert channel.cards == []


async def test_what_a_check_can_see_is_asked_about() -> None:
    channel = ScriptedChannel(_no)
    async with Harness(channel) as h:
        for number, run in enumerate(SEEING, start=1):
            result = await h.silas.run(_goal(run))
            assert len(channel.cards) == number, (run, result.summary)
