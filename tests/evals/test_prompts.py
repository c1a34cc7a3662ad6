"""Every change of a prompt is evaluated, and the log says so."""

from benchmarks.evals.prompts import digest_now, evaluated
from benchmarks.evals.tasks import TASKS


def test_the_prompts_as_they_are_were_evaluated() -> None:
    newest = evaluated()[-1]
    assert newest.prompts == digest_now(), (
        "A prompt changed: run `make evals MODEL=recorded` (and a language model, if there is one) "
        f"and add a version `{digest_now()}` to benchmarks/evals/prompts.toml with what was solved."
    )
    assert newest.solved["recorded"] == (len(TASKS), len(TASKS))


def test_versions_are_in_the_order_of_their_dates_and_none_stands_twice() -> None:
    rows = evaluated()
    assert [row.date for row in rows] == sorted(row.date for row in rows)
    assert len({row.prompts for row in rows}) == len(rows)
    for row in rows:
        assert all(0 <= solved <= of <= len(TASKS) for solved, of in row.solved.values())
