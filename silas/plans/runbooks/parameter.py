"""What a runbook leaves blank, to be given or found in a request."""

from pydantic import Field

from silas.types import Frozen


class Parameter(Frozen):
    """One blank of a runbook.

    Attributes:
        description: What it is, for whoever is asked for it.
        pattern: A regular expression for the whole value; it also finds the value in a request,
            as a word or in quotes. Empty: any single line, never found in a request.
        default: Used where nothing is given. None: it must be given.
        example: A value that fits, for whoever is asked; needed where there is no default.
        many: Several values, separated by colons; it stands for whole items of a list.
        small_of: The parameter whose value, in small letters, this one is; it is never given.
        capitals_of: The same in capitals.
        above_of: The parameter that is a path: the folder above it, or itself where none is named.
    """

    description: str = Field(min_length=1)
    pattern: str = ""
    default: str | None = None
    example: str = ""
    many: bool = False
    small_of: str = ""
    capitals_of: str = ""
    above_of: str = ""

    @property
    def form_of(self) -> str:
        """The parameter that this one is another form of; empty for none."""
        return self.small_of or self.capitals_of or self.above_of

    def make_form(self, other: str) -> str:
        """Its value, from that of the parameter that it is another form of."""
        if self.above_of:
            return other.rstrip("/").rpartition("/")[0] or other
        return other.upper() if self.capitals_of else other.lower()
