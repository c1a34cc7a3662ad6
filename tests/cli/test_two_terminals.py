"""One plan asked about in two programs of one home: the first answer closes the other card."""

import os
import re
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.support.command import Person, environment, person, run, silas
from tests.support.plans import a_workspace, writing_plan

CHOICE = "Your choice, 1 to 3:"


class House:
    """A home with one runbook, and the workspace that it changes."""

    def __init__(self, folder: Path) -> None:
        self.env = environment(folder / "home")
        self.work = a_workspace(folder / "work")
        plans = folder / "plans"
        plans.mkdir()
        runbook = {"phrases": ["write the result file"]}
        (plans / "result.md").write_text(writing_plan(self.work, id="task-it", runbook=runbook))
        (folder / "home").mkdir()
        (folder / "home" / "config.yaml").write_text(f"silas:\n  plans_dirs: [{plans}]\n")
        assert run(silas("init"), self.env).code == 0
        self._woken = folder / "home" / "data" / "wake" / "plans"

    def listening(self) -> list[str]:
        """The pipes of those who hear of an answer elsewhere: one that shows a card has one."""
        return [path.name for path in self._woken.glob("*.pipe")]

    @contextmanager
    def hears(self) -> Generator[int]:
        """A pipe like theirs, which an answer writes into."""
        path = self._woken / "test.pipe"
        os.mkfifo(path, 0o600)
        pipe = os.open(path, os.O_RDWR | os.O_NONBLOCK)
        try:
            yield pipe
        finally:
            path.unlink()
            os.close(pipe)

    def asked(self) -> str:
        """The plan that waits."""
        found = re.search(r"^asked +(\S+)", run(silas("status"), self.env).out, re.MULTILINE)
        assert found is not None
        return found[1]


@pytest.fixture
def house(tmp_path: Path) -> House:
    return House(tmp_path)


@pytest.fixture
def chat(house: House) -> Generator[Person]:
    """A terminal whose `silas chat` shows the card of a plan."""
    with person(silas("chat"), house.env, cwd=house.work) as owner:
        owner.waits_for("end with Ctrl-D.")
        owner.types("write the result file\r")
        owner.waits_for(CHOICE)
        yield owner


def test_a_yes_elsewhere_closes_the_card_and_the_work_is_done_once(
    house: House, chat: Person
) -> None:
    plan = house.asked()
    assert len(house.listening()) == 1  # the chat, which without it would never close its card
    with person(silas("approve", plan), house.env, cwd=house.work) as other:
        other.waits_for(CHOICE)
        other.types("1\r")
        chat.waits_for("You approved this plan somewhere else, and it runs there.")
        assert other.leaves() == 0
    chat.types("\x04")
    assert chat.leaves() == 0
    assert "working: attempt" in other.seen
    assert "working: attempt" not in chat.seen
    assert (house.work / "result.txt").exists()


def test_of_three_who_ask_at_once_one_runs_it_and_none_calls_it_blocked(
    house: House, chat: Person
) -> None:
    plan = house.asked()
    with (
        person(silas("approve", plan), house.env, cwd=house.work) as late,
        person(silas("approve", plan), house.env, cwd=house.work) as first,
    ):
        late.waits_for(CHOICE)
        first.waits_for(CHOICE)
        first.types("1\r")
        late.waits_for("running: You approved this plan somewhere else, and it runs there.")
        assert late.leaves() == 3
        chat.waits_for("You approved this plan somewhere else, and it runs there.")
        assert first.leaves() == 0
    assert "blocked" not in late.seen
    assert "working: attempt" not in late.seen
    assert (house.work / "result.txt").exists()


def test_a_no_elsewhere_closes_the_card_and_nothing_runs(house: House, chat: Person) -> None:
    with (
        person(silas("approve", house.asked()), house.env, cwd=house.work) as other,
        house.hears() as pipe,
    ):
        other.waits_for(CHOICE)
        other.types("3\r")
        other.leaves()
        assert os.read(pipe, 1) == b"\n"  # without it the chat would never close its card
        chat.waits_for("This plan was answered somewhere else, and nothing was run here.")
    assert not (house.work / "result.txt").exists()


def test_who_leaves_one_card_closes_no_other_and_the_answer_there_counts(
    house: House, chat: Person
) -> None:
    plan = house.asked()
    with person(silas("approve", plan), house.env, cwd=house.work) as other:
        other.waits_for(CHOICE)
        other.types("\x03")
        other.leaves()
    unattended = run(silas("approve", plan), house.env)  # nobody is there to answer
    assert "waits for its owner" in unattended.err, unattended
    assert house.asked() == plan
    chat.types("1\r")
    chat.waits_for("working: attempt")
    chat.types("\x04")
    assert chat.leaves() == 0
    assert (house.work / "result.txt").exists()


def test_a_chat_that_is_left_at_its_card_leaves_the_other_card_open(
    house: House, chat: Person
) -> None:
    plan = house.asked()
    with person(silas("approve", plan), house.env, cwd=house.work) as other:
        other.waits_for(CHOICE)
        chat.types("\x03")
        chat.leaves()
        assert house.asked() == plan
        other.types("1\r")
        assert other.leaves() == 0
    assert (house.work / "result.txt").exists()


def test_a_plan_that_the_last_one_leaves_is_asked_about_no_more(house: House, chat: Person) -> None:
    plan = house.asked()
    with person(silas("approve", plan), house.env, cwd=house.work) as other:
        other.waits_for(CHOICE)
        chat.types("\x03")
        chat.leaves()
        other.types("\x03")
        other.leaves()
    assert not re.search(r"^asked ", run(silas("status"), house.env).out, re.MULTILINE)
    assert run(silas("approve", plan), house.env).code != 0
    assert not (house.work / "result.txt").exists()


def test_a_chat_greets_in_the_language_of_its_terminal_and_says_where_the_cockpit_is(
    house: House,
) -> None:
    german = {**house.env, "LC_MESSAGES": "de_DE.UTF-8"}
    with person(silas("start", "--port", "0"), german) as cockpit:
        cockpit.waits_for("Danach ist es unter http://127.0.0.1:")
        with person(silas("chat"), german, cwd=house.work) as owner:
            owner.waits_for(
                "Sag, was du erledigt haben willst; mit /exit oder Strg-D hörst du auf."
            )
            owner.waits_for("lässt sich auch im Cockpit beantworten: http://127.0.0.1:")
            owner.types("\x04")
            assert owner.leaves() == 0
        cockpit.types("\x03")
        cockpit.waits_for("Silas endet:")
