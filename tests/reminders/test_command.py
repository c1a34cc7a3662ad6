"""`silas remind`: one sentence for wrong use; that no Silas runs is said where something waits."""

from pathlib import Path

import pytest

from tests.support.command import Ended, environment, run, silas

NOBODY = "No Silas is running: reminders wait until `silas start` or `silas chat`."


@pytest.fixture
def env(tmp_path: Path) -> dict[str, str]:
    made = environment(tmp_path / "home", TZ="Europe/Vienna")
    assert run(silas("init"), made).code == 0
    return made


def remind(env: dict[str, str], *words: str) -> Ended:
    return run(silas("remind", *words), env)


def test_that_no_silas_runs_is_said_where_one_is_made_or_listed(env: dict[str, str]) -> None:
    for text in ("tomorrow at nine to call the dentist", "tomorrow at ten to look"):
        made = remind(env, text, "--yes")
        assert (made.code, made.err) == (0, f"{NOBODY}\n")
    assert remind(env, "list").err == f"{NOBODY}\n"


def test_wrong_use_is_one_sentence_though_a_reminder_waits(env: dict[str, str]) -> None:
    remind(env, "tomorrow at nine to call the dentist", "--yes")
    for words in (("blah",), ("cancel", "7"), ("move", "7", "tomorrow"), ("move", "1", "blah")):
        ended = remind(env, *words)
        assert ended.code == 2, ended
        assert NOBODY not in ended.err
        assert len(ended.err.splitlines()) == 1, ended.err


@pytest.mark.parametrize("text", ["in 0 minutes to look", "in 0 Stunden nachsehen"])
def test_a_moment_that_is_now_is_refused_before_its_card(env: dict[str, str], text: str) -> None:
    ended = remind(env, text, "--yes")
    assert (ended.code, ended.out) == (2, ""), ended
    assert ended.err.startswith("That is now; say a time to come, for example “in 20 minutes”.")
    assert len(ended.err.splitlines()) == 1
