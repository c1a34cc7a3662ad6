"""A result names the message that asked for its work, as that is now."""

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from silas.channels.web.conversations import ConversationPlaces
from silas.channels.web.events import MessageEvent, PostExecution
from silas.channels.web.results import MessageAsked
from silas.channels.web.transcript import Transcript
from silas.context.conversation_store import ConversationStore
from silas.db import Database
from silas.plans import AskedBy
from silas.testing import MockClock
from tests.support.pages import NothingForgotten

NOW = datetime(2026, 11, 22, 9, 0, tzinfo=UTC)


@pytest.fixture
def db(tmp_path: Path) -> Iterator[Database]:
    made = Database(tmp_path / "silas.db", MockClock())
    made.migrate("silas.channels.web")
    yield made
    made.close()


@pytest.fixture
def transcript(db: Database) -> Transcript:
    return Transcript(db, NothingForgotten())


def _said(name: str, text: str, where: str = "") -> MessageEvent:
    return MessageEvent(
        seq=0, id=name, text=text, sender="owner", timestamp=NOW, conversation=where
    )


def _ended(reply_to: str, where: str = "") -> PostExecution:
    return PostExecution(
        seq=0, work_item_id="w", title="Copy", status="done", summary="Done.", timestamp=NOW,
        reply_to=reply_to, conversation=where,
    )  # fmt: skip


def _kept(transcript: Transcript, where: str = "") -> PostExecution:
    last = transcript.after(0, 1, where).kept[-1]
    assert isinstance(last, PostExecution)
    return last


def test_a_result_stands_in_the_conversation_of_its_message_and_under_it(db: Database) -> None:
    conversations = ConversationStore(db, MockClock())
    places = ConversationPlaces(conversations, lambda name: AskedBy(f"c-{name}", f"m-{name}"))
    placed = places.place(_ended(""))
    assert (placed.conversation, placed.reply_to) == ("c-w", "m-w")


def test_the_plan_is_asked_about_anew_at_the_newest_end_alone(transcript: Transcript) -> None:
    transcript.add_result(_ended("").model_copy(update={"again": True}))
    assert _kept(transcript).again
    transcript.add_result(_ended(""))
    ends = [one for one in transcript.after(0, 9, "").kept if isinstance(one, PostExecution)]
    assert [one.again for one in ends] == [False, False]


def test_a_result_names_its_message_to_whoever_has_not_loaded_it(transcript: Transcript) -> None:
    transcript.add(_said("m1", "  copy the\nnotes "))
    told = transcript.add_result(_ended("m1"))
    assert told.asked == MessageAsked(seq=1, words="copy the notes")
    assert _kept(transcript) == told
    transcript.mark_undone("w")
    assert _kept(transcript).asked == told.asked
    transcript.withhold([1], "Forgotten.")
    assert _kept(transcript).asked == MessageAsked(seq=1, words="Forgotten.")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("word " * 30, "word " * 19 + "word …"), ("a" * 20_000, "a" * 100 + " …"), ("a" * 100,) * 2,
    ],
)  # fmt: skip
def test_of_a_long_message_its_beginning_is_named(
    transcript: Transcript, text: str, words: str
) -> None:
    transcript.add(_said("m1", text))
    assert transcript.add_result(_ended("m1")).asked == MessageAsked(seq=1, words=words)


def test_no_message_is_named_that_is_not_there_or_in_another_conversation(
    transcript: Transcript,
) -> None:
    transcript.add(_said("m1", "copy", "c1"))
    transcript.add_result(_ended("m1"))
    assert _kept(transcript).asked is None
    transcript.add_result(_ended("gone"))
    assert _kept(transcript).asked is None
    transcript.add_result(_ended("result-w"))
    assert _kept(transcript).asked is None
