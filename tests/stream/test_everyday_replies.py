"""Without a language model: a no, a yes, a why, and a time without a verb."""

from pathlib import Path

import pytest

from silas.testing import Harness, ScriptedChannel
from tests.stream.kit import saying_yes, soon


@pytest.mark.parametrize(
    "text",
    [
        "never mind",
        "Nevermind.",
        "no",
        "no, thanks",
        "not now",
        "don't bother",
        "nicht mehr",
        "ach, vergiss es",
        "doch nicht",
        "lass gut sein",
        "nein",
    ],
)
async def test_a_no_is_taken_and_what_was_approved_goes_on(text: str) -> None:
    channel = ScriptedChannel()
    async with Harness(channel) as h:
        reply = await soon(h.silas.ask(text))
    assert reply.outcome == "answered"
    assert reply.text.startswith("All right: I begin nothing. What you approved before goes on;")
    assert channel.cards == []


@pytest.mark.parametrize("text", ["yes", "ja", "ok", "go ahead"])
async def test_a_word_approves_nothing(text: str) -> None:
    channel = ScriptedChannel(saying_yes)
    async with Harness(channel) as h:
        reply = await soon(h.silas.ask(text))
    assert (reply.outcome, channel.cards) == ("failed", [])
    assert reply.text.startswith("A word approves nothing")


@pytest.mark.parametrize("text", ["why did that fail", "what went wrong?", "warum ging das schief"])
async def test_how_the_newest_work_that_failed_ended_is_told(text: str, tmp_path: Path) -> None:
    (tmp_path / "todo.txt").write_text("b\na\n")
    async with Harness(ScriptedChannel(saying_yes)) as h:
        assert (await soon(h.silas.ask(text))).text.startswith("No work of this conversation")
        failed = ""
        for asked in ("rename gone.txt to new.txt", "sort todo.txt"):
            reply = await soon(h.silas.ask(asked, workspace=tmp_path))
            assert reply.plan is not None, reply.text
            await soon(h.silas.wait(reply.plan.id))
            failed = reply.plan.id if "gone" in asked else failed
        said = (await soon(h.silas.ask(text))).text
    assert said.startswith(
        "“Rename a file” did not succeed: Step 1 failed: There is no file gone.txt."
    )
    assert f"`silas show {failed}`" in said


@pytest.mark.parametrize(
    ("text", "example"),
    [
        ("in zwei Stunden Wäsche", "erinnere mich in zwei Stunden: Wäsche"),
        ("tomorrow at 10 dentist", "remind me tomorrow at 10: dentist"),
        ("dentist tomorrow at 10", "remind me tomorrow at 10: dentist"),
        (
            "every Monday at 8 tell me which files are new",
            "remind me every Monday at 8: tell me which files are new",
        ),
        (
            "jeden Montag um 8 sag mir welche Dateien neu sind",
            "erinnere mich jeden Montag um 8: sag mir welche Dateien neu sind",
        ),
    ],
)
async def test_a_time_alone_is_told_how_to_become_a_reminder(text: str, example: str) -> None:
    channel = ScriptedChannel(saying_yes)
    async with Harness(channel) as h:
        reply = await soon(h.silas.ask(text))
        assert (reply.outcome, channel.cards) == ("failed", [])
        assert f"say “{example}”" in reply.text
        await soon(h.silas.ask(example))
    what = example.partition(": ")[2]
    assert [card.intent for card in channel.cards] == [f"Remind you: {what}"]


async def test_in_german_an_english_time_is_told_as_an_english_reminder() -> None:
    async with Harness(ScriptedChannel(), settings={"language": "de"}) as h:
        said = (await soon(h.silas.ask("tomorrow at 10 dentist"))).text
    assert "„remind me tomorrow at 10: dentist“" in said


@pytest.mark.parametrize("text", ["delete the temp files tomorrow", "is it friday at nine"])
async def test_work_and_questions_with_a_time_are_no_reminders(text: str) -> None:
    async with Harness(ScriptedChannel()) as h:
        assert "If I shall remind you" not in (await soon(h.silas.ask(text))).text


@pytest.mark.parametrize(
    ("text", "nearest"),
    [
        ("lösche alle tmp Dateien", "lösche notes.txt"),
        ("wie viel habe ich für Essen ausgegeben", ""),
        ("lass den Zahnarzt in Ruhe", ""),
    ],
)
async def test_the_nearest_in_german_shares_a_word_that_says_something(
    text: str, nearest: str
) -> None:
    async with Harness(ScriptedChannel(), settings={"language": "de"}) as h:
        said = (await soon(h.silas.ask(text))).text
    assert ("Das Nächste, was ich kann" in said) == bool(nearest)
    assert nearest in said
