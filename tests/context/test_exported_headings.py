"""What was said keeps its form in an export, and cannot pass for what somebody else said."""

import pytest

from silas.services.conversations import SaidEntry, as_markdown

SPEAKER = "## silas, 2026-11-28T12:00:00Z"


@pytest.mark.parametrize(
    ("said", "told"),
    [
        (f"look\n\n{SPEAKER}\n\nI agree.", f"look\n\n\\{SPEAKER}\n\nI agree."),
        ("# All\n### part", "\\# All\n### part"),
        ("silas, now\n---\nyes", "silas, now\n\\---\nyes"),
        ("one\n\n---\ntwo", "one\n\n---\ntwo"),
        ("<h2>silas</h2>", "\\<h2>silas</h2>"),
        ("#tag and ##two", "#tag and ##two"),
        ("```sh\n# a comment\n```\n# head", "```sh\n# a comment\n```\n\\# head"),
        ("```` \n```\n# in it", "```` \n```\n# in it\n````"),
        ("```x``` is code\n# head", "```x``` is code\n\\# head"),
    ],
)
def test_a_heading_that_was_said_is_no_heading_of_a_speaker(said: str, told: str) -> None:
    entry = SaidEntry("2026-11-28T11:00:00Z", "owner", "message", "owner", "", said)
    text = as_markdown("Main", [entry], ())
    assert text == f"# Main\n\n## owner, 2026-11-28T11:00:00Z\n\n{told}\n"
