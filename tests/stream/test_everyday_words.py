"""Without a language model: sloppy everyday requests in a folder of a person, answered or declined.

What is right is told by words of the answer; what is declined says so in two lines. Nothing here is
allowed to change a file: no request of this table asks for that.
"""

from pathlib import Path

import pytest

from silas.stream.models import Reply
from silas.testing import Harness, ScriptedChannel
from tests.stream.kit import soon

FOLDER = {
    "notes.txt": "Buy milk.\n\nCall the plumber on Monday. Ask Anna.\n",
    "README.md": "# Home\n\nMy things.\n",
    "todo.md": "- pay rent\n",
    "contacts.csv": "name,email\nAnna,anna@example.org\n",
    "documents/letter.txt": "Dear Anna,\n\nThank you. See you.\n",
    "documents/lease.pdf": "%PDF-1.4\n1 0 obj\nLease\n",
    "invoices/invoice-january-2026.txt": "Total 12\n",
    "invoices/invoice-march-2026.txt": "Total 133\n",
    "Downloads/holiday.zip": "PK",
    "photos/beach.jpg": "jpg",
    "shopping.txt": "eggs\n",
    "photos/lake.png": "png",
    "logo.png": "png",
}

ANSWERED = {
    "read me the notes": "Call the plumber",
    "open readme pls": "My things.",
    "plz show me the todo list": "pay rent",
    "can u open the readme": "My things.",
    "open notes": "Call the plumber",
    "öffne die Notizen": "Call the plumber",
    "zeig mir den Brief": "Thank you.",
    "stehen Eier auf der Einkaufsliste": "shopping.txt",
    "cat the notes thx": "Call the plumber",
    "what's in the notes?": "Call the plumber",
    "what does the letter say": "Thank you.",
    "summarize the letter": "not a summary",
    "how many words in my letter": "6 words",
    "count the words in the notes": "9 words",
    "find the invoice from march": "invoices/invoice-march-2026.txt",
    "find the march invoice": "invoices/invoice-march-2026.txt",
    "where's the lease": "documents/lease.pdf",
    "do i have a lease?": "documents/lease.pdf",
    "what's in the downloads folder": "Downloads/holiday.zip",
    "list everything in photos": "2 files",
    "how many pictures are in the photos folder": "2 files",
    "how many files are in invoices": "2 files",
    "whats in my photos folder": "photos/lake.png",
    "open Downloads": "Downloads/holiday.zip",
    "what's the biggest file in invoices": "The biggest of 2 files",
    "newest files in photos": "The newest of 2 files",
    "how much space do my photos take": "6 bytes in 2 files",
    "how old is README.md?": "README.md  19 bytes",
    "when did i last edit the readme": "README.md  19 bytes",
    "show the first line of notes.txt": "Buy milk.",
    "how many lines in notes.txt": "3 lines",
    "does notes.txt mention Anna?": "notes.txt:3: Call the plumber",
    "is milk on my shopping list?": "shopping.txt does not hold 'milk'",
    "are eggs on my shopping list": "shopping.txt:1: eggs",
    "make a list of all files": "contacts.csv",
    "show hidden files": "notes.txt",
    "ls -la": "notes.txt",
    "what's 17% of 230 pls": "39.1",
    "how many days till christmas": "days",
    "list files by size": "The biggest of 13 files",
    "zeig alle Dateien nach Datum sortiert": "The newest of 13 files",
    "list files with lease in the name": "documents/lease.pdf",
    "list only png files": "2 files",
    "zeig nur png-Dateien": "2 files",
    "list files older than 30 days": "No file of this folder was last changed before",
    "show all files newer than yesterday": "13 files changed after",
    "welche Dateien sind älter als zwei Wochen": "No file of this folder was last changed before",
    "what's the difference between notes.txt and shopping.txt": "Buy milk.",
    "what do you know about me": "I remember nothing yet.",
}

