"""What was spent: the amounts of a table in a month or a year, or for what a cell of it names."""

import re
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from datetime import date
from decimal import Decimal
from types import MappingProxyType
from typing import Final, NamedTuple

from silas.agents.runbook.folder.files import read_files
from silas.agents.runbook.folder.looks import (
    FILES,
    Asking,
    Given,
    Kinds,
    LookAnswer,
    LookCall,
    Moment,
    whole_text,
)
from silas.agents.runbook.folder.questions import LookRequest
from silas.agents.runbook.folder.tables import (
    Row,
    Table,
    column_of,
    format_number,
    numbers_of,
    same_word,
    table_of,
    total_of,
)
from silas.language import tr
from silas.plans.runbooks.sentences import matches, parse_request

_ASK: Final = "how_much|what did|have|has i|we spend|spent|pay|paid"
_DE_ASK: Final = "wie_viel|wieviel|was habe|haben ich|wir"
_DE_SPENT: Final = "ausgegeben|bezahlt|gezahlt"
_TABLE_AT_END: Final = "in|from|of|according_to|aus [the|my|der] [file|table|datei] {table}"
_PLAIN: Final = (
    f"{_ASK} [in|during|for] {{period...}}",
    f"{_ASK} on|for {{what...}} in|during {{period...}}",
    f"{_ASK} on|for {{what...}}",
    f"{_DE_ASK} [im|in] {{period...}} {_DE_SPENT}",
    f"{_DE_ASK} [im|in] {{period...}} für {{what...}} {_DE_SPENT}",
    f"{_DE_ASK} für {{what...}} {_DE_SPENT}",
)
_SENTENCES: Final = (
    *(f"{one} {_TABLE_AT_END}" for one in _PLAIN),
    *_PLAIN,
    "[what_is|what's] [the] sum|total of [the] {column...} in|of|from {table} for|in|during "
    "{period...}",
    "[was_ist] [die] summe von|der {column...} in|aus {table} für|im|in {period...}",
)
_MONTH_NAMES: Final = """
january januar jänner
february februar
march märz
april
may mai
june juni
july juli
august
september
october oktober
november
december dezember
"""
_MONTHS: Final = {
    name: at
    for at, names in enumerate(_MONTH_NAMES.strip().split("\n"), 1)
    for name in names.split()
}
_PERIOD: Final = re.compile(rf"(?P<month>{'|'.join(_MONTHS)})?(?:(?:^| )(?P<year>(?:19|20)\d\d))?")
_RELATIVE: Final = {
    **dict.fromkeys(("this month", "diesem monat", "diesen monat"), "this month"),
    **dict.fromkeys(("last month", "letzten monat", "im letzten monat"), "last month"),
    **dict.fromkeys(("this year", "diesem jahr", "dieses jahr"), "this year"),
}
_TABLE: Final = re.compile(r"[\w+(@~.-][\w .,+()@&#=~/-]{0,150}\.(?:csv|tsv)", re.IGNORECASE)
_WHAT: Final = re.compile(r"(?!.*\b(?:and|or|then|und|oder|dann)\b)[\w -]{2,40}", re.IGNORECASE)
_LOOKED_AT: Final = 4  # tables
_AMOUNT: Final = re.compile(r"amount|sum|total|price|cost|paid|betrag|summe|preis|kosten", re.I)
_ISO: Final = re.compile(r"(\d{4})-(\d{2})-(\d{2})")
_POINTS: Final = re.compile(r"(\d{1,2})\.(\d{1,2})\.(\d{4})")


def _period(said: str) -> str | None:
    """`03`, `2026-03`, `2026` or a relative one; None for other words."""
    words = " ".join(said.lower().split())
    if words in _RELATIVE:
        return _RELATIVE[words]
    found = _PERIOD.fullmatch(words)
    if found is None or not words:
        return None
    month = f"{_MONTHS[found['month']]:02d}" if found["month"] else ""
    return "-".join(filter(None, (found["year"], month)))


_READS: Final[Mapping[str, Callable[[str], str | None]]] = {
    "period": _period,
    "what": lambda said: said if _WHAT.fullmatch(said) and _period(said) is None else None,
    "table": lambda said: said if _TABLE.fullmatch(said) else None,
    "column": lambda said: said if _WHAT.fullmatch(said) else None,
}


def spending_request(text: str) -> LookRequest | None:
    """What a message asks to be added up of a time or of a kind; None for other messages."""
    said, place = parse_request(text)
    return next(_requests(said), None) if said and not place else None


def _requests(said: str) -> Iterator[LookRequest]:
    for slots in matches(_SENTENCES, said):
        read = {name: _READS[name](value) for name, value in slots.items()}
        given = {name: value for name, value in read.items() if value is not None}
        if len(given) == len(read):
            yield LookRequest("spent", MappingProxyType(given))


class _Fit(NamedTuple):
    """A table that tells it: the column of amounts, the rows that are meant, and why those."""

    path: str
    table: Table
    amount: int
    dates: int | None
    named: int | None


def _day(cell: str) -> date | None:
    """A day that is written in one way alone: 2026-03-02 or 2.3.2026."""
    said = cell.strip()
    try:
        if (iso := _ISO.match(said)) is not None:
            return date(int(iso[1]), int(iso[2]), int(iso[3]))
        points = _POINTS.fullmatch(said)
        return None if points is None else date(int(points[3]), int(points[2]), int(points[1]))
    except ValueError:
        return None


