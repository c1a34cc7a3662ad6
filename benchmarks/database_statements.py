# /// script
# requires-python = ">=3.11"
# dependencies = ["sqlalchemy>=2.0.40,<3"]
# ///
"""Two roads to the database, measured: SQLAlchemy Core compiled once, and portable text.

The statements are those of one tool call: look in the journal, begin, end, the audit log's head and
two entries. Nothing of Silas is imported, so that the figures are of the roads alone. SQLAlchemy is
no dependency of Silas: `uv run --script benchmarks/database_statements.py`, or install it by hand.
"""

import re
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from statistics import median
from typing import Any

ROUNDS = 4_000
SCHEMA = """
CREATE TABLE calls (key TEXT PRIMARY KEY, digest TEXT, task TEXT, tool TEXT, status TEXT, at TEXT);
CREATE TABLE log (seq INTEGER PRIMARY KEY, body TEXT, entry_hash TEXT);
"""
FIND = "SELECT key, digest, task, tool, status, at FROM calls WHERE key = :key"
BEGIN = (
    "INSERT INTO calls (key, digest, task, tool, status, at)"
    " VALUES (:key, :digest, :task, :tool, :status, :at)"
)
END = "UPDATE calls SET status = :status WHERE key = :key"
HEAD = "SELECT seq, entry_hash FROM log ORDER BY seq DESC LIMIT 1"
APPEND = "INSERT INTO log (seq, body, entry_hash) VALUES (:seq, :body, :entry_hash)"
_NAME = re.compile(r"(?<![:\w]):([a-z_]+)")

Run = Callable[..., Any]
"""A statement and its named values to a cursor."""


def _call(run: Run, statements: dict[str, Any], number: int) -> None:
    key, body = f"key-{number}", "x" * 300
    assert run(statements["FIND"], key=key).fetchone() is None
    values = {"digest": key, "task": "task", "tool": "tool", "at": "2026-01-02"}
    run(statements["BEGIN"], key=key, status="attempted", **values)
    for _ in range(2):
        seq, _before = run(statements["HEAD"]).fetchone() or (0, "")
        run(statements["APPEND"], seq=seq + 1, body=body, entry_hash=key)
    run(statements["END"], status="succeeded", key=key)


def _texts() -> dict[str, Any]:
    return {"FIND": FIND, "BEGIN": BEGIN, "END": END, "HEAD": HEAD, "APPEND": APPEND}


def _core(sa: Any) -> dict[str, Any]:
    data = sa.MetaData()
    columns = ("key", "digest", "task", "tool", "status", "at")
    calls = sa.Table("calls", data, *(sa.Column(name, sa.Text) for name in columns))
    kept = (
        sa.Column("seq", sa.Integer),
        sa.Column("body", sa.Text),
        sa.Column("entry_hash", sa.Text),
    )
    log = sa.Table("log", data, *kept)
    named = {name: sa.bindparam(name) for name in columns}
    return {
        "FIND": sa.select(calls).where(calls.c.key == sa.bindparam("key")),
        "BEGIN": sa.insert(calls).values(named),
        "END": sa.text(END),  # Core wants another name for a column's value than for its condition
        "HEAD": sa.select(log.c.seq, log.c.entry_hash).order_by(log.c.seq.desc()).limit(1),
        "APPEND": sa.insert(log).values({name: sa.bindparam(name) for name in log.columns.keys()}),  # noqa: SIM118 - no dict,
    }


def _core_executed(driver: sqlite3.Connection) -> tuple[Run, dict[str, Any]]:
    """As Silas did until now: a Core statement through SQLAlchemy's connection."""
    sa = import_module("sqlalchemy")
    pool = import_module("sqlalchemy.pool")
    connections = iter([sqlite3.connect(":memory:", isolation_level=None), driver])
    options = {"poolclass": pool.NullPool, "pool_reset_on_return": None}
    engine = sa.create_engine("sqlite://", creator=lambda: next(connections), **options)
    engine.connect().close()
    connection = engine.connect()

    def run(statement: Any, **values: Any) -> Any:
        return connection.execute(statement, values)

    return run, _core(sa)


def _core_compiled(driver: sqlite3.Connection) -> tuple[Run, dict[str, Any]]:
    """Core compiled once to the dialect's text, and the text executed on the driver."""
    sqlite = import_module("sqlalchemy.dialects.sqlite")
    compiled: dict[int, tuple[str, dict[str, Any]]] = {}

    def run(statement: Any, **values: Any) -> Any:
        known = compiled.get(id(statement))
        if known is None:
            made = statement.compile(dialect=sqlite.dialect(paramstyle="named"))
            known = compiled[id(statement)] = (str(made), dict(made.params))
        text, defaults = known  # a limit is a parameter that Core made up
        return driver.execute(text, {**defaults, **values})

    return run, _core(import_module("sqlalchemy"))


def _portable(driver: sqlite3.Connection) -> tuple[Run, dict[str, Any]]:
    """Text with named values; SQLite's form is the text itself."""

    def run(statement: str, **values: Any) -> Any:
        return driver.execute(statement, values)

    return run, _texts()


def _translated(driver: sqlite3.Connection) -> tuple[Run, dict[str, Any]]:
    """The same with a cache from text to a dialect's form, as PostgreSQL needs it."""
    forms: dict[str, str] = {}

    def run(statement: str, **values: Any) -> Any:
        form = forms.get(statement)
        if form is None:
            assert _NAME.sub(r"%(\1)s", statement)
            form = forms[statement] = statement
        return driver.execute(form, values)

    return run, _texts()


ROADS: dict[str, Callable[[sqlite3.Connection], tuple[Run, dict[str, Any]]]] = {
    "core_executed": _core_executed,
    "core_compiled": _core_compiled,
    "text": _portable,
    "text_translated": _translated,
}
IMPORTS = {
    "core": "import sqlite3, sqlalchemy, sqlalchemy.dialects.sqlite",
    "text": "import sqlite3",
}


def _microseconds(road: str, rounds: int) -> float:
    with tempfile.TemporaryDirectory() as folder:
        driver = sqlite3.connect(Path(folder) / "silas.db", isolation_level=None)
        driver.executescript(SCHEMA)
        run, statements = ROADS[road](driver)
        taken: list[float] = []
        driver.execute("BEGIN")
        for number in range(rounds):
            began = time.process_time_ns()
            _call(run, statements, number)
            taken.append((time.process_time_ns() - began) / 1000)
        driver.execute("COMMIT")
        driver.close()
    return median(taken)


def _import_milliseconds(statement: str, rounds: int) -> float:
    timed = f"import time; t = time.process_time(); {statement}; print(time.process_time() - t)"
    taken = [
        float(subprocess.run([sys.executable, "-c", timed], capture_output=True, check=True).stdout)
        for _ in range(rounds)
    ]
    return median(taken) * 1000


def measure(rounds: int = ROUNDS) -> dict[str, float]:
    """CPU time of the seven statements of a tool call in microseconds, and of the imports in ms."""
    calls = {f"{road}_call_us": round(_microseconds(road, rounds), 1) for road in ROADS}
    imports = {
        f"{road}_import_ms": round(_import_milliseconds(text, 9), 1)
        for road, text in IMPORTS.items()
    }
    return calls | imports


if __name__ == "__main__":
    for name, figure in measure().items():
        print(f"{name:28} {figure}")
