"""Commands that look and change nothing: status, doctor, plan, tools."""

import sys
import textwrap
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from silas.language import refusal_words, retranslate, tr, tr_later
from silas.main.output import (
    ASKED,
    HELD,
    asked_line,
    going_on,
    item_line,
    print_json,
    print_patch,
    state_column,
    state_word,
    work_line,
)
from silas.main.shared import (
    DONE,
    FAILED,
    USAGE,
    GivenPath,
    json_option,
    look_config,
    open_work,
    read_config,
    run_to_exit,
)
from silas.main.typed import ShortGroup

if TYPE_CHECKING:
    from silas.home.findings import DoctorFinding
    from silas.work.changes.file_recovery import LeftBehind

_WIDTH = 88  # columns, as cards have


@click.command()
@json_option
@click.pass_context
def status(ctx: click.Context, as_json: bool) -> None:
    """What Silas is doing and has done."""

    async def work() -> int:
        from silas.services.work import unanswered_of, waits_words

        async with open_work(ctx) as service:
            items = await service.items()
            asks = {item.id: waits_words(item, service.store) for item in items}
            ended = {item.id: await unanswered_of(item, service.store) for item in items}
            waiting = await service.questions()
            people = service.people.waiting()
            held = set(service.held.ids())
            damaged = service.list_damaged()
            halves = {half.work_item_id: half for half in service.half_changed()}
            goals, back = (
                service.goal_states(),
                {item.id: service.taken_back(item) for item in items},
            )
            states = {item.id: service.state(item) for item in items}
        stands = {name: state for name, state in goals.items() if state != "active"}
        if as_json:
            rows = [item_line(item) for item in items] + [asked_line(i) for i in waiting]
            for row in rows:
                row["status"] = states.get(row["id"], row["status"])
                row["held"] = row["id"] in held
                row["taken_back"] = back.get(row["id"], "")
                row["asks"] = bool(asks.get(row["id"]))
                row["unanswered"] = bool(ended.get(row["id"]))
                if row["id"] in goals:
                    row["goal"] = goals[row["id"]]
            named = [{"status": "damaged", **one._asdict(), "words": one.words} for one in damaged]
            print_json([_with_half(row, halves.get(row["id"])) for row in rows] + named)
        elif not items and not waiting and not people:
            click.echo(tr("Nothing yet. Try: {command}", command=tr('silas ask "run the tests"')))
        for item in [] if as_json else items:
            state = HELD if item.id in held else stands.get(item.id, states[item.id])
            click.echo(work_line(state, item.id, item.title))
            for words in filter(None, (back[item.id], asks[item.id], ended[item.id])):
                click.echo(f"{state_column('')} {words}")
        for item in [] if as_json else waiting:
            click.echo(work_line(ASKED, item.id, item.title))
        troubles = [half.words for half in halves.values()] + [one.words for one in damaged]
        for words in troubles if not as_json else []:
            click.echo(f"\n{words}")
        if people and not as_json:
            click.echo(
                tr(
                    "{count} wait for a person: {command}",
                    count=len(people),
                    command="silas queue list",
                )
            )
        standing = {HELD if item.id in held else item.status.value for item in items}
        standing |= {ASKED} if waiting else set[str]()
        for name in [] if as_json else sorted(standing & going_on().keys()):
            click.echo(f"\n{state_word(name)}: {going_on()[name]}")
        return DONE

    run_to_exit(work)


def _with_half(row: dict[str, Any], half: "LeftBehind | None") -> dict[str, Any]:
    """The row, and whether a crash left its workspace half-changed."""
    if half is None:
        return row
    where = None if half.root is None else str(half.root)
    return {**row, "half_changed": where, "words": half.words}


@click.command()
@click.argument("work_item_id")
@json_option
@click.pass_context
def diff(ctx: click.Context, work_item_id: str, as_json: bool) -> None:
    """Everything a work item changed, as a patch."""

    async def work() -> int:
        from silas.services.work import patch_shown

        async with open_work(ctx) as service:
            patch, why_not = await patch_shown(service, work_item_id)
            held = work_item_id in service.held.ids()
            back = await service.taken_back_of(work_item_id)
        if as_json:
            row = {"work_item": work_item_id, "patch": patch, "held": held, "words": why_not}
            print_json({**row, "taken_back": back})
            return DONE
        if back:
            click.echo(back, err=True)
        if held:
            click.echo(tr("Not applied: these changes wait for your yes."), err=True)
        if not patch:
            click.echo(why_not or tr("{name} changed nothing.", name=work_item_id), err=True)
        print_patch(patch)
        return DONE

    run_to_exit(work)


@click.command()
@click.option("--sandbox", "attack", is_flag=True, help="Attack the sandbox and say what held.")
@click.option("--deep", is_flag=True, help="Ask every model for one word, start MCP servers.")
@json_option
@click.pass_context
def doctor(ctx: click.Context, attack: bool, deep: bool, as_json: bool) -> None:
    """Check every part Silas needs, and say what each protects against."""

    async def work() -> int:
        if attack:
            return await _attack_sandbox(ctx, as_json)
        from silas.home.findings import is_ready
        from silas.services.doctor.diagnose import diagnose

        findings = await diagnose(read_config(ctx), deep=deep)
        if as_json:
            print_json([finding.document() for finding in findings])
        else:
            print_findings(findings)
        return DONE if is_ready(findings) else USAGE

    run_to_exit(work)


