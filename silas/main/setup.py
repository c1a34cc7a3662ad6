"""`silas setup`: choose who answers, try it once, write it down."""

import os
import sys
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from silas.language import refusal_words, tr, tr_later
from silas.main.output import print_json
from silas.main.shared import (
    DECLINED,
    DONE,
    STOPPED,
    USAGE,
    config_option,
    json_option,
    read_config,
    run_to_exit,
)
from silas.main.typed import confirm

if TYPE_CHECKING:
    from collections.abc import Callable

    from silas.agents.choice import ModelChoice, OutputSetting
    from silas.config import SilasConfig
    from silas.config.edit import ModelsEdit
    from silas.services.doctor.reachability import TriedModel
    from silas.services.setup.models import ModelsFound

_NONE = tr_later("none: the built-in runbook; needs no model, no key and no network")
_HOW_UNLOCKED = tr_later(
    "\nWhat you approve is signed with a key of yours. It is unlocked\n\n"
    "   1  by a passphrase that you choose now, and type when something is signed\n"
    "   2  by a key file beside it: nothing to type, and no protection from who reads that file\n"
)
_KEY_FILE = 2
_MORE_TRIES = 2  # of choosing a passphrase, before the last one
_SAY_WHICH = tr_later(
    "Nothing was chosen: name one with `silas setup --model NAME` (`--model runbook` for none), or "
    "run `silas setup` in a terminal."
)


class _Wanted(NamedTuple):
    model: str | None
    base_url: str
    api_key_env: str
    output: "OutputSetting"
    replace: bool
    as_json: bool


@click.command()
@click.option("--model", metavar="NAME", help="Take this model, ask nothing; runbook for none.")
@click.option("--base-url", default="", metavar="URL", help="The server that has it.")
@click.option("--api-key-env", default="", metavar="NAME", help="The variable that holds its key.")
@click.option(
    "--output",
    type=click.Choice(["auto", "tool", "native", "prompted"]),
    default="auto",
    help="How it is made to answer in form; auto by default.",
)
@click.option(
    "--port",
    "ports",
    multiple=True,
    type=click.IntRange(1, 65535),
    help="Look at this loopback port, not at the usual ones; can be repeated.",
)
@click.option("--replace", is_flag=True, help="Replace a models: section that is there.")
@json_option
@click.pass_context
def setup(ctx: click.Context, ports: tuple[int, ...], **given: Any) -> None:
    """Find models and keys, try one, and write it into the configuration.

    Looks at this machine alone. A key stays in its variable: only the variable's name is written.
    """

    async def work() -> int:
        from silas.services.setup.models import find_models, named_choice

        wanted = _Wanted(**given)
        read_config(ctx)  # a file that is wrong is refused before anything is asked
        found = await find_models(ports, os.environ)
        if wanted.model is None:
            if wanted.as_json or not _can_type():
                return _show_only(found, as_json=wanted.as_json)
            choice, tried = await _choose_one_that_answers(ctx, found)
        else:
            choice = named_choice(
                found,
                wanted.model,
                base_url=wanted.base_url,
                api_key_env=wanted.api_key_env,
                output=wanted.output,
                environ=os.environ,
            )
            tried = None
        return await _set_up(ctx, found, choice, tried, wanted)

    run_to_exit(work)


async def _choose_one_that_answers(
    ctx: click.Context, found: "ModelsFound"
) -> tuple["ModelChoice", "TriedModel"]:
    """Ask for a number until the model behind it answers; Ctrl-C ends it."""
    from silas.errors import ConfigError

    while True:
        choice = _choose(found)
        try:
            return choice, await _try(ctx, choice, click.echo)
        except ConfigError as error:
            again = tr("Choose another one, or 0 for none.")
            click.echo(f"\n{refusal_words(error.message)}\n{again}\n", err=True)


async def _try(
    ctx: click.Context, choice: "ModelChoice", say: "Callable[[str], None]"
) -> "TriedModel":
    from silas.services.setup.models import NO_MODEL, try_once

    if choice != NO_MODEL:
        words = tr_later("Asking {model} for one word; a model that is being loaded takes a while.")
        say(tr(words, model=choice.name))
    return await try_once(read_config(ctx), choice)


