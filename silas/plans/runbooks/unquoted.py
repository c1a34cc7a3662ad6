"""A text that a request says without quotes: taken where it can be meant in no other way."""

from collections.abc import Mapping
from typing import Protocol

from silas.plans.runbooks.request import fits


class FreeText(Protocol):
    """A parameter, as far as it says what it may be without quotes."""

    @property
    def unquoted(self) -> str:
        """What the request looks like from it on, in small letters; empty for any."""
        ...


def is_plain(parameters: Mapping[str, FreeText], values: Mapping[str, str], said: str) -> bool:
    """Whether no text of several words without quotes could be meant otherwise.

    Args:
        parameters: Those of the plan.
        values: What the slots of its sentence took.
        said: The request.
    """
    return all(
        fits(parameters[name].unquoted, said[said.index(value) :].lower())
        for name, value in values.items()
        if _stands_bare(value, said)
    )


def with_quotes(parameters: Mapping[str, FreeText], values: Mapping[str, str], request: str) -> str:
    """The request with quotes around each text that its plan takes without them."""
    for name, value in values.items():
        if name in parameters and parameters[name].unquoted and _stands_bare(value, request):
            request = request.replace(value, f'"{value}"', 1)
    return request


def _stands_bare(value: str, said: str) -> bool:
    quoted = any(f"{quote}{value}{quote}" in said for quote in "'\"`")
    return " " in value and value in said and not quoted
