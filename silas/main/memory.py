"""The commands about what Silas remembers. They work on the database, beside a running Silas."""

import os
import sys
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, cast

import click

from silas.language import tr, tr_later
from silas.main.output import print_json
from silas.main.shared import DECLINED, DONE, GivenPath, json_option, look_config, run_to_exit

if TYPE_CHECKING:
    from collections.abc import Generator
    from datetime import datetime
    from zoneinfo import ZoneInfo

    from silas.memory import MemoryItem
    from silas.memory.bundle_rules import BundleFacts

_LINE = 100  # characters of a memory in a list
_TRUSTED = {
    "working": tr_later("not confirmed"),
    "verified": tr_later("confirmed"),
    "constitutional": tr_later("who Silas is"),
}
_FROM = {
    "owner": tr_later("signed by you"),
    "auth": tr_later("from a known sender"),
    "external": tr_later("from elsewhere"),
}
_YES = click.option("--yes", is_flag=True, help="Do not ask; for a machine without a terminal.")
_MOMENT = click.DateTime(["%Y-%m-%d", "%Y-%m-%dT%H:%M:%S"])


@click.group()
def memory() -> None:
    """What Silas remembers: find, show, add, correct, forget, take elsewhere."""


@memory.command("search")
@click.argument("query")
@click.option("--raw", is_flag=True, help="Search what was said and read word for word, too.")
@click.option("--limit", default=10, type=click.IntRange(1, 1000), help="At most so many.")
@json_option
@click.pass_context
def memory_search(ctx: click.Context, query: str, raw: bool, limit: int, as_json: bool) -> None:
    """Find memories by a question or by words, the best first."""

    async def work() -> int:
        from silas.services.memory import open_memory

        async with open_memory(look_config(ctx)) as desk:
            found = await desk.search(query, limit, raw=raw)
        _print_items(ctx, found, as_json, tr("Nothing that is remembered fits."))
        return DONE

    run_to_exit(work)


@memory.command("list")
@click.option("--last", default=20, type=click.IntRange(1, 100_000), help="How many.")
@json_option
@click.pass_context
def memory_list(ctx: click.Context, last: int, as_json: bool) -> None:
    """The latest memories, the newest first."""

    async def work() -> int:
        from silas.services.memory import open_memory

        async with open_memory(look_config(ctx)) as desk:
            found = await desk.newest(last)
        _print_items(ctx, found, as_json, tr("Nothing is remembered yet."))
        return DONE

    run_to_exit(work)


@memory.command("show")
@click.argument("memory_id", metavar="ID")
@json_option
@click.pass_context
def memory_show(ctx: click.Context, memory_id: str, as_json: bool) -> None:
    """One memory with all that is known about it."""

    async def work() -> int:
        from silas.services.memory import open_memory

        async with open_memory(look_config(ctx)) as desk:
            found = await desk.one(memory_id)
        document = found.model_dump(mode="json", exclude={"embedding"})
        if as_json:
            print_json(document)
            return DONE
        from silas.plans.characters import show, show_lines

        content = str(document.pop("content"))
        for name, value in document.items():
            if value not in (None, []):
                several = cast(list[Any], value if isinstance(value, list) else [value])
                click.echo(f"{name}: {show(', '.join(map(str, several)))}")
        click.echo()
        for line in show_lines(content):
            click.echo(line)
        return DONE

    run_to_exit(work)


@memory.command("add")
@click.argument("text", nargs=-1, required=True)
@json_option
@click.pass_context
def memory_add(ctx: click.Context, text: tuple[str, ...], as_json: bool) -> None:
    """Remember TEXT as your own words."""

    async def work() -> int:
        from silas.services.clock.reminders import SAID_IN_COMMAND
        from silas.services.memory import checked_words, open_memory

        words = checked_words(" ".join(text))  # before a passphrase is asked for
        async with open_memory(look_config(ctx), sign=True) as desk:
            made = await desk.add(words, SAID_IN_COMMAND)
            _print_taken(await desk.one(made), as_json, f"Remembered it as your own words: {made}.")
        return DONE

    run_to_exit(work)


