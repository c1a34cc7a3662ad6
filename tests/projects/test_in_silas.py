"""Projects in a whole Silas: one card, one yes, every task on the road of a plan of its own."""

from silas.plans import WorkItemStatus
from silas.testing import Harness, ScriptedChannel
from tests.projects.kit import PROJECT, Ran, chain, project_text
from tests.stream.kit import entries_of, saying_yes


async def test_one_yes_runs_all_tasks_in_their_order() -> None:
    channel, ran = ScriptedChannel(saying_yes), Ran()
    async with Harness(channel, sandbox=ran.sandbox) as h:
        result = await h.silas.run(project_text(chain("a", "b", "c")))
        assert (result.status, result.summary) == (WorkItemStatus.done, "All 3 tasks are done.")
        assert ran.done == ["a", "b", "c"]
        assert len(channel.cards) == 1
        issued = await entries_of(h, "approval.issued")
        assert [one["work_item_id"] for one in issued] == [PROJECT, "a", "b", "c"]
