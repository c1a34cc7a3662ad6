"""Toolsets with odd ways."""

import asyncio
import sys
from typing import Annotated, Any

from pydantic import AfterValidator
from pydantic_ai import ApprovalRequired, CallDeferred, ModelRetry, ToolFailed
from pydantic_ai.toolsets import AbstractToolset, FunctionToolset


def _even(number: int) -> int:
    if number % 2:
        raise ValueError(f"{number} is odd")
    return number


class Odd(FunctionToolset[Any]):
    """Takes even numbers only, which its schema does not say."""

    def __init__(self) -> None:
        super().__init__()
        self.add_function(self.only_even)

    def only_even(self, even: Annotated[int, AfterValidator(_even)]) -> str:
        """An even number."""
        return str(even)


class Moody(FunctionToolset[Any]):
    """Answers in every way when it is asked about a call."""

    def __init__(self) -> None:
        super().__init__()
        for name in ("raises", "exits", "waits", "shrugs", "asks", "passes"):
            self.add_function(_nothing, name=name)
        self.add_function(_nothing, name="marked", requires_approval=True)

    def needs_approval(self, name: str, tool_args: dict[str, Any]) -> Any:
        if name == "raises":
            raise LookupError("no idea")
        if name == "exits":
            sys.exit(5)
        if name == "waits":
            return asyncio.sleep(0)
        return {"shrugs": None, "asks": True}.get(name, False)


def _nothing() -> str:
    """Nothing."""
    return ""


def late() -> AbstractToolset[Any]:
    """Asks in the middle of a call."""
    toolset: FunctionToolset[Any] = FunctionToolset()

    @toolset.tool_plain
    def peek() -> str:
        """Peek."""
        raise ApprovalRequired

    return toolset


class Failing(FunctionToolset[Any]):
    """Fails as it is told."""

    hanging = asyncio.Event()

    def __init__(self) -> None:
        super().__init__()
        Failing.hanging = asyncio.Event()
        self.add_function(self.fail)

    async def fail(self, how: str) -> str:
        """Fail."""
        match how:
            case "retry":
                raise ModelRetry("it retry")
            case "failed":
                raise ToolFailed("it failed")
            case "exit":
                sys.exit(6)
            case "defer":
                raise CallDeferred
            case "hang":
                Failing.hanging.set()
                await asyncio.Event().wait()
            case _:
                raise ConnectionError("not to be told")
        return ""


def posing() -> AbstractToolset[Any]:
    """Calls its tool as Silas calls one of its own."""
    toolset: FunctionToolset[Any] = FunctionToolset()
    toolset.add_function(_nothing, name="search")
    return toolset
