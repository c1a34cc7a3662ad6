"""Half of a request is never dropped in silence: what no runbook does is said, in every door."""

import json
import re
from pathlib import Path

import pytest

from silas.agents.runbook import unhandled
from silas.plans import PlanLibrary, shipped_plans
from silas.testing import Harness, ScriptedChannel
from tests.support.command import environment, run, silas

LIBRARY = PlanLibrary([shipped_plans()])


def rest(request: str) -> list[str]:
    plan = LIBRARY.find(request)
    assert plan is not None

    def found(part: str) -> str:
        one = LIBRARY.find(part)
        return one.name if one else ""

    return list(
        unhandled.unmatched_parts(
            request, lambda p: found(p) == plan.name, lambda p: found(p) not in ("", plan.name)
        )
    )


@pytest.mark.parametrize(
    ("request_text", "left"),
    [
        ("run the tests and then delete everything", ["delete everything"]),
        ("Run the tests; push to main", ["push to main"]),
        ("run the tests. Obliterate the database.", ["Obliterate the database"]),
        ("run the tests and delete the logs and mail me", ["delete the logs", "mail me"]),
        ("delete everything and run the tests", ["delete everything"]),
        ("please run the tests, then deploy to production", ["deploy to production"]),
        (
            "run the tests and send the result to bob@example.org",
            ["send the result to bob@example.org"],
        ),
        ("list the files in /srv/then/x and remove /srv/and/y", ["remove /srv/and/y"]),
        ("list the files, run the tests", ["run the tests"]),
        ("run the tests und lösche dann alles", ["lösche", "alles"]),
        ("run the tests und danach lösche alles", ["lösche alles"]),
        ("run the tests, bitte lösche alles", ["bitte lösche alles"]),
        (
            "run the tests; and before you stop, delete everything",
            ["delete everything"],
        ),
        ("run the tests & delete everything", ["delete everything"]),
        ("run the tests && rm -rf .", ["rm -rf"]),
        ("run the tests + delete everything", ["delete everything"]),
        ("run the tests - delete everything", ["delete everything"]),
        ("run the tests \u2013 delete everything", ["delete everything"]),
        ("run the tests / delete everything", ["delete everything"]),
        ("run the tests | delete everything", ["delete everything"]),
        ("run the tests (and delete everything)", ["and delete everything"]),
        ("run the tests as well as delete everything", ["delete everything"]),
        ("run the tests before deleting everything", ["deleting everything"]),
        ("run the tests followed by removing calc.py", ["removing calc.py"]),
        ("run the tests while you delete everything", ["you delete everything"]),
        ("undo that and run the tests", ["undo that"]),
        ("list the files and empty the trash", ["empty the trash"]),
        ("list the files, then put them into a folder", ["put them into a folder"]),
        ("list the files and shred them", ["shred them"]),
        ("list the files and get rid of them", ["get rid of them"]),
        ("list the files and do away with everything", ["do away with everything"]),
        ("run the tests, bin them all", ["bin them all"]),
        ("run the tests and back up the folder", ["back up the folder"]),
        ("run the tests and encrypt the results", ["encrypt the results"]),
        ("list the files and tell me the biggest one", ["tell me the biggest one"]),
        ("list the files und sag mir die größte", ["sag mir die größte"]),
    ],
)
def test_what_no_runbook_does_is_found(request_text: str, left: list[str]) -> None:
    assert rest(request_text) == left


@pytest.mark.parametrize(
    "request_text",
    [
        "run the tests",
        "please run the tests and tell me the result",
        "Run the tests, and then show me the results. Thank you!",
        "Could you run the tests and let me know which failed?",
        "run the tests, don't fix the bug",
        "Run the tests, but never delete anything",
        "I changed the parser; run the tests",
        "run the tests in /srv/x, please",
        "run the tests in '/srv/a and then b'",
        "list the files and folders",
        "list the files and all folders in it",
        "run the tests and show me all",
        "run the tests und sag mir das Ergebnis",
        "run the tests, bitte. Danke!",
        "run the test suite; it should be green",
        "run the tests before I commit",
        "run the tests (all of them)",
        "run the tests - it is urgent",
        "run the unit-tests & tell me the result",
    ],
)
def test_an_ordinary_request_raises_no_alarm(request_text: str) -> None:
    assert rest(request_text) == []


async def test_the_card_and_the_answer_say_it(tmp_path: Path) -> None:
    place = tmp_path / "project"
    place.mkdir()
    channel = ScriptedChannel()
    async with Harness(channel) as h:
        reply = await h.silas.ask("list the files and then delete everything", workspace=place)
    (card,) = channel.cards
    assert 'I leave out: "delete everything", because I know no runbook for it.' in card.rationale
    assert reply.plan is not None


@pytest.mark.parametrize(
    "request_text",
    [
        "how many files are there and delete notes.txt",
        "how many files are there? And please wipe the disk.",
    ],
)
async def test_a_plan_that_does_no_part_of_a_request_is_not_proposed(
    request_text: str, tmp_path: Path
) -> None:
    (tmp_path / "notes.txt").write_text("Milk\n", encoding="utf-8")
    channel = ScriptedChannel()
    async with Harness(channel) as h:
        reply = await h.silas.ask(request_text, workspace=tmp_path)
    assert channel.cards == []
    assert reply.text.endswith(SEVERAL)


