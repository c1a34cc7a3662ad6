"""Tables of CSV files: read as they stand, counted and added up exactly, and never guessed."""

import csv
import re
from collections.abc import Sequence
from decimal import Decimal, localcontext
from io import StringIO
from typing import Final, NamedTuple

from silas.language import tr

_SEPARATORS: Final = ",;\t|"
_LONGEST: Final = 1000  # digits and letters of a cell that may be a number
_WHOLE: Final = re.compile(r"[+-]?\d+")
_POINT: Final = re.compile(r"[+-]?(?:\d+\.\d+|\d{1,3}(?:,\d{3})+\.\d+|\d{1,3}(?:,\d{3}){2,})")
_COMMA: Final = re.compile(r"[+-]?(?:\d+,\d+|\d{1,3}(?:\.\d{3})+,\d+|\d{1,3}(?:\.\d{3}){2,})")
_EITHER: Final = re.compile(r"[+-]?[1-9]\d{0,2},\d{3}")  # 1,234 is a thousand or little more than 1
_GROUPED: Final = re.compile(r"[+-]?[1-9]\d{0,2}\.\d{3}")  # a thousand beside decimal commas
AVERAGE_PLACES: Final = 6  # behind the point of an average that does not end


class Row(NamedTuple):
    """A row: the line of the file that it ends in, and its cells."""

    line: int
    cells: Sequence[str]


class Table(NamedTuple):
    """A table.

    Attributes:
        heads: The headings.
        rows: Rows with a cell for each heading.
        odd: Rows that have more cells or fewer; nothing is read from them.
        separator: What stands between two cells.
    """

    heads: Sequence[str]
    rows: Sequence[Row]
    odd: Sequence[Row]
    separator: str


class NumbersOfColumn(NamedTuple):
    """The numbers of a column.

    Attributes:
        values: Each with its row.
        left: Rows whose cell is no plain number.
        unclear: A cell such as 1,234, of which nothing tells which of two numbers it is.
    """

    values: Sequence[tuple[Decimal, Row]]
    left: Sequence[Row]
    unclear: str


def table_of(text: str) -> Table | str:
    """The table of a CSV file's text, or why there is none.

    The separator is the one of comma, semicolon, tab and bar that the heading has most of.
    """
    text = text.removeprefix("\ufeff")
    parsed = [(one, _rows(text, one)) for one in _SEPARATORS]
    separator, rows = max(parsed, key=lambda found: len(found[1][0].cells) if found[1] else 0)
    if not rows:
        return tr("is empty")
    heads = [one.strip() or f"(column {at})" for at, one in enumerate(rows[0].cells, 1)]
    fitting = [row for row in rows[1:] if len(row.cells) == len(heads)]
    odd = [row for row in rows[1:] if len(row.cells) != len(heads)]
    return Table(heads, fitting, odd, separator)


def _rows(text: str, separator: str) -> list[Row]:
    reader = csv.reader(StringIO(text, newline=""), delimiter=separator)
    found = list[Row]()
    try:
        for cells in reader:
            if any(one.strip() for one in cells):
                found.append(Row(reader.line_num, cells))
    except csv.Error:  # a cell that is longer than the reader takes, or a stray end of line
        return []
    return found


def column_of(table: Table, named: str) -> int | None:
    """The place of a column by its heading, in one or many; None for none, or for several."""
    for form in (str.casefold, _one):
        places = [at for at, head in enumerate(table.heads) if form(head) == form(named)]
        if places:
            return places[0] if len(places) == 1 else None
    return None


def _one(word: str) -> str:
    said = re.sub(r"[\W_]+", " ", word.casefold()).strip()
    if len(said) > len("ies") + 1 and said.endswith("ies"):
        return f"{said[:-3]}y"
    return said[:-1] if len(said) > 3 and said.endswith("s") and not said.endswith("ss") else said


def same_word(one: str, two: str) -> bool:
    """Whether two words are the same, in one or in many."""
    return _one(one) == _one(two)


def numbers_of(table: Table, at: int) -> NumbersOfColumn:
    """The numbers of a column, all written with a point or all with a comma."""
    said = [(_cell(row, at), row) for row in table.rows]
    clear = [one for one, _ in said if not _EITHER.fullmatch(one)]
    comma = next((one for one in clear if _COMMA.fullmatch(one)), "")
    points = [one for one in clear if _POINT.fullmatch(one)]
    certain = [one for one in points if not _GROUPED.fullmatch(one)]
    either = [one for one, _ in said if _EITHER.fullmatch(one)]
    if comma and certain:
        unclear = comma
    elif table.separator == ";" and not comma and not certain:
        unclear = next(iter(either + points), "")
    else:
        unclear = next(iter(either), "") if not comma and not points else ""
    if unclear:
        return NumbersOfColumn([], [row for _, row in said], unclear)
    values, left = list[tuple[Decimal, Row]](), list[Row]()
    for one, row in said:
        value = _number(one, comma=bool(comma))
        if value is None:
            left.append(row)
        else:
            values.append((value, row))
    return NumbersOfColumn(values, left, "")


def _cell(row: Row, at: int) -> str:
    """What may be a number; nothing where it is longer than any that people write."""
    said = row.cells[at].strip()
    return said if len(said) <= _LONGEST else ""


def _number(said: str, *, comma: bool) -> Decimal | None:
    if _WHOLE.fullmatch(said):
        return Decimal(said)
    if comma:
        grouped = re.fullmatch(r"[+-]?\d{1,3}(?:\.\d{3})+(?:,\d+)?", said)
        plain = re.fullmatch(r"[+-]?\d+,\d+", said)
        return Decimal(said.replace(".", "").replace(",", ".")) if grouped or plain else None
    if _POINT.fullmatch(said) or _EITHER.fullmatch(said):
        return Decimal(said.replace(",", ""))
    return None


def total_of(values: Sequence[Decimal]) -> Decimal:
    """The exact sum."""
    with localcontext() as exact:
        exact.prec = 2 * _LONGEST + len(values)
        return sum(values, Decimal(0))


def average_of(values: Sequence[Decimal]) -> str:
    """The mean, exact where it ends within a few digits, else rounded and said to be about."""
    with localcontext() as exact:
        exact.prec = 2 * _LONGEST + len(values)
        mean = total_of(values) / len(values)
        short = round(mean, AVERAGE_PLACES)
        ends = short * len(values) == total_of(values)
        short = short.normalize() if short else short
        return format_number(short) if ends else f"about {format_number(short)}"


def format_number(value: Decimal) -> str:
    """A number as people write it, with the places that it has."""
    return f"{value:f}"
