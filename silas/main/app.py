"""The command line's front page. A command's own module is imported when the command is used."""

import gc
from collections.abc import Generator
from contextlib import contextmanager
from importlib import import_module
from typing import Any

import click

from silas import __version__
from silas.main.shared import GivenPath, require_text
from silas.main.typed import shorten

_COMMANDS = {
    "init": ("work", "Make keys, database and directories; safe to repeat."),
    "setup": ("setup", "Find models and keys, try one, and write it into the configuration."),
    "demo": ("demo", "Do the main job once: a plan that you approve fixes a failing test."),
    "start": ("start", "Start the cockpit in your browser, and print the link that pairs it."),
    "ask": ("work", "Say something to Silas, once; waits for the work it starts."),
    "run": ("work", "Show a plan's card, take the approval, run it sandboxed, verify it."),
    "approve": ("work", "Show the card of a plan that waits for you; on your yes, run it."),
    "approvals": ("approvals", "What waits for your yes, and what your yes still allows."),
    "chat": ("work", "Talk with Silas in the terminal until you end the input."),
    "ahead": ("schedules.ahead", "What is to come, and what may run without asking you again."),
    "goals": ("schedules.goals", "Goals: list, show, pause, resume and run what the clock checks."),
    "projects": ("projects.commands", "Projects: list them, and show how their tasks stand."),
    "batch": ("batches.batch", "Sort a folder: approve its files batch by batch, or undo it."),
    "remind": ("schedules.remind", "Reminders: make one in words, list, move and cancel them."),
    "service": (
        "schedules.service",
        "Silas in the background: start it at each login, so that what is due is done.",
    ),
    "signer": ("signer", "Keep the key apart: show what is to be signed, sign on your yes."),
    "show": ("show", "One piece of work: its plan, result, output, checks and what it changed."),
    "diff": ("inspect", "Everything a work item changed, as a patch."),
    "undo": ("work", "Restore a workspace to what it was before a work item changed it."),
    "stop": ("stop", "Emergency stop: kill what runs, void every approval, stay stopped."),
    "resume": ("stop", "End the emergency stop; what was interrupted needs a new approval."),
    "status": ("inspect", "What Silas is doing and has done."),
    "calls": ("calls", "Calls that broke off, and what became of them."),
    "conversations": (
        "conversations",
        "Your conversations: list, show, rename, archive and export them.",
    ),
    "queue": ("conversations", "Conversations that a rule stopped, and that wait for a person."),
    "plan": ("inspect", "Plans as files."),
    "tools": ("inspect", "What Silas can call."),
    "workers": ("workers", "Workers that plans may name, each from a file of its own."),
    "skills": ("skills", "What plans may name to be told how work is done well."),
    "mcp": ("mcp", "Servers of tools: who is there, and what of it you trust."),
    "secrets": ("secrets", "What your plans may use and nobody may see."),
    "persona": ("persona", "How Silas speaks: show it, take a preset, say what was wrong."),
    "memory": ("memory", "What Silas remembers: find, show, forget, take elsewhere."),
    "devices": ("devices", "Browsers and phones that are paired with Silas."),
    "audit": ("audit", "The record of what happened."),
    "keys": ("keys", "The owner's keys."),
    "doctor": ("inspect", "Check every part Silas needs, and say what each protects against."),
    "config": ("configuration.commands", "The configuration: look at it, check it, change it."),
}
"""Each command's module in this package and its line on the front page, in reading order.

The line is the first line of the command's own docstring, repeated here so that `silas --help`
costs what click costs (decision A25).
"""


_YOUNG = 10_000
"""Objects made between two searches for garbage: what a command loads lives until its end, and
searched after every 700 objects it cost a tenth of the time that a command takes."""


@contextmanager
def _shorten_errors() -> Generator[None]:
    try:
        yield
    except click.ClickException as error:
        vars(error).update(message=shorten(error.message))  # declared as final
        raise


class LazyGroup(click.Group):
    """A group that knows its commands by name and imports one when it is called."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Refuse what is no text before anything reads it: here is the whole command line."""
        require_text(args)
        with _shorten_errors():
            return super().parse_args(ctx, args)

    def invoke(self, ctx: click.Context) -> Any:
        """Call the command; what click says of a wrong use repeats no more than it must."""
        with _shorten_errors():
            return super().invoke(ctx)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The command of that name; a wrong name is told the nearest, a sentence where it goes."""
        if args[0] in _COMMANDS or args[0].startswith("-"):
            return super().resolve_command(ctx, args)
        if " " in args[0].strip():
            said = f'No such command {args[0]!r}. Ask Silas with: silas ask "..."'
            raise click.NoSuchCommand(args[0], said, ctx=ctx)
        raise click.NoSuchCommand(args[0], possibilities=_COMMANDS, ctx=ctx)

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The names, in reading order."""
        return list(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import the command; None where there is none of that name."""
        if cmd_name not in _COMMANDS:
            return None
        module = import_module(f"silas.main.{_COMMANDS[cmd_name][0]}")
        command: click.Command = getattr(module, cmd_name)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The table of commands, without importing any."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, words) for name, (_, words) in _COMMANDS.items()])


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="silas")
@click.option(
    "--config", "config_path", metavar="FILE", type=GivenPath(), help="Configuration file."
)
@click.pass_context
def cli(ctx: click.Context, config_path: str | None) -> None:
    """Silas does things for you, securely: it asks, runs sandboxed, verifies, and proves it."""
    ctx.obj = config_path
    gc.set_threshold(_YOUNG)
