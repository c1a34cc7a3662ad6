"""What `silas start --phone` prints: where the phone goes, what to compare, and QR codes."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from silas.language import as_part, tr

if TYPE_CHECKING:
    from silas.channels.web.phone_port import PhoneLink, PhoneView

_INK = "\x1b[38;5;16m\x1b[48;5;231m"  # black on white, whatever the terminal's own colours are
_END = "\x1b[0m"
_HALVES = {"00": " ", "01": "▄", "10": "▀", "11": "█"}


def show_phone(view: "PhoneView", link: "PhoneLink", *, codes: bool) -> None:
    """Print where the cockpit is for a phone and how it gets in.

    Args:
        view: An open one.
        link: For one phone, once.
        codes: Whether QR codes can be seen there.
    """
    way = next(one for one in view.ways if one.value == view.way)
    label = as_part(way.label[0]) + way.label[1:]
    where = tr("For your phone: {address} ({way}).", address=view.origin, way=label)
    click.echo(f"\n{where}")
    click.echo(click.wrap_text(way.words))
    if view.words:
        click.echo(view.words)
    if view.steps:
        first = tr("1. Trust this computer, once. On the phone, open:")
        click.echo(f"\n{first}\n")
        _offer(view.steps, view.steps_code, codes=codes)
        steps = tr("It has the steps. The fingerprint (SHA-256) that the phone then shows must be")
        click.echo(f"   {steps}")
        for half in (view.fingerprint[:47], view.fingerprint[48:]):
            click.echo(f"     {half}")
    pair = tr("Pair the phone. Within ten minutes, and once, open:")
    click.echo(f"\n2. {pair}\n" if view.steps else f"\n{pair}\n")
    _offer(link.link, link.code, codes=codes)
    if view.until is not None:
        click.echo(tr("The certificate counts until {day}.", day=view.until.strftime("%Y-%m-%d")))
    command = "silas devices link --phone"
    click.echo(tr("A fresh pairing link: {command}", command=command))


def draw_code(rows: Sequence[str]) -> list[str]:
    """A QR code as lines of half blocks, two rows of it each."""
    even = [*rows, "0" * len(rows[0])] if len(rows) % 2 else list(rows)
    pairs = zip(even[::2], even[1::2], strict=True)
    return [
        _INK + "".join(_HALVES[a + b] for a, b in zip(above, below, strict=True)) + _END
        for above, below in pairs
    ]


def _offer(address: str, code: Sequence[str], *, codes: bool) -> None:
    for line in draw_code(code) if codes else ():
        click.echo(f"  {line}")
    click.echo(f"  {address}\n")
