"""What is said of a table: how many rows, sums and other figures, and the same for each group."""

from collections.abc import Callable, Generator, Sequence
from decimal import Decimal
from typing import Final, NamedTuple

from silas.agents.runbook.folder.files import read_files
from silas.agents.runbook.folder.looks import (
    FILES,
    READ,
    Asking,
    Given,
    Kinds,
    LookAnswer,
    LookCall,
    Moment,
    whole_text,
)
from silas.agents.runbook.folder.table_words import BEST, FIGURES
from silas.agents.runbook.folder.tables import (
    AVERAGE_PLACES,
    NumbersOfColumn,
    Row,
    Table,
    average_of,
    column_of,
    format_number,
    numbers_of,
    same_word,
    table_of,
    total_of,
)
from silas.agents.runbook.folder.texts import text_of
from silas.language import tr, tr_later, tr_many

_MOST: Final = 20  # rows or groups that an answer names
_LOOKED_AT: Final = 4  # tables whose headings are read where a question names none
_ROW_WORDS: Final = frozenset(("row", "record", "entry", "datensatz", "datensätze", "einträge"))
_NO_ROOM: Final = tr_later(
    "is longer than what I may look at in one turn; no figure is told of a part of it"
)
_BY_ROWS: Final = ""  # what stands for the number of rows where a figure is named


class _Seen(NamedTuple):
    path: str
    table: Table


def _table(given: Given) -> Generator[LookCall, str, _Seen | LookAnswer | None]:
    """The table that is meant; an answer where it is none, None where it is too long."""
    file = yield from whole_text(given["table"])
    if file.why is not None:
        return file.why
    text, cut = file.text, file.cut
    while cut:
        lines = text.rpartition("\n")[0]  # the last line may be half
        said = yield LookCall(READ, {"path": file.path, "from_line": lines.count("\n") + 2})
        more = text_of(file.path, said)
        if more is None or not lines or "\n" not in more.text:
            return None
        text, cut = f"{lines}\n{more.text}", more.cut
    table = table_of(text)
    if isinstance(table, str):
        return _not_answered(f"{file.path} {table}.")
    return _Seen(file.path, table)


def _only_one(given: Given) -> Generator[LookCall, str, str | None]:
    """The one table here that has the columns that are asked for; None for none and for several."""
    found = read_files(
        (yield LookCall(FILES, {"names": ["*.csv", "*.tsv"], "count": _LOOKED_AT + 1}))
    )
    if found is None or not 0 < found.total <= _LOOKED_AT:
        return None
    fits = list[str]()
    for one in found.shown:
        head = text_of(one.path, (yield LookCall(READ, {"path": one.path, "to_line": 2})))
        table = "" if head is None else table_of(head.text)
        if isinstance(table, Table) and _has_columns(given, _Seen(one.path, table)):
            fits.append(one.path)
    return fits[0] if len(fits) == 1 else None


def _has_columns(given: Given, seen: _Seen) -> bool:
    named = [given[one] for one in ("column", "group", "averaged") if one in given]
    of = given.get("of", "rows")
    counted = any(same_word(of, one) for one in (*_ROW_WORDS, _stem(seen)))
    return all(column_of(seen.table, one) is not None for one in ([] if counted else [of]) + named)


def _stem(seen: _Seen) -> str:
    return seen.path.rpartition("/")[2].rpartition(".")[0]


def _not_answered(why: str) -> LookAnswer:
    return LookAnswer(why, understood=False)


def _of_table(then: Callable[[Given, _Seen], LookAnswer]) -> Callable[[Given, Moment], Asking]:
    """Reads the table first; a sum of one that is too long is left to its runbook."""

    def asking(given: Given, at: Moment) -> Asking:
        del at
        if "table" not in given:
            path = yield from _only_one(given)
            if path is None:
                return None
            given = {**given, "table": path}
        seen = yield from _table(given)
        if isinstance(seen, _Seen):
            answer = then(given, seen)
            return answer._replace(text="\n".join([answer.text, *_odd(seen)]))
        if seen is None and given.get("figure") != "total":
            return _not_answered(f"{given['table']} {tr(_NO_ROOM)}.")
        return seen

    return asking


def _odd(seen: _Seen) -> list[str]:
    if not seen.table.odd:
        return []
    lines = ", ".join(str(row.line) for row in seen.table.odd[:_MOST])
    more = tr(", and more") if len(seen.table.odd) > _MOST else ""
    return [
        tr(
            "(Not counted, because they have not {seen} cells as the heading has: "
            "{rows}, line {lines}{more})",
            seen=len(seen.table.heads),
            rows=_rows(len(seen.table.odd)),
            lines=lines,
            more=more,
        )
    ]


