"""All datasets, and how one is gone through: one Silas after the other."""

from contextlib import AsyncExitStack

from pydantic_evals.reporting import EvaluationReport

from silas.testing import Harness
from tests.evals.judging import Cases, Expected
from tests.evals.planning import PLANNING, QUESTIONS
from tests.evals.recall import RECALL
from tests.evals.routing import INTERACTION, ROUTING
from tests.evals.turns import Heard, Models, Said, recall, told, turn

DATASETS: tuple[Cases, ...] = (ROUTING, INTERACTION, PLANNING, QUESTIONS, RECALL)


async def evaluate(dataset: Cases, models: Models) -> EvaluationReport[Said, Heard, Expected]:
    """Every case once. Those that only look in a memory look in one Silas that has it."""
    async with AsyncExitStack() as owned:
        remembering: dict[tuple[str, ...], Harness] = {}

        async def task(said: Said) -> Heard:
            if not said.told:
                return await turn(said, models)
            if said.told not in remembering:
                remembering[said.told] = await owned.enter_async_context(told(said.told))
            return await recall(remembering[said.told], said)

        return await dataset.evaluate(task, name=dataset.name, max_concurrency=1, progress=False)
