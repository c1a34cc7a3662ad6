"""`silas batch`: sort a folder batch by batch, and list, show and undo batches (spec 5.2.4)."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from silas.main.output import print_json
from silas.main.shared import (
    DECLINED,
    DONE,
    FAILED,
    GivenPath,
    json_option,
    look_config,
    open_silas,
    run_to_exit,
    warn,
)
from silas.main.terminal import terminal
from silas.main.typed import ShortGroup

if TYPE_CHECKING:
    from contextlib import AbstractAsyncContextManager

    from silas.services.batches.service import BatchService
    from silas.work.batches.review import TidiedFolder
    from silas.work.batches.store import KeptBatch


@click.group(cls=ShortGroup, otherwise="tidy")
def batch() -> None:
    """Sort a folder: approve its files batch by batch, or undo it.

    `silas batch ~/Downloads` shows where the files of that folder would go, ten at a time, and
    moves those that you approve. A folder called `list` is `./list`.
    """


@batch.command("tidy")
@click.argument("folder", type=GivenPath(path_type=Path))
@click.option("--only", metavar="PATTERN", default="", help="Only files such as '*.pdf'.")
@click.option("--dry-run", is_flag=True, help="Show what would be asked; ask and move nothing.")
@json_option
@click.pass_context
def batch_tidy(ctx: click.Context, folder: Path, only: str, dry_run: bool, as_json: bool) -> None:
    """Ask about the files of FOLDER batch by batch, and move those that you approve."""
    if dry_run:
        _show_plan(ctx, folder, only, as_json)

    async def work() -> int:
        from silas.services.batches.rows import tidied_row, tidied_words

        channel = terminal(to_stderr=as_json, approve=None)
        async with open_silas(ctx, channel.cards) as silas:
            tidied = await silas.tidy(folder, only=only)
        if as_json:
            print_json(tidied_row(tidied))
        else:
            for line in tidied_words(tidied):
                click.echo(line)
        return _code(tidied)

    run_to_exit(work)


def _show_plan(ctx: click.Context, folder: Path, only: str, as_json: bool) -> None:
    async def work() -> int:
        from silas.services.batches.rows import left_rows, plan_rows, plan_words

        async with _service(ctx) as service:
            plan = service.plan(folder, only)
        if as_json:
            rows = plan_rows(plan.folder, plan.moves)
            place = str(plan.folder.path)
            print_json({"folder": place, "files": rows, "left": left_rows(plan.left)})
            return DONE
        for line in plan_words(plan, service.thresholds.size):
            click.echo(line)
        return DONE

    run_to_exit(work)


@batch.command("list")
@json_option
@click.pass_context
def batch_list(ctx: click.Context, as_json: bool) -> None:
    """The batches that were approved, the newest first."""

    async def work() -> int:
        from silas.language import tr
        from silas.services.batches.rows import files_in, row_of, short_id

        async with _service(ctx) as service:
            found = service.all()
            rows = [row_of(service, kept) for kept in found]
            began = [service.say_moment(kept.began_at) for kept in found]
            ends = [_until(service, kept) for kept in found]
        if as_json:
            print_json(rows)
            return DONE
        for row, at, until in zip(rows, began, ends, strict=True):
            _show(f"{short_id(row['id'])}  {files_in(row['moved'], row['folder'])}")
            _show(f"  {at}")
            if until:
                _show(f"  {until}")
        if not rows:
            click.echo(tr("No batch was approved. `silas batch FOLDER` asks about one."))
        return DONE

    run_to_exit(work)


@batch.command("show")
@click.argument("batch_id", metavar="BATCH")
@json_option
@click.pass_context
def batch_show(ctx: click.Context, batch_id: str, as_json: bool) -> None:
    """The batch BATCH: each file by its number, where it is, and why one was left."""

    async def work() -> int:
        from silas.language import tr
        from silas.services.batches.rows import file_rows, file_words, row_of, state_words

        async with _service(ctx) as service:
            kept = service.get(batch_id)
            row, until = row_of(service, kept), _until(service, kept)
        if as_json:
            print_json({**row, "files": file_rows(kept)})
            return DONE
        place = tr("{batch} in {folder}", batch=kept.id, folder=row["folder"])
        _show(f"{place}{f'; {until}' if until else ''}")
        for item in file_rows(kept):
            why = f" ({file_words(item['why'])})" if item["why"] else ""
            state = state_words(item["state"])
            _show(f"  {item['number']}. {state}: {item['from']} -> {item['to']}{why}")
        return DONE

    run_to_exit(work)


@batch.command("undo")
@click.argument("batch_id", metavar="BATCH")
@click.argument("numbers", metavar="[NUMBER]...", nargs=-1, type=click.IntRange(1))
@json_option
@click.pass_context
def batch_undo(ctx: click.Context, batch_id: str, numbers: tuple[int, ...], as_json: bool) -> None:
    """Move the files of the batch BATCH back, or only those with these numbers.

    `last` is the newest batch, and `all` every one that can still be undone.
    """

    async def work() -> int:
        from silas.services.batches.rows import left_rows, undone_words

        async with _service(ctx) as service:
            undone = await service.undo(batch_id, numbers)
        if as_json:
            names = [item.move.name for item in undone.undone]
            print_json({"id": undone.batch_id, "undone": names, "left": left_rows(undone.left)})
        else:
            for line in undone_words(undone):
                click.echo(line)
        return FAILED if undone.left else DONE

    run_to_exit(work)


def _service(ctx: click.Context) -> "AbstractAsyncContextManager[BatchService]":
    from silas.services.batches.service import open_batches

    return warn(open_batches(look_config(ctx)))


def _until(service: "BatchService", kept: "KeptBatch") -> str:
    """Until when it can be taken back, by the owner's clock; empty where it cannot."""
    from silas.language import tr

    end = service.undo_until(kept)
    return "" if end is None else tr("undo until {moment}", moment=service.say_moment(end))


def _code(tidied: "TidiedFolder") -> int:
    """Nothing to do is done; a no to everything is declined; a yes that moved nothing failed."""
    if tidied.batches:
        return DONE if tidied.moved else FAILED
    return DECLINED if tidied.declined or tidied.unseen else DONE


def _show(line: str) -> None:
    from silas.plans.characters import show

    click.echo(show(line))
