"""What looks at plans before their owner is asked about them."""

from typing import TYPE_CHECKING

from silas.stream.drafts import waits_on
from silas.stream.plan_review import ModelPlans, PlansInForce, ReviewPlans, TrustedPlans
from silas.stream.propose import Proposer
from silas.work.checks.preflight import Preflight
from silas.work.checks.verify import VerificationRunner

if TYPE_CHECKING:
    from silas.wiring.parts import Parts


def plan_review(parts: "Parts", proposer: Proposer) -> ReviewPlans:
    """A language model's plans are reviewed; those of the library are Silas's own."""
    config, clock = parts.config, parts.runtime.clock
    verifier = VerificationRunner(parts.sandbox, clock, parts.limits)
    preflight = Preflight(verifier, parts.tools, config.data_dir / "scratch", clock)
    reviewed = ModelPlans(proposer, preflight, parts.audit, waits_on(parts.channel))
    return PlansInForce(parts.models.runbook_plans, TrustedPlans(), reviewed)
