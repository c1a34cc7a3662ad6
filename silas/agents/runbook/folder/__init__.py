"""Questions about the folder that the built-in model answers at once, by looking.

A question is one of the sentences of `questions.py`, whole or not at all, or one that a runbook
which only looks is asked by. `answers.py` says for each kind what to look at and what to say then.
What a look cannot answer (a file that is too large, a folder elsewhere) is left to the runbook.
"""

from silas.agents.runbook.folder.answers import files_seen
from silas.agents.runbook.folder.attached_files import attached_request, with_attached
from silas.agents.runbook.folder.looks import LookAnswer, LookCall, LookResult
from silas.agents.runbook.folder.lookups import has_all, lookup_request, lookup_words
from silas.agents.runbook.folder.loose import loose_request
from silas.agents.runbook.folder.questions import LookRequest, look_request
from silas.agents.runbook.folder.spending import spending_request
from silas.agents.runbook.folder.steps import first_step, next_step
from silas.agents.runbook.folder.table_requests import table_request, unnamed_table_request

__all__ = [
    "LookAnswer",
    "LookCall",
    "LookRequest",
    "LookResult",
    "attached_request",
    "files_seen",
    "first_step",
    "has_all",
    "look_request",
    "lookup_request",
    "lookup_words",
    "loose_request",
    "next_step",
    "spending_request",
    "table_request",
    "unnamed_table_request",
    "with_attached",
]
