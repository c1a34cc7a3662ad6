"""Conversations over the cockpit's endpoints: what an export marks and masks, what is refused."""

import hashlib
import json
import sqlite3
from collections.abc import AsyncIterator
from contextlib import closing

from silas.testing import CallTool, ScriptedModel
from tests.cockpit.house import House, a_house
from tests.stream.kit import direct, soon
from tests.stream.test_forgetting import PAGE, forget, look_at_page

SECRET = "correct horse battery staple"


async def _asked(house: House, text: str) -> str:
    name = (await house.post("/conversations")).json()["id"]
    await soon(house.harness.silas.ask(text, conversation=name))
    return name


async def test_an_export_marks_what_is_external_and_masks_what_is_secret() -> None:
    proxy = ScriptedModel([CallTool("look", {}), direct("It is Mia.")])
    async with a_house(models={"proxy": proxy}) as house:
        look_at_page(house.harness)
        house.parts.secrecy.learn({"password": SECRET})
        name = await _asked(house, f"What is the cat called? My password is {SECRET}.")
        export = f"/conversations/{name}/export"
        whole = json.loads((await house.get(export, format="json"))["document"])
        text = (await house.get(export))["document"]
        await forget(house.harness, PAGE)
        after = (await house.get(export))["document"]
    marked = [(one["who"], one["external"]) for one in whole["messages"]]
    assert marked == [("owner", False), ("tool", True), ("silas", True)]
    assert "(external, from tool:look c.org)\n\n```text\nThe cat is Mia.\n```" in text
    assert SECRET not in text + json.dumps(whole)
    assert "Mia" in text
    assert "Mia" not in after


async def test_titles_and_putting_away_are_refused_in_words_and_on_record() -> None:
    async with a_house() as house:
        name = (await house.post("/conversations")).json()["id"]
        answers = {
            "none": await house.post("/conversations/talk-0/rename", title="x"),
            "empty": await house.post(f"/conversations/{name}/rename", title=" \u202e "),
            "long": await house.post(f"/conversations/{name}/rename", title="x" * 81),
            "main": await house.post("/conversations/first/archive"),
            "done": await house.post(f"/conversations/{name}/archive"),
            "back": await house.post(f"/conversations/{name}/restore"),
        }
        events = [one["event"] for one in await house.said()]
    assert {at: answer.status_code for at, answer in answers.items()} == {
        "none": 404,
        "empty": 400,
        "long": 400,
        "main": 409,
        "done": 200,
        "back": 200,
    }
    assert events.count("conversation.archived") == events.count("conversation.restored") == 1


async def test_a_search_finds_what_was_said_wherever_and_masks_it() -> None:
    proxy = ScriptedModel([direct("The capital is Rome."), direct("Noted.")])
    async with a_house(models={"proxy": proxy}) as house:
        house.parts.secrecy.learn({"password": SECRET})
        await _asked(house, "What is the capital of Italy?")
        await soon(house.harness.silas.ask(f"Italy again: {SECRET}"))
        found = (await house.get("/conversations/search", q="Italy"))["found"]
        none = await house.client.get("/conversations/search", params={"q": " ?! "})
    assert {(one["title"], one["who"], one["external"]) for one in found} == {
        ("What is the capital of Italy?", "owner", False),
        ("Main conversation", "owner", False),
    }
    assert SECRET not in json.dumps(found)
    assert (none.status_code, none.json()["code"]) == (400, "E_CTX_QUERY")


WORD = "Rumpelstilzchen"


def _where(house: House, word: str) -> set[str]:
    """The tables that hold a word."""
    with closing(sqlite3.connect(house.harness.config.data_dir / "silas.db")) as db:
        names = [
            name for (name,) in db.execute("SELECT name FROM sqlite_master WHERE type='table'")
        ]
        return {
            name
            for name in names
            if any(word in str(row) for row in db.execute(f'SELECT * FROM "{name}"'))
        }


async def test_a_deleted_conversation_leaves_no_word_and_the_record_keeps_digests() -> None:
    proxy = ScriptedModel(
        [direct(f"{WORD} spins gold."), direct("Noted."), direct("I know of it.")]
    )
    async with a_house(models={"proxy": proxy}) as house:
        name = await _asked(house, f"Who is {WORD}?")
        await _asked(house, "Something else")
        files = house.harness.config.data_dir / "attachments" / name
        attached = house.parts.context_services.conversations.attachments
        row = attached.announce(name, "gold.txt", 4, _sha256(b"gold"))
        await attached.receive(row.id, _pieces(b"gold"), lambda _: None)
        assert (files / "gold.txt").is_file()
        question = (await house.get(f"/conversations/{name}/deletion"))["words"]
        unproved = await house.post(f"/conversations/{name}/delete")
        assert _where(house, WORD)
        done = await house.signed(f"/conversations/{name}/delete")
        assert (done.status_code, done.json()["words"]) == (
            200,
            f"“Who is {WORD}?” is deleted.",
        )
        assert _where(house, WORD) == set()
        assert not (files / "gold.txt").exists()
        rows = (await house.get("/conversations"))["conversations"]
        again = await house.signed(f"/conversations/{name}/delete")
        main = await house.client.get("/conversations/first/deletion")
        (told,) = [one for one in await house.said() if one["event"] == "conversation.deleted"]
        found = (await house.get("/conversations/search", q=WORD))["found"]
    assert question.startswith(
        f"Delete “Who is {WORD}?” for good, with 2 messages, 1 attached file"
    )
    assert "what you told Silas to remember" in question
    assert unproved.status_code == 400
    assert {one["title"] for one in rows} == {"Main conversation", "Something else"}
    assert again.status_code == 404
    assert again.json()["message"] == (
        f"There is no conversation {name!r}; “Conversations” shows all."
    )
    assert main.status_code == 409
    assert found == []
    data = told["data"]
    assert data["file_digests"] == [_sha256(b"gold")]
    assert (data["conversation"], data["messages"], data["files"]) == (name, 2, 1)
    assert len(data["digest"]) == 64
    assert data["memories"] >= 2


async def test_a_conversation_in_which_an_answer_is_under_way_is_not_deleted() -> None:
    async with a_house() as house:
        name = (await house.post("/conversations")).json()["id"]
        arrivals = (
            "INSERT INTO arrivals"
            " (arrival_id, scope_id, channel, sender_id, text, arrived_at, conversation)"
            " VALUES ('m', 'owner', 'web', 'owner', 'x', '2026-11-22', :name)"
        )
        with house.parts.db.write() as tx:
            tx.run(arrivals, name=name)
        refused = await house.signed(f"/conversations/{name}/delete")
        rows = (await house.get("/conversations"))["conversations"]
    assert refused.status_code == 409
    assert "stop it or answer its card" in refused.json()["message"]
    assert name in {one["id"] for one in rows}


def _sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


async def _pieces(data: bytes) -> AsyncIterator[bytes]:
    yield data
