"""All tasks, in the order in which they are played."""

from typing import Final

from benchmarks.evals.task import Task
from benchmarks.evals.tasks_code import CODE
from benchmarks.evals.tasks_talk import TALK
from benchmarks.evals.tasks_text import TEXT

TASKS: Final[tuple[Task, ...]] = (*TALK, *TEXT, *CODE)
"""The cheapest first: a run that is broken off has said the most."""


def chosen(part: str) -> tuple[Task, ...]:
    """Those whose name holds one of the words of `part`; all where it is empty.

    Raises:
        ValueError: A word is in no task's name; the sentence lists the names.
    """
    words = part.replace(",", " ").split()
    for word in words:
        if not any(word in task.name for task in TASKS):
            raise ValueError(f"no task is called {word}; there are: {', '.join(names())}")
    return tuple(t for t in TASKS if not words or any(word in t.name for word in words))


def names() -> list[str]:
    """Of all tasks."""
    return [task.name for task in TASKS]
