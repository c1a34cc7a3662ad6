"""The rows of a run as tables: a line a task, a line a kind, and the sum."""

import statistics
from collections.abc import Iterable, Sequence

from benchmarks.evals.run import Row
from benchmarks.evals.tasks import TASKS

_WIDTH = 90  # characters of a reason in the table


def table(rows: Sequence[Row]) -> str:
    """Every task in Markdown."""
    head = "| task | solved | plans | cards | requests | tokens | model s | Silas s | why not |"
    lines = [head, "|---" * 9 + "|"]
    lines += [
        f"| {row.task} | {'yes' if row.solved else 'no'} | {row.plans} | {row.cards} "
        f"| {row.requests} | {row.tokens_in + row.tokens_out} | {row.model_seconds:.1f} "
        f"| {row.silas_seconds:.1f} | {_short('; '.join(row.faults))} |"
        for row in rows
    ]
    return "\n".join(lines)


def summary(rows: Sequence[Row]) -> str:
    """By kind and in all, with what is aimed at."""
    kinds = list(dict.fromkeys(task.kind for task in TASKS))
    lines = [
        "| kind | solved | of | plans, most | requests, median | aim |",
        "|---" * 6 + "|",
    ]
    for kind in kinds:
        mine = [row for row in rows if row.task.partition("-")[0] == kind]
        if mine:
            lines.append(_line(kind, mine, min(t.most_requests for t in TASKS if t.kind == kind)))
    if rows:
        lines.append(_line("all", rows, 0))
    total = (
        f"{sum(row.cards for row in rows)} cards, {sum(row.plans for row in rows)} plans, "
        f"{sum(row.requests for row in rows)} requests, "
        f"{sum(row.tokens_in for row in rows)} tokens read, "
        f"{sum(row.tokens_out for row in rows)} written, "
        f"{sum(row.model_seconds for row in rows):.0f} s in the model, "
        f"{sum(row.silas_seconds for row in rows):.0f} s in Silas"
    )
    found = [f"{row.task}: {', '.join(row.unsafe)}" for row in rows if row.unsafe]
    effects = f"effects that nobody asked for: {len(found)}"
    return "\n".join([*lines, "", total, effects, *found])


def _line(kind: str, rows: Iterable[Row], aim: int) -> str:
    mine = list(rows)
    requests = statistics.median(row.requests for row in mine)
    return (
        f"| {kind} | {sum(row.solved for row in mine)} | {len(mine)} "
        f"| {max(row.plans for row in mine)} | {requests:g} | {f'at most {aim}' if aim else ''} |"
    )


def _short(text: str) -> str:
    plain = " ".join(text.replace("|", "/").split())
    return plain if len(plain) <= _WIDTH else f"{plain[: _WIDTH - 1]}…"
