"""Every cell of table C, with every override and number of adjusters, at the door itself."""

from contextlib import suppress
from datetime import time
from itertools import product
from typing import Any, NamedTuple

import pytest

from silas.db import Database
from silas.testing import MockClock
from silas.testing.tools import FakeTool, a_context, refuse_all, unsafe_approve_all
from silas.tools import (
    ApprovalRequired,
    AutonomyLevel,
    CallFacts,
    HardBlocked,
    PreviewRequired,
    RiskLevel,
    ToolPolicyConfig,
    validated_call,
)
from tests.tools.door import Door

# As decision table C prints it; not read from the code.
TABLE = {
    "A0": "PREVIEW PREVIEW PREVIEW PREVIEW",
    "A1": "CONFIRM CONFIRM CONFIRM HARD_BLOCK",
    "A2": "ALLOW CONFIRM CONFIRM HARD_BLOCK",
    "A3": "ALLOW ALLOW CONFIRM HARD_BLOCK",
    "A4": "ALLOW ALLOW ALLOW CONFIRM",
}
RISKS = ["low", "medium", "high", "critical"]
STRICTER = ["ALLOW", "CONFIRM", "PREVIEW", "HARD_BLOCK"]

ADJUSTED: list[dict[str, Any]] = [
    {},
    {"broadcast": True},
    {"broadcast": True, "destructive": True},
    {"destructive": True, "blast_radius": 99, "argv": ("sh", "-c", "x")},
]


class Case(NamedTuple):
    """A cell with what stands beside it."""

    level: str
    base: str
    adjusted: dict[str, Any]
    secrets: bool
    quiet: bool
    again: bool
    storm: bool

    def expected(self) -> str:
        """The rule in the words of the table: adjusters raise the risk, overrides only tighten."""
        steps = len(self.adjusted) + self.quiet
        risk = min(RISKS.index(self.base) + steps, 3)
        rulings = [TABLE[self.level].split()[risk]]
        if self.secrets or (self.quiet and risk > 0):
            rulings.append("CONFIRM")
        if self.again or self.storm:
            rulings.append("HARD_BLOCK")
        return max(rulings, key=STRICTER.index)


def cases(level: str) -> list[Case]:
    flags = product([False, True], repeat=4)
    return [
        Case(level, base, adjusted, *flag)
        for (base, adjusted), flag in product(product(RISKS, ADJUSTED), flags)
    ]


async def ruled(case: Case, db: Database, clock: MockClock) -> tuple[str, int]:
    """What the door did with a call that nobody approves, and how often the tool ran."""
    until = time(7) if case.quiet else time(22)  # equal hours are none
    config = ToolPolicyConfig(
        quiet_from=time(22),
        quiet_until=until,
        outbound_per_hour=0 if case.storm else 1000,
    )
    door = Door(db, clock, config)
    facts = CallFacts(
        state_changing=False,
        egress=False,
        outbound=case.storm,
        **case.adjusted,
    )
    tool = door.add(FakeTool(facts=facts), RiskLevel(case.base))
    target = {"target": "lamp"}
    if case.again:
        done = validated_call("fake", "run", target)
        noted = facts.model_copy(update=target)
        door.outcomes.begin("before", done, a_context("before"), noted, idempotent=False)
    scopes = frozenset({"secrets.use"}) if case.secrets else frozenset[str]()
    level = AutonomyLevel[case.level]
    said = "ALLOW"
    try:
        await door.executor.call(
            "fake",
            "run",
            target,
            a_context(autonomy_level=level, granted_scopes=scopes, authorise=refuse_all),
        )
    except ApprovalRequired:
        said = "CONFIRM"
    except PreviewRequired:
        said = "PREVIEW"
    except HardBlocked:
        said = "HARD_BLOCK"
    ran = len(tool.calls)
    if said != "ALLOW":  # with an approval a question is answered, and nothing else is
        context = a_context(
            "approved",
            autonomy_level=level,
            granted_scopes=scopes,
            authorise=unsafe_approve_all,
        )
        with suppress(PreviewRequired, HardBlocked):
            await door.executor.call("fake", "run", target, context)
        assert (len(tool.calls) == 1) == (said == "CONFIRM")
    return said, ran


@pytest.mark.proves("C-MATRIX")
@pytest.mark.parametrize("level", list(TABLE))
async def test_every_cell_with_every_override_and_adjuster_is_what_the_door_does(
    db: Database, clock: MockClock, level: str
) -> None:
    wrong = list[str]()
    for case in cases(level):
        said, ran = await ruled(case, db, clock)
        if (said, ran) != (case.expected(), int(case.expected() == "ALLOW")):
            wrong.append(f"{case}: {said}, ran {ran} times")
    assert wrong == []
    assert len(cases(level)) == 4 * 4 * 16
