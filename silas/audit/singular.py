"""Sentences of the record about one file, where `narrate.SENTENCES` tells of several."""

from collections.abc import Mapping
from typing import Any, Final

ONE_FILE: Final[Mapping[str, str]] = {
    "batch_reviewed": "You answered a batch of one file in {folder}: {verdict}.",
    "batch_moving": "One file in {folder} is about to be moved.",
    "batch_moved": "One file in {folder} was moved: {paths}.",
    "batch_undoing": "One file in {folder} is about to go back: {paths}.",
    "batch_undone": "One file in {folder} is back where it was: {paths}.",
    "batch_recovered": "A batch in {folder} was interrupted; one of its files was moved: {paths}.",
}
"""By the event's name, with the same values."""


def one_file(event: str, data: Mapping[str, Any]) -> str | None:
    """The sentence of an entry that is about one file; None for every other entry."""
    return ONE_FILE.get(event) if data.get("items") == 1 else None