@memory.command("correct")
@click.argument("memory_id", metavar="ID")
@click.argument("text", nargs=-1, required=True)
@json_option
@click.pass_context
def memory_correct(
    ctx: click.Context, memory_id: str, text: tuple[str, ...], as_json: bool
) -> None:
    """Put TEXT, your own words, in the place of the memory ID."""

    async def work() -> int:
        from silas.services.clock.reminders import SAID_IN_COMMAND
        from silas.services.memory import checked_words, open_memory

        words = checked_words(" ".join(text))  # before a passphrase is asked for
        async with open_memory(look_config(ctx), sign=True) as desk:
            await desk.correct(memory_id, words, SAID_IN_COMMAND)
            now = await desk.one(memory_id)
        _print_taken(now, as_json, f"Your words stand in {now.memory_id} now.")
        return DONE

    run_to_exit(work)


@memory.command("export")
@click.argument("file", type=GivenPath(path_type=Path))
@click.option("--no-raw", is_flag=True, help="Leave out what was said and read word for word.")
@click.option("--since", type=_MOMENT, help="Only what changed since then (UTC).")
@click.pass_context
def memory_export(ctx: click.Context, file: Path, no_raw: bool, since: "datetime | None") -> None:
    """Write what is remembered as one bundle, signed with your key."""

    async def work() -> int:
        from datetime import UTC

        from silas.services.memory import open_memory

        moment = None if since is None else since.replace(tzinfo=UTC)
        async with open_memory(look_config(ctx), sign=True) as desk:
            with _new_file(file) as target:
                done = await desk.rooms.bundles.export_to(target, moment, not no_raw)
        click.echo(f"Wrote {done.memories} memories to {file}, sha256:{done.digest}.")
        return DONE

    run_to_exit(work)


@memory.command("import")
@click.argument("file", type=GivenPath(path_type=Path))
@click.option(
    "--mode",
    type=click.Choice(["merge", "replace"]),
    default="merge",
    help="Add to what is remembered, or put the bundle in its place.",
)
@_YES
@click.pass_context
def memory_import(ctx: click.Context, file: Path, mode: str, yes: bool) -> None:
    """Take in a bundle, after saying whose it is and what would happen."""

    async def work() -> int:
        from silas.services.memory import open_memory

        async with open_memory(look_config(ctx), take_in=True) as desk:
            bundles = desk.rooms.bundles
            with file.open("rb") as source:
                examined = await bundles.examine(source, mode, file.name)
            with examined:
                _tell_bundle(examined.facts, look_config(ctx).scheduler.zone)
                if not (yes or _confirm_question("Import it?")):
                    click.echo(_UNTOUCHED, err=True)
                    return DECLINED
                done = await bundles.carry_out(examined)
        click.echo(
            f"Imported: {done['stored']} new, {done['updated']} changed, "
            f"{done['kept']} as they were, {done['deleted']} deleted."
        )
        return DONE

    run_to_exit(work)


