"""The built-in model against what any assistant should do: it gets right what it is said to.

A case that begins to pass, or ceases to, turns this red: the data always say what is so. What a
language model does is measured by `make evals-decisions` and asserted nowhere.
"""

import pytest

from tests.evals.datasets import DATASETS, evaluate
from tests.evals.judging import Cases


@pytest.mark.parametrize("dataset", DATASETS, ids=[str(d.name) for d in DATASETS])
async def test_the_runbook_model_gets_right_exactly_what_it_is_said_to(dataset: Cases) -> None:
    assert len(dataset.cases) >= 20
    report = await evaluate(dataset, {})
    assert not report.failures
    wrong: dict[str, str] = {}
    for case in report.cases:
        right = all(found.value for found in case.assertions.values())
        if right is not (case.metadata is not None and case.metadata.known):
            reasons = "; ".join(str(found.reason) for found in case.assertions.values())
            wrong[case.name] = "right, though it is said not to be" if right else reasons
    assert wrong == {}
