"""What the sandbox of a check does not show, and which commands ask for it (decision D522).

Tables, and the sentences of a refusal.
"""

import re
from collections.abc import Mapping
from typing import Final

from silas.language import tr_later

PROCESSES: Final = tr_later("processes")
CONNECTIONS: Final = tr_later("connections")
OWN: Final = frozenset({PROCESSES, CONNECTIONS})
"""What a command sees of what it started itself."""

_KINDS: Final[Mapping[str, tuple[str, ...]]] = {
    PROCESSES: (
        *("pgrep", "pidof", "ps", "pkill", "killall", "kill", "top", "htop", "lsof", "pstree"),
        *("pmap", "pwdx", "fuser", "psutil"),
    ),
    tr_later("services"): (
        *("systemctl", "service", "journalctl", "supervisorctl", "pm2", "launchctl", "initctl"),
        *("rc-service", "rc-status", "busctl", "dbus-send", "gdbus"),
    ),
    tr_later("containers"): ("docker", "podman", "nerdctl", "crictl", "machinectl", "virsh"),
    CONNECTIONS: ("ss", "netstat"),
    tr_later("network interfaces"): (
        *("ip", "ifconfig", "iptables", "nft", "nmcli", "arp", "route", "ethtool"),
    ),
    tr_later("sessions"): ("who", "w", "last", "lastlog", "users", "loginctl"),
}
COMMANDS: Final = {command: kind for kind, commands in _KINDS.items() for command in commands}

CLIENTS: Final = frozenset(
    {
        "curl", "wget", "nc", "ncat", "netcat", "telnet", "http", "https", "xh", "socat", "ping",
        "ssh", "nmap", "wscat", "websocat", "grpcurl", "wait-on", "wait-for-it", "mongosh", "mongo",
        "redis-cli", "pg_isready", "mysqladmin", "psql", "mysql",
    }
)  # fmt: skip
LOCAL: Final = frozenset({"redis-cli", "pg_isready", "mysqladmin", "psql", "mysql", "mongosh"})
"""Of them what asks the loopback or a socket where it is given no host."""
GIVEN_HOST: Final = re.compile(r"-h|--host|[a-z0-9+]+://|(?:.*\s)?host=|--(?:version|help)|-V$")
TEXT_AFTER: Final = frozenset(
    {
        "-H", "--header", "-d", "--data", "--data-raw", "--data-binary", "--json", "-A", "-e", "-F",
        "--user-agent", "--referer", "-w", "--write-out", "-X", "--request", "--resolve",
        "--noproxy",
    }
)  # fmt: skip
"""Options of clients whose value is no address."""

LOOPBACK: Final = re.compile(
    r"(?:[a-z][a-z0-9+-]*:(?://)?)?(?:[^@/\s]*@)?"
    r"(?P<host>(?:[\w-]+\.)*localhost|127(?:\.\d+){1,3}|0\.0\.0\.0|\[?::1\]?|ip6-localhost"
    r"|host\.docker\.internal)(?=[:/?#,]|$)",
    re.IGNORECASE,
)
DEV_TCP: Final = re.compile(r"/dev/(?:tcp|udp)/(?P<at>.*)")
PROC: Final = re.compile(r"/proc/(?:\d|[*?\[{]|\$(?!\$)|net(?:/|$))")
LISTS: Final = frozenset({"ls", "find", "cd", "tree"})
RUN: Final = re.compile(r"(?:unix:|file:)?(?://(?=/))?(?:/var)?/run(?:/|$)|\$\{?XDG_RUNTIME_DIR\b")


def machine_words(name: str, command: str, kind: str = "") -> str:
    """That a check asks with a command for what this machine has."""
    return (
        f"The check {name!r} asks with {command} for {kind or COMMANDS[command]} of this machine, "
        "and checks run in a sandbox that shows none; let it look at a file that is kept up to "
        "date, or at an address."
    )


def proc_words(name: str, word: str) -> str:
    """That a check looks at the processes of this machine."""
    return (
        f"The check {name!r} looks at {word}, and the sandbox that checks run in has processes and "
        "connections of its own only; let it look at a file that is kept up to date, or at an "
        "address."
    )


def run_words(name: str, word: str) -> str:
    """That a check looks at what runs on this machine."""
    return (
        f"The check {name!r} looks at {word}, and the sandbox that checks run in shows nothing "
        "that runs on this machine; let it look at a file of the plan's workspace that is kept "
        "up to date, or at an address."
    )


def loopback_words(name: str, host: str) -> str:
    """That a check asks the loopback."""
    return (
        f"The check {name!r} asks {host}, and in the sandbox that checks run in this is the "
        "sandbox itself; start the server in the same command with `&`, or ask by a host name that "
        "the check has under `network`."
    )