def _rows(count: int) -> str:
    return tr_many(count, "{count} row", "{count} rows")


def _heads(seen: _Seen) -> str:
    return ", ".join(seen.table.heads)


def _count(given: Given, seen: _Seen) -> LookAnswer:
    del given
    return LookAnswer(
        tr(
            "{seen}: {rows} below the heading ({heads}).",
            seen=seen.path,
            rows=_rows(len(seen.table.rows)),
            heads=_heads(seen),
        )
    )


def _columns(given: Given, seen: _Seen) -> LookAnswer:
    del given
    return LookAnswer(
        tr(
            "{seen}: {seen2} columns: {heads}.",
            seen=seen.path,
            seen2=len(seen.table.heads),
            heads=_heads(seen),
        )
    )


def _no_column(seen: _Seen, named: str) -> LookAnswer:
    twice = sum(one.casefold() == named.casefold() for one in seen.table.heads) > 1
    what = tr("several columns") if twice else tr("no column")
    return _not_answered(
        tr(
            "{seen} has {what} {named}; its columns are: {heads}.",
            seen=seen.path,
            what=what,
            named=named,
            heads=_heads(seen),
        )
    )


def _numbers(seen: _Seen, at: int) -> NumbersOfColumn | LookAnswer:
    """The numbers of a column; an answer where it has none, or none that can be told."""
    found, head = numbers_of(seen.table, at), seen.table.heads[at]
    if found.unclear:
        return _not_answered(
            tr(
                "The column {head} of {seen} can be read in two ways: nothing tells "
                "which number {unclear!r} is.",
                head=head,
                seen=seen.path,
                unclear=found.unclear,
            )
        )
    if not found.values:
        first = (
            tr(" (its first cell is {found!r})", found=found.left[0].cells[at])
            if found.left
            else ""
        )
        return _not_answered(
            tr(
                "The column {head} of {seen} has no numbers{first}.",
                head=head,
                seen=seen.path,
                first=first,
            )
        )
    return found


def _lines_left_out(found: NumbersOfColumn, at: int) -> list[str]:
    if not found.left:
        return []
    told = [f"line {row.line} ({_line(row.cells[at]) or 'empty'})" for row in found.left[:_MOST]]
    more = f", and {len(found.left) - _MOST} more" if len(found.left) > _MOST else ""
    return [tr("No plain number, so left out: {join}{more}", join=", ".join(told), more=more)]


def _figure(given: Given, seen: _Seen) -> LookAnswer:
    at = column_of(seen.table, given["column"])
    if at is None:
        return _no_column(seen, given["column"])
    found = _numbers(seen, at)
    if isinstance(found, LookAnswer):
        return found
    numbers = [one for one, _ in found.values]
    head, what = seen.table.heads[at], given["figure"]
    value = _number_words(what, numbers)
    named = tr(FIGURES[what], column=head)
    lines = [
        tr(
            "{table}, {figure}: {value} (of {rows}).",
            table=seen.path,
            figure=named,
            value=value,
            rows=_rows(len(numbers)),
        )
    ]
    if what in ("highest", "lowest"):
        wanted = _extreme(what, numbers)
        rows = [row for one, row in found.values if one == wanted]
        lines += [f"- {_row(seen, row)}" for row in rows[:_MOST]]
        lines += (
            [tr("({rows} more have the same)", rows=len(rows) - _MOST)] if len(rows) > _MOST else []
        )
    return LookAnswer("\n".join([*lines, *_lines_left_out(found, at)]))


def _number_words(what: str, numbers: Sequence[Decimal]) -> str:
    if what == "average":
        return average_of(numbers)
    return format_number(total_of(numbers) if what == "total" else _extreme(what, numbers))


def _extreme(what: str, numbers: Sequence[Decimal]) -> Decimal:
    return max(numbers) if what == "highest" else min(numbers)


def _row(seen: _Seen, row: Row) -> str:
    cells = zip(seen.table.heads, row.cells, strict=True)
    return tr("line {line}: ", line=row.line) + ", ".join(
        f"{head} {_line(cell)}" for head, cell in cells
    )


def _line(cell: str) -> str:
    return " ".join(cell.split())


def _rows_by_column(rows: Sequence[Row], at: int) -> dict[str, list[Row]]:
    """Rows by what stands in a column, in the order in which it stands there first."""
    found = dict[str, list[Row]]()
    for row in rows:
        found.setdefault(_line(row.cells[at]) or tr("(empty)"), []).append(row)
    return found


