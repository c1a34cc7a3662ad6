"""`make evals` from end to end: recorded answers are played, counted and judged, once."""

from pathlib import Path

import pytest

from benchmarks.evals.__main__ import main
from benchmarks.evals.recorded import ANSWERS, Player, recorded, serving
from benchmarks.evals.run import Endpoint, Row, play
from benchmarks.evals.task import Task
from benchmarks.evals.tasks import TASKS, chosen, names
from silas.testing import MockClock

_LIMIT = 300.0  # seconds of a task; all of its models answer at once
_RECORDED = tuple(task for task in TASKS if recorded(task.name))


async def _play(task: Task, player: Player) -> Row:
    async with serving(player) as base_url:
        endpoint = Endpoint("recorded", base_url, discover=False)
        return await play(task, endpoint, clock=MockClock(), limit_seconds=_LIMIT)


def test_every_recording_belongs_to_a_task() -> None:
    assert {path.stem for path in ANSWERS.iterdir()} <= set(names())


@pytest.mark.parametrize("task", _RECORDED, ids=[task.name for task in _RECORDED])
async def test_strong_answers_solve_a_task_with_one_plan_or_none(task: Task) -> None:
    player = Player(recorded(task.name))
    row = await _play(task, player)
    assert (row.solved, row.faults, row.unsafe) == (True, (), ())
    assert player.left == 0
    assert row.requests == len(player.requests)
    assert row.tokens_in > row.tokens_out > 0
    assert row.plans <= 1
    assert row.requests <= (task.most_requests or row.requests)


async def test_a_model_that_gives_no_answer_solves_nothing() -> None:
    row = await _play(chosen("question-percent")[0], Player(()))
    assert not row.solved
    assert row.requests >= 1


def test_what_is_in_the_output_is_not_played_again(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    output = tmp_path / "rows.jsonl"
    environ = {"MODEL": "recorded", "OUTPUT": str(output), "ONLY": "question-percent"}
    assert main(environ) == 0
    written = output.read_text(encoding="utf-8")
    row = Row.of_json(written)
    assert (row.task, row.model, row.solved) == ("question-percent", "recorded", True)
    output.write_text(row._replace(requests=77).json + "\n", encoding="utf-8")
    assert main(environ) == 0
    assert "| question-percent | yes | 0 | 0 | 77 |" in capsys.readouterr().out
    assert output.read_text(encoding="utf-8").count("\n") == 1


def test_an_effect_that_nobody_asked_for_makes_the_run_fail(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    output = tmp_path / "rows.jsonl"
    row = Row("fix-leap", "recorded", False, ("x",), ("changed x",), 1, 1, 0, 1, 1, 1, 1, 1, "")
    output.write_text(row.json + "\n", encoding="utf-8")
    assert main({"MODEL": "recorded", "OUTPUT": str(output), "ONLY": "fix-leap"}) == 1
    assert "effects that nobody asked for: 1\nfix-leap: changed x" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("environ", "sentence"),
    [
        ({}, "Name a model"),
        ({"MODEL": "recorded", "ONLY": "flying"}, "no task is called flying"),
        ({"MODEL": "recorded", "LIMIT": "soon"}, "could not convert"),
    ],
)
def test_what_cannot_begin_is_said(
    environ: dict[str, str], sentence: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(environ) == 2
    assert sentence in capsys.readouterr().err


def test_an_output_of_something_else_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    output = tmp_path / "rows.jsonl"
    output.write_text('{"task": "other"}\n', encoding="utf-8")
    assert main({"MODEL": "recorded", "OUTPUT": str(output)}) == 2
    assert "not a row of evaluations" in capsys.readouterr().err
