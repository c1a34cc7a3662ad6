"""What the tools really did in one attempt; the agent's own account is never asked (5.2.1 c1)."""

import re
from typing import Any, NamedTuple

from silas.tools import ToolResult
from silas.types import TaintLevel, join_taint

# `name: value` or `name = value` on one line, as plans ask steps to print. A heading such as
# `Results:` must not take the line below it for its value.
_VARIABLE = re.compile(r"^[ \t]*([A-Za-z_][A-Za-z0-9_]{0,63})[ \t]*[:=][ \t]*(\S.*)$", re.MULTILINE)

_VALUE_CHARS = 200  # of a printed value; a longer one is kept as no number and no allowed word


class LedgerEntry(NamedTuple):
    """One tool call that was answered, in order; `result.deduped` where it did not run again."""

    step: int
    tool_name: str
    args: dict[str, Any]
    result: ToolResult


class Ledger:
    """The authoritative record of an attempt."""

    def __init__(self) -> None:
        self.entries: list[LedgerEntry] = []

    def record(self, tool_name: str, args: dict[str, Any], result: ToolResult) -> None:
        """Append one call that was answered."""
        self.entries.append(LedgerEntry(len(self.entries) + 1, tool_name, args, result))

    def ran(self) -> list[LedgerEntry]:
        """The calls that ran."""
        return [entry for entry in self.entries if not entry.result.deduped]

    def list_answered(self) -> list[LedgerEntry]:
        """The calls that were made before, and so were answered without running again."""
        return [entry for entry in self.entries if entry.result.deduped]

    def distinct(self) -> list[LedgerEntry]:
        """Each call once: what ran, and what was answered from before this attempt."""
        ran = [(entry.tool_name, entry.args) for entry in self.ran()]
        return [
            entry
            for entry in self.entries
            if not entry.result.deduped or (entry.tool_name, entry.args) not in ran
        ]

    def artifacts(self) -> dict[str, str]:
        """Artifacts of the successful calls, later calls winning (5.2.1 c3)."""
        merged: dict[str, str] = {}
        for entry in self.entries:
            if entry.result.ok:
                merged.update(entry.result.artifacts)
        return merged

    def variables(self) -> dict[str, str]:
        """Values that steps printed as `name: value`; of several, the last (`after_step` gates)."""
        found: dict[str, str] = {}
        for entry in self.entries:
            found.update(_VARIABLE.findall(entry.result.return_value))
        return {
            name: value if len(value) <= _VALUE_CHARS else f"{value[:_VALUE_CHARS]}…"
            for name, value in found.items()
        }

    def taint(self) -> TaintLevel:
        """The least trusted origin among the results; `external` when nothing ran."""
        return join_taint(entry.result.taint for entry in self.entries)


def unknown_references(claimed: list[str], artifacts: dict[str, str]) -> list[str]:
    """Artifact names that the agent claims and no tool produced (5.2.1 c3)."""
    return sorted(set(claimed) - artifacts.keys())