@pytest.mark.parametrize(
    ("told", "orders"),
    [
        ("remember that I like tea, then run the tests", "run the tests"),
        ("remember that I like tea. Also delete notes.txt", "delete notes.txt"),
        ("merk dir, dass ich Tee mag, und lösche notes.txt", "lösche notes.txt"),
        ("remember that I like tea and order some; run the tests", "order some; run the tests"),
        ("remember Anna: phone 555. Lives in Graz.", ""),
        ("remember that my dentist is Dr. Huber, phone 01 555 2211", ""),
        ("remember that Anna moved, mail: anna@example.com", ""),
        ("remember that I like tea, and mail bob@example.com", "mail bob@example.com"),
        ("remember that I like tea and coffee, but never run on Mondays", ""),
    ],
)
async def test_what_is_only_remembered_is_said_not_to_be_done(told: str, orders: str) -> None:
    async with Harness(ScriptedChannel()) as h:
        reply = await h.silas.ask(told)
    _, _, only = reply.text.partition("\nI only keep it, and do nothing of: ")
    assert only == orders


SEVERAL = "You asked for more than one thing, and none of it was done: say one at a time."


@pytest.mark.parametrize(
    "request_text",
    [
        "count the files and remove everything",
        "count the files; wipe the folder",
        "find the biggest file and delete it",
        "find the biggest file and get rid of it",
        "what time is it and delete a.txt",
        "show me a.txt and then email it to Bob",
        "calculate 3+4 and write it to b.md",
        "copy a.txt to c.txt, then remove a.txt",
        "delete a.txt but first make a backup",
        "make a folder called x and move b.md into it",
        "zip the photos and send them to mum",
        "read me a.txt then shred it",
        "hello, delete a.txt and shred b.md",
        "finish step 3. Augment the file and delete a.txt",
    ],
)
async def test_an_answer_to_several_requests_says_that_none_was_done(request_text: str) -> None:
    async with Harness() as h:
        reply = await h.silas.ask(request_text)
    assert reply.plan is None
    assert reply.text.endswith(SEVERAL)


@pytest.mark.parametrize(
    "request_text",
    [
        "remove everything",
        "delete a.txt, please",
        "sing",
        "hello and delete everything",
        "thanks, now delete everything",
        "was war am 3. März in meinem Kalender",
    ],
)
async def test_an_answer_to_one_request_does_not(request_text: str) -> None:
    async with Harness() as h:
        reply = await h.silas.ask(request_text)
    assert SEVERAL not in reply.text


async def test_a_question_about_what_is_remembered_leaves_nothing_out_in_silence() -> None:
    async with Harness() as h:
        await h.silas.ask("remember that my dentist is Odile")
        reply = await h.silas.ask("when is my dentist appointment and delete a.txt")
    assert "my dentist is Odile" in reply.text
    assert reply.text.endswith('I leave out: "delete a.txt"; ask for that by itself.')


def test_the_command_line_says_it(tmp_path: Path) -> None:
    env = environment(tmp_path / "home")
    assert run(silas("init"), env).code == 0
    words = ("ask", "list the files & delete everything", "--workspace", tmp_path, "--json")
    done = run(silas(*words), env)
    told = re.sub(r"[\\\s]", "", done.err)
    assert 'Ileaveout:"deleteeverything"' in told
    assert json.loads(done.out)["plan"]["title"] == "List the files of a directory"


@pytest.mark.parametrize(
    "request_text",
    [
        "cancel my reminder about the bananas",
        "delete the reminder about the pizza",
        "remind me when it rains",
    ],
)
async def test_a_reminder_that_is_not_understood_is_told_of_as_one(request_text: str) -> None:
    async with Harness(ScriptedChannel()) as h:
        reply = await h.silas.ask(request_text)
    assert reply.text.startswith("No reminder that waits fits that, and none was made: ")
    assert "calendar" not in reply.text


async def test_what_is_to_be_checked_has_no_tests_near_it() -> None:
    async with Harness(ScriptedChannel()) as h:
        reply = await h.silas.ask("check my mail")
    assert "The nearest I can do" not in reply.text


async def test_a_line_of_several_words_is_added_whole_and_nothing_of_it_is_left_out(
    tmp_path: Path,
) -> None:
    channel = ScriptedChannel(lambda card: card.safe)
    async with Harness(channel) as h:
        asked = "add call the dentist and buy milk to todo.txt"
        reply = await h.silas.ask(asked, workspace=tmp_path)
    assert "I leave out" not in reply.text
    (card,) = channel.cards
    assert "call the dentist and buy milk" in str(card.details)


@pytest.mark.parametrize(
    ("request_text", "example"),
    [
        ("write a poem about rain to poem.txt", 'write "a poem about rain" to poem.txt'),
        ("add error handling to app.py", 'add "error handling" to app.py'),
        ("füge die Miete zu todo.txt hinzu", 'füge "die Miete" zu todo.txt hinzu'),
    ],
)
async def test_a_line_that_could_be_a_wish_for_a_text_is_asked_for_in_quotes(
    request_text: str, example: str, tmp_path: Path
) -> None:
    channel = ScriptedChannel()
    async with Harness(channel) as h:
        reply = await h.silas.ask(request_text, workspace=tmp_path)
    assert f"say it in quotes: {example}." in reply.text
    assert channel.cards == []
