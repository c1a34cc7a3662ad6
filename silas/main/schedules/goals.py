"""`silas goals`: list, show, pause, resume and run goals; works beside a running Silas."""

from datetime import datetime
from typing import TYPE_CHECKING, Any

import click

from silas.language import tr, tr_later
from silas.main.output import print_json
from silas.main.shared import DONE, json_option, look_config, run_to_exit, warn
from silas.main.typed import ShortGroup

if TYPE_CHECKING:
    from contextlib import AbstractAsyncContextManager

    from silas.goals.models import Cycle, Goal
    from silas.services.schedules.goals import GoalService, StandingUse

_TEN = 10
_LABELS = {
    "id": "id",
    "title": tr_later("title"),
    "state": tr_later("state"),
    "why": tr_later("why"),
    "schedule": tr_later("schedule"),
    "next": tr_later("next"),
    "failing": tr_later("failing"),
}


@click.group(cls=ShortGroup)
def goals() -> None:
    """Goals: what is checked by the clock, and the work that starts where a check fails.

    `silas run PLAN` approves one. A Silas that stays runs them: `silas start`, `silas chat`.
    """


@goals.command("list")
@json_option
@click.pass_context
def goals_list(ctx: click.Context, as_json: bool) -> None:
    """Every goal, and when its checks run next."""

    async def work() -> int:
        async with _service(ctx) as service:
            found = service.goals.store.all()
            rows = [await _row(service, goal) for goal in found]
            coming = [service.goals.coming_words(goal.id) for goal in found]
            left = [await service.standing_of(goal) for goal in found]
        if as_json:
            print_json([{**row, "yes": _yes(one)} for row, one in zip(rows, left, strict=True)])
            return DONE
        for row, next_one, yes in zip(rows, coming, left, strict=True):
            _show(f"{row['id']:32} {tr(row['state']):8} {row['title']}")
            if next_one:
                _show("  " + tr("next {when}", when=next_one))
            if yes:
                _show("  " + tr("your yes: {left}", left=yes.words))
            if row["why"]:
                _show(f"  {row['why']}")
        if not rows:
            click.echo(
                tr("No goal was approved. `silas run PLAN` with `type: goal` asks about one.")
            )
        return DONE

    run_to_exit(work)


@goals.command("show")
@click.argument("goal")
@json_option
@click.pass_context
def goals_show(ctx: click.Context, goal: str, as_json: bool) -> None:
    """The goal GOAL: how it stands, its schedule and its last cycle."""

    async def work() -> int:
        async with _service(ctx) as service:
            found = service.goals.get(await service.find(goal))
            row = await _row(service, found)
            last = service.goals.store.history(found.id, 1)
            shown = {**row, "next": service.goals.coming_words(found.id)}
            lines = [_cycle_line(service, found, one) for one in last]
            left = await service.standing_of(found)
        if as_json:
            print_json({**row, "yes": _yes(left), "last": _cycle(last[0]) if last else None})
            return DONE
        for name, value in {**shown, "state": tr(row["state"])}.items():
            _show(f"{tr(_LABELS[name])}: {value if value != '' else '-'}")
        if left:
            _show(tr("your yes: {left}", left=left.words))
        for line in lines:
            _show(tr("last cycle: {line}", line=line))
        return DONE

    run_to_exit(work)


@goals.command("pause")
@click.argument("goal")
@click.pass_context
def goals_pause(ctx: click.Context, goal: str) -> None:
    """Run the goal GOAL no more until it is resumed; what is under way ends."""

    async def work() -> int:
        async with _service(ctx) as service:
            paused = service.goals.pause(await service.find(goal))
        _show(tr("Paused {goal}.", goal=paused.id))
        return DONE

    run_to_exit(work)


@goals.command("resume")
@click.argument("goal")
@click.pass_context
def goals_resume(ctx: click.Context, goal: str) -> None:
    """Run the paused goal GOAL again; what was due meanwhile is not made up for."""

    async def work() -> int:
        async with _service(ctx) as service:
            resumed = service.goals.resume(await service.find(goal)).id
            coming = service.goals.coming_words(resumed)
        _show(tr("Resumed {goal}; next {when}.", goal=resumed, when=coming))
        return DONE

    run_to_exit(work)


