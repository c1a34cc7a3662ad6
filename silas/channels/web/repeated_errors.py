"""Errors of the server that come again and again: told once, then counted, one line a minute."""

import logging
from collections.abc import Generator
from contextlib import contextmanager
from typing import Any

_LOGGERS = ("asyncio", "uvicorn.error")
_MOST_KINDS = 32  # told whole in one minute; the others are counted together
_MOST_WORDS = 80  # of a message that tell its kind: what follows are addresses and numbers
_OTHERS = ("asyncio", logging.ERROR, "other errors", "")
_COUNT = "silas_count"  # the attribute of a record that is a count

ErrorKind = tuple[str, int, str, str]


class RepeatedErrors(logging.Filter):
    """Lets the first record of a kind through and counts what follows, until `tell`."""

    def __init__(self) -> None:
        super().__init__()
        self._more: dict[ErrorKind, int] = {}

    def filter(self, record: logging.LogRecord) -> bool:
        """Whether this record is written."""
        if hasattr(record, _COUNT):
            return True
        kind = _kind(record)
        if kind not in self._more and len(self._more) < _MOST_KINDS:
            self._more[kind] = 0
            return True
        kind = kind if kind in self._more else _OTHERS
        self._more[kind] = self._more.get(kind, 0) + 1
        return False

    def tell(self) -> None:
        """One line for each kind that came again since the last time; call this every minute."""
        told, self._more = self._more, {kind: 0 for kind, more in self._more.items() if more}
        for (name, level, words, where), more in told.items():
            if more:
                text = "%s %s(%d more of these since the last line)"
                logging.getLogger(name).log(
                    level, text, words, f"{where} " if where else "", more, extra={_COUNT: more}
                )


def _kind(record: logging.LogRecord) -> ErrorKind:
    lines = str(record.msg).strip().splitlines()
    error = record.exc_info[1] if record.exc_info else None
    return record.name, record.levelno, (lines or [""])[0][:_MOST_WORDS], _where(error)


def _where(error: BaseException | None) -> str:
    """The type of an error and the line that raised it."""
    if error is None:
        return ""
    trace: Any = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    line = "" if trace is None else f" {trace.tb_frame.f_code.co_filename}:{trace.tb_lineno}"
    return f"{type(error).__name__}{line}"


@contextmanager
def count_repeated_errors() -> Generator[RepeatedErrors]:
    """Count what the server and its loop log, until the end; then what is left is told."""
    repeats = RepeatedErrors()
    for name in _LOGGERS:
        logging.getLogger(name).addFilter(repeats)
    try:
        yield repeats
    finally:
        repeats.tell()
        for name in _LOGGERS:
            logging.getLogger(name).removeFilter(repeats)