@memory.command("forget")
@click.argument("source", required=False)
@click.option("--id", "memory_id", metavar="ID", help="Forget this one memory.")
@_YES
@click.pass_context
def memory_forget(ctx: click.Context, source: str | None, memory_id: str | None, yes: bool) -> None:
    """Forget everything that came from a source, what was made of it included, or one memory."""
    if (source is None) == (memory_id is None):
        raise click.UsageError("Name a source, or one memory with --id.")

    async def work() -> int:
        from silas.plans.characters import show
        from silas.services.memory import open_memory

        async with open_memory(look_config(ctx)) as desk:
            if memory_id is not None:
                found = desk.to_forget(memory_id)
                click.echo(_line(found, look_config(ctx).scheduler.zone))
                if not (yes or _confirm_question("Forget it?")):
                    click.echo(_UNTOUCHED, err=True)
                    return DECLINED
                await desk.forget_one(memory_id)
                click.echo("Forgot it.")
                if found.sources:
                    click.echo(_TOLD_IN.format(source=show(found.sources[0])))
                return DONE
            name = source or ""
            await desk.require_known(name)
            found = desk.count_of(name)
            waiting = desk.reminders.count_from(name)
            also = f", and {waiting} reminders" if waiting else ""
            click.echo(f"{found} memories came from {show(name)}{also}.")
            if not (yes or _confirm_question("Forget them, and what the conversation has of it?")):
                click.echo(_UNTOUCHED, err=True)
                return DECLINED
            gone = await desk.forget_source(name)
            also = f" and {gone.reminders} reminders" if gone.reminders else ""
            click.echo(
                f"Forgot {gone.memories} memories, and {gone.lines} lines of the "
                f"conversation{also}."
            )
            return DONE

    run_to_exit(work)


@contextmanager
def _new_file(path: Path) -> "Generator[BinaryIO]":
    """A file of the owner's alone that was not there; what could not be finished does not stay."""
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with os.fdopen(handle, "wb") as target:
            yield target
    except BaseException as error:
        with suppress(OSError):
            path.unlink()
        if isinstance(error, OSError) and error.errno and not error.filename:
            raise OSError(error.errno, error.strerror, str(path)) from error
        raise


_TOLD_IN = (
    "The conversation keeps the words it was told in; `silas memory forget {source}` forgets "
    "everything from there."
)
_UNTOUCHED = "Nothing was changed. Where nobody can be asked, say it with --yes."


def _confirm_question(question: str) -> bool:
    if sys.stdin is None or not sys.stdin.isatty():
        return False
    from silas.home.passphrases import allow_interrupt

    with allow_interrupt():
        return click.confirm(question, default=False)


def _tell_bundle(facts: "BundleFacts", zone: "ZoneInfo") -> None:
    from silas.language.calendar import moment_words
    from silas.memory.bundle_rules import BundleTrust

    whose = {
        BundleTrust.yours: "It is yours, by your key; its memories keep their trust.",
        BundleTrust.anothers: f"It is signed by another key, {facts.owner_key[:16]}...; its "
        f"memories come in as unconfirmed and external, from bundle:{facts.name}.",
        BundleTrust.nobodys: "Nobody signed it; its memories come in as unconfirmed and external, "
        f"from bundle:{facts.name}.",
    }
    exported = moment_words(facts.exported_at, zone)
    click.echo(f"A bundle of {facts.memories} memories, exported {exported}.")
    click.echo(whose[facts.whose])
    words = "adds to what is remembered" if facts.mode == "merge" else "takes its place"
    click.echo(
        f"It {words}: {facts.stored} new, {facts.updated} changed, {facts.kept} stay as they are, "
        f"{facts.deleted} that are here now are deleted."
    )


def _print_items(
    ctx: click.Context, found: "list[MemoryItem]", as_json: bool, nothing: str
) -> None:
    if as_json:
        print_json([item.model_dump(mode="json", exclude={"embedding"}) for item in found])
        return
    zone = look_config(ctx).scheduler.zone
    for item in found:
        click.echo(_line(item, zone))
    if not found:
        click.echo(nothing)


def _print_taken(item: "MemoryItem", as_json: bool, words: str) -> None:
    if as_json:
        print_json(item.model_dump(mode="json", exclude={"embedding"}))
    else:
        click.echo(words)


def _line(item: "MemoryItem", zone: "ZoneInfo") -> str:
    from silas.plans.characters import show

    words = " ".join(item.content.split())
    short = words if len(words) <= _LINE else f"{words[:_LINE]}..."
    trust = f"{tr(_TRUSTED[item.trust_level.value])}, {tr(_FROM[item.taint.value])}"
    day = f"{item.created_at.astimezone(zone):%Y-%m-%d}"
    return f"{show(item.memory_id)}  {day}  {trust}  {show(short)}"
