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
        "tail -f log & curl localhost",
        "curl localhost & wait",
        "until nc -z localhost 80; do sleep 1; done",
        "timeout 5 bash -lc 'curl -sf localhost'",
        "python3 <<EOF\nfrom urllib.request import urlopen\nurlopen('http://localhost:80')\nEOF",
        "node -e 'fetch(\"http://localhost:3000\").then(r => process.exit(r.ok ? 0 : 1))'",
        "perl -MLWP::Simple -e 'getprint(\"http://localhost\")'",
        "ruby -rsocket -e 'TCPSocket.new(\"localhost\", 80)'",
        "php -r 'exit(file_get_contents(\"http://localhost/\") ? 0 : 1);'",
    ),
    "asks 127.0.0.1": (
        "curl -sf 127.0.0.1/health | jq .",
        "nc -z 127.0.0.1 80",
        "node -e \"require('http').get('http://127.0.0.1:80', r => 0)\"",
    ),
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
        "sleep 1 & pgrep -f bot",
        "sleep 1 & wait; kill -0 1234",
        "sh <<'EOF'\npgrep bot\nEOF",
        "bash <<< 'pgrep bot'",
        "echo 'pgrep bot' | sh",
        "eval 'pgrep bot'",
        "bash -c \"sh -c 'pgrep bot'\"",
        "pgrep bot || exit 1",
        "pgrep bot || kill -0 1234",
        "pgrep bot || echo down",
        "python3 - <<EOF\nimport os\nos.kill(1234, 0)\nEOF",
        'python3 -c \'import subprocess; subprocess.run(["pgrep", "bot"], check=True)\'',
        "python3 -c 'import os; os.system(\"pgrep bot\")'",
        "node -e \"require('child_process').execSync('pgrep bot')\"",
        "node -e \"require('child_process').spawnSync('pgrep', ['bot'])\"",
        "node -e \"process.kill(+require('fs').readFileSync('x.pid'), 0)\"",
        "perl -e 'exit system(\"pgrep bot\")'",
        "perl -e 'exit !kill 0, 1234'",
        'ruby -e \'exit system("pgrep", "bot")\'',
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
    "sleep 30 & kill -0 $!",
    "sleep 30 & pgrep sleep",
    "(sleep 1; ./server) & curl localhost",
    "{ ./server; } & curl localhost",
    "./server & pgrep -f server",
    "timeout 9 ./server & sleep 1; curl localhost",
    'out="$(./server & sleep 1; curl -s localhost)"; test "$out" = ok',
    "socat TCP-LISTEN:80,fork - & curl localhost",
    "sh -c './server &'; curl localhost:80",
    "nginx -c x.conf && curl localhost",
    "make up && curl localhost:80",
    "./start && curl localhost",
    "sh start.sh && pgrep bot",
    "kill -0 $$",
    "ps -p $$",
    "pgrep bot || grep -q alive state",
    "echo 'run pgrep bot by hand' | grep -q bot",
    "cat <<EOF > notes\ncurl localhost\nEOF\ngrep -q curl notes",
    "python3 - <<EOF\nassert 'localhost' in open('config.ini').read()\nEOF",
    "python3 -c \"assert 'http://localhost' != open('address').read()\"",
    "python3 -c \"import httpx; assert httpx.get('https://example.com').text == 'localhost'\"",
    "python3 -c \"import os, httpx; os.system('./server &'); httpx.get('http://localhost')\"",
    "python3 -c \"from app import app; assert app.test_client().get('http://localhost/').ok\"",
    "node -e \"require('http').createServer().listen(0, '127.0.0.1', () => process.exit(0))\"",
    "node -e \"console.log(new URL('http://localhost').host)\"",
    "node -e \"require('./app'); fetch('http://localhost:3000')\"",
    "node -e \"if (!require('fs').readFileSync('a').includes('localhost')) process.exit(1)\"",
    "perl -ne 'print if /localhost/' config",
    "perl -e 'print \"docker ps\"'",
    "perl -ne 'exit 1 if $_ eq \"http://localhost\"' x",
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
