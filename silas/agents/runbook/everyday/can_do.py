"""Whether a message would be understood: what a question back may offer."""

from typing import Any

from silas.agents.runbook import folder_questions
from silas.agents.runbook.library import Library


def can_do(text: str, library: Library[Any]) -> bool:
    """Whether a plan, a look at the folder or a reminder is asked for."""
    if library.find(text) is not None or folder_questions.wanted_look(text, library) is not None:
        return True
    from silas.reminders.request import request_of  # noqa: PLC0415 - few turns load reminders

    return request_of(text) is not None
