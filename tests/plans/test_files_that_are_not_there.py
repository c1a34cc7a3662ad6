"""A runbook whose file is missing, or is no text, says so in a sentence, and changes nothing."""

from pathlib import Path

import pytest

from silas.plans import PlanLibrary, WorkItemStatus, shipped_plans
from silas.testing import Harness, ScriptedChannel
from tests.stream.kit import saying_yes, soon

SHIPPED = PlanLibrary([shipped_plans()])

NO_TEXT = b"\xff\xfe\x00PK"

CASES = [
    ("sort the lines of gone.txt", "There is no file gone.txt."),
    ("remove the duplicate lines from gone.txt", "There is no file gone.txt."),
    ('replace "pear" with "plum" in gone.txt', "There is no file gone.txt."),
    ("sort gone.csv by town", "There is no file gone.csv."),
    ("convert gone.csv to JSON", "There is no file gone.csv."),
    ("convert gone.json to CSV", "There is no file gone.json."),
    ("copy gone.txt to more.txt", "There is no file gone.txt."),
    ("sort the lines of noise.txt", "noise.txt is no text in UTF-8; nothing was changed."),
    ("remove the duplicate lines from noise.txt", "noise.txt is no text in UTF-8"),
    ('replace "pear" with "plum" in noise.txt', "noise.txt is no text in UTF-8"),
    ('add "milk" to noise.txt', "noise.txt is no text in UTF-8"),
    ("sort noise.csv by town", "noise.csv is no text in UTF-8"),
    ("sort empty.csv by town", "empty.csv has no column town"),
    ("convert words.json to CSV", "words.json is no JSON in UTF-8"),
]


NOTHING_TO_DO = [
    ("delete gone.txt", "There is no such file in this folder, so there is nothing to delete."),
    ("lösche sub/gone.txt", "There is no such file in this folder, so there is nothing to delete."),
    ("unzip gone.zip", "There is no such file in this folder, so there is nothing to unpack."),
    ("unzip there.zip", "The folder unpacked is there already, and nothing is unpacked into it;"),
    ("zip the folder gone", "There is no such folder in this one, so there is nothing to pack."),
    ("zip the folder unpacked", "A zip file of that name is there already, and it is not written"),
]


@pytest.mark.parametrize(("request_text", "sentence"), NOTHING_TO_DO)
async def test_what_cannot_be_done_is_told_before_anybody_is_asked(
    request_text: str, sentence: str, tmp_path: Path
) -> None:
    """Its checks would hold without it, so that it would be said as done."""
    (tmp_path / "unpacked").mkdir()
    for name in ("there.txt", "there.zip", "unpacked.zip", "unpacked/one.txt"):
        (tmp_path / name).write_text("here\n")
    channel = ScriptedChannel(saying_yes)
    async with Harness(channel) as h:
        reply = await soon(h.silas.ask(request_text, workspace=tmp_path))
    assert (reply.plan, channel.cards) == (None, [])
    assert sentence in reply.text


async def test_it_is_told_in_german_in_a_german_silas(tmp_path: Path) -> None:
    async with Harness(ScriptedChannel(), settings={"language": "de"}) as h:
        reply = await soon(h.silas.ask("lösche gone.txt", workspace=tmp_path))
    assert "Eine solche Datei gibt es in diesem Ordner nicht, also ist nichts zu lö" in reply.text


async def test_by_the_clock_it_may_come_to_be_there(tmp_path: Path) -> None:
    channel = ScriptedChannel()
    async with Harness(channel) as h:
        await soon(h.silas.ask("every day at 8 delete gone.txt", workspace=tmp_path))
    assert [card.intent for card in channel.cards] == ["Delete a file"]


@pytest.mark.parametrize(("request_text", "sentence"), CASES)
async def test_it_is_said_in_a_sentence_and_without_an_error_of_pythons(
    request_text: str, sentence: str, tmp_path: Path
) -> None:
    place, home = tmp_path / "my folder", tmp_path / "home"
    home.mkdir()
    place.mkdir()
    for name in ("noise.txt", "noise.csv", "words.json"):
        (place / name).write_bytes(NO_TEXT)
    (place / "empty.csv").touch()
    channel = ScriptedChannel(saying_yes)
    async with Harness(channel, home=home) as h:
        reply = await soon(h.silas.ask(request_text, workspace=place))
        assert reply.plan is not None, reply.text
        done = await soon(h.silas.wait(reply.plan.id))
    assert done is not None
    printed = "\n".join(channel.texts)
    assert sentence in printed
    assert "Traceback" not in printed
    assert done.status is not WorkItemStatus.done
    assert sorted(one.name for one in place.iterdir()) == [
        "empty.csv",
        "noise.csv",
        "noise.txt",
        "words.json",
    ]
    assert (place / "noise.txt").read_bytes() == NO_TEXT


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("sum-column", {"column": "amount", "file": "gone.csv"}),
        ("show-file", {"file": "gone.txt"}),
        ("count-words", {"file": "gone.txt"}),
        ("summarise-file", {"file": "gone.txt"}),
        ("compare-files", {"one": "gone.txt", "two": "lost.txt"}),
    ],
)
async def test_a_runbook_that_only_reads_says_so_too(
    name: str, values: dict[str, str], tmp_path: Path
) -> None:
    place, home = tmp_path / "my folder", tmp_path / "home"
    home.mkdir()
    place.mkdir()
    (plan,) = [one for one in SHIPPED.plans() if one.name == name]
    text = SHIPPED.fill(plan, {**values, "workspace": str(place)}, "task-1")
    channel = ScriptedChannel(saying_yes)
    async with Harness(channel, home=home) as h:
        result = await soon(h.silas.run(text))
    assert result.status is not WorkItemStatus.done
    printed = "\n".join([*channel.texts, str(result)])
    assert "There is no file" in printed
    assert "Traceback" not in printed
