"""The card of a plan, rendered from the very bytes that are hashed and signed (decision B2).

Every field of the bytes is on it: those a person decides by in words, the rest as it is written.
All text goes through `show`, every line of the plan's own prose stands behind `| `, so that a plan
can neither hide a part of itself nor imitate the card around it.
"""

import json
import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from silas.approval.grants import GrantRefused, grant_lines, grants_of, shortest
from silas.canonical import canonical_bytes, canonical_json, sha256_hex
from silas.cards.models import PLAN_DECLINED, Action, Detail, PlanAnswer, PlanCard
from silas.errors import PlanFamilyError
from silas.language import decimal, tr, tr_later, tr_many
from silas.plans.allowed_hosts import host_words, lines_of_shown
from silas.plans.bound_files import file_lines
from silas.plans.bound_tools import tool_digest, tool_line
from silas.plans.characters import as_code, name_as_code, show, show_exactly, show_lines
from silas.plans.effect import (
    MOST_ALONE,
    Plan,
    change_lines,
    effect_sentence,
    proof_line,
    risk_of,
)
from silas.plans.goals.card_part import recurs
from silas.plans.goals.standing import AS_SHIPPED, StandingLimit
from silas.plans.models import WorkItem
from silas.plans.source_marks import split_marks
from silas.plans.subject import plan_bytes
from silas.sandbox.network.names import endpoints_in
from silas.types import InteractionMode, Risk

Files = Mapping[str, Any]
"""What is bound of files, by their path."""

NO_FILES: Files = MappingProxyType({})

_SECONDS_TO_DECIDE = 300.0  # how long a plan waits for its answer (spec 8.1)

NEEDS_CONFIRMATION = frozenset({Risk.high, Risk.irreversible})
"""Risks that force `confirm_only_when_required`, whatever mode a plan asks for (spec 5.1.0)."""

_EXPECTATIONS: Mapping[str, str] = {
    "exit_code": tr_later("exit code is {}"),
    "equals": tr_later("output is exactly {}"),
    "contains": tr_later("output contains {}"),
    "regex": tr_later("output matches {}"),
    "output_lt": tr_later("output is a number below {}"),
    "output_gt": tr_later("output is a number above {}"),
    "file_exists": tr_later("file {} exists"),
    "not_empty": tr_later("output is not empty"),
}

_STRING = re.compile(r'"(?:[^"\\]|\\.)*"')  # of JSON

_FENCES = frozenset({"```", "~~~"})

_IN_WORDS = frozenset(
    {
        *("title", "body", "verify", "skills", "budget"),
        *("workspace", "writes", "read", "network", "tools", "credential_refs"),
    }
)
"""Fields with a section of their own; every other one is listed as it is written."""


_MODES = {
    InteractionMode.act_and_report: tr_later("act at once and report afterwards"),
    InteractionMode.default_and_offer: tr_later("take the usual way and offer others"),
    InteractionMode.confirm_only_when_required: tr_later("confirm when required"),
}
"""What each mode is, as the plan's owner is told."""


def files_hash(plan_hash: str, files: Files) -> str:
    """What `--approve` takes for a plan that runs files: they are not in the plan's own hash."""
    if not files:
        return ""
    return sha256_hex(canonical_bytes({"plan": plan_hash, "files": dict(files)}))


def plan_card(
    canonical: bytes,
    *,
    rationale: str,
    files: Files = NO_FILES,
    tools: Files = NO_FILES,
    shown: Files = NO_FILES,
    standing: StandingLimit = AS_SHIPPED,
) -> PlanCard:
    """The question whether to approve a plan.

    Args:
        canonical: What `plan_bytes` gave; different bytes never make the same card.
        rationale: Why Silas proposes it, one or two sentences; it may carry marks
            (`silas.plans.source_marks`).
        files: The files that it runs, as an approval binds them (`silas.plans.bound_files`).
        tools: The directories of the owner's tools, likewise (`silas.sandbox.toolchains.mounts`).
        shown: Who outside this machine is shown what it reads, likewise.
        standing: How far a yes to a goal starts work without asking.

    Raises:
        PlanFamilyError: `E_PLAN_BYTES`: these are not the canonical bytes of a plan.
    """
    plan = _plan(canonical)
    plan_hash = sha256_hex(canonical)
    why, marks = split_marks(rationale)
    return PlanCard(
        intent=show(str(plan["title"])),
        risk=risk_of(plan),
        rationale=show(why.strip()) or tr("No reason was given."),
        actions=(
            Action(label=_label(plan), value=PlanAnswer(verdict="approved"), role="recommended"),
            Action(label=tr("Ask for changes"), value=PlanAnswer(verdict="edit_requested")),
            Action(label=tr("Decline, run nothing"), value=PLAN_DECLINED, role="decline"),
        ),
        safe=PLAN_DECLINED,
        timeout_seconds=_SECONDS_TO_DECIDE,
        effect=effect_sentence(plan),
        details=(
            Detail(
                heading=tr("What it may touch"),
                lines=(
                    *_touches(plan),
                    *lines_of_shown(shown),
                    *tool_line(tools, show),
                    proof_line(plan),
                ),
                open=True,
            ),
            *recurs(plan, standing),
            *(mark.model_copy(update={"open": True}) for mark in marks),
            Detail(heading=tr("What it does"), lines=_prose(plan["body"])),
            Detail(heading=tr("What verifies it"), lines=_checks(plan["verify"])),
            Detail(heading=tr("Budget"), lines=_budget(plan["budget"])),
            Detail(
                heading=tr("Skills"), lines=tuple(map(as_code, plan["skills"])) or (tr("none"),)
            ),
            Detail(
                heading=tr("What must be the same when it runs"),
                lines=_lines_of_bound(plan, files, tools),
            ),
            Detail(heading=tr("Everything else"), lines=_rest(plan)),
            Detail(heading=tr("Hash"), lines=(f"sha256:{plan_hash}",), open=True),
        ),
        work_item_id=str(plan["id"]),
        files_hash=files_hash(plan_hash, files),
        files=tuple(sorted(files)),
        plan_hash=plan_hash,
    )


