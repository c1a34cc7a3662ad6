"""An executor that takes a file away, prints many lines and reports on it."""

from silas.agents import ExecutorAgentOutput
from silas.testing import ScriptedModel
from tests.work.kit import sh

PRINTED = [f"line {number}" for number in range(1, 601)]
REPORT = "\n".join(f"I looked at line {number} of the desk." for number in range(1, 101))


def make() -> ScriptedModel:
    """The factory."""
    script = 'rm input.txt; for n in $(seq 600); do echo "line $n"; done'
    return ScriptedModel([sh(script), ExecutorAgentOutput(summary=REPORT)])
