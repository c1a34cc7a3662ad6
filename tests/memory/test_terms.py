"""Any text at all is a question, and none is ever query syntax."""

import asyncio
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from silas.memory.store import SqlMemoryStore
from silas.memory.terms import MOST_TERMS, Term, quote_term, terms, words
from tests.memory.memories import a_memory, a_store, ids
from tests.support.chance import examples

ATTACKS = [
    "",
    " ",
    '"',
    '""',
    "'",
    "*",
    "a*",
    "content:secret",
    "semantic_tags : secret",
    "{content semantic_tags}: secret",
    "^secret",
    "secret AND",
    "NOT secret",
    "a NEAR(b, 2)",
    "NEAR(",
    "secret OR OR",
    "(((",
    ") OR 1=1 --",
    "'; DROP TABLE memory_items; --",
    "secret\x00hidden",
    "\x00",
    "+ - + secret",
    "a-b_c --flag -",
    "rowid:1",
    "{}[]^~\\|",
    "secret " * 150_000,
    "s" * 1_000_000,
    '"' * 1_000_000,
    "東京タワーへ行きました",
    "🦊🔥👩‍👩‍👧",
    "\ud800 lone surrogate",
    "İstanbul ẞ ﬁn",
    "مرحبا بالعالم",
    "हिन्दी में",
]


@pytest.mark.proves("A17-SAFE-KEYWORDS")
@pytest.mark.parametrize("text", ATTACKS, ids=lambda text: ascii(text[:24]))
async def test_no_question_is_query_syntax(tmp_path: Path, text: str):
    with a_store(tmp_path) as store:
        await store.store(a_memory("m", "nothing of that kind"))
        await store.store_raw(a_memory("r", "nothing of that kind"))
        assert await store.search_keyword(text, 5) == []
        assert await store.search_raw(text, 5) == []


@pytest.mark.parametrize("text", ATTACKS, ids=lambda text: ascii(text[:24]))
async def test_any_text_can_be_remembered_and_forgotten(tmp_path: Path, text: str):
    text = text.encode("utf-8", "ignore").decode()
    with a_store(tmp_path) as store:
        await store.store(a_memory("m", f"{text} lighthouse", sources=("channel:web",)))
        assert ids(await store.search_keyword("lighthouse", 5)) == ["m"]
        assert await store.forget("channel:web") == 1
        assert await store.search_keyword("lighthouse", 5) == []


async def test_operators_are_words_like_others(tmp_path: Path):
    with a_store(tmp_path) as store:
        await store.store(a_memory("m", "walk near the river, not the road"))
        await store.store(a_memory("n", "content of the cupboard"))
        assert ids(await store.search_keyword('NEAR("river road", 0)', 5)) == ["m"]
        assert set(ids(await store.search_keyword("content : river*", 5))) == {"m", "n"}
        assert ids(await store.search_keyword("cupboard NOT content", 5))[0] == "n"


def test_words_come_in_order_once_and_in_lower_case():
    assert words("Did the DOG, the well-known dog_7, bark?") == (
        *("did", "the", "dog", "well-known", "well", "known", "dog_7", "7", "bark"),
    )
    assert words("-- __ !") == ()


@pytest.mark.parametrize(
    ("kept", "asked"),
    [
        ("東京タワーへ行きました", "いつ東京に行った?"),
        ("昨日買ったiPhoneが壊れた", "iphone"),
        ("昨日買ったiPhoneが壊れた", "買った"),
        ("我喜欢喝茶", "喝茶"),
        ("내일 회의가 있어요", "회의 시간"),
        ("猫", "猫"),
        ("the follow-up call", "follow up"),
        ("the follow up call", "follow-up"),
        ("run it with --dry-run first", "what is dry-run"),
        ("see snake_case_name", "case"),
        ("well- known", "well"),
        ("Ärger mit Éric", "arger eric"),
    ],
)
async def test_words_are_found_however_they_are_joined(tmp_path: Path, kept: str, asked: str):
    with a_store(tmp_path) as store:
        await store.store(a_memory("other", "言葉はない, nothing"))
        await store.store(a_memory("kept", kept))
        assert ids(await store.search_keyword(asked, 1)) == ["kept"]
        await store.update("kept", content="gone")
        assert await store.search_keyword(asked, 5) == []


def test_a_question_is_looked_up_by_the_words_that_tell_something():
    assert terms("What did you buy? Which did she BUY?") == (Term(("buy", "bought")),)
    assert terms("Who were they?") == (Term(("who",)), *terms("were"), Term(("they",)))
    assert len(terms(" ".join(f"word{n}" for n in range(1_000)))) == MOST_TERMS


@settings(max_examples=examples(300), deadline=None)
@given(st.text(st.characters(max_codepoint=127), max_size=300))
def test_plain_text_has_the_same_words_as_text_with_other_letters_beside_it(text: str):
    assert words(f"{text} 一") == (*words(text), "一")


@given(st.text(max_size=300))
def test_any_text_gives_a_bounded_list_of_plain_words(text: str):
    found = words(text)
    assert len(terms(text)) <= min(len(found), MOST_TERMS)
    assert len(set(found)) == len(found)
    assert all(word.strip() and not {'"', "\0"} & set(word) for word in found)
    assert all(quote_term(word) == f'"{word}"' for word in found)


@settings(max_examples=examples(150), deadline=None)
@given(st.lists(st.text(max_size=80), min_size=1, max_size=4), st.text(max_size=80))
def test_any_memory_is_stored_and_any_question_answered(contents: list[str], question: str):
    contents = [content.encode("utf-8", "ignore").decode() for content in contents]

    async def go(store: SqlMemoryStore) -> None:
        for number, content in enumerate(contents):
            await store.store(a_memory(str(number), content, semantic_tags=(content,)))
        found = await store.search_keyword(question, 10)
        assert set(ids(found)) <= {str(number) for number in range(len(contents))}
        for number, content in enumerate(contents):
            item = await store.get(str(number))
            assert item is not None
            assert item.content == content

    with tempfile.TemporaryDirectory() as directory, a_store(Path(directory)) as store:
        asyncio.run(go(store))
