"""How the reading of a plan goes wrong: always at a place, always in one sentence."""

from silas.errors import PlanFamilyError


class PlanError(PlanFamilyError):
    """A plan that cannot be read, with the place in the original text.

    Args:
        line, column: Counted from 1 in the text as it was given, fences and prose included.
        reason: What is wrong there and what to do.
        code: `E_PLAN_TEXT` (encoding, size), `E_PLAN_FENCE`, `E_PLAN_FRONT_MATTER`, `E_PLAN_YAML`,
            `E_PLAN_FIELD` (a key or a value), `E_PLAN_RULE` (fields that contradict each other),
            `E_PLAN_TASKS` (a task of a project).
    """

    def __init__(
        self, line: int, column: int, reason: str, *, code: str = "E_PLAN_FIELD", **ids: str
    ) -> None:
        super().__init__(f"line {line}, column {column}: {reason}", code=code, **ids)
        self.line = line
        self.column = column
        self.reason = reason

    def __str__(self) -> str:
        return self.message
