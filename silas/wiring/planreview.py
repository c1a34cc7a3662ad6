"""What looks at plans before their owner is asked about them."""

from silas.agents.choice import RUNBOOK
from silas.audit import Audit
from silas.config import SilasConfig
from silas.stream.planreview import ModelPlans, ReviewPlans, TrustedPlans
from silas.stream.propose import Proposer


def plan_review(config: SilasConfig, proposer: Proposer, audit: Audit) -> ReviewPlans:
    """A language model's plans are reviewed; those of the library are Silas's own."""
    if config.models.planner.name == RUNBOOK:
        return TrustedPlans()
    return ModelPlans(proposer, audit)
