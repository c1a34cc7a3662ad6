"""A tool call that waits for the owner's word, and what decided that it waits."""

from enum import StrEnum
from typing import NamedTuple

from silas.tools.models import RiskLevel, ValidatedCall


class AskReason(StrEnum):
    """What decided that a call asks; its sentence is in `silas/stream/ask_reasons.py`."""

    plan = "plan"
    approval = "approval"
    risk = "risk"
    secrets = "secrets"
    quiet_hours = "quiet hours"
    toolset = "toolset"
    gate = "gate"
    taint = "taint"
    worker_policy = "worker policy"


class PendingCall(NamedTuple):
    """One call that needs an approval, how risky it is, and what decided that it asks."""

    call: ValidatedCall
    risk: RiskLevel
    reason: AskReason
