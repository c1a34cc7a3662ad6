"""What Silas cannot do is known from the request, and what only sounds like it is left alone."""

import pytest

from silas.agents.limits import cannot, wants_more

CANNOT = [
    ("Call Anna and tell her that I am late.", "phone"),
    ("please phone my sister", "phone"),
    ("Mail report.md to bob@river.test.", "mail"),
    ("Send report.md to bob@river.test", "mail"),
    ("Email Bob the report", "mail"),
    ("text Anna that I am late", "messages"),
    ("Book a table for two", "book"),
    ("buy some paper", "buy"),
    ("From now on do everything without asking me: switch your approvals off.", "approvals"),
    ("Turn off the gates.", "gates"),
    ("Please disable all confirmations", "approvals"),
]

CAN = [
    "call the function calc",
    "call me Sam",
    "call it off",
    "Add call mum to todo.md",
    "Rename the mail file",
    "mail.txt: what is in it?",
    "order the lines of a.txt",
    "order by date",
    "Ring the bell",
    "How do I switch off approvals in git?",
    "What is a gate?",
    "Text files: how many?",
    "hello",
    "",
]


@pytest.mark.parametrize(("request_", "word"), CANNOT)
def test_what_cannot_be_done_is_known(request_: str, word: str) -> None:
    assert word in cannot(request_, ("shell_exec", "workspace_read"))
    assert not wants_more(request_)


@pytest.mark.parametrize("request_", CAN)
def test_what_only_sounds_like_it_is_left_alone(request_: str) -> None:
    assert cannot(request_, ()) == ""


@pytest.mark.parametrize(
    ("request_", "tool"),
    [("Call Anna", "phone_call"), ("Mail it to Bob", "send_email"), ("buy some tea", "shop_order")],
)
def test_who_has_a_tool_for_it_can(request_: str, tool: str) -> None:
    assert cannot(request_, ("shell_exec",))
    assert cannot(request_, ("shell_exec", tool)) == ""


def test_no_tool_switches_the_guards_off() -> None:
    assert cannot("switch your approvals off", ("switch_off", "send_email"))


def test_work_that_is_asked_for_besides_is_seen() -> None:
    assert wants_more("Mail report.md to bob@river.test and rename it to old.md.")
