"""For whom models are asked: what is begun within a turn belongs to its scope (spec 18.5)."""

from collections.abc import Callable, Generator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar
from typing import Final, NamedTuple

LimitWait = Callable[[str], AbstractContextManager[None]]
"""Stands around a wait for the limit, given a sentence for whoever looks at what waits."""


class CallScope(NamedTuple):
    """Whose requests to models are, and whether somebody waits for the answer.

    Attributes:
        scope_id: Whose they are.
        first: Whether they are for a message of the owner's own, before work and jobs.
        waits: Whether somebody else's wait for the limit, as the owner's do, and are not refused.
        door: The channel where the answer is read; empty where nobody reads it.
    """

    scope_id: str
    first: bool = False
    waits: bool = False
    door: str = ""


def _show_nowhere(words: str) -> AbstractContextManager[None]:
    del words
    return nullcontext()


_UNKNOWN: Final = CallScope("unknown")
_scope: Final[ContextVar[CallScope]] = ContextVar("call_scope", default=_UNKNOWN)
_waits: Final[ContextVar[LimitWait]] = ContextVar("limit_wait", default=_show_nowhere)


def scope_of_calls() -> CallScope:
    """Whose the requests are that are made here; where nobody said so, a stranger's."""
    return _scope.get()


@contextmanager
def calls_of(
    scope_id: str, *, first: bool = False, waits: bool = False, door: str = ""
) -> Generator[None]:
    """Requests to models that are made, or begun, within are of this scope.

    Where a wait for the limit was shown before is not where it is shown within.
    """
    scope = _scope.set(CallScope(scope_id, first, waits, door))
    shown = _waits.set(_show_nowhere)
    try:
        yield
    finally:
        _waits.reset(shown)
        _scope.reset(scope)


@contextmanager
def limit_waits(shown: LimitWait) -> Generator[None]:
    """A request made within that waits for the limit waits within what this gives."""
    token = _waits.set(shown)
    try:
        yield
    finally:
        _waits.reset(token)


def limit_wait(words: str) -> AbstractContextManager[None]:
    """What stands around a wait for the limit here; see `LimitWait`."""
    return _waits.get()(words)
