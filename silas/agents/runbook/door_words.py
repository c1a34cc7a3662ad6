"""What the built-in model says in one way on the page, where buttons are, and elsewhere (0.5)."""

from typing import NamedTuple

from silas.agents.call_scope import scope_of_calls
from silas.language import COCKPIT, said_at, tr


class DoorWords(NamedTuple):
    """A sentence for two doors.

    Attributes:
        elsewhere: Names the page and the command, since nobody knows which is at hand.
        cockpit: Names what its owner does in the page where he reads it.
    """

    elsewhere: str
    cockpit: str


def words_here(words: DoorWords, **values: object) -> str:
    """A sentence as it is said at the door of this turn, in the owner's language."""
    here = scope_of_calls().door == COCKPIT
    return tr(words.cockpit if here else words.elsewhere, **values)


def said_here(words: str, *quoted: str) -> str:
    """A sentence that names commands, at the door of this turn; what is quoted stays as it was."""
    return said_at(scope_of_calls().door, words, quoted)
