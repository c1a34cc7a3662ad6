"""`silas conversations` and `silas chat --conversation`: the conversations of the cockpit."""

import asyncio
import hashlib
import json
from collections.abc import AsyncGenerator
from contextlib import closing
from pathlib import Path

from silas.clock import SystemClock
from silas.context.attachments import AttachmentStore
from silas.context.conversation_store import ConversationStore
from silas.db import Database
from tests.support.command import Ended, environment, run, silas


def begun(home: Path, title: str) -> str:
    """A conversation that was begun elsewhere, as in the cockpit."""
    with closing(Database(home / "data" / "silas.db", SystemClock())) as db:
        return ConversationStore(db, SystemClock()).begin(title).id


def attached(home: Path, conversation: str) -> None:
    """A file that was attached there in the cockpit."""

    async def pieces() -> AsyncGenerator[bytes]:
        yield b"hello"

    data = home / "data"
    with closing(Database(data / "silas.db", SystemClock())) as db:
        store = AttachmentStore(db, SystemClock(), data / "attachments")
        digest = hashlib.sha256(b"hello").hexdigest()
        row = store.announce(conversation, "notes.txt", 5, digest)
        asyncio.run(store.receive(row.id, pieces(), lambda _: None))


def test_a_conversation_is_deleted_after_a_question_that_says_what_goes(tmp_path: Path) -> None:
    home = tmp_path / "home"
    env = environment(home)

    def said(*words: str, text: str = "") -> Ended:
        return run(silas(*words), env, stdin=text)

    assert said("init").code == 0
    name = begun(home, "Holidays")
    attached(home, name)
    assert said("ask", "what is 2 times 21", "--conversation", name).code == 0
    kept = said("conversations", "delete", "holidays", text="n\n")
    assert (kept.code, "Nothing was deleted." in kept.out) == (3, True), kept
    assert "with 2 messages, 1 attached file and" in kept.out + kept.err
    gone = said("conversations", "delete", name, "--yes")
    assert (gone.code, gone.out) == (0, "Deleted: Holidays.\n"), gone
    again = said("conversations", "delete", name)
    assert again.code == 2
    assert f"There is no conversation '{name}'" in again.err
    main = said("conversations", "delete", "first", "--yes")
    assert (main.code == 0, "cannot be deleted" in main.err) == (False, True)
    assert not list((home / "data" / "attachments").rglob("*.txt"))
    assert "holidays" not in said("conversations", "list").out.lower()
    assert said("audit", "verify").code == 0


def test_a_conversation_of_the_cockpit_goes_on_in_the_terminal_and_comes_out(
    tmp_path: Path,
) -> None:
    home = tmp_path / "home"
    env = environment(home)

    def said(*words: str, text: str = "") -> Ended:
        return run(silas(*words), env, stdin=text)

    assert said("init").code == 0
    name = begun(home, "Holidays")
    talked = said("chat", "--conversation", "holidays", text="what is 17 % of 240\n")
    assert (talked.code, "40.8" in talked.out) == (0, True), talked.err
    asked = said("ask", "what is 2 times 21", "--conversation", name)
    assert (asked.code, asked.out) == (0, "2 * 21 = 42\n"), asked
    assert said("ask", "what is 2 times 21", "--conversation", "nothing").code == 2
    both = said("chat", "--new", "--conversation", name)
    assert (both.code, "--new begins" in both.err) == (2, True)
    elsewhere = said("chat", text="what is 3 plus 4\n")
    assert elsewhere.code == 0
    listed = json.loads(said("conversations", "list", "--json").out)
    assert [(one["id"], one["title"]) for one in listed] == [
        ("first", "Main conversation"),
        (name, "Holidays"),
    ]
    document = tmp_path / "holidays.md"
    out = ("conversations", "export", name, "--output", str(document))
    assert said(*out).code == 0
    text = document.read_text()
    assert text.startswith("# Holidays\n\n## owner, ")
    assert "17 % of 240" in text
    assert "3 plus 4" not in text
    refused = said(*out)
    assert (refused.code, "is there already; --force" in refused.err) == (2, True)
    assert said(*out, "--force", "--format", "json").code == 0
    messages = json.loads(document.read_text())["messages"]
    assert {one["who"] for one in messages} >= {"owner", "silas"}
    found = json.loads(said("conversations", "search", "240", "--json").out)
    assert {(one["conversation"], one["title"]) for one in found} == {(name, "Holidays")}
    assert "what is 17 % of 240" in [one["excerpt"] for one in found if one["who"] == "owner"]
    wordless = said("conversations", "search", "?!")
    assert (wordless.code, "at least one word" in wordless.err) == (1, True)
    assert said("conversations", "rename", "Holidays", "Italy").code == 0
    assert said("conversations", "archive", "italy").code == 0
    shut = said("chat", "--conversation", name, text="hello\n")
    assert (shut.code, "“Italy” was archived" in shut.err) == (1, True), shut
    assert said("conversations", "restore", name).code == 0
    assert "17 % of 240" in said("conversations", "show", name).out


def test_a_new_conversation_is_begun_in_the_terminal(tmp_path: Path) -> None:
    env = environment(tmp_path / "home")
    assert run(silas("init"), env).code == 0
    talked = run(silas("chat", "--new"), env, stdin="what is 5 plus 6\n")
    assert (talked.code, "11" in talked.out) == (0, True), talked.err
    listed = json.loads(run(silas("conversations", "list", "--json"), env).out)
    assert "what is 5 plus 6" in [one["title"] for one in listed]


def test_the_files_of_a_conversation_are_listed_and_looked_at_in_the_terminal(
    tmp_path: Path,
) -> None:
    home = tmp_path / "home"
    env = environment(home)

    def said(*words: str) -> Ended:
        return run(silas(*words), env)

    assert said("init").code == 0
    name = begun(home, "Holidays")
    files = said("conversations", "files", name)
    assert (files.code, files.out) == (0, "No files are attached.\n"), files
    attached(home, name)
    (file,) = json.loads(said("conversations", "files", "holidays", "--json").out)
    assert (file["name"], file["size"], file["removed"]) == ("notes.txt", 5, False)
    assert f"notes.txt  5 bytes  {file['digest']}" in said("conversations", "files", name).out
    summary = "summarise this\n\nAttached: @attached/notes.txt"
    assert "hello" in said("ask", summary, "--conversation", name).out