def _fit(path: str, table: Table, given: Given) -> _Fit | None:
    places = range(len(table.heads))
    days = [at for at in places if table.rows and all(_day(row.cells[at]) for row in table.rows)]
    amounts = [at for at in places if at not in days and len(numbers_of(table, at).values) > 0]
    if "column" in given:
        named_column = column_of(table, given["column"])
        amounts = [at for at in amounts if at == named_column]
    elif len(amounts) > 1:
        amounts = [at for at in amounts if _AMOUNT.search(table.heads[at])]
    if len(amounts) != 1 or ("period" in given and len(days) != 1):
        return None
    holding: list[int] = []
    if what := given.get("what"):
        cells = [at for at in places if at not in (*days, *amounts)]
        holding = [at for at in cells if any(_is(row, at, what) for row in table.rows)]
        if len(holding) != 1:
            return None
    return _Fit(path, table, amounts[0], *(one[0] if one else None for one in (days, holding)))


def _is(row: Row, at: int, what: str) -> bool:
    return same_word(row.cells[at].strip(), what)


def _tables(given: Given) -> Generator[LookCall, str, Sequence[tuple[str, Table]] | None]:
    """The tables that may tell it; None where one is too long, or there are too many."""
    paths = [given["table"]] if "table" in given else []
    if not paths:
        call = LookCall(FILES, {"names": ["*.csv", "*.tsv"], "count": _LOOKED_AT + 1})
        found = read_files((yield call))
        if found is None or not 0 < found.total <= _LOOKED_AT:
            return None
        paths = [one.path for one in found.shown]
    tables = list[tuple[str, Table]]()
    for path in paths:
        file = yield from whole_text(path)
        if file.why is not None or file.cut:
            return None
        table = table_of(file.text)
        if isinstance(table, Table):
            tables.append((file.path, table))
    return tables


def _answer_spending(given: Given, at: Moment) -> Asking:
    tables = yield from _tables(given)
    if tables is None:
        return None
    fits = [fit for path, table in tables if (fit := _fit(path, table, given)) is not None]
    if len(fits) > 1:
        named = ", ".join(fit.path for fit in fits)
        why = tr("Several tables fit: {tables}; say which one is meant.", tables=named)
        return LookAnswer(why, understood=False)
    if not fits:
        why = tr(
            "No table here tells that: it takes one column of amounts, and one of dates or one "
            "that names what they are for."
        )
        return LookAnswer(why, understood=False)
    return LookAnswer("\n".join(_lines(fits[0], given, at.now.astimezone(at.zone).date())))


def _lines(fit: _Fit, given: Given, today: date) -> list[str]:
    rows = list(fit.table.rows)
    where = list[str]()
    if fit.named is not None and (what := given.get("what")):
        rows = [row for row in rows if _is(row, fit.named, what)]
        where.append(f"{fit.table.heads[fit.named]} = {rows[0].cells[fit.named].strip()}")
    if "period" not in given or fit.dates is None:
        return _totals(fit, rows, where)
    period, lines = _month_or_year(given["period"], today), list[str]()
    labels = dict.fromkeys(_label(row, fit.dates, period) for row in rows)
    for label in sorted(filter(None, labels)):
        of = [row for row in rows if _label(row, fit.dates, period) == label]
        lines += _totals(fit, of, [*where, f"{fit.table.heads[fit.dates]} = {label}"])
    return lines or _totals(fit, [], [*where, f"{fit.table.heads[fit.dates]} = {period}"])


def _month_or_year(period: str, today: date) -> str:
    if period == "this month":
        return f"{today:%Y-%m}"
    if period == "this year":
        return f"{today:%Y}"
    if period == "last month":
        year, month = (today.year, today.month - 1) if today.month > 1 else (today.year - 1, 12)
        return f"{year}-{month:02d}"
    return period


def _label(row: Row, at: int, period: str) -> str:
    """The month or the year of a row that is meant; empty where it is of another time."""
    day = _day(row.cells[at])
    if day is None:
        return ""
    month = f"{day:%Y-%m}"
    if len(period) == len("03"):
        return month if month.endswith(f"-{period}") else ""
    return period if month.startswith(period) else ""


def _totals(fit: _Fit, rows: Sequence[Row], where: Sequence[str]) -> list[str]:
    chosen = {row.line for row in rows}
    found = numbers_of(fit.table, fit.amount)
    values: list[Decimal] = [value for value, row in found.values if row.line in chosen]
    left = [str(row.line) for row in found.left if row.line in chosen]
    odd = [str(row.line) for row in fit.table.odd]
    lines = [
        tr(
            "{table}, total {column} where {where}: {value} ({rows} of {all} rows).",
            table=fit.path,
            column=fit.table.heads[fit.amount],
            where=", ".join(where),
            value=format_number(total_of(values)),
            rows=len(values),
            all=len(fit.table.rows),
        )
    ]
    if left or odd:
        lines.append(tr("(Left out, as no plain rows: line {lines})", lines=", ".join(left + odd)))
    return lines


KINDS: Final[Kinds] = {"spent": _answer_spending}
"""The question what was spent, and how it is answered."""
