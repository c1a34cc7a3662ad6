from datetime import UTC, datetime, time
from itertools import product
from typing import cast

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from silas.tools import (
    AutonomyLevel,
    CallFacts,
    Decision,
    RiskLevel,
    RunApprovalMode,
    Stance,
    ToolConfig,
    ToolPolicyConfig,
    assess_risk,
    decide,
    strictest,
)
from silas.tools.policy import MATRIX, STRICTNESS, holds_secrets, in_quiet_hours

# Table C as the decisions page prints it, read here by this test's own reader.
TABLE_C = """
A0 PREVIEW PREVIEW PREVIEW PREVIEW
A1 CONFIRM CONFIRM CONFIRM HARD_BLOCK
A2 ALLOW CONFIRM CONFIRM HARD_BLOCK
A3 ALLOW ALLOW CONFIRM HARD_BLOCK
A4 ALLOW ALLOW ALLOW CONFIRM
"""
RISKS = ["low", "medium", "high", "critical"]
ORDER = ["ALLOW", "CONFIRM", "PREVIEW", "HARD_BLOCK"]
CELLS = [
    (row.split()[0], risk, row.split()[1 + column])
    for row in TABLE_C.strip().splitlines()
    for column, risk in enumerate(RISKS)
]
FLAGS = list(product([False, True], repeat=4))


def rank(decision: Decision) -> int:
    return STRICTNESS[decision]


def reach(decision: Decision) -> int:
    """What can happen: it runs, it runs once approved, it never runs."""
    return min(STRICTNESS[decision], STRICTNESS[Decision.PREVIEW])


@pytest.mark.proves("C-MATRIX")
@pytest.mark.parametrize(("autonomy", "risk", "expected"), CELLS)
def test_each_cell_of_the_matrix_is_as_the_decision_table_prints_it(
    autonomy: str, risk: str, expected: str
) -> None:
    assert len(CELLS) == len(MATRIX) == 20
    assert decide(AutonomyLevel[autonomy], RiskLevel(risk)) == expected


@pytest.mark.proves("C-OVERRIDES-ONLY-STRICTER", "C-SECRETS-CONFIRM", "C-QUIET-CONFIRM")
@pytest.mark.parametrize(("autonomy", "risk", "cell"), CELLS)
@pytest.mark.parametrize("flags", FLAGS)
def test_overrides_only_make_a_cell_stricter(
    autonomy: str, risk: str, cell: str, flags: tuple[bool, bool, bool, bool]
) -> None:
    secrets, quiet, antiflap, storm = flags
    wanted = ORDER.index(cell)
    if secrets or (quiet and risk in ("medium", "high", "critical")):
        wanted = max(wanted, 1)
    if antiflap or storm:
        wanted = 3
    assert (
        decide(
            AutonomyLevel[autonomy],
            RiskLevel(risk),
            secrets=secrets,
            quiet_hours=quiet,
            antiflap=antiflap,
            storm=storm,
        )
        == ORDER[wanted]
    )


@pytest.mark.proves("B12-A0-IS-A-CEILING")
@pytest.mark.parametrize("risk", list(RiskLevel))
@pytest.mark.parametrize(("secrets", "quiet", "antiflap", "storm"), FLAGS)
def test_nothing_runs_at_a0_whatever_the_overrides_say(
    risk: RiskLevel, secrets: bool, quiet: bool, antiflap: bool, storm: bool
) -> None:
    decision = decide(
        AutonomyLevel.A0,
        risk,
        secrets=secrets,
        quiet_hours=quiet,
        antiflap=antiflap,
        storm=storm,
    )
    assert decision in (Decision.PREVIEW, Decision.HARD_BLOCK)


@pytest.mark.proves("C-UNKNOWN-PAIR-BLOCKS")
@pytest.mark.parametrize(("autonomy", "risk"), [(5, "low"), (-1, "low"), (4, "none"), (2, "")])
def test_an_unknown_pair_is_hard_blocked(autonomy: int, risk: str) -> None:
    decision = decide(cast(AutonomyLevel, autonomy), cast(RiskLevel, risk))
    assert decision is Decision.HARD_BLOCK


