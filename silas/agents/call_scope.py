"""For whom models are asked: what is begun within a turn belongs to its scope (spec 18.5)."""

from collections.abc import Generator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Final

from silas.types import OWNER

_scope: Final[ContextVar[str]] = ContextVar("scope_of_calls", default=OWNER)


def scope_of_calls() -> str:
    """Whose the requests are that are made here; the owner's where nobody else's turn is."""
    return _scope.get()


@contextmanager
def calls_of(scope_id: str) -> Generator[None]:
    """Requests to models that are made, or begun, within are of this scope."""
    token = _scope.set(scope_id)
    try:
        yield
    finally:
        _scope.reset(token)
