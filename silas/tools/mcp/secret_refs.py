"""Where a variable or a header of a server names one of the owner's secrets: `${secret:NAME}`."""

import re
from collections.abc import Mapping
from typing import Final, NamedTuple

_REFERENCE = re.compile(r"\$\{secret:([A-Za-z_][A-Za-z0-9_]{0,63})\}")
_BEGUN = "${secret:"
_STARS = "**********"

SCHEMES: Final = ("Bearer", "Basic", "Token", "ApiKey")
"""The words that may stand before the secret of a header."""


class SecretUse(NamedTuple):
    """A variable or header that holds a secret.

    Attributes:
        name: Of the variable or header.
        text: As it is written, with `${secret:NAME}` where the secret goes.
        secrets: The names of the secrets in it.
    """

    name: str
    text: str
    secrets: tuple[str, ...]

    @property
    def shown(self) -> str:
        """The text as anybody may read it: what else stands in it may be secret, too."""
        parts = _REFERENCE.split(self.text)  # text and name by turns
        told = (
            reference_to(part) if at % 2 else part if part.strip() in ("", *SCHEMES) else _STARS
            for at, part in enumerate(parts)
        )
        return "".join(told)


def reference_to(secret: str) -> str:
    """How a secret is named in the configuration."""
    return f"{_BEGUN}{secret}}}"


def secrets_in(text: str) -> tuple[str, ...]:
    """The names of the secrets that a text holds, each once.

    Raises:
        ValueError: A reference names none.
    """
    if _BEGUN in _REFERENCE.sub("", text):
        raise ValueError("a reference to a secret needs its name, as `silas secrets list` has it")
    return tuple(dict.fromkeys(_REFERENCE.findall(text)))


def fill_secrets(text: str, values: Mapping[str, str]) -> str:
    """The text with the values of its secrets."""
    return _REFERENCE.sub(lambda found: values[found[1]], text)
