"""Commands about the owner's conversations, and about those that wait for a person."""

import os
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import click

from silas.language import tr, tr_later
from silas.main.output import print_json
from silas.main.shared import (
    DECLINED,
    DONE,
    GivenPath,
    json_option,
    look_config,
    open_work,
    run_to_exit,
)
from silas.main.typed import ShortGroup, confirm

if TYPE_CHECKING:
    from contextlib import AbstractAsyncContextManager

    from silas.services.conversations import ConversationService


@click.group(cls=ShortGroup)
def queue() -> None:
    """Conversations that a rule stopped, and that wait for a person."""


@queue.command("list")
@json_option
@click.pass_context
def queue_list(ctx: click.Context, as_json: bool) -> None:
    """Everybody who waits for a person, the longest first."""

    async def work() -> int:
        from silas.language.calendar import moment_words

        zone = look_config(ctx).scheduler.zone
        async with open_work(ctx) as service:
            found = service.people.waiting()
        if as_json:
            print_json([{**one._asdict(), "since": one.since.isoformat()} for one in found])
            return DONE
        if not found:
            click.echo(tr("Nobody waits for a person."))
        for one in found:
            since = moment_words(one.since, zone)
            why = tr("since {moment}, by the rule {rule}", moment=since, rule=one.gate)
            click.echo(f"{one.queue}  {one.connection_id}  {why}")
        return DONE

    run_to_exit(work)


@queue.command("done")
@click.argument("connection_id")
@click.pass_context
def queue_done(ctx: click.Context, connection_id: str) -> None:
    """Say that somebody saw to a conversation; it waits no more."""

    async def work() -> int:
        async with open_work(ctx) as service:
            await service.people.mark_seen(connection_id)
        click.echo(tr("Noted: {id} waits no more.", id=connection_id))
        return DONE

    run_to_exit(work)


_WHICH = click.argument("which", metavar="ID|TITLE")


@click.group(cls=ShortGroup)
def conversations() -> None:
    """Your conversations: list, show, rename, archive, delete and export them.

    They are those of the cockpit. `silas chat --conversation ID|TITLE` goes on with one.
    """


@conversations.command("list")
@click.option("--all", "everything", is_flag=True, help="Those that are archived, too.")
@json_option
@click.pass_context
def conversations_list(ctx: click.Context, everything: bool, as_json: bool) -> None:
    """Every conversation, the one that you last said something in first."""

    async def work() -> int:
        from silas.services.conversations import row_of

        async with _service(ctx) as service:
            rows = [one for one in service.store.all() if everything or one.archived_at is None]
        if as_json:
            print_json([row_of(one) for one in rows])
            return DONE
        for one in rows:
            said = _minute(ctx, one.said_at) if one.said_at else tr("nothing said")
            away = "  archived" if one.archived_at else ""
            _show(f"{one.told_id}  {said}  {one.called}{away}")
        return DONE

    run_to_exit(work)


@conversations.command("show")
@_WHICH
@click.option("--last", type=click.IntRange(1, 10_000), default=50, help="How much of it; 50.")
@json_option
@click.pass_context
def conversations_show(ctx: click.Context, which: str, last: int, as_json: bool) -> None:
    """What was said last in a conversation; what is external is marked."""

    async def work() -> int:
        from silas.services.conversations import row_of

        async with _service(ctx) as service:
            row = service.store.find(which)
            said = (await service.list_said(row.told_id))[-last:]
        if as_json:
            print_json({**row_of(row), "messages": [one._asdict() for one in said]})
            return DONE
        _show(row.called)
        for one in said:
            foreign = tr(" (external, from {source})", source=one.source)
            mark = foreign if one.trust == "external" else ""
            _show(f"{one.at[:16].replace('T', ' ')} {one.who}{mark}:")
            for line in one.text.split("\n"):
                _show(f"  {line}")
        return DONE

    run_to_exit(work)


@conversations.command("search")
@click.argument("query", metavar="WORDS", nargs=-1, required=True)
@json_option
@click.pass_context
def conversations_search(ctx: click.Context, query: tuple[str, ...], as_json: bool) -> None:
    """What was said in all conversations and fits WORDS, the best first."""

    async def work() -> int:
        async with _service(ctx) as service:
            found = await service.find(" ".join(query))
        if as_json:
            print_json([one._asdict() for one in found])
            return DONE
        for one in found:
            mark = ", " + tr("external") if one.external else ""
            when = _minute(ctx, one.at)
            _show(f"{one.conversation}  {one.title}  {when}  {one.who}{mark}")
            _show(f"  {one.excerpt}")
        if not found:
            click.echo(tr("Nothing that was said fits."))
        return DONE

    run_to_exit(work)


@conversations.command("rename")
@_WHICH
@click.argument("title")
@click.pass_context
def conversations_rename(ctx: click.Context, which: str, title: str) -> None:
    """Give a conversation another TITLE."""

    async def work() -> int:
        async with _service(ctx) as service:
            row = service.store.rename(service.store.find(which).told_id, title)
        _show(tr("{id} is called {title} now.", id=row.told_id, title=row.called))
        return DONE

    run_to_exit(work)


