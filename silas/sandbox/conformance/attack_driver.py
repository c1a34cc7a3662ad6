"""Makes many attacks at once, each in a process of its own, and lets the host look at them.

Runs inside the sandbox and, as control, outside of it: standard library only. Every attack leaves
a report and then holds still, until the host has looked at its process from outside.
"""

import ctypes
import errno
import importlib
import json
import os
import signal
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

_SET_NAME = 15  # prctl: what /proc/PID/comm says, by which the host finds the process
_NEW_USER = 0x10000000
_ATTACK_SECONDS = 4
_HANGS = "hung"


def _own_namespaces(flags: int) -> None:
    """Give a control the rights of root over namespaces of its own, where it can do no harm."""
    user, group = os.geteuid(), os.getegid()
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.unshare(flags | _NEW_USER):
        raise OSError(ctypes.get_errno(), "no namespaces for the control")
    Path("/proc/self/setgroups").write_text("deny", encoding="utf-8")
    Path("/proc/self/uid_map").write_text(f"0 {user} 1", encoding="utf-8")
    Path("/proc/self/gid_map").write_text(f"0 {group} 1", encoding="utf-8")


def _report(folder: Path, name: str, told: str, error: str) -> None:
    """Written whole or not at all: the host reads it as soon as it is there."""
    draft = folder / f".{name}"
    draft.write_text(json.dumps({"told": told, "error": error}), encoding="utf-8")
    draft.rename(folder / name)


def _attack(attack: Mapping[str, Any]) -> tuple[str, str]:
    """What it told and how it failed; one of both is empty."""
    try:
        if attack["namespaces"]:
            _own_namespaces(attack["namespaces"])
        module = importlib.import_module(attack["module"])
        return str(getattr(module, attack["function"])(attack["at"]) or "done"), ""
    except OSError as error:
        return "", errno.errorcode.get(error.errno or 0, type(error).__name__)
    except MemoryError:
        return "", "MemoryError"


def _hang(*_: object) -> None:
    raise TimeoutError(errno.ETIMEDOUT, _HANGS)


def _child(attack: Mapping[str, Any], folder: Path, held: int) -> None:
    ctypes.CDLL(None).prctl(_SET_NAME, attack["mark"].encode(), 0, 0, 0)
    signal.signal(signal.SIGALRM, _hang)
    signal.alarm(_ATTACK_SECONDS)
    told, error = _attack(attack)
    signal.alarm(0)
    # The directory was opened before the attack: afterwards its path may mean something else.
    os.fchdir(held)
    _report(Path(), attack["name"], told, error)
    del folder


def _start(attack: Mapping[str, Any], folder: Path, gate: tuple[int, int]) -> int:
    child = os.fork()
    if child:
        return child
    code = 1
    try:
        os.setpgid(0, 0)
        os.close(gate[1])
        held = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        _child(attack, folder, held)
        os.read(gate[0], 1)  # ends when the parent closes its side
        code = 0
    finally:
        os._exit(code)


def _bury(child: int, name: str, folder: Path) -> None:
    """A process that was killed before it could report is reported for."""
    _, status = os.waitpid(child, 0)
    if not (folder / name).exists():
        how = f"signal {os.WTERMSIG(status)}" if os.WIFSIGNALED(status) else "no report"
        _report(folder, name, "", how)


def main() -> None:
    """Read the plan on standard input, attack, wait for the host, end."""
    plan = json.load(sys.stdin)
    folder = Path(plan["reports"])
    gate = os.pipe()
    children = {a["name"]: _start(a, folder, gate) for a in plan["attacks"]}
    os.close(gate[0])
    ends = time.monotonic() + plan["hold_seconds"]
    while time.monotonic() < ends and not (folder / "go").exists():
        for name, child in list(children.items()):
            if os.waitid(os.P_PID, child, os.WEXITED | os.WNOHANG | os.WNOWAIT):
                _bury(child, name, folder)
                del children[name]
        time.sleep(0.01)
    os.close(gate[1])
    for name, child in children.items():
        _bury(child, name, folder)
