"""What `silas doctor` and `silas config validate` say: findings in three states, one headline."""

from collections.abc import Iterable, Sequence
from typing import Any, Literal, NamedTuple

from silas.language import tr, tr_many

FindingState = Literal["ok", "advice", "failed"]
"""`advice`: Silas works as it is, and something could be better. `failed`: it would refuse."""


class DoctorFinding(NamedTuple):
    """One part, how it stands, and what to do."""

    part: str
    state: FindingState
    words: str

    @classmethod
    def of(cls, part: str, ok: bool, words: str) -> "DoctorFinding":
        """A part that works or fails."""
        return cls(part, "ok" if ok else "failed", words)

    @property
    def ok(self) -> bool:
        """Whether nothing fails here; advice is no failure."""
        return self.state != "failed"

    def document(self) -> dict[str, Any]:
        """As `--json` prints it."""
        return {"part": self.part, "ok": self.ok, "state": self.state, "words": self.words}


def is_ready(findings: Iterable[DoctorFinding]) -> bool:
    """Whether nothing failed."""
    return all(finding.ok for finding in findings)


def headline(findings: Sequence[DoctorFinding]) -> str:
    """What is true of all of them together, in one sentence."""
    failed = _parts(findings, "failed")
    if failed:
        return tr("Needs attention: {parts}.", parts=", ".join(failed))
    advice = _parts(findings, "advice")
    if not advice:
        return tr("Everything is ready.")
    pieces = tr_many(
        len(advice), "Ready, with 1 piece of advice", "Ready, with {count} pieces of advice"
    )
    return f"{pieces}: {', '.join(advice)}."


def _parts(findings: Iterable[DoctorFinding], state: FindingState) -> list[str]:
    return [finding.part for finding in findings if finding.state == state]
