"""Questions about the folder that the built-in model answers at once, by looking.

A question is one of the sentences of `asked.py`, whole or not at all, or one that a runbook which
only looks is asked by. `answers.py` says for each kind what to look at and what to say then. What a
look cannot answer (a file that is too large, a folder elsewhere) is left to the runbook.
"""

from silas.agents.looking.answers import LookAnswer, LookCall, Seen, files_seen, next_step
from silas.agents.looking.asked import LookRequest, look_request

__all__ = [
    "LookAnswer",
    "LookCall",
    "LookRequest",
    "Seen",
    "files_seen",
    "look_request",
    "next_step",
]
