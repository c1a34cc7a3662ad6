"""Projects as texts, and a sandbox that notes which command ran when."""

from collections.abc import Callable
from typing import Any

from silas.plans.projects.document import join_project
from silas.sandbox import SandboxResult
from silas.testing import FakeSandbox, plan_text
from silas.testing.tools import SandboxRun, exit_result

PROJECT = "project-deploy"


def task_text(name: str, **changes: Any) -> str:
    """The plan of a task that runs a command of its own name; its check looks at `check-NAME`."""
    fields: dict[str, Any] = {
        "id": name,
        "title": f"Do {name}",
        "verify": [{"name": "right", "run": f"check-{name}", "expect": {"exit_code": 0}}],
        "body": f"Do it.\n\n```sh\ndo-{name}\n```",
        "budget": {"max_attempts": 1},
    }
    return plan_text(**{**fields, **changes})


def project_text(tasks: dict[str, dict[str, Any]], **changes: Any) -> str:
    """A project with these tasks, each with what differs from `task_text`."""
    fields: dict[str, Any] = {
        "id": PROJECT,
        "type": "project",
        "title": "Deploy it",
        "verify": None,
        "tasks": list(tasks),
        "body": "Tasks run in their order.",
    }
    own = plan_text(**{**fields, **changes})
    return join_project(own, [(name, task_text(name, **given)) for name, given in tasks.items()])


def chain(*names: str) -> dict[str, dict[str, Any]]:
    """Tasks of which each waits for the one before it."""
    return {
        name: {"depends_on": [names[number - 1]] if number else []}
        for number, name in enumerate(names)
    }


class Ran:
    """What the sandbox was asked to run.

    Attributes:
        words: Of each run the last word of its command, in order.
        failing: Commands that end with an error.
        before: Called with each command before it runs.
    """

    def __init__(self) -> None:
        self.words: list[str] = []
        self.failing: set[str] = set()
        self.before: Callable[[str], object] = lambda _: None
        self.sandbox = FakeSandbox(self._ran)

    @property
    def done(self) -> list[str]:
        """The work that was done, without checks."""
        return [word.removeprefix("do-") for word in self.words if word.startswith("do-")]

    def _ran(self, run: SandboxRun) -> SandboxResult:
        word = run.argv[-1].strip()
        self.words.append(word)
        self.before(word)
        return exit_result(1 if word in self.failing else 0, "")
