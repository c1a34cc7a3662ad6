"""What a command line may be given, and how much of it an error repeats."""

import os
import re
from collections.abc import Iterable
from typing import Any

import click

LONGEST_ECHO = 160
"""Characters of one word, or of one quotation, that an error repeats whole."""

_LONGEST_LINE = 3_000
_LONG_WORD = re.compile(rf"\S{{{LONGEST_ECHO + 1},}}")
_LONG_QUOTATION = re.compile(
    rf"(?<=(?<!\w)')[^'\n]{{{LONGEST_ECHO + 1},}}(?='(?!\w))"
    rf"|(?<=“)[^“”\n]{{{LONGEST_ECHO + 1},}}(?=”)"
)


class GivenPath(click.Path):
    """A path on the command line; an empty one, most often of an unset variable, is refused.

    `Path("")` is the directory that Silas was started in, which nobody meant.
    """

    def convert(
        self,
        value: "str | os.PathLike[str]",
        param: click.Parameter | None,
        ctx: click.Context | None,
    ) -> Any:
        """The path, in the form that the option asks for."""
        if not os.fspath(value):
            self.fail("it is empty; give the path of a file or a folder", param, ctx)
        return super().convert(value, param, ctx)


def require_text(words: Iterable[str]) -> None:
    """Refuse bytes that are no UTF-8: they could be neither kept, nor hashed, nor shown.

    Raises:
        click.UsageError: Shows the first such argument with its bytes escaped.
    """
    for word in words:
        try:
            word.encode()
        except UnicodeEncodeError:
            shown = shorten(repr(os.fsencode(word))[1:])
            raise click.UsageError(
                f"The argument {shown} is not UTF-8 text; give it, or rename the file, in UTF-8."
            ) from None


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
