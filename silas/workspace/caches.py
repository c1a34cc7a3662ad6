"""Caches that tools leave behind: where a run made one, it stays in the private copy."""

from collections.abc import Collection, Container

CACHES = frozenset(
    {"__pycache__", ".pytest_cache", ".mypy_cache", ".ruff_cache", ".hypothesis", ".pytype"}
)
"""Directories that interpreters, test runners, linters and type checkers make for themselves."""

LEFT_EMPTY = frozenset({".benchmarks"})
"""Directories that a plugin of a test runner makes in every run, also where it keeps nothing."""


def in_new_cache(path: str, before: Container[str]) -> bool:
    """Whether a path is, or lies in, a cache directory that was not there before."""
    above = list[str]()
    for name in path.split("/"):
        above.append(name)
        if name in CACHES and "/".join(above) not in before:
            return True
    return False


def left_empty(path: str, before: Container[str], after: Collection[str]) -> bool:
    """Whether a path is a directory for results that was not there before and holds none."""
    if path.rpartition("/")[2] not in LEFT_EMPTY or path in before:
        return False
    return not any(other.startswith(f"{path}/") for other in after)