def _figures(
    seen: _Seen, group: int, given: Given
) -> tuple[str, dict[str, Decimal], list[str]] | LookAnswer:
    """What is told of each group, by its name; and of which rows nothing is."""
    column = given.get("column")
    if column is None:
        counted = _rows_by_column(seen.table.rows, group)
        return _BY_ROWS, {one: Decimal(len(rows)) for one, rows in counted.items()}, []
    at = column_of(seen.table, column)
    if at is None:
        return _no_column(seen, column)
    found = _numbers(seen, at)
    if isinstance(found, LookAnswer):
        return found
    what = given.get("figure", "total")
    values = dict[str, list[Decimal]]()
    for value, row in found.values:
        values.setdefault(_line(row.cells[group]) or tr("(empty)"), []).append(value)
    told = {one: _exact(what, numbers) for one, numbers in values.items()}
    return tr(FIGURES[what], column=seen.table.heads[at]), told, _lines_left_out(found, at)


def _exact(what: str, numbers: Sequence[Decimal]) -> Decimal:
    if what == "average":
        return Decimal(average_of(numbers).removeprefix("about "))
    return total_of(numbers) if what == "total" else _extreme(what, numbers)


def _groups(given: Given, seen: _Seen) -> LookAnswer:
    group = column_of(seen.table, given["group"])
    if group is None:
        return _no_column(seen, given["group"])
    found = _figures(seen, group, given)
    if isinstance(found, LookAnswer):
        return found
    what, figures, left = found
    head = seen.table.heads[group]
    rounded = (
        tr(" (averages to {average_places} places)", average_places=AVERAGE_PLACES)
        if given.get("figure") == "average"
        else ""
    )
    lines = [f"- {one}: {format_number(value)}" for one, value in figures.items()]
    more = (
        [tr("({lines} more are not shown)", lines=len(lines) - _MOST)] if len(lines) > _MOST else []
    )
    what = tr("rows") if what == _BY_ROWS else what
    said = tr(
        "{table}, {what} per {head}{rounded}:",
        table=seen.path,
        what=what,
        head=head,
        rounded=rounded,
    )
    return LookAnswer("\n".join([said, *lines[:_MOST], *more, *left]))


def _best(given: Given, seen: _Seen) -> LookAnswer:
    """Which group has most: of rows, of a column, or of what the file is called by."""
    group = column_of(seen.table, given["group"])
    if group is None:
        return _no_column(seen, given["group"])
    wanted: list[dict[str, str]]
    if "averaged" in given:
        wanted = [{"column": given["averaged"], "figure": "average"}]
    elif (of := given.get("of", "rows")) and any(same_word(of, one) for one in _ROW_WORDS):
        wanted = [{}]
    elif column_of(seen.table, of) is not None:
        wanted = [{"column": of}]
    elif same_word(of, _stem(seen)):
        wanted = [{}, *({"column": one} for one in _only_numbers(seen, group))]
    else:
        return _no_column(seen, of)
    lines, left = list[str](), list[str]()
    for one in wanted:
        found = _figures(seen, group, one)
        if isinstance(found, LookAnswer):
            return found
        lines.append(_winner(seen, given["best"], found[0], found[1]))
        left += found[2]
    return LookAnswer("\n".join([*lines, *left]))


def _only_numbers(seen: _Seen, group: int) -> list[str]:
    """The one column of numbers, where there is one alone."""
    places = [at for at in range(len(seen.table.heads)) if at != group]
    found = [seen.table.heads[at] for at in places if numbers_of(seen.table, at).values]
    return found if len(found) == 1 else []


def _winner(seen: _Seen, best: str, what: str, figures: dict[str, Decimal]) -> str:
    if not figures:
        return tr("{seen} has no rows.", seen=seen.path)
    value = _extreme(best, list(figures.values()))
    names = [one for one, figure in figures.items() if figure == value]
    shown = ", ".join(names[:_MOST])
    more = tr(" and {more} more", more=len(names) - _MOST) if len(names) > _MOST else ""
    each = tr(" each") if len(names) > 1 else ""
    measure = (
        tr("By number of rows ({best})", best=tr(BEST[best]))
        if what == _BY_ROWS
        else tr("By {what} ({best})", what=what, best=tr(BEST[best]))
    )
    return f"{seen.path}. {measure}: {shown}{more}, {format_number(value)}{each}."


KINDS: Final[Kinds] = {
    "rows": _of_table(_count),
    "columns": _of_table(_columns),
    "groups": _of_table(_groups),
    "best": _of_table(_best),
    "figure": _of_table(_figure),
}
"""The kinds of questions about a table, and how each is answered."""
