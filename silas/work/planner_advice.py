"""The planner's advice to work that is stuck (spec 5.2.1 e)."""

from silas.agents import PlannerAgent
from silas.plans import WorkItem
from silas.work.models import Advice
from silas.work.worker_runner import WorkerRunner


class PlannerConsultant:
    """`silas.work.models.Advise`: the planner, shown the skills of the work."""

    def __init__(self, planner: PlannerAgent, worker_runner: WorkerRunner) -> None:
        self._planner = planner
        self._crew = worker_runner

    async def __call__(self, item: WorkItem, failures: str) -> Advice:
        """Ask once. Raises `LLMError` where the planner cannot be asked."""
        advice = await self._planner.advise(item, failures, skills=self._crew.skills_of(item))
        said = advice.output
        return Advice(said.guidance, advice.tokens, advice.cost_usd, said.plan_is_wrong)
