"""What an owner types: words repeated no longer than they must be, yes or no, half a command."""

import re
import sys
from typing import Any

import click

LONGEST_ECHO = 160
"""Characters of one word, or of one quotation, that an error repeats whole."""

_LONGEST_LINE = 3_000
_LONG_WORD = re.compile(rf"\S{{{LONGEST_ECHO + 1},}}")
_LONG_QUOTATION = re.compile(
    rf"(?<=(?<!\w)')[^'\n]{{{LONGEST_ECHO + 1},}}(?='(?!\w))"
    rf"|(?<=“)[^“”\n]{{{LONGEST_ECHO + 1},}}(?=”)"
    rf"|(?<=„)[^„“\n]{{{LONGEST_ECHO + 1},}}(?=“)"
)


def shorten(words: str) -> str:
    """A sentence without the middle of a word, a quotation or a line that is very long."""
    words = _LONG_WORD.sub(_ends, words)
    words = _LONG_QUOTATION.sub(_ends, words)
    return "\n".join(
        line if len(line) <= _LONGEST_LINE else f"{line[:2_500]}...{line[-400:]}"
        for line in words.split("\n")
    )


def _ends(found: re.Match[str]) -> str:
    # the end, too: it is what tells two files of one folder apart
    return f"{found[0][:90]}...{found[0][-60:]}"


def confirm(question: str, before: str = "") -> bool:
    """Ask on the terminal, after what is to be known `before`; silence is no.

    Where nobody can type, nobody said yes. English answers count in every language.
    """
    from silas.language import tr

    if sys.stdin is None or not sys.stdin.isatty():
        return False
    from silas.home.passphrases import allow_interrupt

    if before:
        click.echo(before)
    yes, no = {"y", "yes", tr("yes")[:1], tr("yes")}, {"", "n", "no", tr("no")}
    with allow_interrupt():
        while True:
            asked = f"{question} [{tr('yes')[:1]}/N]"
            said: str = click.prompt(asked, default="", show_default=False)
            word = said.strip().lower()
            if word in yes or word in no:
                return word in yes
            click.echo(tr("Answer with yes or no."))


class ShortGroup(click.Group):
    """A group whose most usual command needs no name: `silas goals` is `silas goals list`."""

    def __init__(self, *given: Any, alone: str = "list", otherwise: str = "", **more: Any) -> None:
        """Take what `click.Group` takes, and two of the group's commands.

        `alone` is called without words, and `otherwise` with words that name no command.
        """
        super().__init__(*given, **more)
        self._alone, self._otherwise = alone, otherwise

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Put the command's name before what was typed, where none was."""
        first = args[0] if args else ""
        if first in self.commands or first in ctx.help_option_names:
            return super().parse_args(ctx, args)
        if self._otherwise and args not in ([], ["--json"]):
            return super().parse_args(ctx, [self._otherwise, *args])
        if not args or (first.startswith("-") and first != "--"):
            return super().parse_args(ctx, [self._alone, *args])
        return super().parse_args(ctx, args)

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Say what the group does alone."""
        formatter.write_paragraph()
        formatter.write_text(f"`{ctx.command_path}` alone is `{ctx.command_path} {self._alone}`.")
