"""Results that are kept, of functions of values: in most turns nothing has moved since the last."""

from collections.abc import Callable
from functools import lru_cache
from typing import ParamSpec, TypeVar, cast

_P = ParamSpec("_P")
T = TypeVar("T")
_MOST = 64  # results of each function


def cache_results(function: Callable[_P, T]) -> Callable[_P, T]:
    """The same function, with its latest results.

    Only for what is pure and takes values that are frozen, which pydantic knows of its models and
    no type checker does.
    """
    return cast("Callable[_P, T]", lru_cache(maxsize=_MOST)(function))
