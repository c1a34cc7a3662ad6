"""One road to the database: `Tx.run`, and no statement that is SQLite's alone outside its file."""

import ast
import re
from collections.abc import Iterable, Iterator
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple, cast

import pglast
import pytest
from pglast.visitors import Visitor

PACKAGE = Path(__file__).resolve().parent.parent / "silas"
ONE_ROAD = ("db.py", "migrations.py")
"""The files that may know the driver; migrations are SQLite's."""
DIALECT = "sqlite_statements.py"

FUNCTIONS = {"count", "max", "min", "sum", "coalesce", "length", "substr", "lower", "upper"}
"""What both databases have under one name, with one meaning."""
TYPES = {"text", "int4", "int8"}
_SQL = re.compile(
    r"\s*(?:SELECT\s.*\sFROM|INSERT\s+(?:OR\s+\w+\s+)?INTO|UPDATE\s.*\sSET|DELETE\s+FROM|REPLACE\s+INTO|PRAGMA)\s",
    re.DOTALL,
)
_VALUE = re.compile(r"('[^']*')|(?<!:):(\w+)")
_LIST = re.compile(r"\bIN :(\w+)")


class Statement(NamedTuple):
    """A text in the package that is a statement, and where it stands."""

    place: str
    text: str


def postgres_form(text: str) -> str:
    """A statement as PostgreSQL's parser reads it: a number for each name."""
    numbers: dict[str, int] = {}

    def number(found: re.Match[str]) -> str:
        return found[1] or f"${numbers.setdefault(found[2], len(numbers) + 1)}"

    return _VALUE.sub(number, _LIST.sub(r"IN (:\1)", text))