_STATES = {"ok": "ok", "advice": "--", "failed": "NO"}


def print_findings(findings: "Sequence[DoctorFinding]") -> None:
    """One line a finding with what to do, in the owner's language; what is true of all, below."""
    from silas.home.findings import headline
    from silas.services.cockpit.finding_words import finding_words

    told = [finding_words(finding) for finding in findings]
    column = max((len(finding.part) for finding in told), default=0) + 2
    for one in told:
        click.echo(_row(_STATES[one.state], one.part, one.words, column))
    click.echo("")
    click.echo(headline(told))


_GROUPS = (tr_later("files"), tr_later("network"), tr_later("processes"))
_HEALTH = (tr_later("healthy"), tr_later("degraded"), tr_later("unavailable"))
_ATTEMPTS = (
    tr_later("the attack ended without a report, so that nothing is known"),
    tr_later("the attack fails without a sandbox, too: {why}"),
    tr_later("not testable here"),
)
_SIGNS = {"held": "ok", "broken": "NO", "untestable": "--"}


async def _attack_sandbox(ctx: click.Context, as_json: bool) -> int:
    """Every attack on the sandbox, one line each; failed when one of them worked."""
    from silas.services.doctor.sandbox import examine_sandbox

    report = await examine_sandbox(read_config(ctx))
    document = report.document()
    if as_json:
        print_json(document)
        return DONE if report.holds else FAILED
    for check in document["checks"]:
        plain = check["verdict"] == "held"
        promise = tr(check["promise"])
        words = promise if plain else f"{promise} -> {retranslate(check['words'], _ATTEMPTS)}"
        name = f"{tr(check['group'])} {check['name']}"
        click.echo(f"{_SIGNS[check['verdict']]}  {name:34}  {words}")
    click.echo("")
    click.echo(
        tr(
            "{backend}: {held} attacks held, {broken} worked, {untestable} not testable here.",
            **{name: document[name] for name in ("backend", "held", "broken", "untestable")},
        )
    )
    return DONE if report.holds else FAILED


def _row(sign: str, part: str, words: str, column: int) -> str:
    """One part, its words kept in a column of their own; commands are never cut in two."""
    first = f"{sign}  {part:{column}}"
    wrapped = textwrap.wrap(
        words,
        _WIDTH - len(first),
        break_long_words=False,
        break_on_hyphens=False,
    )
    return first + ("\n" + " " * len(first)).join(wrapped or [""])


@click.group()
def plan() -> None:
    """Plans as files."""


@plan.command("check")
@click.argument("file", metavar="PLAN.md", type=GivenPath(path_type=Path))
@json_option
@click.pass_context
def plan_check(ctx: click.Context, file: Path, as_json: bool) -> None:
    """Parse a plan, print its card and its hash; nothing is run."""

    async def work() -> int:
        from silas.channels import render_card
        from silas.channels.terminal_colour import columns_of
        from silas.services.plans import (
            plan_card,
            plan_document,
            plan_look,
            read_plan,
            require_runnable,
        )

        item, config = read_plan(file).item, read_config(ctx)
        card = plan_card(item, tr("Checked from a file."), plan_look(config))
        approve = f"sha256:{card.approves}"
        if as_json:
            print_json({**item_line(item), **plan_document(item), "approve": approve})
        else:
            click.echo(render_card(card, columns_of(sys.stdout, _WIDTH)))
            if card.files_hash:
                words = tr_later("The plan is sha256:{digest}; with the files that it runs:")
                if card.task_hashes:
                    words = tr_later(
                        "The plan is sha256:{digest}; with its tasks and the files that it runs:"
                    )
                click.echo(tr(words, digest=card.plan_hash))
            click.echo(approve)
        await require_runnable(item, config)  # it is read and hashed, whatever runs here
        return DONE

    run_to_exit(work)


@click.group(cls=ShortGroup)
def tools() -> None:
    """What Silas can call."""


@tools.command("list")
@json_option
@click.pass_context
def tools_list(ctx: click.Context, as_json: bool) -> None:
    """Every tool with its risk, scopes, health and last error."""

    async def work() -> int:
        from silas.services.mcp import all_tool_rows

        rows = await all_tool_rows(look_config(ctx))
        if as_json:
            print_json(rows)
        width = max(len(row["name"]) for row in rows)
        risks = max(8, *(len(tr(row["risk"])) for row in rows))
        states = max(11, *(len(tr(row["health"])) for row in rows))
        for row in [] if as_json else rows:
            scopes = ", ".join(row["scopes"]) or "-"
            why = refusal_words(row["last_error"] or "")
            error = "  " + tr("last error: {why}", why=why) if why else ""
            stands = f"{tr(row['risk']):{risks}} {tr(row['health']):{states}}"
            click.echo(f"{row['name']:{width}} {stands} {scopes}{error}")
        return DONE

    run_to_exit(work)
