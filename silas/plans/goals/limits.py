"""Why a goal could not run here though it were approved, told from its plan alone (spec 5.2.3)."""

import re
from typing import Final

from silas.language import tr_later
from silas.plans.goals.schedule import ALWAYS_ON
from silas.plans.models import WorkItem

SPAWNS: Final = "spawn_task"
"""The `on_failure` of a goal that starts work when a check fails."""

REPORTS: Final = "report"
"""The `on_failure` of what is told, and that is all."""

_FAILURES: Final = frozenset({SPAWNS, REPORTS})

_COMMANDS: Final = re.compile(r"(?:^|[|;&(\n]|\bsudo\s|\bexec\s)\s*((?:/\S*/)?[A-Za-z0-9_.-]+)")
_OF_ITS_OWN: Final = re.compile(r"(?<![&>|])&(?![&>0-9])")
"""What a command starts beside itself it can see."""

_OF_PROCESSES: Final = frozenset({"pgrep", "pidof", "ps", "pkill", "killall", "top", "lsof"})
_OF_SERVICES: Final = frozenset({"systemctl", "service", "journalctl", "docker", "podman"})
_OF_SOCKETS: Final = frozenset({"ss", "netstat"})


def unable_goal(item: WorkItem) -> str:
    """The first reason, in one sentence; nothing where it could run."""
    if item.agent == "stream" or item.access_levels:
        return (
            f"This version deploys nothing in a conversation, and {item.id} has `agent: stream` or "
            "`access_levels`; give a goal that checks something `agent: ephemeral`."
        )
    if item.schedule is None:
        return f"{item.id} is a goal that never runs; give it a `schedule`."
    if item.cycle is not None:
        return _unable_work(item)
    if not item.verify:
        return f"{item.id} is a goal that checks nothing; give it a check under `verify`."
    if item.on_failure not in _FAILURES:
        return (
            f"What follows a failing check of {item.id} is {item.on_failure!r}, which no goal can "
            "do; use `on_failure: spawn_task` or `report`."
        )
    if item.on_failure == SPAWNS and not (item.failure_context or "").strip():
        return (
            f"{item.id} starts work that is not written down; say under `failure_context` what is "
            "to be done."
        )
    return ""


def _unable_work(item: WorkItem) -> str:
    """Why work that recurs could not run; nothing where it could."""
    if not item.body.strip():
        return (
            f"{item.id} has `cycle: {item.cycle}` and no briefing; say below the keys what is to "
            "be done."
        )
    if item.schedule == ALWAYS_ON:
        return (
            f"{item.id} would do its work without a pause; give it a cron expression or a moment "
            "as its `schedule`."
        )
    if item.on_failure == SPAWNS or item.failure_context is not None:
        return (
            f"{item.id} does its work each time, so nothing follows a failing check; take "
            "`failure_context` and `on_failure: spawn_task` out of it."
        )
    if item.cycle == "when" and not item.verify:
        return (
            f"{item.id} has `cycle: when` and no condition; write under `verify` what has to hold "
            "so that its work is done."
        )
    return ""


def blind_check(item: WorkItem) -> str:
    """That a check of a plan asks for what no sandbox shows it; nothing where none does."""
    return next((words for check in item.verify if (words := _blind(check.name, check.run))), "")


def _blind(name: str, run: str) -> str:
    if _OF_ITS_OWN.search(run):
        return ""
    for found in _COMMANDS.finditer(run):
        command = found[1].rpartition("/")[2]
        for what, commands in (
            (tr_later("processes"), _OF_PROCESSES),
            (tr_later("services"), _OF_SERVICES),
            (tr_later("connections"), _OF_SOCKETS),
        ):
            if command in commands:
                return (
                    f"The check {name!r} asks with {command} for {what} of this machine, and "
                    "checks run in a sandbox that shows none; let it look at a file that is kept "
                    "up to date, or at an address."
                )
    return ""
