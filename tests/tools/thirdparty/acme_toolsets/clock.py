"""What the package offers as an entry point."""

from typing import Any

from pydantic_ai.toolsets import FunctionToolset


class Clock(FunctionToolset[Any]):
    """Tells a time."""

    def __init__(self) -> None:
        super().__init__()
        self.add_function(self.time_in)

    def time_in(self, place: str) -> str:
        """The time in a place."""
        return f"noon in {place}"
