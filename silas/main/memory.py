"""The commands about what Silas remembers. They work on the database, beside a running Silas."""

import os
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, cast

import click

from silas.language import tr, tr_later, tr_many
from silas.main.output import print_json
from silas.main.shared import (
    DECLINED,
    DONE,
    GivenPath,
    json_option,
    look_config,
    run_to_exit,
    wrong_use,
)
from silas.main.typed import ShortGroup, confirm

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
_WORDS = {
    "memory_type": (
        *(tr_later("fact"), tr_later("episode"), tr_later("preference"), tr_later("skill_note")),
        *(tr_later("decision"), tr_later("foresight"), tr_later("profile")),
    ),
    "reingestion_tier": (tr_later("active"), tr_later("low_reingestion")),
    "source_kind": (tr_later("conversation_raw"), tr_later("memory_op"), tr_later("evicted")),
}
"""What stands in a field of a memory that is none of the owner's words."""
_SAID_OTHERWISE = {"trust_level": _TRUSTED, "taint": _FROM}
FIELDS = (
    *(tr_later("memory_id"), tr_later("memory_type"), tr_later("reingestion_tier")),
    *(tr_later("trust_level"), tr_later("taint"), tr_later("created_at"), tr_later("updated_at")),
    *(tr_later("valid_from"), tr_later("valid_until"), tr_later("access_count")),
    *(tr_later("last_accessed"), tr_later("semantic_tags"), tr_later("entity_refs")),
    *(tr_later("causal_refs"), tr_later("temporal_next"), tr_later("temporal_prev")),
    *(tr_later("session_id"), tr_later("source_kind"), tr_later("scope_id"), tr_later("sources")),
)
"""What a memory has beside its content, as `memory show` names it."""
_YES = click.option("--yes", is_flag=True, help="Do not ask; for a machine without a terminal.")
_MOMENT = click.DateTime(["%Y-%m-%d", "%Y-%m-%dT%H:%M:%S"])


@click.group(cls=ShortGroup)
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

        async with open_memory(look_config(ctx)) as service:
            found = await service.search(query, limit, raw=raw)
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

        async with open_memory(look_config(ctx)) as service:
            found = await service.newest(last)
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

        async with open_memory(look_config(ctx)) as service:
            found = await service.one(memory_id)
        document = found.model_dump(mode="json", exclude={"embedding"})
        if as_json:
            print_json(document)
            return DONE
        from silas.plans.characters import show, show_lines

        content = str(document.pop("content"))
        for name, value in document.items():
            if value not in (None, []):
                click.echo(f"{tr(name)}: {show(_field_words(name, value))}")
        click.echo()
        for line in show_lines(content):
            click.echo(line)
        return DONE

    run_to_exit(work)


def _field_words(name: str, value: Any) -> str:
    """What stands in a field, in the owner's language where it is a word of Silas's own."""
    if name in _SAID_OTHERWISE:
        return tr(_SAID_OTHERWISE[name][value])
    if value in _WORDS.get(name, ()):
        return tr(value)
    several = cast(list[Any], value if isinstance(value, list) else [value])
    return ", ".join(map(str, several))