def forced_mode(mode: str, why: str) -> str:
    """That another mode applies than a plan asks for, in one sentence; nothing where it does not.

    Args:
        mode: What the plan asks for.
        why: What forces confirmation ("its risk is high"); empty where nothing does.
    """
    if not why or mode == InteractionMode.confirm_only_when_required:
        return ""
    return tr(
        "The plan asks to {mode}; {why}, so Silas confirms when required.",
        mode=tr(_MODES[InteractionMode(mode)]),
        why=why,
    )


def effective_mode(item: WorkItem) -> InteractionMode:
    """The mode in which a plan proceeds: what it asks for, or what its risk forces (5.1.0)."""
    forced = forced_mode(item.interaction_mode, why_forced(risk_of(_plan(plan_bytes(item)))))
    return InteractionMode.confirm_only_when_required if forced else item.interaction_mode


def why_forced(risk: Risk) -> str:
    """Why a risk forces confirmation; nothing where it does not."""
    return tr("its risk is {risk}", risk=tr(risk.value)) if risk in NEEDS_CONFIRMATION else ""


def _plan(canonical: bytes) -> Plan:
    try:
        plan = json.loads(canonical)
        if plan_bytes(WorkItem.model_validate(plan)) == canonical:
            return plan
    except (
        ValueError,
        TypeError,
        RecursionError,
    ):  # not JSON, not a plan, or nested beyond reading
        pass
    raise PlanFamilyError(
        "These are not the canonical bytes of a plan; nothing can be approved from them.",
        code="E_PLAN_BYTES",
    )


def _label(plan: Plan) -> str:
    if plan["type"] == "goal":
        return tr("Approve this goal")
    return (
        tr("Approve and run this project")
        if plan["type"] == "project"
        else tr("Approve and run once")
    )


def _touches(plan: Plan) -> tuple[str, ...]:
    workspace = plan.get("workspace")
    lines = [
        tr("works on a copy of: {workspace}", workspace=as_code(workspace))
        if workspace
        else tr("works in: an empty directory of its own")
    ]
    lines += change_lines(plan)
    lines += [tr("may read: {quoted}", quoted=as_code(path)) for path in plan.get("read", [])]
    lines += [
        tr("may reach over the network: {host}", host=host_words(host))
        for host in plan.get("network", [])
    ]
    lines += [line for grant in plan.get("tools", []) for line in _grant(grant)]
    lines += [
        tr("is given your secret: {name} ({ref_id})", name=as_code(name), ref_id=as_code(ref_id))
        for name, ref_id in sorted(plan.get("credential_refs", {}).items())
    ]
    if plan.get("tools") and not plan.get("network"):
        lines.append(tr("may reach over the network: nothing but through the tools named above"))
    elif not plan.get("network"):
        lines.append(tr("may reach over the network: nothing"))
    return tuple(lines)


def _grant(raw: object) -> tuple[str, ...]:
    """One grant in words; and as it is written, where the words alone would not tell that."""
    try:
        (grant,) = grants_of([raw])
    except GrantRefused:
        return (
            tr(
                "names calls in a way that is not understood and allows none: {raw}", raw=_json(raw)
            ),
        )
    lines = grant_lines(grant, _value)
    if canonical_json(shortest(grant)) == canonical_json(raw):
        return lines
    return (*lines, tr("  (written as {raw})", raw=_json(raw)))