class _Unportable(Visitor):
    """What parses and is yet not PostgreSQL's."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def visit_FuncCall(self, _ancestors: Any, node: Any) -> None:
        name = node.funcname[-1].sval
        several = len(node.args or ()) > 1
        if name not in FUNCTIONS or (name in {"max", "min"} and several):
            self.found.append(f"the function {name}")

    def visit_ColumnRef(self, _ancestors: Any, node: Any) -> None:
        if getattr(node.fields[-1], "sval", "") in {"rowid", "_rowid_", "oid"}:
            self.found.append("the column rowid")

    def visit_TypeName(self, _ancestors: Any, node: Any) -> None:
        if node.names[-1].sval not in TYPES:
            self.found.append(f"the type {node.names[-1].sval}")

    def visit_InsertStmt(self, _ancestors: Any, node: Any) -> None:
        if node.cols is None:
            self.found.append("an INSERT that does not name its columns")

    def visit_OnConflictClause(self, _ancestors: Any, node: Any) -> None:
        """A name alone could be the row's that is there or the row's that comes."""
        names = _Names()
        for each in (*(node.targetList or ()), *([node.whereClause] if node.whereClause else ())):
            names(each)
        self.found += [f"the name {name} alone, after ON CONFLICT" for name in names.bare]


class _Names(Visitor):
    def __init__(self) -> None:
        super().__init__()
        self.bare: list[str] = []

    def visit_ColumnRef(self, _ancestors: Any, node: Any) -> None:
        if len(node.fields) == 1:
            self.bare.append(node.fields[0].sval)


def unportable(text: str) -> list[str]:
    """Why PostgreSQL would refuse a statement; nothing where it would not."""
    try:
        parsed: Any = pglast.parse_sql(postgres_form(text))
    except pglast.parser.ParseError as error:
        return [str(error)]
    found = _Unportable()
    for each in parsed:
        found(each.stmt)
    return found.found


def _texts(value: Any, depth: int = 0) -> Iterator[str]:
    if type(value).__module__.endswith(f".{Path(DIALECT).stem}"):
        return
    if isinstance(value, str):
        yield value
    elif depth < 4 and isinstance(value, tuple | list | set | frozenset):
        for each in cast("Iterable[Any]", value):
            yield from _texts(each, depth + 1)
    elif depth < 4 and isinstance(value, dict):
        for each in cast("dict[Any, Any]", value).values():
            yield from _texts(each, depth + 1)


def is_statement(text: str) -> bool:
    """Whether a text is SQL, and no sentence that begins with one of its words."""
    return _SQL.match(f"{text} ") is not None


def _sources() -> list[Path]:
    return [path for path in sorted(PACKAGE.rglob("*.py")) if path.name != DIALECT]


def _with_statements() -> list[Path]:
    return [path for path in _sources() if re.search(r"\btx\b", path.read_text(encoding="utf-8"))]


def _statements() -> Iterator[Statement]:
    """Every statement that is a constant of a module, or stands where it is run."""
    for path in _with_statements():
        place = str(path.relative_to(PACKAGE.parent))
        name = place.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
        seen: set[str] = set()
        tree = ast.parse(path.read_text(encoding="utf-8"))
        parts = {
            id(part)
            for node in ast.walk(tree)
            if isinstance(node, ast.JoinedStr)
            for part in ast.walk(node)
        }
        literals = [
            node.value
            for function in ast.walk(tree)
            if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef)
            for node in ast.walk(function)
            if isinstance(node, ast.Constant) and isinstance(node.value, str)
            if id(node) not in parts
        ]
        module = vars(import_module(name))
        own = {
            target.id
            for node in tree.body
            if isinstance(node, ast.Assign | ast.AnnAssign)
            for target in (node.targets if isinstance(node, ast.Assign) else [node.target])
            if isinstance(target, ast.Name)
        }
        for text in (*literals, *(text for each in own for text in _texts(module[each]))):
            if path.name in ONE_ROAD and text.startswith("PRAGMA"):
                continue
            if is_statement(text) and text not in seen:
                seen.add(text)
                yield Statement(place, text)


STATEMENTS = list(_statements())


def test_there_are_statements_to_look_at() -> None:
    assert len(STATEMENTS) > 120
    rooms = {statement.place.split("/")[1] for statement in STATEMENTS}
    assert rooms >= {"approval", "audit", "autonomy", "channels", "context", "keys", "memory"}
    assert rooms >= {"persona", "plans", "stop", "stream", "tools", "db.py", "damage.py"}


@pytest.mark.parametrize("place", sorted({statement.place for statement in STATEMENTS}))
def test_a_statement_outside_a_dialect_file_is_portable(place: str) -> None:
    there = [statement.text for statement in STATEMENTS if statement.place == place]
    wrong = {text: why for text in there if (why := unportable(text))}
    assert wrong == {}, f"make it portable, or move it to {DIALECT} of its room"


@pytest.mark.parametrize(
    "text",
    [
        "SELECT a FROM b WHERE c = ?",
        "INSERT OR IGNORE INTO b (a) VALUES (:a)",
        "INSERT OR REPLACE INTO b (a) VALUES (:a)",
        "INSERT INTO b VALUES (:a)",
        "SELECT a FROM b ORDER BY rowid",
        "SELECT a FROM b INDEXED BY c WHERE d = :d",
        "SELECT a FROM b WHERE a MATCH :query",
        "SELECT a FROM b WHERE a GLOB :pattern",
        "SELECT group_concat(a) FROM b",
        "SELECT json_extract(a, '$.c') FROM b",
        "SELECT value FROM json_each(:values)",
        "SELECT datetime('now') FROM b",
        "SELECT max(a, c) FROM b",
        "SELECT CAST(a AS BLOB) FROM b",
        "SELECT a FROM b WHERE c IS :c",
        "INSERT INTO b (a, n) VALUES (:a, 1) ON CONFLICT (a) DO UPDATE SET n = n + 1",
        "PRAGMA user_version",
    ],
)
def test_what_only_sqlite_understands_is_noticed(text: str) -> None:
    assert is_statement(text) or text.startswith("SELECT")
    assert unportable(text) != []


@pytest.mark.parametrize(
    "text",
    [
        "SELECT a FROM b WHERE a IN :names AND c LIKE '%:no value%' AND d = :d",
        "INSERT INTO b (a) VALUES (:a) ON CONFLICT (a) DO UPDATE SET a = excluded.a RETURNING a",
        "DELETE FROM b WHERE a = :a",
    ],
)
def test_a_portable_statement_is_not_refused(text: str) -> None:
    assert unportable(text) == []


_DRIVER = re.compile(r"driver|executescript|sqlite3|sqlalchemy")  # none: nothing to look for


def test_nothing_but_the_one_road_knows_the_driver() -> None:
    wrong = [
        f"{path.relative_to(PACKAGE.parent)}:{node.lineno}"
        for path in sorted(PACKAGE.rglob("*.py"))
        if str(path.relative_to(PACKAGE)) not in ONE_ROAD
        if _DRIVER.search(text := path.read_text(encoding="utf-8"))
        for node in ast.walk(ast.parse(text))
        if (isinstance(node, ast.Attribute) and node.attr in {"driver", "executescript"})
        or (isinstance(node, ast.Import) and any(a.name == "sqlite3" for a in node.names))
        or (
            isinstance(node, ast.Import | ast.ImportFrom)
            and "sqlalchemy" in f"{getattr(node, 'module', '')} {[a.name for a in node.names]}"
        )
    ]
    assert wrong == [], "run the statement with `Tx.run`"


def test_a_dialect_file_is_its_rooms_own_and_holds_statements_only() -> None:
    """Another room goes through this room's port; PostgreSQL's file takes this one's place."""
    for path in PACKAGE.rglob(DIALECT):
        kinds = {type(node) for node in ast.parse(path.read_text(encoding="utf-8")).body}
        assert kinds <= {ast.Expr, ast.Assign, ast.ImportFrom, ast.FunctionDef, ast.ClassDef}
        room = path.parent.relative_to(PACKAGE.parent).as_posix().replace("/", ".")
        users = {
            user.relative_to(PACKAGE.parent).parts[: len(room.split("."))]
            for user in _sources()
            if f"{room}.sqlite_statements import" in user.read_text(encoding="utf-8")
        }
        assert users == {tuple(room.split("."))}


def test_a_statement_made_where_it_is_run_is_refused() -> None:
    """An f-string outside a module's constants is checked by nobody but the type checker."""
    wrong = [
        f"{path.relative_to(PACKAGE.parent)}:{node.lineno}"
        for path in _with_statements()
        for function in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef)
        for node in ast.walk(function)
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr in {"run", "run_many"}
        and isinstance(node.func.value, ast.Name)
        and node.func.value.id == "tx"
        and isinstance(node.args[0], ast.JoinedStr | ast.BinOp | ast.Call)
    ]
    assert wrong == [], "make the statement a constant of its module"
