"""Each of the owner's conversations has a view of its own, and one memory behind all (5.1, 12)."""

from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest

from silas.cards import ChannelMessage
from silas.context.conversation_store import ConversationStore
from silas.errors import SilasError
from silas.stream.models import Incoming
from silas.testing import CallTool, Harness, MockClock, ScriptedModel
from tests.stream.kit import direct, soon
from tests.stream.test_forgetting import PAGE, forget, look_at_page

ASKED = [
    ("", "rename the invoices"),
    ("photos", "count the photos"),
    ("", "and the letters"),
    ("photos", "and the films"),
]
SEEN = {
    "rename the invoices": [],
    "count the photos": [],
    "and the letters": ["rename the invoices"],
    "and the films": ["count the photos"],
}


def seen(proxy: ScriptedModel, number: int) -> list[str]:
    """Which of the earlier messages a request showed."""
    before = [text for _, text in ASKED[:number]]
    return [text for text in before if f"] owner: {text}" in proxy.requests[number].text]


@pytest.mark.parametrize("restarts", [False, True])
async def test_a_conversation_is_shown_nothing_of_another(tmp_path: Path, restarts: bool) -> None:
    home, clock = tmp_path / "home", MockClock()
    home.mkdir()
    proxy = ScriptedModel([direct("Right.")] * len(ASKED))
    models = {"proxy": proxy}
    ids = {"": "first"}

    async def say(h: Harness, name: str, text: str) -> None:
        if name not in ids:
            ids[name] = h.silas.messages.conversations.begin().id
        await soon(h.silas.ask(text, conversation=ids[name]))

    if restarts:
        for name, text in ASKED:
            async with Harness(models=models, home=home, clock=clock) as h:
                await say(h, name, text)
    else:
        async with Harness(models=models, home=home, clock=clock) as h:
            for name, text in ASKED:
                await say(h, name, text)
    assert {text: seen(proxy, n) for n, (_, text) in enumerate(ASKED)} == SEEN


async def test_its_title_is_made_of_its_first_words_until_it_is_renamed() -> None:
    async with Harness(models={"proxy": ScriptedModel([direct("Right.")] * 3)}) as h:
        conversation_store = h.silas.messages.conversations
        name = conversation_store.begin().id
        assert conversation_store.begin().id == name, "one that nothing was said in is used again"
        await soon(h.silas.ask("Count the photos\nof last year", conversation=name))
        assert conversation_store.one(name).called == "Count the photos"
        await soon(h.silas.ask("And the films", conversation=name))
        assert conversation_store.one(name).called == "Count the photos"
        conversation_store.rename(name, "  Holidays ")
        await soon(h.silas.ask("Well?", conversation=name))
        assert (conversation_store.find("holidays").id, conversation_store.one("first").called) == (
            name,
            "Main conversation",
        )


WRONG: dict[str, Callable[[ConversationStore, str], object]] = {
    "There is no conversation 'talk-0'": lambda conversation_store, _: conversation_store.open(
        "talk-0"
    ),
    "There is no conversation 'nothing'": lambda conversation_store, _: conversation_store.find(
        "nothing"
    ),
    "at least one character": lambda conversation_store, name: conversation_store.rename(
        name, " \u202e\n"
    ),
    "has room for 80": lambda conversation_store, name: conversation_store.rename(name, "x" * 81),
    "main conversation cannot be archived": lambda conversation_store, _: (
        conversation_store.archive("first")
    ),
}


@pytest.mark.parametrize("words", WRONG)
async def test_what_cannot_be_is_said_in_one_sentence(words: str) -> None:
    async with Harness() as h:
        conversation_store = h.silas.messages.conversations
        name = conversation_store.begin("Holidays").id
        with pytest.raises(SilasError, match=words):
            WRONG[words](conversation_store, name)
        assert conversation_store.one(name).called == "Holidays"


async def test_in_an_archived_one_nothing_is_said_until_it_is_back() -> None:
    async with Harness(models={"proxy": ScriptedModel([direct("Right.")])}) as h:
        conversation_store = h.silas.messages.conversations
        name = conversation_store.begin("Holidays").id
        conversation_store.archive(name)
        with pytest.raises(SilasError, match="“Holidays” was archived"):
            await h.silas.ask("Well?", conversation=name)
        conversation_store.restore(name)
        assert (await soon(h.silas.ask("Well?", conversation=name))).text == "Right."


async def test_what_a_conversation_read_labels_it_and_no_other_one_and_is_forgotten() -> None:
    proxy = ScriptedModel([CallTool("look", {}), direct("It is Mia."), *[direct("Right.")] * 3])
    async with Harness(models={"proxy": proxy}) as h:
        look_at_page(h)
        name = h.silas.messages.conversations.begin().id
        await soon(h.silas.ask("What is the cat called?", conversation=name))
        await soon(h.silas.ask("And now?", conversation=name))
        await soon(h.silas.ask("And here?"))
        assert "The cat is Mia." in proxy.requests[2].text
        assert "Mia" not in proxy.requests[3].text
        await forget(h, PAGE)
        await soon(h.silas.ask("And later?", conversation=name))
        assert "Mia" not in proxy.requests[4].text


def test_no_connection_reads_as_a_conversation_of_the_owners() -> None:
    said = ChannelMessage(
        channel="other", sender_id="someone", text="hello", timestamp=datetime.now(UTC)
    )
    with pytest.raises(ValueError, match="no id of a connection"):
        Incoming(said, "owner/talk-1")
    assert Incoming(said, "other:owner/talk-1").address == "other:owner/talk-1"
