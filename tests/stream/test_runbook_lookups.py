"""Without a language model: what a text of the folder says, after what is remembered."""

from pathlib import Path

import pytest

from silas.agents.runbook.folder import lookup_request
from silas.stream.models import Reply
from silas.testing import Harness, ScriptedChannel
from tests.stream.kit import soon

LEASE = "Lease of the flat\n\nThe lease begins on 1 March 2025.\nThe lease ends on 28 May 2027.\n"
FOLDER = {
    "docs/lease.txt": LEASE,
    "docs/gym-contract.txt": "Member since 2020\nExpires: 4 April 2028\n",
    "release.md": "Released yesterday. Send it.\n",
    "Mietvertrag.md": "Der Mietvertrag endet am 31. Mai.\n",
    "notes.md": "# Notes\n\nCall the plumber.\n",
    ".env": "lease=hidden\n",
}
LAST = "docs/lease.txt:4: The lease ends on 28 May 2027."


@pytest.fixture
def place(tmp_path: Path) -> Path:
    place = tmp_path / "my folder"
    for name, text in FOLDER.items():
        (place / name).parent.mkdir(parents=True, exist_ok=True)
        (place / name).write_text(text, encoding="utf-8")
    return place


async def said(place: Path, *texts: str) -> tuple[Reply, ScriptedChannel]:
    """The reply to the last of some messages."""
    channel = ScriptedChannel()
    async with Harness(channel) as h:
        replies = [await soon(h.silas.ask(text, workspace=place)) for text in texts]
    return replies[-1], channel


ANSWERS: dict[str, tuple[str, tuple[str, ...], tuple[str, ...]]] = {
    "where is my lease": ("answered", ("1 file is called so:\n- docs/lease.txt", LAST), ("rele",)),
    "find my lease": ("answered", ("- docs/lease.txt", LAST), ("hidden\n",)),
    "when does the lease end?": ("answered", (LAST,), ("lease.txt:3", "Send it")),
    "when does my gym contract expire?": (
        "answered",
        ("docs/gym-contract.txt has 'gym' and 'contract' in its name", "2: Expires: 4 April 2028"),
        (),
    ),
    "wann endet der Mietvertrag?": ("answered", ("Mietvertrag.md:1: Der Mietvertrag",), ()),
    "find the plumber": ("answered", ("notes.md:3: Call the plumber.",), ()),
    "when does the lease expire?": (
        "failed",
        ("No line of a text in this folder has 'lease' and 'expire'.", "Lines with 'lease':"),
        (),
    ),
    "where is my passport?": (
        "failed",
        ("I remember nothing that fits. No line of a text in this folder has 'passport', and no",),
        (),
    ),
    "when does the sun set": ("failed", ("No line", "'sun' and 'set'"), ()),
}


@pytest.mark.parametrize("text", ANSWERS)
async def test_what_a_text_says_is_shown_with_its_place_and_nothing_is_guessed(
    text: str, place: Path
) -> None:
    reply, channel = await said(place, text)
    outcome, shown, hidden = ANSWERS[text]
    assert (reply.outcome, reply.plan, channel.cards) == (outcome, None, []), reply.text
    assert [one for one in shown if one not in reply.text] == [], reply.text
    assert [one for one in hidden if one in reply.text] == [], reply.text


@pytest.mark.parametrize(
    ("told", "asked"),
    [
        ("remember that my lease lies in the blue drawer", "where is my lease"),
        ("remember that my lease lies in the blue drawer", "find my lease"),
        ("remember that the lease ends in June", "when does the lease end?"),
    ],
)
async def test_what_is_remembered_goes_first(told: str, asked: str, place: Path) -> None:
    reply, channel = await said(place, told, asked)
    assert (reply.outcome, reply.plan, channel.cards) == ("answered", None, [])
    assert reply.text.startswith(f"I remember:\n- {told.removeprefix('remember that ')}")


async def test_another_memory_is_no_answer(place: Path) -> None:
    reply, _ = await said(place, "remember that my bike is red", "when does the lease end?")
    assert "bike" not in reply.text
    assert LAST in reply.text


@pytest.mark.parametrize(
    "text",
    [
        "where is Bob?",
        "where is my lease and delete it",
        "when does the lease end then",
        "find me a hotel",
        "what is the weather",
        "how long is the report",
        "when is my lease in /srv/x",
        "when does it end",
    ],
)
def test_what_only_sounds_like_it_is_not(text: str) -> None:
    assert lookup_request(text) is None
