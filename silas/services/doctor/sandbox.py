"""`silas doctor --sandbox`: the sandbox of this configuration against every known attack."""

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from silas.config import SilasConfig
from silas.home.runtime import sandbox_of
from silas.sandbox.conformance.suite import CHECKS, ConformanceVerdict, Interpreter, examine

if TYPE_CHECKING:
    from silas.sandbox.conformance.suite import ConformanceFinding


class Conformance(NamedTuple):
    """What the sandbox withstood on this machine."""

    backend: str
    findings: list["ConformanceFinding"]

    @property
    def holds(self) -> bool:
        """Nothing got through, and something was really tested."""
        counted = self.counted
        return bool(counted[ConformanceVerdict.held]) and not counted[ConformanceVerdict.broken]

    @property
    def counted(self) -> Counter[ConformanceVerdict]:
        """How many checks ended how."""
        return Counter(finding.verdict for finding in self.findings)

    def document(self) -> dict[str, Any]:
        """The whole report for `--json`."""
        counted = self.counted
        return {
            "backend": self.backend,
            "holds": self.holds,
            **{verdict.name: counted[verdict] for verdict in ConformanceVerdict},
            "checks": [
                {
                    "name": finding.name,
                    "group": finding.group.value,
                    "promise": finding.promise,
                    "verdict": finding.verdict.name,
                    "decided_by": finding.evidence.value,
                    "words": finding.words,
                }
                for finding in self.findings
            ],
        }


async def examine_sandbox(config: SilasConfig) -> Conformance:
    """Attack the configured sandbox from inside, and report what held.

    Raises:
        SandboxUnavailable: There is no sandbox here.
    """
    sandbox = sandbox_of(config)
    findings = await examine(
        sandbox,
        home=Path.home(),
        guarded=(config.data_dir,),
        checks=CHECKS,
        python=Interpreter.own(),
    )
    return Conformance(sandbox.name, findings)
