"""Variables and headers of a new MCP server that come from the owner's secrets, checked."""

import re
from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

from silas.errors import ConfigError
from silas.language import tr, tr_later
from silas.services.mcp_servers.reserved_names import chooses_code, is_of_connection
from silas.tools.mcp.secret_refs import SCHEMES, reference_to

_CODE: Final = "E_CFG_MCP"
_MOST = 16  # variables or headers of a server
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,63}")
_HEADER = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9_-]{0,62}[A-Za-z0-9])?")
_LINE = re.compile(r"([^=]*)=(?:([A-Za-z]+) )?secret:(.*)", re.DOTALL)


class FromSecret(NamedTuple):
    """A variable or header of a server, and the secret that it holds.

    Attributes:
        name: Of the variable or header.
        secret: The secret's name.
        scheme: The word before it in a header, one of `SCHEMES`; empty for none.
    """

    name: str
    secret: str
    scheme: str = ""

    @property
    def text(self) -> str:
        """As it stands in the configuration."""
        return f"{self.scheme} {reference_to(self.secret)}".lstrip()


def read_line(option: str, line: str) -> FromSecret:
    """One `NAME=secret:SECRET` of a command line, for a header also `NAME=Bearer secret:SECRET`.

    Raises:
        ConfigError: It is none; what was written is not repeated, as it may hold a value.
    """
    found = _LINE.fullmatch(line)
    if found is None and "secret:" in line:
        raise _refusal(
            tr(
                "{option} is written NAME=secret:SECRET; before the secret of a header one of "
                "{words} may stand, with one blank.",
                option=option,
                words=", ".join(SCHEMES),
            )
        )
    if found is None:
        raise _refusal(
            tr(
                "{option} takes no value, which others could read on the command line: store it "
                "with `silas secrets add SECRET`, and write {option} NAME=secret:SECRET.",
                option=option,
            )
        )
    return FromSecret(found[1].strip(), found[3].strip(), found[2] or "")


def read_change(option: str, line: str) -> FromSecret:
    """As `read_line`; `NAME=` is one without a secret, which takes NAME out.

    Raises:
        ConfigError: It is neither.
    """
    name, equals, rest = line.partition("=")
    if equals and name.strip() and not rest.strip():
        return FromSecret(name.strip(), "")
    return read_line(option, line)


def renew_lines(
    there: Sequence[FromSecret], kept: Sequence[str], new: Sequence[FromSecret], *, exact: bool
) -> tuple[tuple[FromSecret, ...], tuple[str, ...]]:
    """Lines and names that stay, where each new line takes the place of one of its name.

    Args:
        there: The lines.
        kept: The names that stand in the file with another text.
        new: The new ones; one without a secret takes its name out.
        exact: Whether small and capital letters make another name.

    Raises:
        ConfigError: One that is to go is not there.
    """

    def same(name: str) -> str:
        return name if exact else name.lower()

    known = {same(name) for name in (*kept, *(one.name for one in there))}
    for one in new:
        if not one.secret and same(one.name) not in known:
            raise _refusal(tr("{name} is not among what it is given.", name=one.name))
    goes = {same(one.name) for one in new}
    left = tuple(one for one in there if same(one.name) not in goes)
    stays = tuple(name for name in kept if same(name) not in goes)
    return (*left, *(one for one in new if one.secret)), stays


def tidy_lines(lines: Iterable[FromSecret]) -> tuple[FromSecret, ...]:
    """Without blanks around, and with the word before a secret as it is usually written."""
    usual = {word.lower(): word for word in SCHEMES}
    return tuple(
        FromSecret(name, secret, usual.get(scheme.lower(), scheme))
        for name, secret, scheme in (map(str.strip, line) for line in lines)
    )


def refuse_unfit_variables(lines: Sequence[FromSecret]) -> None:
    """Refuse what is no variable, or one that changes which code a program runs.

    Raises:
        ConfigError: In one sentence that says why.
    """
    words = tr_later(
        "A variable's name is 1 to 64 letters, digits and underscores, and starts with no digit; "
        "{name} is none."
    )
    _refuse_misnamed(lines, _VARIABLE, words, "env")
    for number, line in enumerate(lines):
        if chooses_code(line.name):
            raise _refusal(
                tr(
                    "{name} is given to no server: it can change which code runs, or where it "
                    "connects.",
                    name=line.name,
                ),
                f"env.{number}",
            )
        if line.scheme:
            raise _refusal(
                tr("{name} is a variable, which holds the secret alone.", name=line.name),
                f"env.{number}",
            )
    refuse_twice([line.name for line in lines], "env")


def refuse_unfit_headers(lines: Sequence[FromSecret]) -> None:
    """Refuse what is no header, or one that belongs to the connection.

    Raises:
        ConfigError: In one sentence that says why.
    """
    words = tr_later(
        "A header's name is 1 to 64 letters, digits, - and _ on one line, and begins and ends with "
        "a letter or digit; {name} is none."
    )
    _refuse_misnamed(lines, _HEADER, words, "headers")
    for number, line in enumerate(lines):
        if is_of_connection(line.name):
            raise _refusal(
                tr(
                    "The header {name} belongs to the connection; only headers with a key are set "
                    "here, such as Authorization or X-Api-Key.",
                    name=line.name,
                ),
                f"headers.{number}",
            )
        if line.scheme and line.scheme not in SCHEMES:
            raise _refusal(
                tr(
                    "Before the secret of {name} may stand one of {words}, and nothing else.",
                    name=line.name,
                    words=", ".join(SCHEMES),
                ),
                f"headers.{number}",
            )
    refuse_twice([line.name.lower() for line in lines], "headers")


def refuse_missing(lines: Iterable[FromSecret], stored: Iterable[str], field: str) -> None:
    """Refuse a secret that is not stored.

    Args:
        lines: The variables or headers.
        stored: The secrets that there are.
        field: Which of the two they are.

    Raises:
        ConfigError: In one sentence that says which, and how it is stored.
    """
    known = frozenset(stored)
    for number, line in enumerate(lines):
        if not _VARIABLE.fullmatch(line.secret):
            raise _refusal(
                tr(
                    "Choose the secret for {name} by its name, as `silas secrets list` has it.",
                    name=line.name,
                ),
                f"{field}.{number}.secret",
            )
        if line.secret not in known:
            raise _refusal(
                tr(
                    "There is no secret {secret} for {name}; store it first: `silas secrets add "
                    "{secret}`.",
                    secret=line.secret,
                    name=line.name,
                ),
                f"{field}.{number}.secret",
            )


def _refuse_misnamed(
    lines: Iterable[FromSecret], form: re.Pattern[str], words: str, field: str
) -> None:
    for number, line in enumerate(lines):
        if not form.fullmatch(line.name):
            raise _refusal(tr(words, name=repr(line.name)), f"{field}.{number}")


def refuse_twice(names: Sequence[str], field: str) -> None:
    """Refuse a name that stands twice, or too many.

    Args:
        names: Of the variables or headers, as they are compared.
        field: Which of the two they are.

    Raises:
        ConfigError: In one sentence that says which.
    """
    if len(names) > _MOST:
        raise _refusal(tr("A server is given at most {most} secrets.", most=_MOST))
    for number, name in enumerate(names):
        if names.count(name) > 1:
            words = tr("{name} is there twice; write it once.", name=name)
            raise _refusal(words, f"{field}.{number}")


def _refusal(words: str, field: str = "") -> ConfigError:
    return ConfigError(words, code=_CODE, field=field)