@goals.command("run")
@click.argument("goal")
@click.pass_context
def goals_run(ctx: click.Context, goal: str) -> None:
    """Run one cycle of the goal GOAL now, in the Silas that runs."""

    async def work() -> int:
        async with _service(ctx) as service:
            due = await service.find(goal)
            service.goals.run_now(due)
        words = tr_later(
            "A cycle of {goal} is due now; `silas goals history {goal}` shows its end."
        )
        _show(tr(words, goal=due))
        return DONE

    run_to_exit(work)


@goals.command("history")
@click.argument("goal")
@click.option("--most", default=20, show_default=True, type=click.IntRange(1, 1000))
@json_option
@click.pass_context
def goals_history(ctx: click.Context, goal: str, most: int, as_json: bool) -> None:
    """The cycles of the goal GOAL, the newest first."""

    async def work() -> int:
        async with _service(ctx) as service:
            found = service.goals.get(await service.find(goal))
            cycles = service.goals.store.history(found.id, most)
            lines = [_cycle_line(service, found, one) for one in cycles]
        if as_json:
            print_json([_cycle(one) for one in cycles])
            return DONE
        for line in lines:
            _show(line)
        if not lines:
            click.echo(tr("No cycle of it has run yet."))
        return DONE

    run_to_exit(work)


@goals.command("next")
@click.argument("goal")
@json_option
@click.pass_context
def goals_next(ctx: click.Context, goal: str, as_json: bool) -> None:
    """The next ten moments of the goal GOAL; of a paused one, those after it is resumed."""

    async def work() -> int:
        async with _service(ctx) as service:
            found = service.goals.get(await service.find(goal))
            moments = service.goals.next_moments(found.schedule, _TEN)
            lines = [service.goals.say_moment(one, found.schedule) for one in moments]
        if as_json:
            print_json([one.isoformat() for one in moments])
            return DONE
        for line in lines:
            click.echo(line)
        if not moments:
            click.echo(tr("Its one moment is past."))
        return DONE

    run_to_exit(work)


def _service(ctx: click.Context) -> "AbstractAsyncContextManager[GoalService]":
    from silas.services.schedules.goals import open_goals

    return warn(open_goals(look_config(ctx)))


async def _row(service: "GoalService", goal: "Goal") -> dict[str, Any]:
    return {
        "id": goal.id,
        "title": await service.title(goal),
        "state": goal.state.value,
        "why": await service.why(goal),
        "schedule": goal.schedule,
        "next": _words(service.goals.coming(goal.id)),
        "failing": goal.failing,
    }


def _yes(found: "StandingUse | None") -> dict[str, Any] | None:
    """How much of the owner's yes is used; None where there is none that counts."""
    return None if found is None else {**found._asdict(), "until": found.until.isoformat()}


def _cycle_line(service: "GoalService", goal: "Goal", cycle: "Cycle") -> str:
    """When it was due by the goal's clock, how it ended, and what it stands for."""
    from silas.audit.outcomes import outcome_word

    missed = " " + tr("(and {count} missed)", count=cycle.missed) if cycle.missed else ""
    due = service.goals.say_moment(cycle.due, goal.schedule)
    return f"{due}: {outcome_word(cycle.outcome.value)}  {cycle.words}{missed}".rstrip()


def _words(moments: list[datetime]) -> str:
    return moments[0].isoformat() if moments else ""


def _cycle(cycle: "Cycle") -> dict[str, Any]:
    return {
        "due": cycle.due.isoformat(),
        "outcome": cycle.outcome.value,
        "task": cycle.task_id,
        "missed": cycle.missed,
        "words": cycle.words,
        "ended": "" if cycle.ended_at is None else cycle.ended_at.isoformat(),
    }


def _show(line: str) -> None:
    from silas.plans.characters import show

    click.echo(show(line))
