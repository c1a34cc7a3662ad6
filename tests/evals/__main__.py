"""`python -m tests.evals [NAME ...]`: what a model gets right, dataset by dataset.

`SILAS_EVAL_MODEL` names any PydanticAI model, whose key is in its usual variable; without it the
built-in runbook model answers. Every case is a Silas of its own, and nothing that is proposed runs.
"""

import asyncio
import os
import sys
from collections.abc import Sequence

from pydantic_evals.reporting import EvaluationReport

from tests.evals.datasets import DATASETS, evaluate
from tests.evals.judging import Expected
from tests.evals.turns import Heard, Models, Said


def main(wanted: Sequence[str]) -> int:
    known = {str(dataset.name): dataset for dataset in DATASETS}
    unknown = [name for name in wanted if name not in known]
    if unknown:
        print(f"no dataset named {unknown[0]}; there are: {', '.join(known)}", file=sys.stderr)
        return 2
    name = os.environ.get("SILAS_EVAL_MODEL", "")
    models = _models(name)
    print(f"model: {name or 'runbook'}\n\n| dataset | cases | right | share |\n|---|---|---|---|")
    reports = [asyncio.run(evaluate(known[one], models)) for one in wanted or known]
    for report in reports:
        right = sum(_right(report, index) for index in range(len(report.cases)))
        cases = len(report.cases) + len(report.failures)
        print(f"| {report.name} | {cases} | {right} | {right / cases:.0%} |")
    for report in reports:
        _wrong(report)
    return 0


def _models(name: str) -> Models:
    if not name:
        return {}
    from pydantic_ai.models import infer_model

    model = infer_model(name)
    return {"proxy": model, "planner": model}


def _right(report: EvaluationReport[Said, Heard, Expected], index: int) -> bool:
    return all(found.value for found in report.cases[index].assertions.values())


def _wrong(report: EvaluationReport[Said, Heard, Expected]) -> None:
    print(f"\n{report.name}, not right:")
    for index, case in enumerate(report.cases):
        if not _right(report, index):
            reasons = "; ".join(str(found.reason) for found in case.assertions.values())
            print(f"  {case.name}: {reasons}")
    for failure in report.failures:
        print(f"  {failure.name}: {failure.error_message}")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
