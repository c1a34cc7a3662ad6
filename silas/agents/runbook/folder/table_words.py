"""How figures of a table and the best of its groups are called."""

from typing import Final

from silas.language import tr_later

FIGURES: Final = {
    "total": tr_later("total {column}"),
    "average": tr_later("average {column}"),
    "highest": tr_later("highest {column}"),
    "lowest": tr_later("lowest {column}"),
}
"""Figures of a column, by the word that stands for each in a request."""

BEST: Final = {
    "most": tr_later("most"),
    "fewest": tr_later("fewest"),
    "highest": tr_later("highest"),
    "lowest": tr_later("lowest"),
}
"""Which of the groups is meant, likewise."""
