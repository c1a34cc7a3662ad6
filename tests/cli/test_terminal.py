"""A person at a real terminal: reading, answering, interrupting."""

import os
import re
import signal
from pathlib import Path

import pytest

from tests.support.command import environment, person, run, silas
from tests.support.plans import a_workspace, check, sh_plan, writing_plan

CHOICE = "Your choice, 1 to 3:"


@pytest.fixture
def plan(tmp_path: Path) -> Path:
    """A plan that changes a workspace beside it."""
    a_workspace(tmp_path / "work")
    file = tmp_path / "plan.md"
    file.write_text(writing_plan(tmp_path / "work", id=f"task-{tmp_path.name.replace('_', '-')}"))
    return file


def changed(plan: Path) -> bool:
    return (plan.parent / "work" / "result.txt").exists()


def test_approving_runs_it_and_the_terminal_shows_nothing_of_anybody_else(
    plan: Path, set_up: dict[str, str]
) -> None:
    plain = {**set_up, "TERM": "dumb"}  # without a status line, which only slow work has
    with person(silas("run", plan), plain) as owner:
        owner.waits_for(CHOICE)
        owner.types("1\r")
        assert owner.leaves() == 0
    assert changed(plan)
    after = owner.seen[owner.seen.index(CHOICE) :]
    lines = [line for line in re.sub(r"\x1b\[[0-9;]*m", "", after).splitlines() if line]
    later = f"{CHOICE} (`later` leaves it waiting)"
    assert lines[:4] == [later, "1", "working: attempt 1", "done: Done and verified: checked."]
    assert lines[4] == "What changed:"
    assert lines[-2].startswith("To take it back: silas undo task-")
    assert lines[-1].startswith("To see all of it: silas diff task-")


@pytest.mark.parametrize("typed", ["3\r", "n\r", "what?\rhm\rperhaps\r"])
def test_a_no_or_silence_or_nonsense_runs_nothing(
    typed: str, plan: Path, set_up: dict[str, str]
) -> None:
    with person(silas("run", plan), set_up) as owner:
        for piece in re.findall(r"[^\r\x04]*[\r\x04]", typed):
            owner.waits_for(CHOICE)
            owner.types(piece)
        assert owner.leaves() == 3
    assert not changed(plan)
    assert "blocked: The plan was not approved; nothing was run." in owner.seen


def test_ending_the_input_at_a_card_leaves_the_plan_waiting(
    set_up: dict[str, str], tmp_path: Path
) -> None:
    work = a_workspace(tmp_path / "work")
    with person(silas("chat"), set_up) as owner:
        owner.waits_for("end with Ctrl-D")
        owner.types(f"list the files of {work}\r")
        owner.waits_for(CHOICE)
        owner.types("\x04")
        assert owner.leaves() == 0
    assert "The input ended, and nothing was run." in owner.seen
    (waits,) = re.findall(r"`silas approve (\S+)`", owner.seen)
    with person(silas("chat"), set_up) as owner:  # the question is still there
        owner.waits_for(CHOICE)
        owner.types("\x04")
        assert owner.leaves() == 0
    assert "Intent: List the files" in owner.seen
    with person(silas("approve", waits), set_up) as owner:
        owner.waits_for(CHOICE)
        owner.types("1\r")
        assert owner.leaves() == 0
    assert "done: Done and verified" in owner.seen


@pytest.mark.parametrize("typed", ["later\r", "\x04"])
def test_a_plan_that_is_left_waiting_is_not_asked_about_what_should_differ(
    typed: str, set_up: dict[str, str], tmp_path: Path
) -> None:
    work = a_workspace(tmp_path / "work")
    with person(silas("ask", f"list the files of {work}"), set_up) as owner:
        owner.waits_for(CHOICE)
        owner.types(typed)
        assert owner.leaves() == 3
    assert "What should be different?" not in owner.seen
    (waits,) = set(re.findall(r"`silas approve (task-\S+)` shows it", owner.seen))
    # the home is everybody's: the next `chat` would ask about it
    assert run(silas("approvals", "deny", waits), set_up).code == 0


def test_interrupting_the_question_runs_nothing(plan: Path, set_up: dict[str, str]) -> None:
    with person(silas("run", plan), set_up) as owner:
        owner.waits_for(CHOICE)
        owner.types("\x03")
        assert owner.leaves() == 4
    assert not changed(plan)
    assert "Stopped; " in owner.seen
    assert "Traceback" not in owner.seen


@pytest.mark.parametrize(
    ("extra", "coloured"), [({}, True), ({"NO_COLOR": "1"}, False), ({"TERM": "dumb"}, False)]
)
def test_colour_is_for_terminals_whose_owner_wants_it(
    extra: dict[str, str], coloured: bool, plan: Path, set_up: dict[str, str]
) -> None:
    with person(silas("run", plan), {**set_up, **extra}) as owner:
        owner.waits_for(CHOICE)
        owner.types("3\r")
        owner.leaves()
    assert ("\x1b[" in owner.seen) is coloured


