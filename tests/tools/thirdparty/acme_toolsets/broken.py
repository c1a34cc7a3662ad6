"""Toolsets that fail in every way one can."""

import sys
from typing import Any

from pydantic_ai.toolsets import FunctionToolset


class Unmakeable(FunctionToolset[Any]):
    """Repeats its secret when it cannot be made."""

    def __init__(self, key: str) -> None:
        super().__init__()
        raise ValueError(f"cannot connect with {key}")


class Unstartable(FunctionToolset[Any]):
    """Cannot be entered."""

    async def __aenter__(self) -> Any:
        raise ConnectionError("no server")


class Quitter(FunctionToolset[Any]):
    """Ends the process."""

    def __init__(self) -> None:
        super().__init__()
        sys.exit(3)


def nothing() -> None:
    """Makes no toolset."""


async def later() -> FunctionToolset[Any]:
    """Makes one too late."""
    return FunctionToolset()


not_callable = 7
