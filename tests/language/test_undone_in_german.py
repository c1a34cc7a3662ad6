"""What an undo came to, for an owner who speaks German."""

import pytest

from silas.work.projects.undo import UndoneWork


@pytest.mark.usefixtures("german")
def test_what_was_taken_back_is_told_in_german() -> None:
    assert UndoneWork(("b", "a"), ("c",)).words("project") == (
        "Zurückgenommen, in dieser Reihenfolge: b, a.\n"
        "Was diese gesendet haben, bleibt gesendet: c."
    )
    assert UndoneWork(("a",)).words("a") == "Der Arbeitsordner ist, wie er vor a war."
