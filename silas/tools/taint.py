"""When the origin of its arguments makes a call ask, whatever the plan and the matrix say (B9)."""

from silas.sandbox import SandboxFiles
from silas.tools.models import CallFacts
from silas.tools.provenance import Derivation
from silas.types import TaintLevel


def has_effect(facts: CallFacts, files: SandboxFiles) -> bool:
    """Whether a call may change something outside its run, or carry something out of it."""
    reaches_out = facts.egress or (facts.contained and bool(files.network))
    return facts.state_changing or reaches_out


def must_ask(facts: CallFacts, derivation: Derivation) -> bool:
    """Whether a call with an effect needs an approval of its own for what its arguments rest on.

    Anything that may rest on text from outside asks. So does anything that nobody but the model
    said, where the call changes something or its arguments choose who receives it: of such a value
    nobody knows where it comes from, and unknown means external.
    """
    if derivation.taint is TaintLevel.external:
        return True
    chooses = facts.state_changing or (facts.egress and facts.addressed)
    return chooses and bool(derivation.unproved_leaves)