def _lines_of_bound(plan: Plan, files: Files, tools: Files) -> tuple[str, ...]:
    """What `silas.plans.binding` signs besides the plan: in words that the plan decides, and with
    the digests of the files that it runs.
    """
    lines: list[str] = []
    if plan.get("workspace"):
        lines.append(
            tr(
                "the directory {quoted} itself, reached without a link",
                quoted=as_code(plan["workspace"]),
            )
        )
    lines += [
        tr("{quoted}: a file to the byte, a directory itself, without a link", quoted=as_code(path))
        for path in plan.get("read", [])
    ]
    lines += file_lines(files, as_code)
    lines += tool_digest(tools, as_code)
    lines += [tr("every file of the skill {name}", name=as_code(name)) for name in plan["skills"]]
    if plan.get("worker"):
        lines.append(
            tr(
                "the file of the worker {quoted}, of each that it may",
                quoted=as_code(plan["worker"]),
            )
        )
        lines.append(tr("  delegate to, and every file of the skills that these name"))
    return (*lines, tr("the sandbox and its limits, as configured now"))


def _prose(body: str) -> tuple[str, ...]:
    """The briefing; what stands between fences is followed to the letter, and shown so."""
    fence, lines = "", list[str]()
    if not body:
        return (tr("no briefing"),)
    for line in body.split("\n"):
        mark = line.lstrip()[:3]
        inside = bool(fence) or mark in _FENCES
        lines += [f"| {shown}" for shown in show_lines(line, show_exactly if inside else show)]
        if mark in _FENCES and mark in (fence, fence or mark):
            fence = "" if fence else mark
    return tuple(lines)


def _checks(checks: list[dict[str, Any]]) -> tuple[str, ...]:
    if not checks:
        return (tr("nothing: it counts as done when it ran without an error"),)
    lines: list[str] = []
    for check in checks:
        network = _reach(check)
        lines.append(
            tr(
                "check {name}: {expectation}",
                name=name_as_code(check["name"]),
                expectation=_expectation(check["expect"]),
            )
        )
        if check["expect"]["not_empty"] is False:
            lines.append(tr("  (whether there is output does not matter)"))
        lines.append(
            tr(
                "  after at most {check:,} seconds, {network}, of the command",
                check=check["timeout"],
                network=network,
            )
        )
        lines += [f"  | {line}" for line in show_lines(check["run"], show_exactly)]
    return tuple(lines)


def _reach(check: dict[str, Any]) -> str:
    """Which hosts a check may reach (decision D41)."""
    match check["network"]:
        case False | []:
            return (
                tr("without network")
                if check["network"] is False
                else tr("with network to no host")
            )
        case True:
            named = [as_code(str(there)) for there in endpoints_in(check["run"])]
            return tr(" and ").join((tr("with network to the plan's hosts"), *named))
        case entries:
            return tr("with network to ") + tr(" and ").join(map(host_words, entries))


def _expectation(expect: dict[str, Any]) -> str:
    name, value = next((n, v) for n, v in expect.items() if v is not None and v is not False)
    return tr(_EXPECTATIONS[name]).format(_json(value))


def _budget(budget: dict[str, Any]) -> tuple[str, ...]:
    return (
        tr(
            "at most {budget:,} tokens and {dollars}",
            budget=budget["max_tokens"],
            dollars=_dollars(budget["max_cost_usd"]),
        ),
        tr(
            "at most {budget:,} seconds, {many}, {many2}",
            budget=budget["max_wall_time_seconds"],
            many=tr_many(budget["max_attempts"], "{count} attempt", "{count} attempts"),
            many2=tr_many(
                budget["max_planner_calls"], "{count} planner call", "{count} planner calls"
            ),
        ),
    )


def _dollars(amount: float) -> str:
    """With cents, and to the last digit where these do not say it."""
    cents = float(f"{amount:.2f}") == amount
    return f"${decimal(amount, 2)}" if cents else f"${amount}"


def _rest(plan: Plan) -> tuple[str, ...]:
    """Every field without a section, one line each; what is empty says so together."""
    others = {name: value for name, value in sorted(plan.items()) if name not in _IN_WORDS}
    given = [f"{name}: {_json(v)}" for name, v in others.items() if v not in (None, [], {})]
    empty = [name for name, v in others.items() if v in (None, [], {})]
    if len(plan.get("writes") or ()) > MOST_ALONE:  # in the order that the hash has
        given.append(f"writes: {_json(plan['writes'])}")
    forced = forced_mode(plan["interaction_mode"], why_forced(risk_of(plan)))
    return (*given, *filter(None, (forced,)), tr("not set: ") + ", ".join(empty))


def _value(value: Any) -> str:
    """The value as JSON; prose in its own language, words without a blank exactly."""
    text = json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    return _STRING.sub(lambda found: (show if " " in found[0] else show_exactly)(found[0]), text)


def _json(value: Any) -> str:
    """The value as JSON, ASCII only: nothing in it can be invisible."""
    return show(canonical_json(value))
