"""What a command may still do while the record is found changed: one table for all of them."""

from collections.abc import Mapping

import click

_LOOKS = "it only looks"
_TAKES_AWAY = "it takes away what could do harm, and lets nothing new in"
_INSIDE = "it shows and answers; every approval and effect inside it is refused by the record"

PASSES: Mapping[str, str] = {
    **dict.fromkeys(
        (
            "ahead",
            "approvals list",
            "approvals showing",
            "approvals show",
            "audit show",
            "audit verify",
            "batch list",
            "batch show",
            "calls list",
            "config path",
            "conversations export",
            "conversations files",
            "conversations list",
            "conversations search",
            "conversations show",
            "config show",
            "config validate",
            "devices list",
            "diff",
            "doctor",
            "goals history",
            "goals list",
            "goals next",
            "goals show",
            "projects list",
            "projects show",
            "keys export",
            "keys show",
            "mcp list",
            "memory list",
            "memory search",
            "memory show",
            "persona show",
            "plan check",
            "queue list",
            "remind list",
            "secrets list",
            "service status",
            "show",
            "skills list",
            "skills validate",
            "status",
            "tools list",
            "workers list",
        ),
        _LOOKS,
    ),
    **dict.fromkeys(
        (
            "approvals deny",
            "approvals revoke",
            "approvals tighten",
            "devices revoke",
            "goals pause",
            "mcp distrust",
            "mcp remove",
            "memory forget",
            "remind cancel",
            "secrets remove",
            "service remove",
            "skills remove",
            "stop",
        ),
        _TAKES_AWAY,
    ),
    **dict.fromkeys(("ask", "chat", "mcp serve", "start"), _INSIDE),
    "audit accept": "it is the way out: the owner has looked and says so",
    "audit export": "it is for looking; the head it signs is refused by the record itself",
    "demo": "it has a home of its own, with a record of its own",
    "init": "it repairs a home, and says that the record was changed",
    "signer": "it holds no record; it signs no head that goes back, and shows each text",
}
"""Each command that is not refused, and why; one that is not here is refused."""


def name_of(ctx: click.Context) -> str:
    """A command as it is called, without the program's name: `persona preset`."""
    words: list[str] = []
    while ctx.parent is not None:
        words.append(ctx.info_name or "")
        ctx = ctx.parent
    return " ".join(reversed(words))


def _changes_nothing(ctx: click.Context) -> bool:
    """`approvals clock` looks, unless it is told to go by the machine's clock."""
    return name_of(ctx) == "approvals clock" and not ctx.params.get("confirm")


def require_unchanged_record(ctx: click.Context) -> None:
    """Refuse a command that signs or changes something, until the owner has looked.

    A home that was not set up yet has no record that could be changed.

    Raises:
        Stopped: The record was changed outside Silas (`E_STOPPED_RECORD`).
    """
    if name_of(ctx) in PASSES or _changes_nothing(ctx):
        return
    from silas.main.shared import read_config
    from silas.services.record import require_whole_home

    require_whole_home(read_config(ctx))
