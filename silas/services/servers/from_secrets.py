"""The variables and headers that a new server is given from the owner's secrets, held to rules."""

import re
from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

from silas.errors import ConfigError
from silas.language import tr
from silas.tools.mcp.secret_refs import SCHEMES, reference_to

_CODE: Final = "E_CFG_MCP"
_MOST = 16  # variables or headers of a server
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,63}")
_HEADER = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9_-]{0,62}[A-Za-z0-9])?")
_LINE = re.compile(r"([^=]*)=(?:([A-Za-z]+) )?secret:(.*)", re.DOTALL)

_CHOOSES_CODE: Final = frozenset(
    {
        *("PATH", "HOME", "PWD", "LANG", "SHELL", "TMPDIR", "IFS", "ENV", "PS4", "CDPATH"),
        *("SHELLOPTS", "BASHOPTS", "PROMPT_COMMAND", "GLOBIGNORE", "GCONV_PATH", "GLIBC_TUNABLES"),
        *("LOCPATH", "NLSPATH", "TERMINFO", "CLASSPATH", "JAVA_TOOL_OPTIONS", "_JAVA_OPTIONS"),
        *("JDK_JAVA_OPTIONS", "MAVEN_OPTS", "GRADLE_OPTS", "PHPRC", "PHP_INI_SCAN_DIR"),
        *("EDITOR", "VISUAL", "PAGER", "MANPAGER", "BROWSER", "LESSOPEN", "LESSCLOSE"),
        *("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "FTP_PROXY", "NO_PROXY"),
        *("SSL_CERT_FILE", "SSL_CERT_DIR", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "CURL_HOME"),
        *("UV_INDEX", "UV_INDEX_URL", "UV_DEFAULT_INDEX", "UV_EXTRA_INDEX_URL", "UV_PYTHON"),
        *("GIT_SSH", "GIT_SSH_COMMAND", "GIT_EXEC_PATH", "GIT_ASKPASS", "SSH_ASKPASS"),
        *("GIT_EDITOR", "GIT_PAGER", "GIT_SEQUENCE_EDITOR", "GIT_EXTERNAL_DIFF", "GIT_DIR"),
        *("GIT_WORK_TREE", "GIT_TEMPLATE_DIR", "GIT_PROXY_COMMAND", "GOFLAGS", "RUSTC_WRAPPER"),
    }
)
_CHOOSE_CODE: Final = (
    *("LD_", "DYLD_", "BASH_", "PYTHON", "NODE_", "NPM_CONFIG_", "PERL", "RUBY", "GEM_"),
    *("BUNDLE_", "LUA_", "PIP_", "GIT_CONFIG", "OPENSSL_", "DOTNET_", "CORECLR_", "COR_"),
    *("XDG_", "SILAS_"),
)
"""Beginnings of variables with which whoever sets them chooses which code runs, or who is asked."""

_OF_THE_CONNECTION: Final = frozenset(
    {
        *("connection", "keep-alive", "te", "trailer", "transfer-encoding", "upgrade", "host"),
        *("content-length", "content-type", "content-encoding", "accept", "accept-encoding"),
        *("expect", "date", "via", "origin", "referer", "last-event-id", "set-cookie", "range"),
        *("x-http-method", "x-http-method-override", "x-method-override", "forwarded"),
    }
)
_OF_CONNECTIONS: Final = ("proxy-", "sec-", "mcp-", "x-forwarded-", "access-control-")
"""Beginnings of headers that belong to the connection, or to the protocol spoken over it."""


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
    for line in lines:
        if not _VARIABLE.fullmatch(line.name):
            raise _refusal(
                tr(
                    "A variable's name is 1 to 64 letters, digits and underscores, and starts with "
                    "no digit; {name} is none.",
                    name=repr(line.name),
                )
            )
        shouted = line.name.upper()
        if shouted in _CHOOSES_CODE or shouted.startswith(_CHOOSE_CODE):
            raise _refusal(
                tr(
                    "{name} is given to no server: it can change which code runs, or where it "
                    "connects.",
                    name=line.name,
                )
            )
        if line.scheme:
            raise _refusal(
                tr("{name} is a variable, which holds the secret alone.", name=line.name)
            )
    _refuse_twice([line.name for line in lines])


def refuse_unfit_headers(lines: Sequence[FromSecret]) -> None:
    """Refuse what is no header, or one that belongs to the connection.

    Raises:
        ConfigError: In one sentence that says why.
    """
    for line in lines:
        if not _HEADER.fullmatch(line.name):
            raise _refusal(
                tr(
                    "A header's name is 1 to 64 letters, digits, - and _ on one line, and begins "
                    "and ends with a letter or digit; {name} is none.",
                    name=repr(line.name),
                )
            )
        small = line.name.lower()
        if small in _OF_THE_CONNECTION or small.startswith(_OF_CONNECTIONS):
            raise _refusal(
                tr(
                    "The header {name} belongs to the connection; only headers with a key are set "
                    "here, such as Authorization or X-Api-Key.",
                    name=line.name,
                )
            )
        if line.scheme and line.scheme not in SCHEMES:
            raise _refusal(
                tr(
                    "Before the secret of {name} may stand one of {words}, and nothing else.",
                    name=line.name,
                    words=", ".join(SCHEMES),
                )
            )
    _refuse_twice([line.name.lower() for line in lines])


def refuse_missing(lines: Iterable[FromSecret], stored: Iterable[str]) -> None:
    """Refuse a secret that is not stored.

    Raises:
        ConfigError: In one sentence that says which, and how it is stored.
    """
    known = frozenset(stored)
    for line in lines:
        if not _VARIABLE.fullmatch(line.secret):
            raise _refusal(
                tr(
                    "Choose the secret for {name} by its name, as `silas secrets list` has it.",
                    name=line.name,
                )
            )
        if line.secret not in known:
            raise _refusal(
                tr(
                    "There is no secret {secret} for {name}; store it first: `silas secrets add "
                    "{secret}`.",
                    secret=line.secret,
                    name=line.name,
                )
            )


def _refuse_twice(names: Sequence[str]) -> None:
    if len(names) > _MOST:
        raise _refusal(tr("A server is given at most {most} secrets.", most=_MOST))
    for name in names:
        if names.count(name) > 1:
            raise _refusal(tr("{name} is there twice; write it once.", name=name))


def _refusal(words: str) -> ConfigError:
    return ConfigError(words, code=_CODE)
