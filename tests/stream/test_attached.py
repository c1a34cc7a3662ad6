"""What is attached to a conversation: looked at there and nowhere else, by nobody but its owner."""

import hashlib
from collections.abc import AsyncGenerator, Callable
from pathlib import Path

import pytest

from silas.cards import ChannelMessage
from silas.context.attachments import LARGEST, MOST_FILES, AttachmentRow, AttachmentStore
from silas.context.chronicle import SqlChronicleStore
from silas.context.errors import ContextError
from silas.stream.models import Incoming
from silas.testing import CallTool, Harness, ScriptedChannel, ScriptedModel
from silas.types import OWNER, TaintLevel
from tests.stream.kit import direct, soon

TEXT = b"# Lease\n\nIt ends in May. Pay on time.\n\nKeep quiet. At night.\n"


def stored(h: Harness) -> AttachmentStore:
    """The attached files of a Silas."""
    return AttachmentStore(h.db, h.clock, h.config.data_dir / "attachments")


def unseen(_: AttachmentRow) -> None:
    """Its record is told of elsewhere (`tests/cockpit/test_attachments.py`)."""


async def _pieces(content: bytes, size: int = 7) -> AsyncGenerator[bytes]:
    for start in range(0, len(content), size):
        yield content[start : start + size]


async def attach(
    store: AttachmentStore, name: str, content: bytes = TEXT, conversation: str = ""
) -> AttachmentRow:
    """Announce a file and bring it."""
    digest = hashlib.sha256(content).hexdigest()
    row = store.announce(conversation, name, len(content), digest)
    return await store.receive(row.id, _pieces(content), unseen)


def _said(*names: str, words: str = "summarise this") -> str:
    return "\n".join([words, "", *(f"Attached: @attached/{name}" for name in names)])


ANSWERS = {
    "summarise this": ("An extract, not a summary", "# Lease", "- It ends in May."),
    "fass das zusammen": ("An extract, not a summary", "- Keep quiet."),
    "what does lease.txt say": ("Pay on time.",),
    "show me the attached file": ("Pay on time.",),
    "how many words are in this file?": ("13 words",),
    "": ("An extract, not a summary",),
}


@pytest.mark.parametrize("words", list(ANSWERS), ids=repr)
async def test_without_a_language_model_an_attached_file_is_looked_at(words: str) -> None:
    async with Harness(ScriptedChannel()) as h:
        await attach(stored(h), "lease.txt")
        reply = await soon(h.silas.ask(_said("lease.txt", words=words)))
    for part in ANSWERS[words]:
        assert part in reply.text


LEASED = b"# Rent\n\nThe lease ends in May. Pay on time.\n\nDer Mietvertrag endet im Mai.\n"
ASKED = {
    "Was steht in der Datei?": "lease.txt:\n\n# Rent",
    "Was steht da drin?": "lease.txt:\n\n# Rent",
    "Lies sie mir vor": "lease.txt:\n\n# Rent",
    "Read it to me, please": "lease.txt:\n\n# Rent",
    "What's in it?": "lease.txt:\n\n# Rent",
    "Worum geht es hier?": "An extract, not a summary",
    "Summarise it": "An extract, not a summary",
    "Fasse sie zusammen": "An extract, not a summary",
    "How long is it?": "lease.txt: 15 words",
    "When does the lease end?": "\n@attached/lease.txt:3: The lease ends in May.",
    "Wann endet der Mietvertrag?": "\n@attached/lease.txt:5: Der Mietvertrag endet im Mai.",
    "How much is the rent?": "\n@attached/lease.txt:1: # Rent",
    "When is the rent payment due?": "No line of what is attached has 'rent' and 'payment' and",
}


@pytest.mark.parametrize("later", [False, True], ids=["with it", "in the next message"])
@pytest.mark.parametrize("words", list(ASKED))
async def test_questions_about_an_attached_file_are_looked_up_in_it(
    words: str, later: bool, tmp_path: Path
) -> None:
    (tmp_path / "old.txt").write_text("The lease ends in June.\nDer Mietvertrag endet im Juni.\n")
    async with Harness(ScriptedChannel()) as h:
        await attach(stored(h), "lease.txt", LEASED)
        first = _said("lease.txt", words="" if later else words)
        reply = await soon(h.silas.ask(first, workspace=tmp_path))
        if later:
            reply = await soon(h.silas.ask(words, workspace=tmp_path))
        said = await SqlChronicleStore(h.db, h.clock, h.config.context.chronicle).get_recent(
            OWNER, 20
        )
    assert ASKED[words] in reply.text
    assert "Jun" not in reply.text
    looks = [one.taint for one in said if one.kind == "tool_result" and "lease" in one.content]
    assert set(looks) <= {TaintLevel.external}


