"""A check or a step that cannot start is a broken plan: said at once, and not tried again."""

from pathlib import Path

import pytest

from silas.language import speak
from silas.testing import Harness
from tests.support.plans import check, sh_plan
from tests.work.kit import DONE, at_work, owner, sh


@pytest.mark.parametrize(
    ("command", "words"),
    [
        ("no-such-program --version", "`no-such-program` is not there"),
        ("/etc/hostname-x/none", "`/etc/hostname-x/none` is not there"),
        ("/etc/passwd", "`/etc/passwd` cannot be executed"),
        ("echo '/usr/bin/python3: No module named pytest' >&2; exit 1", "module `pytest`"),
    ],
)
async def test_a_check_that_cannot_start_blocks_at_once_and_names_what_is_missing(
    command: str, words: str
) -> None:
    async with at_work(sh("true"), DONE) as work:
        result = await work.run(verify=check(command))
        attempts = (await work.stored()).attempts
    assert result.status == "blocked"
    assert words in result.summary
    assert "check 'checked' cannot start" in result.summary
    assert attempts == 1


async def test_what_the_work_may_still_make_is_tried_again(tmp_path: Path) -> None:
    place = tmp_path / "project"
    place.mkdir()
    make = sh("printf '#!/bin/sh\\nexit 0\\n' > run.sh; chmod +x run.sh")
    async with at_work(sh("true"), DONE, make, DONE) as work:
        result = await work.run(verify=check("./run.sh"), workspace=str(place), writes=["run.sh"])
        attempts = (await work.stored()).attempts
    assert result.status == "done", result.summary
    assert attempts == 2


async def test_an_exit_code_that_is_expected_is_no_broken_plan() -> None:
    wanted = [{"name": "gone", "run": "no-such-program", "expect": {"exit_code": 127}}]
    async with at_work(sh("true"), DONE) as work:
        assert (await work.run(verify=wanted)).status == "done"


async def test_a_runbook_is_not_tried_again_where_two_attempts_fail_alike() -> None:
    text = sh_plan("date +%N", id="task-alike", verify=check("false"))
    async with Harness(owner()) as h:
        result = await h.silas.run(text)
        item = await h.store.get("task-alike")
    assert item is not None
    assert (result.status, item.attempts) == ("stuck", 2)


async def test_a_step_of_a_runbook_that_cannot_start_blocks_at_once() -> None:
    text = sh_plan("sh -c no-such-program", id="task-step", verify=check("test -e made.txt"))
    async with Harness(owner()) as h:
        result = await h.silas.run(text)
        item = await h.store.get("task-step")
    assert item is not None
    assert (result.status, item.attempts) == ("blocked", 1)
    assert "step 1 cannot start: `no-such-program` is not there" in result.summary


async def test_a_broken_plan_is_told_in_the_language_of_its_owner() -> None:
    text = sh_plan("sh -c no-such-program", id="task-step", verify=check("test -e made.txt"))
    try:
        async with Harness(owner()) as h:
            speak("de")
            result = await h.silas.run(text)
    finally:
        speak("en")
    assert "Der Plan ist kaputt: sein Schritt 1 kann nicht beginnen:" in result.summary
    assert "is not there" not in result.summary


async def test_a_step_that_cannot_start_is_not_done_where_the_checks_pass(tmp_path: Path) -> None:
    place = tmp_path / "project"
    place.mkdir()
    text = sh_plan(
        "echo hello > made.txt\nno-such-program",
        id="task-passing",
        verify=check("true"),
        workspace=str(place),
    )
    async with Harness(owner()) as h:
        result = await h.silas.run(text)
    assert result.status == "blocked", result.summary
    assert "cannot start: `no-such-program` is not there" in result.summary
    assert not list(place.iterdir())