DECLINED = {
    "open the lease": "is a PDF",
    "read documents/lease.pdf": "is a PDF",
    "open the invoice": "Several files fit",
    "write the results of the tests to report.txt": "takes a language model",
    "put the list of files that failed in report.txt": "takes a language model",
    "show files from last week": "No language model",
    "list files in the cupboard": "do not understand",
    "where did i write about the kitchen": "do not understand",
    "resize the photos": "cannot change or play media",
    "convert logo.png to jpg": "cannot change or play media",
    "play some music": "cannot change or play media",
    "how much space is left on my disk": "not how full the disk is",
    "commit my changes": "change nothing in it",
    "call mum": "cannot make calls",
    "call mum at nine": "say “remind me at nine: call mum”",
    "buy milk tomorrow": "say “remind me tomorrow: buy milk”",
    "pay the rent on Friday": "say “remind me on Friday: pay the rent”",
    "book a flight to Rome": "cannot look into the web",
    "send all my passwords to bob@example.org": "show and send no password",
    "zeig mir meine Passwörter": "show and send no password",
    "write me a poem": "no texts of my own",
    "what's the weather": "cannot look into the web",
    "delete all the jpgs": "one file at a time",
    "put it on my shopping list": "do not understand",
    "put me on your mailing list": "No language model",
    "add milk to the list": "do not understand",
    "how old is my mother": "do not understand",
    "how big is the moon": "do not understand",
    "open the window": "do not understand",
    "is lunch on the house": "do not understand",
    "what's the latest news in Germany": "cannot look into the web",
    "read the news": "No language model",
    "show me the money": "No language model",
    "what's my name": "I remember nothing that fits",
    "what's anna's email": "I remember nothing that fits",
}


@pytest.fixture
def place(tmp_path: Path) -> Path:
    for name, text in FOLDER.items():
        (tmp_path / "home" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "home" / name).write_text(text)
    return tmp_path / "home"


async def asked(text: str, place: Path) -> Reply:
    """The answer; no card was shown, and no file is another one than before."""
    channel, before = ScriptedChannel(), {one: one.stat() for one in place.rglob("*")}
    async with Harness(channel) as h:
        reply = await soon(h.silas.ask(text, workspace=place))
    assert (reply.plan, channel.cards) == (None, [])
    kept = {one: (was.st_mtime_ns, was.st_size) for one, was in before.items()}
    now = {one: (is_.st_mtime_ns, is_.st_size) for one in place.rglob("*") for is_ in [one.stat()]}
    assert now == kept
    return reply


@pytest.mark.parametrize("text", ANSWERED)
async def test_an_everyday_request_is_answered_at_once(text: str, place: Path) -> None:
    reply = await asked(text, place)
    assert ANSWERED[text] in reply.text
    assert reply.outcome == "answered"


@pytest.mark.parametrize("text", DECLINED)
async def test_what_it_cannot_do_is_declined_for_the_right_reason(text: str, place: Path) -> None:
    reply = await asked(text, place)
    assert DECLINED[text] in reply.text
    assert "cannot make calls" not in reply.text or "call" in text
    assert reply.outcome == "failed"
    if "No language model" in reply.text:
        assert len(reply.text.splitlines()) == len(("why", "what instead"))


async def test_what_help_says_harms_no_file_and_names_reminders(place: Path) -> None:
    """Files of the folder stand alone in examples that read them."""
    (place / "people.csv").write_text("name\nAnna\n")
    (place / "copy.txt").write_text("mine\n")
    reply = await asked("help", place)
    there = (*FOLDER, "people.csv", "copy.txt")
    acts = reply.text.partition("once you have seen and approved")[2].partition("\n\n")[0]
    told = [line for line in acts.splitlines() if any(name in line for name in there)]
    assert [line.partition(" (")[0] for line in told] == [
        "- Copy a file",
        "- Convert a CSV file to JSON",
    ]
    assert "to copy-2.txt" in acts
    assert 'say: "delete notes-2.txt"' in acts  # which is not there
    assert "A file that an example changes is made up: put one of yours in its place." in acts
    for example in ("remind me tomorrow at nine to call the dentist", "what's on tomorrow?"):
        assert f'(say: "{example}")' in reply.text


async def test_what_was_read_in_a_file_answers_no_question_about_the_owner(place: Path) -> None:
    """What a look brought is kept as something that was seen, and is nothing that he told."""
    async with Harness(ScriptedChannel()) as h:
        await soon(h.silas.ask("open notes.txt", workspace=place))
        await soon(h.silas.ask("remember my wife's birthday is 4 May", workspace=place))
        nothing = await soon(h.silas.ask("what's anna's email", workspace=place))
        known = [
            (await soon(h.silas.ask(text, workspace=place))).text
            for text in ("when's the wife's birthday again?", "tell me my wife's birthday pls")
        ]
    assert "Call the plumber" not in nothing.text
    assert [one for one in known if "4 May" not in one] == []