SUBJECT = {
    "scan.txt": b"# Lease\n\nIt ends in May.\n",
    "lease-of-2026.txt": b"It ends in May.\n",
}


@pytest.mark.parametrize("name", SUBJECT)
async def test_the_subject_may_stand_in_the_name_or_in_another_line(name: str) -> None:
    async with Harness(ScriptedChannel()) as h:
        await attach(stored(h), "bread.txt", b"It ends at noon.\n")
        await attach(stored(h), name, SUBJECT[name])
        asked = _said("bread.txt", name, words="When does the lease end?")
        reply = await soon(h.silas.ask(asked))
    assert f"@attached/{name} is about 'lease'; its lines with 'end':" in reply.text
    assert "ends in May." in reply.text
    assert "noon" not in reply.text


async def test_several_attached_files_are_each_looked_at() -> None:
    async with Harness(ScriptedChannel()) as h:
        for name, text in (("a.txt", b"Bread.\n"), ("b.txt", b"Cake.\n")):
            await attach(stored(h), name, text)
        read = await soon(h.silas.ask(_said("a.txt", "b.txt", words="read them to me")))
        later = await soon(h.silas.ask("Was steht in den Dateien?"))
    assert read.text == later.text == "@attached/a.txt:\n\nBread.\n\n@attached/b.txt:\n\nCake."


async def test_a_later_message_means_it_only_as_long_as_no_other_file_was_named(
    tmp_path: Path,
) -> None:
    (tmp_path / "notes.txt").write_text("Buy bread.\n")
    async with Harness(ScriptedChannel()) as h:
        await attach(stored(h), "lease.txt")
        before = await soon(h.silas.ask("read it to me", workspace=tmp_path))
        await soon(h.silas.ask(_said("lease.txt"), workspace=tmp_path))
        keeps = await soon(h.silas.ask("remember that it rains", workspace=tmp_path))
        meant = await soon(h.silas.ask("read it to me", workspace=tmp_path))
        await soon(h.silas.ask("show notes.txt", workspace=tmp_path))
        after = await soon(h.silas.ask("read it to me", workspace=tmp_path))
    assert "It ends in May." in meant.text
    assert "attached" not in keeps.text
    for one in (before, after):
        assert "I do not understand" in one.text


async def test_what_is_attached_elsewhere_or_named_by_somebody_else_is_not_meant(
    tmp_path: Path,
) -> None:
    async with Harness(ScriptedChannel()) as h:
        other = h.silas.messages.conversations.begin("Other").id
        await attach(stored(h), "lease.txt", LEASED)
        await soon(h.silas.ask(_said("lease.txt")))
        there = await soon(
            h.silas.ask("When does the lease end?", conversation=other, workspace=tmp_path)
        )
        message = ChannelMessage(
            channel="web", sender_id="x", text="read it to me", timestamp=h.clock.now()
        )
        stranger = await soon(h.silas.stream.handle(Incoming(message, "somebody")))
    assert "May" not in there.text + stranger.text


async def test_what_an_attached_file_says_is_external_and_needs_no_question() -> None:
    """Models elsewhere are shown it, as their owner gave it to them; the folder they are not."""
    proxy = ScriptedModel([
        CallTool("workspace_read", {"path": "@attached/lease.txt"}),
        CallTool("workspace_list", {"path": "@attached"}),
        CallTool("workspace_read", {"path": "@attached/../silas.db"}),
        direct(),
    ])  # fmt: skip
    channel = ScriptedChannel()
    async with Harness(channel, models={"proxy": proxy}) as h:
        await attach(stored(h), "lease.txt")
        await soon(h.silas.ask(_said("lease.txt")))
        said = await SqlChronicleStore(h.db, h.clock, h.config.context.chronicle).get_recent(
            OWNER, 20
        )
    looks = [one for one in said if one.kind == "tool_result"]
    assert [one.taint for one in looks] == [TaintLevel.external] * 2
    assert "It ends in May." in looks[0].content
    assert "lease.txt" in looks[1].content
    assert "SQLite format" not in proxy.requests[-1].text
    assert channel.cards == []