@given(
    low=st.sampled_from(list(AutonomyLevel)),
    high=st.sampled_from(list(AutonomyLevel)),
    calm=st.integers(0, 3),
    wild=st.integers(0, 3),
    flags=st.tuples(st.booleans(), st.booleans(), st.booleans(), st.booleans()),
)
def test_more_risk_or_less_autonomy_is_never_more_lenient(
    low: AutonomyLevel,
    high: AutonomyLevel,
    calm: int,
    wild: int,
    flags: tuple[bool, bool, bool, bool],
) -> None:
    low, high = min(low, high), max(low, high)
    calm, wild = min(calm, wild), max(calm, wild)
    secrets, quiet, antiflap, storm = flags

    def at(autonomy: AutonomyLevel, step: int) -> Decision:
        return decide(
            autonomy,
            RiskLevel(RISKS[step]),
            secrets=secrets,
            quiet_hours=quiet,
            antiflap=antiflap,
            storm=storm,
        )

    assert rank(at(low, wild)) >= rank(at(low, calm))
    assert reach(at(low, calm)) >= reach(at(high, calm))


@pytest.mark.proves("C-ADJUSTERS", "C-ADJUSTERS-ONLY-RAISE")
@pytest.mark.parametrize("base", RISKS)
@pytest.mark.parametrize("flags", list(product([False, True], repeat=5)))
def test_each_adjuster_adds_one_step_capped_at_critical(
    base: str, flags: tuple[bool, bool, bool, bool, bool]
) -> None:
    broadcast, destructive, wide, quiet, shell = flags
    facts = CallFacts(
        broadcast=broadcast,
        destructive=destructive,
        blast_radius=4 if wide else 3,
        blast_limit=3,
        quiet_hours=quiet,
        argv=("sh", "-c", "true") if shell else ("true",),
    )
    steps = sum(flags)
    config = ToolConfig(connector_id="x", risk_default=RiskLevel(base))
    assert assess_risk(config, "run", facts) == RISKS[min(RISKS.index(base) + steps, 3)]


@pytest.mark.proves("C-RISK-BY-ACTION")
def test_the_risk_of_an_action_is_looked_up_before_the_default() -> None:
    config = ToolConfig(
        connector_id="mail",
        risk_default=RiskLevel.high,
        risk_map={"read": RiskLevel.low, "send": RiskLevel.critical},
    )
    assert assess_risk(config, "read", CallFacts()) is RiskLevel.low
    assert assess_risk(config, "send", CallFacts()) is RiskLevel.critical
    assert assess_risk(config, "unheard_of", CallFacts()) is RiskLevel.high


POLICY_INPUTS = list(
    product(
        list(Decision),
        list(Stance),
        ("continue", "require_approval", "block"),
        list(Stance),
        list(RunApprovalMode),
        (False, True),
    )
)


@pytest.mark.proves("C-POWER-ORDER", "WP-BLOCKED-WINS", "B12-A0-IS-A-CEILING")
def test_the_strictest_opinion_wins_and_a_block_is_never_lifted() -> None:
    for matrix, toolset, gate, worker, run, pre in POLICY_INPUTS:
        ruling = strictest(
            matrix,
            toolset=toolset,
            gate=gate,
            worker=worker,
            run=run,
            pre_approved=pre,
        )
        blocked = (
            toolset == "blocked" or gate == "block" or worker == "blocked" or matrix == "HARD_BLOCK"
        )
        if blocked:
            assert ruling.decision == "HARD_BLOCK"
        elif matrix == "PREVIEW":
            assert ruling.decision == "PREVIEW"
        elif matrix == "CONFIRM" or gate == "require_approval" or worker == "ask":
            # no mode and no pre-approval lifts what the matrix, a gate or a worker asks
            assert ruling.decision == ("HARD_BLOCK" if run == "reject_all" else "CONFIRM")
        else:
            assert matrix == "ALLOW"
            assert ruling.decision in ("ALLOW", "CONFIRM", "HARD_BLOCK")
        assert rank(ruling.decision) >= rank(matrix)


