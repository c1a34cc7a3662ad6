"""`silas show ID`: one piece of work with its plan, its result, its output, checks and changes."""

from typing import TYPE_CHECKING, Any

import click

from silas.language import tr
from silas.main.output import ASKED, going_on, print_json, state_word
from silas.main.shared import (
    DONE,
    json_option,
    look_config,
    open_work,
    read_config,
    run_to_exit,
)

if TYPE_CHECKING:
    from silas.plans import WorkItem, WorkItemResult
    from silas.plans.card_preview import PlanLook


@click.command()
@click.argument("work_item_id")
@json_option
@click.pass_context
def show(ctx: click.Context, work_item_id: str, as_json: bool) -> None:
    """One piece of work: its plan, result, output, checks and what it changed."""

    async def work() -> int:
        from silas.plans.characters import show as as_shown
        from silas.services.plans import plan_look
        from silas.services.work import waits_words

        async with open_work(ctx) as service:
            item, result, waiting = await service.one(work_item_id)
            back = "" if waiting else service.taken_back(item)
            asks = "" if waiting else waits_words(item, service.store)
            status = ASKED if waiting else service.state(item)
        status, why = (status, "") if waiting else await _by_clock(ctx, item, status)
        if as_json:
            told = {"why": why, "taken_back": back, "asks": bool(asks)}
            print_json({**document(item, result, status), **told})
            return DONE
        lines = lines_of(item, result, status, plan_look(read_config(ctx)))
        for text in filter(None, (back, why, asks)):
            lines.insert(1, as_shown(text))
        for line in lines:
            click.echo(line)
        return DONE

    run_to_exit(work)


async def _by_clock(ctx: click.Context, item: "WorkItem", status: str) -> tuple[str, str]:
    """How a goal stands by its clock, and why it is paused or starts nothing; else as it was."""
    from silas.services.schedules.goals import open_goals

    if item.type != "goal":
        return status, ""
    async with open_goals(look_config(ctx)) as service:
        goal = service.goals.get_goal(item.id)
        if goal is None:
            return status, ""
        return (status if goal.standing == "active" else goal.standing), await service.why(goal)


def document(item: "WorkItem", result: "WorkItemResult | None", status: str) -> dict[str, Any]:
    """What `show --json` prints."""
    from silas.services.plans import plan_document

    facts = plan_document(item)
    return {
        "id": item.id,
        "title": item.title,
        "type": item.type.value,
        "status": status,
        "plan_hash": facts["plan_hash"],
        "plan": facts["plan"],
        "result": None if result is None else result.model_dump(mode="json"),
        "output": "" if result is None else result.output,
        "checks": checks_of(item),
        "diff": "" if result is None else result.diff,
    }


def checks_of(item: "WorkItem") -> list[dict[str, Any]]:
    """What the checks of the last attempt found."""
    last: dict[str, Any] = item.verification_results[-1] if item.verification_results else {}
    found: list[dict[str, Any]] = last.get("results", [])
    return found


def lines_of(
    item: "WorkItem", result: "WorkItemResult | None", status: str, look: "PlanLook"
) -> list[str]:
    """The same for a person; what others wrote is indented, and hides no character."""
    from silas.channels.text import card_lines, detail_line
    from silas.plans.characters import as_shown
    from silas.services.plans import plan_card
    from silas.work.attempt import again_words
    from silas.work.end_words import tell_end
    from silas.work.report import result_texts

    why = going_on().get(status, tr("This is the plan as it is."))
    if item.parent is not None and status in ("paused", "blocked", "stuck", "failed"):
        why = again_words(item)
    card = plan_card(item, why, look)
    lines = [f"{state_word(status)}  {item.id}  {as_shown(item.title)}", *card_lines(card)]
    for text in () if result is None else result_texts(result):
        lines += ["", *(as_shown(line) for line in text.split("\n"))]
    if result is not None:
        lines += ["", tr("Result:"), *_lines_shown(tell_end(result.summary))]
    if result is not None and result.read_before:
        lines += ["", tr("Read before its changes, neither yours nor the plan's:")]
        lines += [line for source in result.read_before for line in detail_line(source)]
    checks = checks_of(item)
    if checks:
        lines += ["", tr("Checks:")]
    for check in checks:
        lines.append(f"{tr('ok') if check['passed'] else tr('NO')}  {as_shown(check['name'])}")
        for text in (check["reason"], *str(check["output"]).splitlines()):
            lines += detail_line(text)
    if result is not None and result.diff:
        lines += ["", tr("What changed:"), result.diff]
    return lines


def _lines_shown(text: str) -> list[str]:
    """A text of several lines, each of them shown with what it hides."""
    from silas.channels.text import detail_line

    return [shown for line in text.split("\n") for shown in detail_line(line)]