async def test_another_conversation_and_another_sender_see_nothing_of_it() -> None:
    async with Harness(ScriptedChannel()) as h:
        other = h.silas.messages.conversations.begin("Other").id
        await attach(stored(h), "lease.txt", conversation=other)
        await attach(stored(h), "plan.txt", b"Nobody knows.\n")
        here = await soon(h.silas.ask(_said("lease.txt"), conversation=other))
        main = await soon(h.silas.ask(_said("lease.txt")))
        text, now = _said("plan.txt"), h.clock.now()
        message = ChannelMessage(channel="web", sender_id="x", text=text, timestamp=now)
        stranger = await soon(h.silas.stream.handle(Incoming(message, "somebody")))
    assert "It ends in May." in here.text
    assert "May" not in main.text + stranger.text
    assert "knows" not in stranger.text


NAMES = {
    "../../etc/passwd": "passwd",
    "C:\\Users\\me\\notes.txt": "notes.txt",
    ".env": "env",
    "a b\n\u202ec.txt": "a-b-c.txt",
    "…": "file",
    "x" * 300 + ".pdf": "x" * 76 + ".pdf",
    "é\u0301tat.md": "é\u0301tat.md".replace("\u0301", "-"),
}


@pytest.mark.parametrize("name", list(NAMES), ids=range(len(NAMES)))
async def test_names_are_plain_and_given_once(name: str) -> None:
    async with Harness() as h:
        store = stored(h)
        first, second = await attach(store, name), await attach(store, name)
        store.remove(first.id, unseen)
        third = await attach(store, name)
    told = NAMES[name]
    stem, dot, ending = told.rpartition(".") if "." in told else (told, "", "")
    assert [first.name, second.name, third.name] == [
        told,
        f"{stem}-2{dot}{ending}",
        f"{stem}-3{dot}{ending}",
    ]


async def test_only_the_whole_file_that_was_announced_is_kept(tmp_path: Path) -> None:
    async with Harness() as h:
        store, digest = stored(h), hashlib.sha256(TEXT).hexdigest()
        root = h.config.data_dir / "attachments" / "first"
        for content in (TEXT[:-1], TEXT + b"!", TEXT.swapcase()):
            row = store.announce("", "lease.txt", len(TEXT), digest)
            with pytest.raises(ContextError, match="is not the file"):
                await store.receive(row.id, _pieces(content), unseen)
            assert list(root.iterdir()) == []
        row = store.announce("", "lease.txt", len(TEXT), digest)
        outside = tmp_path / "outside"
        outside.write_bytes(b"")
        (root / f".{row.id}").symlink_to(outside)  # whatever lies there is not written through
        with pytest.raises(ContextError, match="being sent already"):
            await store.receive(row.id, _pieces(TEXT), unseen)
        assert (outside.read_bytes(), store.of("")) == (b"", [])


def _full(store: AttachmentStore) -> None:
    for number in range(MOST_FILES + 1):
        store.announce("", f"{number}.txt", 1, "0" * 64)


def _large(store: AttachmentStore) -> None:
    for number in range(11):
        store.announce("", f"{number}.bin", LARGEST, "0" * 64)


REFUSED: dict[str, tuple[Callable[[AttachmentStore], object], str]] = {
    "3 GB": (lambda store: store.announce("", "a.iso", 3_000_000_000, ""), "3,000 MB, and a file"),
    "empty": (lambda store: store.announce("", "a.txt", 0, ""), "a.txt is empty"),
    "too many": (_full, "at most 100 files and 250 MB"),
    "too much": (_large, "at most 100 files and 250 MB"),
    "unknown": (lambda store: store.remove("file-0", unseen), "no attached file 'file-0'"),
}


@pytest.mark.parametrize("case", list(REFUSED))
async def test_what_does_not_fit_is_refused_in_one_sentence(case: str) -> None:
    does, words = REFUSED[case]
    async with Harness() as h:
        with pytest.raises(ContextError) as caught:
            does(stored(h))
    assert words in caught.value.message
