"""An ordinary PydanticAI toolset that never heard of Silas, and a function that makes one."""

from typing import Any, ClassVar, Self

from pydantic_ai import ModelRetry, RunContext
from pydantic_ai.toolsets import AbstractToolset, FunctionToolset


class Notes(FunctionToolset[Any]):
    """Keeps notes in memory, while it is entered."""

    made: ClassVar["list[Notes]"] = []

    def __init__(self, title: str = "notes") -> None:
        super().__init__()
        self.title = title
        self.open = False
        self.notes: list[str] = []
        self.contexts: list[RunContext[Any]] = []
        self.add_function(self.write)
        self.add_function(self.read)
        Notes.made.append(self)

    async def __aenter__(self) -> Self:
        self.open = True
        return self

    async def __aexit__(self, *args: Any) -> None:
        self.open = False

    def write(self, ctx: RunContext[Any], text: str) -> str:
        """Keep a note."""
        self.contexts.append(ctx)
        if not self.open:
            raise RuntimeError("the notes are closed")
        if not text:
            raise ModelRetry("A note needs text.")
        self.notes.append(text)
        return f"{self.title}: kept"

    def read(self, ctx: RunContext[Any]) -> list[str]:
        """All notes."""
        self.contexts.append(ctx)
        return self.notes


def notes(title: str) -> AbstractToolset[Any]:
    """A factory."""
    return Notes(title)
