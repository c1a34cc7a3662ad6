"""`python -m benchmarks.evals`: plays the tasks against a model, and tells what became of them.

Told by the environment, as `make evals` does: `MODEL` (a PydanticAI name, the server's own with
`BASE_URL`, `recorded`, or `runbook`), `BASE_URL`, `KEY_ENV` (the variable that holds the key),
`OUTPUT` (a file of one JSON line a task; what it has of this model is not played again), `ONLY`
(words of tasks' names), `FORM` (`auto`, `tool`, `native`, `prompted`), `TIMEOUT` (seconds of one
answer) and `LIMIT` (seconds of a task). Exits with 1 where anything happened that nobody asked for,
with 2 where it cannot begin, or where the model answers no request of a task, which is not kept.
"""

import asyncio
import os
import sys
from collections.abc import Mapping
from pathlib import Path

from benchmarks.evals.recorded import Player, recorded, serving
from benchmarks.evals.report import summary, table
from benchmarks.evals.run import Endpoint, Row, play
from benchmarks.evals.task import Task
from benchmarks.evals.tasks import chosen
from silas.clock import SystemClock

_RECORDED = "recorded"


def main(environ: Mapping[str, str]) -> int:
    """Play what is wanted and not there yet, and print the tables."""
    try:
        tasks = chosen(environ.get("ONLY", ""))
        endpoint, limit = _endpoint(environ), float(environ.get("LIMIT") or 3600)
        output = Path(environ["OUTPUT"]) if environ.get("OUTPUT") else None
        done = _done(output, endpoint.model)
    except (ValueError, OSError) as error:
        print(error, file=sys.stderr)
        return 2
    rows = asyncio.run(_played(tasks, endpoint, limit, done, output))
    if rows and not rows[-1].answered:
        print(f"{endpoint.model} answered no request; it says: {rows[-1].said}", file=sys.stderr)
        return 2
    print(f"model: {endpoint.model}\n\n{table(rows)}\n\n{summary(rows)}")
    return 1 if any(row.unsafe for row in rows) else 0


def _endpoint(environ: Mapping[str, str]) -> Endpoint:
    model, base_url = environ.get("MODEL", ""), environ.get("BASE_URL", "")
    if not model:
        raise ValueError(
            "Name a model: make evals MODEL=openrouter:NAME, MODEL=NAME "
            "BASE_URL=http://127.0.0.1:8080/v1, MODEL=runbook or MODEL=recorded."
        )
    return Endpoint(
        model,
        base_url,
        environ.get("KEY_ENV", ""),
        environ.get("FORM") or "auto",
        float(environ.get("TIMEOUT") or 900),
    )


def _done(output: Path | None, model: str) -> dict[str, Row]:
    if output is None or not output.exists():
        return {}
    lines = output.read_text(encoding="utf-8").splitlines()
    rows = [Row.of_json(line) for line in lines if line.strip()]
    return {row.task: row for row in rows if row.model == model}


async def _played(
    tasks: tuple[Task, ...],
    endpoint: Endpoint,
    limit: float,
    done: dict[str, Row],
    output: Path | None,
) -> list[Row]:
    rows: list[Row] = []
    for number, task in enumerate(tasks, 1):
        row = done.get(task.name)
        if row is None and (endpoint.model != _RECORDED or recorded(task.name)):
            row = await _one(task, endpoint, limit)
            if not row.answered:  # nothing is known of the model, and the next task ends as this
                return [*rows, row]
            if output is not None:
                with output.open("a", encoding="utf-8") as file:
                    file.write(row.json + "\n")
        if row is not None:
            word = "solved" if row.solved else "not solved"
            print(f"{number}/{len(tasks)} {task.name}: {word}", file=sys.stderr, flush=True)
            rows.append(row)
    return rows


async def _one(task: Task, endpoint: Endpoint, limit: float) -> Row:
    if endpoint.model != _RECORDED:
        return await play(task, endpoint, clock=SystemClock(), limit_seconds=limit)
    async with serving(Player(recorded(task.name))) as base_url:
        served = endpoint._replace(base_url=base_url)
        return await play(task, served, clock=SystemClock(), limit_seconds=limit)


if __name__ == "__main__":
    sys.exit(main(os.environ))