@memory.command("add")
@click.argument("text", nargs=-1, required=True)
@json_option
@click.pass_context
def memory_add(ctx: click.Context, text: tuple[str, ...], as_json: bool) -> None:
    """Remember TEXT as your own words."""

    async def work() -> int:
        from silas.services.memory import checked_words, open_memory
        from silas.services.schedules.reminders import SAID_IN_COMMAND

        words = checked_words(" ".join(text))  # before a passphrase is asked for
        async with open_memory(look_config(ctx), sign=True) as service:
            made = await service.add(words, SAID_IN_COMMAND)
            _print_taken(
                await service.one(made),
                as_json,
                tr("Remembered it as your own words: {id}.", id=made),
            )
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
        from silas.services.memory import checked_words, open_memory
        from silas.services.schedules.reminders import SAID_IN_COMMAND

        words = checked_words(" ".join(text))  # before a passphrase is asked for
        async with open_memory(look_config(ctx), sign=True) as service:
            await service.correct(memory_id, words, SAID_IN_COMMAND)
            now = await service.one(memory_id)
        _print_taken(now, as_json, tr("Your words stand in {id} now.", id=now.memory_id))
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
        async with open_memory(look_config(ctx), sign=True) as service:
            with _new_file(file) as target:
                done = await service.rooms.bundles.export_to(target, moment, not no_raw)
        words = tr_later("Wrote {memories} to {file}, sha256:{digest}.")
        click.echo(tr(words, memories=_memories(done.memories), file=file, digest=done.digest))
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

        async with open_memory(look_config(ctx), take_in=True) as service:
            bundles = service.rooms.bundles
            with file.open("rb") as source:
                examined = await bundles.examine(source, mode, file.name)
            with examined:
                _tell_bundle(examined.facts, look_config(ctx).scheduler.zone)
                if not (yes or confirm(tr("Import it?"))):
                    click.echo(tr(_UNTOUCHED), err=True)
                    return DECLINED
                done = await bundles.carry_out(examined)
        words = tr_later(
            "Imported: {stored} new, {updated} changed, {kept} as they were, {deleted} deleted."
        )
        click.echo(tr(words, **done))
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
        raise wrong_use(tr_later("Name a source, or one memory with --id."))

    async def work() -> int:
        from silas.plans.characters import show
        from silas.services.memory import open_memory

        async with open_memory(look_config(ctx)) as service:
            if memory_id is not None:
                found = service.to_forget(memory_id)
                click.echo(_line(found, look_config(ctx).scheduler.zone))
                if not (yes or confirm(tr("Forget it?"))):
                    click.echo(tr(_UNTOUCHED), err=True)
                    return DECLINED
                await service.forget_one(memory_id)
                click.echo(tr("Forgot it."))
                if found.sources:
                    click.echo(tr(_TOLD_IN, source=show(found.sources[0])))
                return DONE
            name = source or ""
            await service.require_known(name)
            found = service.count_of(name)
            waiting = service.reminders.count_from(name)
            what = [_memories(found), *([_reminders(waiting)] if waiting else [])]
            from_there = tr("{what} came from {source}.", source=show(name), what=_and(what))
            click.echo(from_there)
            question = tr("Forget them, and what the conversation has of it?")
            if not (yes or confirm(question)):
                click.echo(tr(_UNTOUCHED), err=True)
                return DECLINED
            gone = await service.forget_source(name)
            lines = tr_many(
                gone.lines, "{count} line of the conversation", "{count} lines of the conversation"
            )
            what = [_memories(gone.memories), lines]
            what += [_reminders(gone.reminders)] if gone.reminders else []
            click.echo(tr("Forgot {what}.", what=_and(what)))
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


_TOLD_IN = tr_later(
    "The conversation keeps the words it was told in; `silas memory forget {source}` forgets "
    "everything from there."
)
_UNTOUCHED = tr_later("Nothing was changed. Where nobody can be asked, say it with --yes.")


def _memories(count: int) -> str:
    return tr_many(count, "{count} memory", "{count} memories")


def _reminders(count: int) -> str:
    return tr_many(count, "{count} reminder", "{count} reminders")


def _and(what: list[str]) -> str:
    return ", ".join(what[:-1]) + (tr(" and ") if what[:-1] else "") + what[-1]


def _tell_bundle(facts: "BundleFacts", zone: "ZoneInfo") -> None:
    from silas.language.calendar import moment_words
    from silas.memory.bundle_rules import BundleTrust

    whose = {
        BundleTrust.yours: tr("It is yours, by your key; its memories keep their trust."),
        BundleTrust.anothers: tr(
            "It is signed by another key, {key}...; its memories come in as unconfirmed and "
            "external, from bundle:{name}.",
            key=facts.owner_key[:16],
            name=facts.name,
        ),
        BundleTrust.nobodys: tr(
            "Nobody signed it; its memories come in as unconfirmed and external, from "
            "bundle:{name}.",
            name=facts.name,
        ),
    }
    exported = moment_words(facts.exported_at, zone)
    words = tr_later("A bundle of {memories}, exported {moment}.")
    click.echo(tr(words, memories=_memories(facts.memories), moment=exported))
    click.echo(whose[facts.whose])
    adds = tr("It adds to what is remembered") if facts.mode == "merge" else None
    words = tr_later(
        "{adds}: {stored} new, {updated} changed, {kept} stay as they are, {deleted} that are here "
        "now are deleted."
    )
    counts = {name: getattr(facts, name) for name in ("stored", "updated", "kept", "deleted")}
    click.echo(tr(words, adds=adds or tr("It takes its place"), **counts))


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