@pytest.mark.proves("C-POWER-ORDER", "C-RUN-POLICY-MODES")
@pytest.mark.parametrize(
    ("worker", "run", "pre", "expected"),
    [
        ("silent", "prompt", False, "CONFIRM"),
        ("silent", "prompt", True, "ALLOW"),
        ("silent", "approve_all", False, "ALLOW"),
        ("silent", "reject_all", False, "HARD_BLOCK"),
        ("silent", "reject_all", True, "HARD_BLOCK"),
        ("pre_approved", "prompt", False, "ALLOW"),
        ("pre_approved", "reject_all", False, "HARD_BLOCK"),
        ("ask", "approve_all", True, "CONFIRM"),
        ("blocked", "approve_all", True, "HARD_BLOCK"),
    ],
)
def test_a_toolsets_own_question_is_answered_in_the_order_of_power(
    worker: str, run: str, pre: bool, expected: str
) -> None:
    ruling = strictest(
        Decision.ALLOW,
        toolset=Stance.ask,
        worker=Stance(worker),
        run=RunApprovalMode(run),
        pre_approved=pre,
    )
    assert ruling.decision == expected


@pytest.mark.proves("C-POWER-ORDER")
def test_the_most_powerful_block_is_the_one_that_is_named() -> None:
    everything = strictest(
        Decision.HARD_BLOCK, toolset=Stance.blocked, gate="block", worker=Stance.blocked
    )
    no_toolset = strictest(Decision.HARD_BLOCK, gate="block", worker=Stance.blocked)
    worker_only = strictest(Decision.ALLOW, worker=Stance.blocked)
    assert [everything.source, no_toolset.source, worker_only.source] == [
        "toolset",
        "gate",
        "worker policy",
    ]


@pytest.mark.parametrize(
    ("start", "end", "zone", "hour", "expected"),
    [
        (time(22), time(7), "UTC", 23, True),
        (time(22), time(7), "UTC", 22, True),
        (time(22), time(7), "UTC", 6, True),
        (time(22), time(7), "UTC", 7, False),
        (time(22), time(7), "UTC", 12, False),
        (time(1), time(5), "UTC", 3, True),
        (time(1), time(5), "UTC", 5, False),
        (time(0), time(0), "UTC", 0, False),
        (time(9), time(9), "UTC", 9, False),
        (time(22), time(7), "Asia/Tokyo", 14, True),
        (time(22), time(7), "Asia/Tokyo", 23, False),
    ],
)
def test_quiet_hours_follow_the_owners_clock_and_may_pass_midnight(
    start: time, end: time, zone: str, hour: int, expected: bool
) -> None:
    config = ToolPolicyConfig(quiet_from=start, quiet_until=end, timezone=zone)
    assert in_quiet_hours(config, datetime(2026, 3, 4, hour, tzinfo=UTC)) is expected


def test_an_unknown_time_zone_is_a_clear_error() -> None:
    with pytest.raises(ValidationError, match="not a time zone"):
        ToolPolicyConfig(timezone="Mars/Olympus")


@pytest.mark.proves("C-SECRETS-CONFIRM")
@pytest.mark.parametrize(
    ("scopes", "expected"),
    [
        ((), False),
        (("sandbox.execute",), False),
        (("secretsanta.read",), False),
        (("secrets",), True),
        (("mail.read", "secrets.read"), True),
        (("secrets:mail",), True),
    ],
)
def test_a_scope_on_secrets_is_recognised(scopes: tuple[str, ...], expected: bool) -> None:
    assert holds_secrets(scopes) is expected
