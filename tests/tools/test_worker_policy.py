"""A worker's policy at the door itself, where no wrapper has asked before."""

import pytest

from silas.testing import FakeTool
from silas.testing.tools import a_context, refuse_all, unsafe_approve_all
from silas.tools import RiskLevel, Stance, WorkerApprovalPolicy
from silas.tools.models import CONTAINED
from silas.tools.refusals import ApprovalRequired
from tests.tools.door import Door

ASKS = WorkerApprovalPolicy(tools={"fake": Stance.ask})


@pytest.mark.parametrize("risk", [RiskLevel.low, RiskLevel.medium, RiskLevel.high])
@pytest.mark.parametrize("stance", [Stance.silent, Stance.ask])
async def test_where_a_worker_asks_only_an_approval_of_the_very_call_answers(
    door: Door, risk: RiskLevel, stance: Stance
) -> None:
    """Also where the matrix or the toolset ask, whose question a plan's approval would answer."""
    tool = door.add(FakeTool(facts=CONTAINED, stance=stance), risk, pre_approved=True)
    by_plan = a_context(
        "1", authorise=unsafe_approve_all, authorise_alone=refuse_all, worker_policy=ASKS
    )
    with pytest.raises(ApprovalRequired):
        await door.executor.call("fake", "run", {}, by_plan)
    assert tool.calls == []
    alone = a_context(
        "2", authorise=refuse_all, authorise_alone=unsafe_approve_all, worker_policy=ASKS
    )
    await door.executor.call("fake", "run", {}, alone)
    assert len(tool.calls) == 1
