"""What one requirement is."""

from typing import NamedTuple


class Requirement(NamedTuple):
    """One thing that Silas must do, in our own words.

    Attributes:
        id: Stable and readable; what `@pytest.mark.proves` names.
        section: Of the specification, or the decision, or the smaller document.
        sentence: What must hold.
        excused: Empty, or why no test proves it: a kind, a colon, and the reason.
    """

    id: str
    section: str
    sentence: str
    excused: str = ""
