"""`silas ahead`: what is to come, and what may run without asking."""

from datetime import date
from typing import TYPE_CHECKING, Any

import click

from silas.language import tr, tr_many
from silas.main.output import print_json
from silas.main.shared import DONE, json_option, look_config, run_to_exit, was_told

if TYPE_CHECKING:
    from silas.services.projects import ProjectOverview
    from silas.services.schedules.ahead import Ahead, Upcoming

_WEEK = 7
_MOST = 366  # days; a year is as far as a page can be read


@click.command()
@click.option(
    "--days", default=_WEEK, show_default=True, type=click.IntRange(1, _MOST), help="How far."
)
@json_option
@click.pass_context
def ahead(ctx: click.Context, days: int, as_json: bool) -> None:
    """What is to come, and what may run without asking you again."""

    async def work() -> int:
        from silas.services.schedules.ahead import open_ahead

        async with open_ahead(look_config(ctx)) as service:
            found = await service.look(days)
        if as_json:
            print_json(_document(found))
            return DONE
        for line in _lines(found, days):
            _show(line)
        return DONE

    run_to_exit(work)


def _lines(found: "Ahead", days: int) -> list[str]:
    """What a person reads: by days, then what may run alone, then what does not run."""
    from silas.language.calendar import near_day_words
    from silas.services.schedules.ahead import left_words

    lines, day = list[str](), date.min
    for one in found.coming:
        at = one.due.astimezone(found.zone)
        if at.date() != day:
            day = at.date()
            lines += ["", near_day_words(at, found.now.astimezone(found.zone))]
        lines.append(f"  {at:%H:%M}  {_words(one)}")
    if not found.coming:
        nothing = tr_many(
            days, "Nothing comes within {count} day.", "Nothing comes within {count} days."
        )
        lines += ["", nothing if days > 1 else tr("Nothing comes today.")]
    if found.later:
        more = tr("{more} more later: `silas ahead --days {days}`", more=found.later, days=_MOST)
        lines.append(f"  {more}")
    runs = [one for one in found.alone if not one.lapsed]
    if runs:
        lines += ["", tr("May run without asking (`silas approvals revoke ID` takes it back)")]
    for alone in runs:
        lines.append(f"  {alone.id}  {alone.title}: {left_words(alone, found.zone)}")
        lines.append(f"    {alone.does}")
    lapsed = [one for one in found.alone if one.lapsed]
    if lapsed:
        lines += ["", tr("Approvals that have lapsed (`silas approvals revoke ID` takes one back)")]
    lines += [f"  {one.id}  {one.title}: {one.lapsed}" for one in lapsed]
    if found.asking:
        lines += ["", tr("Asks each time")]
    lines += [f"  {one.id}  {one.title}: {one.why}" for one in found.asking]
    if found.paused:
        lines += ["", tr("Paused (`silas goals resume ID`)")]
    lines += [f"  {one.id}  {one.title}{f': {one.why}' if one.why else ''}" for one in found.paused]
    for project in found.projects:
        name = tr("Project {id}  {title}", id=project.id, title=project.title)
        lines += ["", name, *project_lines(project)]
    told = (*found.warnings, *found.asks)
    if untold := [words for words in told if not was_told(words)]:
        lines += ["", *untold]
    return lines[1:]


def project_lines(project: "ProjectOverview") -> list[str]:
    """Its tasks in steps: a task comes after all that it waits for."""
    from silas.services.projects import state_words

    lines = list[str]()
    for number, step in enumerate(project.steps, start=1):
        for task in step:
            waits = tr("after {names}", names=", ".join(task.depends_on))
            after = f"  ({waits})" if task.depends_on else ""
            lines.append(f"  {number}. {task.id}: {state_words(task, project.waits)}{after}")
    return lines


def _words(one: "Upcoming") -> str:
    more = f", {tr_many(one.more, 'once more', '{count} more times')}" if one.more else ""
    again = f"  ({one.again}{more})" if one.again else ""
    name = one.title if one.kind == "reminder" else f"{one.id}  {one.title}"
    return f"{name}{again}"


def _document(found: "Ahead") -> dict[str, Any]:
    from silas.services.schedules.ahead import left_words

    return {
        "now": found.now.isoformat(),
        "zone": found.zone.key,
        "coming": [
            {**one._asdict(), "due": one.due.isoformat(), "kind": one.kind.value}
            for one in found.coming
        ],
        "later": found.later,
        "alone": [
            {**one._asdict(), "until": one.until.isoformat(), "left": left_words(one, found.zone)}
            for one in found.alone
        ],
        "asking": [one._asdict() for one in found.asking],
        "paused": [one._asdict() for one in found.paused],
        "projects": [
            {**one._asdict(), "steps": [[task._asdict() for task in step] for step in one.steps]}
            for one in found.projects
        ],
        "warnings": [*found.warnings, *found.asks],
    }


def _show(line: str) -> None:
    from silas.plans.characters import show

    click.echo(show(line))