@conversations.command("archive")
@_WHICH
@click.pass_context
def conversations_archive(ctx: click.Context, which: str) -> None:
    """Put a conversation away; nothing of it is deleted, and `restore` brings it back."""

    async def work() -> int:
        async with _service(ctx) as service:
            row = await service.archive(service.store.find(which).told_id)
        words = tr_later("Archived: {title}. `silas conversations restore {id}` undoes it.")
        _show(tr(words, title=row.called, id=row.told_id))
        return DONE

    run_to_exit(work)


@conversations.command("restore")
@_WHICH
@click.pass_context
def conversations_restore(ctx: click.Context, which: str) -> None:
    """Bring a conversation back that was archived."""

    async def work() -> int:
        async with _service(ctx) as service:
            row = await service.restore(service.store.find(which).told_id)
        _show(tr("It is back: {title}.", title=row.called))
        return DONE

    run_to_exit(work)


@conversations.command("delete")
@_WHICH
@click.option("--yes", is_flag=True, help="Without being asked.")
@click.pass_context
def conversations_delete(ctx: click.Context, which: str, yes: bool) -> None:
    """Delete a conversation for good: its messages, its files, and the memory of what was said.

    Work that came of it stays, and so does what Silas was told to remember. The record keeps
    digests of what was deleted.
    """

    async def work() -> int:
        async with _service(ctx) as service:
            name = service.store.find(which).told_id
            counts = service.deletion.counts(name)
            title = service.store.one(name).called
            if not yes:
                _show(counts.words(title))
                if not confirm(tr("Delete it?")):
                    click.echo(
                        tr("Nothing was deleted. Where nobody can be asked, say it with --yes.")
                    )
                    return DECLINED
            await service.deletion.delete(name)
        _show(tr("Deleted: {title}.", title=title))
        return DONE

    run_to_exit(work)


@conversations.command("files")
@_WHICH
@json_option
@click.pass_context
def conversations_files(ctx: click.Context, which: str, as_json: bool) -> None:
    """What is attached to a conversation: name, size and SHA-256; what was removed is marked."""

    async def work() -> int:
        from silas.services.conversations import attachment_row

        async with _service(ctx) as service:
            files = service.attachments.of(service.store.find(which).id)
        if as_json:
            print_json([attachment_row(one) for one in files])
            return DONE
        for one in files:
            gone = "  " + tr("removed") if one.state == "removed" else ""
            size = tr("{size} bytes", size=one.size)  # as it stands there, damaged or not
            _show(f"{one.name}  {size}  {one.digest}{gone}")
        if not files:
            click.echo(tr("No files are attached."))
        return DONE

    run_to_exit(work)


@conversations.command("export")
@_WHICH
@click.option(
    "--format",
    "form",
    type=click.Choice(["markdown", "json"]),
    default="markdown",
    help="Its form.",
)
@click.option(
    "--output", type=GivenPath(path_type=Path, dir_okay=False), help="A file; else it is printed."
)
@click.option("--force", is_flag=True, help="Replace a file that is there.")
@click.pass_context
def conversations_export(
    ctx: click.Context,
    which: str,
    form: Literal["markdown", "json"],
    output: Path | None,
    force: bool,
) -> None:
    """One conversation as a document: external text is marked, known secrets are masked."""

    async def work() -> int:
        async with _service(ctx) as service:
            row = service.store.find(which)
            document = await service.export(row.told_id, form)
        if output is None:
            click.echo(document, nl=False)
            return DONE
        _write(output, document, force=force)
        _show(tr("Wrote {what} to {file}.", what=row.called, file=output))
        return DONE

    run_to_exit(work)


def _write(output: Path, document: str, *, force: bool) -> None:
    """Write a file of the owner's alone; one that is there is replaced only with `force`."""
    from silas.errors import ConfigError

    flags = os.O_WRONLY | os.O_CREAT | (os.O_TRUNC if force else os.O_EXCL)
    try:
        handle = os.open(output, flags, 0o600)
    except FileExistsError:
        words = f"{output} is there already; --force replaces it."
        raise ConfigError(words, code="E_CFG_OUTPUT") from None
    with os.fdopen(handle, "w", encoding="utf-8") as file:
        file.write(document)


def _service(ctx: click.Context) -> "AbstractAsyncContextManager[ConversationService]":
    from silas.services.conversations import open_conversations

    return open_conversations(look_config(ctx))


def _minute(ctx: click.Context, kept: str) -> str:
    """A moment that is kept as ISO text, by the owner's clock."""
    from datetime import datetime

    from silas.language.calendar import moment_words

    return moment_words(datetime.fromisoformat(kept), look_config(ctx).scheduler.zone)


def _show(line: str) -> None:
    from silas.plans.characters import show

    click.echo(show(line))
