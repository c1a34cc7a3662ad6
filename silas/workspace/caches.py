"""Caches that tools leave behind: where a run made one, it stays in the private copy."""

from collections.abc import Container

CACHES = frozenset(
    {"__pycache__", ".pytest_cache", ".mypy_cache", ".ruff_cache", ".hypothesis", ".pytype"}
)
"""Directories that interpreters, test runners, linters and type checkers make for themselves."""


def in_new_cache(path: str, before: Container[str]) -> bool:
    """Whether a path is, or lies in, a cache directory that was not there before."""
    above = list[str]()
    for name in path.split("/"):
        above.append(name)
        if name in CACHES and "/".join(above) not in before:
            return True
    return False
