"""What a runbook leaves blank, to be given or found in a request."""

from pydantic import Field

from silas.types import FrozenModel


class Parameter(FrozenModel):
    """One blank of a runbook.

    Attributes:
        description: What it is, for whoever is asked for it.
        pattern: A regular expression for the whole value; it also finds the value in a request,
            as a word or in quotes. Empty: any single line, never found in a request.
        unquoted: A regular expression for the request from this value on, in small letters, where
            it has several words and no quotes: what does not fit is none of the runbook's.
        default: Used where nothing is given. None: it must be given.
        example: A value that fits, for whoever is asked; needed where there is no default.
        many: Several values, separated by colons; it stands for whole items of a list.
        small_of: The parameter whose value, in small letters, this one is; it is never given.
        capitals_of: The same in capitals.
        title_of: The same with the first letter alone in capitals.
        above_of: The parameter that is a path: the folders above it, from the top and separated by
            colons; itself where there is none.
    """

    description: str = Field(min_length=1)
    pattern: str = ""
    unquoted: str = ""
    default: str | None = None
    example: str = ""
    many: bool = False
    small_of: str = ""
    capitals_of: str = ""
    title_of: str = ""
    above_of: str = ""

    @property
    def form_of(self) -> str:
        """The parameter that this one is another form of; empty for none."""
        return self.small_of or self.capitals_of or self.title_of or self.above_of

    def make_form(self, other: str) -> str:
        """Its value, from that of the parameter that it is another form of."""
        if self.above_of:
            parts = other.rstrip("/").split("/")
            return ":".join("/".join(parts[:at]) for at in range(1, len(parts))) or other
        if self.title_of:
            return other.capitalize()
        return other.upper() if self.capitals_of else other.lower()