def test_without_a_terminal_nothing_is_coloured(plan: Path, set_up: dict[str, str]) -> None:
    done = run(silas("run", plan), {**set_up, "TERM": "xterm"}, stdin="1\n")
    assert done.code == 3  # and what is piped in is no answer
    assert "\x1b" not in done.out + done.err
    assert "There is no terminal to answer on" in done.out


def test_a_conversation_in_the_terminal(set_up: dict[str, str], tmp_path: Path) -> None:
    work = a_workspace(tmp_path / "work")
    with person(silas("chat"), set_up) as owner:
        owner.waits_for("end with Ctrl-D")
        owner.types("hello\r")
        owner.waits_for('Say "help" for examples')
        owner.types(f"list the files of {work}\r")
        owner.waits_for(CHOICE)
        owner.types("3\r")
        owner.waits_for("nothing was run")
        owner.types(f"list the files of {work}\r")
        owner.waits_for(CHOICE)
        owner.types("1\r")
        owner.waits_for("done: Done and verified")
        owner.types("\x04")
        assert owner.leaves() == 0
    assert "Traceback" not in owner.seen


def test_ask_for_changes_asks_what_and_shows_a_new_card(
    set_up: dict[str, str], tmp_path: Path
) -> None:
    work, more = a_workspace(tmp_path / "work"), a_workspace(tmp_path / "more")
    with person(silas("ask", f"list the files of {work}"), set_up) as owner:
        owner.waits_for(CHOICE)
        owner.types("2\r")
        owner.waits_for("What should be different?")
        owner.types(f"list the files of {more}\r")
        owner.waits_for(CHOICE)
        owner.types("1\r")
        assert owner.leaves() == 0
    assert "done: Done and verified" in owner.seen


def test_a_plan_to_change_waits_where_nothing_more_is_said(
    set_up: dict[str, str], tmp_path: Path
) -> None:
    work = a_workspace(tmp_path / "work")
    with person(silas("ask", f"list the files of {work}"), set_up) as owner:
        owner.waits_for(CHOICE)
        owner.types("2\r")
        owner.waits_for("What should be different?")
        owner.types("\r")
        assert owner.leaves() == 3
    (waits,) = re.findall(r"`silas approve (\S+)`", owner.seen)
    with person(silas("approve", waits), set_up) as owner:
        owner.waits_for(CHOICE)
        owner.types("1\r")
        assert owner.leaves() == 0
    assert "done: Done and verified" in owner.seen


def test_chat_reads_a_pipe_to_its_end(tmp_path: Path, set_up: dict[str, str]) -> None:
    done = run(silas("chat"), set_up, stdin=f"hello\nlist the files of {tmp_path}\n")
    assert done.code == 0
    assert "I am Silas, without a language model" in done.out
    assert "There is no terminal to answer on" in done.out
    assert done.err == ""


def test_every_line_of_a_pipe_is_answered(set_up: dict[str, str]) -> None:
    lines = "".join(f"what is {number} plus 2?\n" for number in range(60))
    done = run(silas("chat"), set_up, stdin=lines)
    assert done.code == 0
    assert done.out.splitlines() == [f"{number} + 2 = {number + 2}" for number in range(60)]


def test_a_person_chooses_a_passphrase_and_is_asked_for_it(tmp_path: Path) -> None:
    env = environment(tmp_path / "home")
    with person(silas("init"), env) as owner:
        owner.waits_for("Choose a passphrase for Silas's signing key: ")
        owner.types("correct horse\r")
        owner.waits_for("The same passphrase again: ")
        owner.types("correct horse\r")
        assert owner.leaves() == 0
    assert "correct horse" not in owner.seen
    assert "unlocked by your passphrase" in owner.seen
    for typed, code, said in (
        ("wrong horse", 2, "passphrase"),
        ("correct horse", 0, "I can run these plans"),
    ):
        with person(silas("ask", "what can you do?"), env) as owner:
            owner.waits_for("Passphrase for the signing key of owner: ")
            owner.types(f"{typed}\r")
            assert owner.leaves() == code
        assert said in owner.seen
        assert "Traceback" not in owner.seen
    unattended = run(silas("ask", "what can you do?"), env)
    assert unattended.code == 2
    assert "no terminal to ask for a passphrase" in unattended.err
    assert "keys.key_file" in unattended.err
    assert not (tmp_path / "home/data/keys/unlock.key").exists()


def test_work_that_does_not_succeed_is_told_once(set_up: dict[str, str], tmp_path: Path) -> None:
    plan = tmp_path / "plan.md"
    plan.write_text(
        sh_plan("true", id="task-told-once", verify=check("false"), budget={"max_attempts": 1})
    )
    plain = {**set_up, "TERM": "dumb"}  # without a status line, which only slow work has
    with person(silas("run", plan), plain) as owner:
        owner.waits_for(CHOICE)
        owner.types("1\r")
        assert owner.leaves() == 1
    assert owner.seen.count("\nstuck: ") == 1


def test_a_terminal_that_closes_stops_the_work(plan: Path, set_up: dict[str, str]) -> None:
    with person(silas("run", plan), set_up) as owner:
        owner.waits_for(CHOICE)
        os.kill(owner.pid, signal.SIGHUP)
        assert owner.leaves() == 4
    assert not changed(plan)
