"""Commands about the owner's keys: show, export, rotate."""

import textwrap
from typing import TYPE_CHECKING, Any

import click

from silas.language import tr
from silas.main.output import print_json
from silas.main.shared import DONE, json_option, look_config, read_config, run_to_exit
from silas.main.typed import ShortGroup

if TYPE_CHECKING:
    from zoneinfo import ZoneInfo

    from silas.services.owner_key import KeyFacts

_WIDTH = 88  # columns, as cards have


@click.group(cls=ShortGroup, alone="show")
def keys() -> None:
    """The owner's keys."""


@keys.command("show")
@json_option
@click.pass_context
def keys_show(ctx: click.Context, as_json: bool) -> None:
    """The key in force and those before it; nothing secret, and nothing is unlocked."""

    async def work() -> int:
        from silas.keys.key_ring import fingerprint
        from silas.services.owner_key import key_facts

        facts = key_facts(look_config(ctx))
        ring = facts.ring
        former = [
            {
                "public_key": key.public_key,
                "fingerprint": fingerprint(key.public_key),
                "retired_at": key.retired_at.isoformat(),
                "audit_head": f"{key.seq}:{key.entry_hash}",
            }
            for key in ring.former
        ]
        said: dict[str, Any] = {
            "public_key": ring.current,
            "fingerprint": fingerprint(ring.current),
            "in_force_since": facts.since.isoformat(),
            "kept": facts.kept,
            "former": former,
        }
        if as_json:
            print_json(said)
        else:
            _print(facts, look_config(ctx).scheduler.zone)
        return DONE

    run_to_exit(work)


def _print(facts: "KeyFacts", zone: "ZoneInfo") -> None:
    from silas.keys.key_ring import fingerprint
    from silas.language.calendar import moment_words
    from silas.services.cockpit.finding_words import told_of_finding

    lines = [
        (tr("public key"), facts.ring.current),
        (tr("fingerprint"), fingerprint(facts.ring.current)),
        (tr("in force"), tr("since {moment}", moment=moment_words(facts.since, zone))),
    ]
    for key in facts.ring.former:
        until = tr("until {moment}", moment=moment_words(key.retired_at, zone))
        lines.append((tr("before it"), f"{key.public_key}, {until}"))
    width = max(len(label) for label, _ in lines)
    for label, words in lines:
        click.echo(f"{label:{width}}  {words}")
    click.echo("\n" + textwrap.fill(told_of_finding(facts.kept), _WIDTH))


@keys.command("export")
@json_option
@click.pass_context
def keys_export(ctx: click.Context, as_json: bool) -> None:
    """Every public key, oldest first, one a line, as the stand-alone verifier takes them."""

    async def work() -> int:
        from silas.services.owner_key import key_facts

        found = key_facts(look_config(ctx)).ring.public_keys
        if as_json:
            print_json(list(found))
        for key in found if not as_json else ():
            click.echo(key)
        return DONE

    run_to_exit(work)


@keys.command("rotate")
@click.option(
    "--stolen",
    is_flag=True,
    help="The old key is in other hands: work under way loses its approval, too.",
)
@click.pass_context
def keys_rotate(ctx: click.Context, stolen: bool) -> None:
    """Replace the owner's key: unused approvals lapse, old signatures stay known."""

    async def work() -> int:
        from silas.keys.key_ring import fingerprint
        from silas.services.owner_key import rotate_key

        ring, running = await rotate_key(read_config(ctx), stolen=stolen)
        click.echo(tr("A new key is in force: {key}", key=ring.current))
        click.echo(tr("Its fingerprint is {fingerprint}.", fingerprint=fingerprint(ring.current)))
        click.echo(tr("Approvals that were not used have lapsed."))
        for item in running:
            click.echo(tr("Still approved, because it was under way: {item}", item=item))
        return DONE

    run_to_exit(work)
