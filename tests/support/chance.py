"""How many inputs a property is tried with."""

from hypothesis import settings


def examples(searched: int) -> int:
    """So many in `make search`, whose inputs are others each time, and 40 % of them in `make test`.

    There they are the same each time: what the first of them do not find, the later ones found
    already in a search, or do not find either.
    """
    if settings.get_current_profile_name() == "search":
        return searched
    return searched * 2 // 5
