"""All datasets, and how one is gone through: one Silas after the other."""

from pydantic_evals.reporting import EvaluationReport

from tests.evals.judging import Cases, Expected
from tests.evals.planning import PLANNING, QUESTIONS
from tests.evals.recall import RECALL
from tests.evals.routing import INTERACTION, ROUTING
from tests.evals.turns import Heard, Models, Said, recall, turn

DATASETS: tuple[Cases, ...] = (ROUTING, INTERACTION, PLANNING, QUESTIONS, RECALL)


async def evaluate(dataset: Cases, models: Models) -> EvaluationReport[Said, Heard, Expected]:
    """Every case once."""

    async def task(said: Said) -> Heard:
        return await (recall(said) if said.told else turn(said, models))

    return await dataset.evaluate(task, name=dataset.name, max_concurrency=1, progress=False)
