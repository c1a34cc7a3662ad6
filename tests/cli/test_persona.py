"""`silas persona` as a user meets it."""

import json
from pathlib import Path

import pytest

from tests.support.command import environment, run, silas


@pytest.fixture
def home(tmp_path: Path) -> dict[str, str]:
    env = environment(tmp_path / "home")
    assert run(silas("init"), env).code == 0
    return env


def test_a_preset_is_taken_and_feedback_moves_the_baseline(home: dict[str, str]) -> None:
    shown = run(silas("persona", "show"), home).out
    assert "preset    default (of chill, default, review, work)" in shown
    assert "How to speak." in shown
    assert run(silas("persona", "preset", "work"), home).code == 0
    assert run(silas("persona", "feedback", "too_harsh"), home).code == 0
    found = json.loads(run(silas("persona", "show", "--json"), home).out)
    assert found["preset"] == "work"
    assert found["baseline"]["assertiveness"] == 0.70
    assert found["axes"]["assertiveness"] == 0.75
    said = " ".join(run(silas("audit", "show"), home).out.split())
    assert "Silas speaks as the preset Work says." in said


@pytest.mark.parametrize(
    ("arguments", "names"),
    [(("preset", "hal"), "chill"), (("feedback", "too_green"), "too_harsh")],
)
def test_what_there_is_not_is_one_sentence_that_names_what_there_is(
    home: dict[str, str], arguments: tuple[str, str], names: str
) -> None:
    done = run(silas("persona", *arguments), home)
    assert (done.code, done.err.count("\n")) == (2, 1)
    assert names in done.err
