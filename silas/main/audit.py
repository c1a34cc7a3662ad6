"""The commands about the record: show, verify, witness, export."""

import re
import shlex
from pathlib import Path
from typing import TYPE_CHECKING

import click

from silas.language import refusal_words, tr, tr_later, tr_many
from silas.main.output import print_json
from silas.main.shared import (
    DECLINED,
    DONE,
    FAILED,
    GivenPath,
    json_option,
    open_audit,
    run_to_exit,
    tell_once,
    wrong_value,
)
from silas.main.typed import ShortGroup, confirm

if TYPE_CHECKING:
    from silas.audit import AuditHead
    from silas.services.record import AuditService


@click.group(cls=ShortGroup, alone="show")
def audit() -> None:
    """The record of what happened."""


def _warn(log: "AuditService") -> None:
    for words in log.warnings:
        tell_once(words)


@audit.command("show")
@click.option(
    "--last", type=click.IntRange(min=1), default=40, show_default=True, help="How many entries."
)
@json_option
@click.pass_context
def audit_show(ctx: click.Context, last: int, as_json: bool) -> None:
    """The latest entries in plain words."""

    async def work() -> int:
        async with open_audit(ctx) as log:
            lines = [] if as_json else await log.narrate(last)
            documents = await log.documents(last) if as_json else []
        _warn(log)
        if as_json:
            print_json(documents)
            return DONE
        for line in lines or [tr("Nothing is on record yet.")]:
            click.echo(line)
        return DONE

    run_to_exit(work)


def _heads(_: click.Context, __: click.Parameter, given: tuple[str, ...]) -> "list[AuditHead]":
    from silas.audit import AuditHead

    found = [re.fullmatch(r"([0-9]{1,18}):([0-9a-f]{64})", text) for text in given]
    if None in found:
        raise wrong_value(tr_later("give a head as printed: its number, a colon and 64 hex digits"))
    return [AuditHead(int(each[1]), each[2]) for each in found if each]


def _one_head(
    ctx: click.Context, parameter: click.Parameter, given: str | None
) -> "AuditHead | None":
    return None if given is None else _heads(ctx, parameter, (given,))[0]


_ACCEPT = tr_later(
    "Accept it as yours from now on? What is missing or different in it is given up. Say yes only "
    "if you restored a backup yourself."
)
_VOIDS = tr_later(
    "If you accept it, every approval given so far becomes void. A device that you revoked since a "
    "backup was made is paired again: look at `silas devices`."
)


@audit.command("verify")
@click.option(
    "--witness",
    "files",
    multiple=True,
    type=GivenPath(path_type=Path, dir_okay=False, exists=True),
    help="Signed heads that were kept elsewhere, one a line; beside the configured witnesses.",
)
@click.option("--head", "heads", multiple=True, callback=_heads, help="A head you noted: SEQ:HASH.")
@json_option
@click.pass_context
def audit_verify(
    ctx: click.Context, files: tuple[Path, ...], heads: "list[AuditHead]", as_json: bool
) -> None:
    """Check the whole chain, its signed checkpoints, and what its witnesses kept."""

    async def work() -> int:
        async with open_audit(ctx) as log:
            verdict = await log.verify(files, heads)
        if as_json:
            print_json(verdict._asdict())
            return DONE if verdict.valid else FAILED
        if verdict.valid:
            click.echo(
                tr_many(
                    verdict.entries_checked,
                    "The audit chain holds: {count} entry verified.",
                    "The audit chain holds: {count} entries verified.",
                )
            )
            return DONE
        why = refusal_words(verdict.reason)
        click.echo(tr("The audit log does not hold: {why}", why=why), err=True)
        return FAILED

    run_to_exit(work)


@audit.command("witness")
@click.pass_context
def audit_witness(ctx: click.Context) -> None:
    """Sign the newest entry, tell every witness, and print the signed head to keep yourself."""

    async def work() -> int:
        async with open_audit(ctx, sign=True) as log:
            click.echo(await log.witness())
            states = log.witnesses()
        _warn(log)
        for state in states:
            if not state.fault:
                words = tr("The witness {name} has entry {seq}.", name=state.name, seq=state.seq)
                click.echo(words, err=True)
        return FAILED if any(state.fault for state in states) else DONE

    run_to_exit(work)


@audit.command("accept")
@click.argument("head", required=False, callback=_one_head)
@click.pass_context
def audit_accept(ctx: click.Context, head: "AuditHead | None") -> None:
    """Go on with a record that was changed, such as a restored backup; HEAD is SEQ:HASH.

    Shows what is different and asks. Where nobody can type, HEAD must name the newest entry.
    """

    async def work() -> int:
        async with open_audit(ctx, sign=True) as log:
            verdict, newest = await log.verify_chain(), await log.head()
            if verdict.valid:
                click.echo(tr("The record is the one that was signed; there is nothing to accept."))
                return DONE
            why = refusal_words(verdict.reason)
            click.echo(tr("The record was changed: {why}", why=why))
            click.echo(tr("Its newest entry is {entry}.", entry=newest))
            click.echo(tr(_VOIDS))
            if head is None and not confirm(tr(_ACCEPT)):
                words = tr("Nothing was accepted; say `silas audit accept {entry}`.", entry=newest)
                click.echo(words, err=True)
                return DECLINED
            accepted = await log.accept(newest if head is None else head)
        click.echo(tr("Accepted on record, and signed: {entry}. Silas goes on.", entry=accepted))
        return DONE

    run_to_exit(work)


@audit.command("export")
@click.argument("file", type=GivenPath(path_type=Path, dir_okay=False))
@click.pass_context
def audit_export(ctx: click.Context, file: Path) -> None:
    """Write chain and checkpoints to FILE for the stand-alone verifier."""

    async def work() -> int:
        async with open_audit(ctx, sign=True) as log:
            head = await log.export(file)
            keys = " ".join(log.ring.public_keys)
        _warn(log)
        click.echo(
            tr_many(
                head.seq,
                "Wrote {count} entry. Verify anywhere with Python alone:",
                "Wrote {count} entries. Verify anywhere with Python alone:",
            )
        )
        given = f"{shlex.quote(str(file))} {keys} --head {head}"
        click.echo(f"  python -I -m silas.audit.verify {given}")
        return DONE

    run_to_exit(work)