async def _make_key(config: "SilasConfig", *, asked: bool) -> list[str]:
    """The owner's key where there is none, unlocked as the owner says who is asked."""
    from silas.errors import ConfigError
    from silas.home.passphrases import allow_interrupt
    from silas.services.setup.initialise import initialise
    from silas.services.setup.models import chooses_unlock, needs_key, take_key_file

    if not needs_key(config):
        return []
    typed = asked and chooses_unlock(config)
    if typed:
        click.echo(tr(_HOW_UNLOCKED))
        with allow_interrupt():
            number: int = click.prompt(
                tr("A passphrase or a key file?"), type=click.IntRange(1, 2), default=1
            )
        if number == _KEY_FILE:
            take_key_file(config)
    for _ in range(_MORE_TRIES if typed else 0):
        try:
            return await initialise(config)
        except ConfigError as error:  # too short, or not the same twice
            if error.code != "E_CFG_KEY_LOCKED":
                raise
            click.echo(refusal_words(error.message), err=True)
    return await initialise(config)


async def _set_up(
    ctx: click.Context,
    found: "ModelsFound",
    choice: "ModelChoice",
    tried: "TriedModel | None",
    wanted: _Wanted,
) -> int:
    """Try where that was not done, say what leaves, show, ask where nobody named it, write."""
    from silas.config import config_file
    from silas.config.edit import write_models
    from silas.errors import Stopped
    from silas.services.setup.models import leaves, plan_setup

    say = _silent if wanted.as_json else click.echo
    edit = plan_setup(config_file(config_option(ctx)), choice)
    asked = wanted.model is None
    if edit.replaces and not (asked or wanted.replace):
        words = tr("{file} has a `models:` section; --replace replaces it.", file=edit.file)
        click.echo(words, err=True)
        return USAGE
    tried = tried or await _try(ctx, choice, say)
    outward = leaves(choice, found, tried.address)
    for line in (tried.words, outward, "", *_lines(edit), ""):
        say(line)
    if asked and not confirm(_question(edit)):
        click.echo(tr("Nothing was written."), err=True)
        return DECLINED
    backup = write_models(edit, os.environ)
    former = tr(" The former file is {file}.", file=backup) if backup else ""
    say(tr("Written to {file}.", file=edit.file) + former)
    config = read_config(ctx)
    try:
        made = await _make_key(config, asked=asked)
    except (Stopped, click.Abort):
        words = tr("The models are written; `silas init` makes the key.")
        click.echo(f"\n{words}", err=True)
        return STOPPED
    for line in made:
        say(line)
    if wanted.as_json:
        print_json(
            {
                "model": choice.model_dump(),
                "answered": tried.words,
                "leaves": outward,
                "file": str(edit.file),
                "backup": str(backup) if backup else None,
                "lines": list(edit.lines),
                "initialised": bool(made),
            }
        )
    say(tr('Try it: silas ask "what can you do?"'))
    return DONE


def _silent(_: str) -> None:
    """With `--json` standard output holds the document alone."""


def _lines(edit: "ModelsEdit") -> list[str]:
    words = tr_later("These lines go into {file}:")
    if edit.replaces:
        words = tr_later("These lines replace its `models:` section in {file}:")
    return [tr(words, file=edit.file), "", *edit.lines]


def _question(edit: "ModelsEdit") -> str:
    return tr("Replace the section that is there?") if edit.replaces else tr("Write them?")


def _can_type() -> bool:
    return sys.stdin is not None and sys.stdin.isatty()


def _show_only(found: "ModelsFound", *, as_json: bool) -> int:
    if as_json:
        print_json(found.document())
    else:
        _print_offers(found)
    click.echo(tr(_SAY_WHICH), err=True)
    return USAGE


def _print_offers(found: "ModelsFound") -> None:
    width = max((len(one.choice.name) for one in found.offers), default=0)
    click.echo(tr("Who can answer:") + "\n")
    for number, one in enumerate(found.offers, 1):
        click.echo(f"  {number:2}  {one.choice.name:{width}}  {one.words}")
    click.echo(f"   0  {tr(_NONE)}\n")
    for note in found.notes:
        click.echo(note)


def _choose(found: "ModelsFound") -> "ModelChoice":
    from silas.home.passphrases import allow_interrupt
    from silas.services.setup.models import NO_MODEL

    _print_offers(found)
    with allow_interrupt():
        number: int = click.prompt(
            tr("Which number?"), type=click.IntRange(0, len(found.offers)), default=0
        )
    return found.offers[number - 1].choice if number else NO_MODEL
