"""The commands about how Silas speaks. They work beside a running Silas."""

import textwrap
from collections.abc import Mapping
from typing import Any

import click

from silas.language import tr, tr_later
from silas.main.output import print_json
from silas.main.shared import DONE, json_option, look_config, run_to_exit
from silas.main.typed import ShortGroup

_WIDTH = 88  # columns, as cards have
_CONTEXTS = (
    *(tr_later("default"), tr_later("code_review"), tr_later("casual_chat")),
    *(tr_later("crisis"), tr_later("group_chat"), tr_later("deep_research")),
)
"""Situations that Silas knows by itself; those of an owner keep their names."""
_AXES = {
    "warmth": tr_later("warmth"),
    "assertiveness": tr_later("assertiveness"),
    "verbosity": tr_later("verbosity"),
    "formality": tr_later("formality"),
    "humor": tr_later("humor"),
    "initiative": tr_later("initiative"),
    "certainty": tr_later("certainty"),
}


@click.group(cls=ShortGroup, alone="show")
def persona() -> None:
    """How Silas speaks: show it, take a preset, say what was wrong."""


@persona.command("show")
@json_option
@click.pass_context
def persona_show(ctx: click.Context, as_json: bool) -> None:
    """How Silas speaks to you now, and the words that stand in its prompts."""

    async def work() -> int:
        from silas.services.persona import open_persona

        async with open_persona(look_config(ctx)) as room:
            found = await room.state()
        if as_json:
            print_json(found)
        else:
            _show(found)
        return DONE

    run_to_exit(work)


@persona.command("preset")
@click.argument("name")
@click.pass_context
def persona_preset(ctx: click.Context, name: str) -> None:
    """Take a preset; `silas persona show` lists them."""

    async def work() -> int:
        from silas.services.persona import open_persona

        async with open_persona(look_config(ctx)) as room:
            await room.preset(name)
        click.echo(tr("Silas speaks as {name} from the next message on.", name=name))
        return DONE

    run_to_exit(work)


@persona.command("feedback")
@click.argument("kind")
@click.pass_context
def persona_feedback(ctx: click.Context, kind: str) -> None:
    """Say how you were spoken to, such as too_harsh or too_wordy."""

    async def work() -> int:
        from silas.services.persona import open_persona

        async with open_persona(look_config(ctx)) as room:
            await room.feedback(kind, signed=True)
        click.echo(tr("Noted. It counts from the next message on."))
        return DONE

    run_to_exit(work)


def _show(found: Mapping[str, Any]) -> None:
    presets, context = ", ".join(found["presets"]), found["context"]
    said = {
        tr("preset"): tr("{preset} (of {presets})", preset=found["preset"], presets=presets),
        tr("mood"): ", ".join(map(tr, found["mood_words"].split(", "))),
        tr("situation"): tr(context) if context in _CONTEXTS else context,
    }
    width = max(map(len, said))
    for label, words in said.items():
        click.echo(f"{label:{width}} {words}")
    axes = max(14, *(len(tr(one)) for one in _AXES.values()))
    for axis, value in found["axes"].items():
        label = tr(_AXES.get(str(axis)) or axis)
        click.echo(f"{label:{axes}} {value:.2f}  {'#' * round(value * 20)}")
    click.echo("")
    click.echo("\n".join(textwrap.wrap(found["directives"], _WIDTH)))
