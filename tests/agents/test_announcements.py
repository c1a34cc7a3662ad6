"""An answer that only announces work is none; one that says something stays."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from silas.agents.announcements import claims_work, only_announces, owes_work, says_why_not

ANNOUNCED = [
    ("Give report.md a better name.", "I will rename report.md to a better name as requested."),
    ("Mail report.md to bob@river.test.", "Mail report.md to bob@river.test."),
    ("Call Anna and tell her that I am late.", "call Anna, and tell her that I am late"),
    ("Summarise letter.txt", "I will summarize the letter.txt file and put it in summary.md."),
    (
        "Add up the ledger.",
        "Understood the task. I will add up the amounts from ledger.csv and write the sum to "
        "total.txt. Notes.md explains the columns.",
    ),
    (
        "Summarise lantern.txt",
        "Sure, I can help you summarize lantern.txt in summary.md. Here are five lines of the "
        "summary:",
    ),
    ("Delete the old backup.", "To delete the old backup, I propose the following steps:"),
    ("fix the test", "Okay! Let me fix the failing test."),
    ("fix the test", "I'm going to run the tests now."),
    ("zip it", "Certainly. I\u2019ll zip the photos."),
    ("clean up", "Here are the steps to clean up this folder:"),
]

ANSWERED = [
    ("hello", "Hello!"),
    ("Hello Silas", "Hello Silas"),
    ("What can you do?", "I can read files, write them and run programs, after you approved."),
    ("What is 17 percent of 240?", "17 percent of 240 is 40.8."),
    ("Mail it to Bob", "I cannot send mail. I will not do anything that I cannot undo."),
    ("rename it", "I will rename it. Which name do you want?"),
    ("switch approvals off", "I won't do that: only you approve what I do."),
    ("remember that I like tea", "I will remember that you like tea."),
    ("thanks", "Let me know when there is more."),
    (
        "how do I undo a commit?",
        "Let me write the steps down. First look at the log. Then run git reset. "
        "Then look again. Nothing is lost.",
    ),
    ("", ""),
    ("x", ""),
]


@pytest.mark.parametrize(("request_", "answer"), ANNOUNCED)
def test_an_announcement_is_recognised(request_: str, answer: str) -> None:
    assert only_announces(request_, answer)


@pytest.mark.parametrize(("request_", "answer"), ANSWERED)
def test_an_answer_is_none(request_: str, answer: str) -> None:
    assert not only_announces(request_, answer)


@given(st.text(), st.text())
def test_any_words_have_a_verdict(request_: str, answer: str) -> None:
    assert only_announces(request_, answer) in (True, False)
    assert claims_work(request_, answer) in (True, False)


CLAIMED = [
    ("Mail report.md to bob@river.test.", "Sent the report.md to Bob@river.test."),
    ("rename it", "Done! It is called annual.md now."),
    ("delete the old backup", "I have deleted backup-a.txt."),
    ("delete the old backup", "Sure. The old backup has been successfully deleted."),
    ("turn approvals off", "I've turned off all of them."),
    ("Call Anna", "I have just called Anna."),
    ("fix it", "slots.py was fixed."),
    ("Mail report.md to Bob", "The report.md file has been sent to bob@river.test."),
]

TOLD = [
    ("Did you rename it?", "I have renamed it to annual.md."),
    ("tell me what you did", "I renamed a.txt to b.txt."),
    ("Mail it to Bob", "I have no mail here, so I cannot send it."),
    ("Rename it", "It is not clear which file is meant."),
    ("tell me about cheese", "The cheese is made of milk. It was made in Switzerland."),
    ("what is git?", "Git was made by Linus Torvalds."),
    ("hello", "Hello! I am Silas."),
]


@pytest.mark.parametrize(("request_", "answer"), CLAIMED)
def test_a_claim_of_work_is_recognised(request_: str, answer: str) -> None:
    assert claims_work(request_, answer)


@pytest.mark.parametrize(("request_", "answer"), TOLD)
def test_what_tells_of_before_or_refuses_claims_nothing(request_: str, answer: str) -> None:
    assert not claims_work(request_, answer)


OWED = [
    ("Summarise lantern.txt in summary.md.", "The launch moves to 17 May."),
    ("Collect all mail addresses of a.txt in contacts.txt.", "I collected all of them."),
    ("rename a.txt", "The new name is b.txt."),
    ("`colour` is called `color` now. Change it in all files.", "The key is called color now."),
    ("Please fix the failing test", "The test compares the wrong year."),
    ("Write a function slugify in slugs.py", "def slugify(text): ..."),
]

SETTLED = [
    ("Summarise lantern.txt", "The launch moves to 17 May."),
    ("write a poem about tea", "Tea, tea, tea."),
    ("Fix the test", "I cannot find a test here."),
    ("Delete the old backup.", "Which one: backup-a.txt or backup-b.txt?"),
    ("Change the port", "It is not clear which port."),
    ("what is in a.txt", "Two lines."),
    ("Tell me how to fix it. The printer is old.", "Clean its rollers."),
    ("Move it", ""),
]


@pytest.mark.parametrize(("request_", "answer"), OWED)
def test_words_in_place_of_a_change_owe_it(request_: str, answer: str) -> None:
    assert owes_work(request_, answer)


@pytest.mark.parametrize(("request_", "answer"), SETTLED)
def test_an_answer_a_question_or_a_reason_owes_nothing(request_: str, answer: str) -> None:
    assert not owes_work(request_, answer)


def test_a_reason_is_told_from_a_claim() -> None:
    assert says_why_not("I can't call anybody.")
    assert not says_why_not("Anna, I am late.")
