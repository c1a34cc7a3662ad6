"""Why a goal could not run here though it were approved, told before it is asked (spec 5.2.3)."""

from typing import Final

from silas.language import tr_later
from silas.plans.allowed_hosts import hosts_of_check
from silas.plans.bound_files import text_of
from silas.plans.commands.out_of_sight import out_of_sight
from silas.plans.commands.outside_sandbox import Surroundings
from silas.plans.goals.schedule import ALWAYS_ON
from silas.plans.models import VerificationCheck, WorkItem, WorkItemType
from silas.sandbox.network.names import EgressRefused

SPAWNS: Final = "spawn_task"
"""The `on_failure` of a goal that starts work when a check fails."""

CHECKS_NOTHING: Final = tr_later("Does nothing here: it has no checks that could run by the clock")
"""What a goal without checks and without a `cycle` does, which `unable_goal` refuses."""

TIDIES: Final = "tidy"
"""The `cycle` of a goal that asks about the files of a folder batch by batch."""

_OF_WORK: Final = (
    *("verify", "on_failure", "failure_context", "writes", "read", "network", "tools", "worker"),
    *("skills", "gates", "credential_refs", "input_artifacts_from", "escalation"),
)
"""What a plan says of work, which such a goal starts none of."""

REPORTS: Final = "report"
"""The `on_failure` of what is told, and that is all."""

_UNKNOWN: Final = ("/home", "/root", "/Users", "/media", "/mnt", "/srv")
"""Where the workspace of a plan that names none may be."""

_FAILURES: Final = frozenset({SPAWNS, REPORTS})


def unable_goal(item: WorkItem) -> str:
    """The first reason, in one sentence; nothing where it could run."""
    if item.agent == "stream" or item.access_levels:
        return (
            f"This version deploys nothing in a conversation, and {item.id} has `agent: stream` or "
            "`access_levels`; give a goal that checks something `agent: ephemeral`."
        )
    if item.schedule is None:
        return f"{item.id} is a goal that never runs; give it a `schedule`."
    if item.cycle == TIDIES:
        return _unable_tidying(item)
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


def _unable_tidying(item: WorkItem) -> str:
    """Why no folder could be asked about by the clock; nothing where one could."""
    if item.workspace is None:
        return f"{item.id} has `cycle: tidy` and no folder; name it under `workspace`."
    if item.schedule == ALWAYS_ON:
        return (
            f"{item.id} would ask without a pause; give it a cron expression or a moment as its "
            "`schedule`."
        )
    usual = {"on_failure": REPORTS}
    more = [name for name in _OF_WORK if (getattr(item, name) or None) != usual.get(name)]
    if item.body.strip():
        return (
            f"{item.id} has `cycle: tidy`, which asks about files and starts no work; take its "
            "briefing out of it."
        )
    if more:
        return (
            f"{item.id} has `cycle: tidy`, which asks about files and starts no work; take "
            f"`{more[0]}` out of it."
        )
    return ""


def blind_check(item: WorkItem) -> str:
    """That a check of a plan asks for what no sandbox shows it; nothing where none does.

    The scripts of a goal are read, too, where its checks come before any work: they run as they
    are now. Those of other work may be what the work changes.
    """
    reads = item.type is WorkItemType.goal and item.cycle != "work"

    def script(path: str) -> str | None:
        return text_of(item, path) if reads else None

    found = (out_of_sight(one.name, one.run, script, _outside(item, one)) for one in item.verify)
    return next((words for words in found if words), "")


def _outside(item: WorkItem, check: VerificationCheck) -> Surroundings:
    """What of the machine a check has; a check that is to fail may want to be refused a host."""
    try:
        offline = not hosts_of_check(check.network, check.run, item.network)
    except EgressRefused:  # told by whoever looks at the hosts
        offline = False
    to_fail = check.expect.exit_code not in (None, 0)
    places = _UNKNOWN if item.workspace is None else (item.workspace,)
    return Surroundings(offline and not to_fail, (*places, *item.read))
