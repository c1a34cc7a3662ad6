"""What makes vectors of texts: a server, a model on this machine, or nothing (spec 6.2)."""

import asyncio
import json
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

import httpx
import pytest
from pydantic import ValidationError

from silas.config import SilasConfig
from silas.errors import ConfigError, LLMError
from silas.memory.embed import EndpointEmbedder, FastEmbedder, NoEmbedder
from silas.memory.port import NoVectors
from silas.services.embedder import embedder_finding, embedder_of
from tests.agents.openai_server import Drop, Failure, Hang, Json, OpenAIServer, Raw, openai_server
from tests.memory.memories import a_memory
from tests.memory.rooms import a_house
from tests.support.waits import SECONDS

MINILM = Path(__file__).resolve().parents[2] / ".venv" / "minilm"


def vectors(body: Json) -> Raw:
    """Two numbers for each text: how often it says `a`, and how often `b`; in any order."""
    rows = [
        {"object": "embedding", "index": n, "embedding": [text.count("a"), text.count("b")]}
        for n, text in enumerate(body["input"])
    ]
    return Raw(json.dumps({"object": "list", "data": rows[::-1], "model": body["model"]}))


@pytest.fixture
async def server() -> AsyncGenerator[OpenAIServer]:
    async with openai_server([vectors] * 20) as made:
        yield made


def endpoint(server: OpenAIServer, key: str = "", dim: int = 2) -> EndpointEmbedder:
    return EndpointEmbedder(server.base_url, "letters", dim, key, 2.0)


# a server -----------------------------------------------------------------------------------------
async def test_a_server_gives_one_vector_for_each_text_in_their_order(server: OpenAIServer) -> None:
    embedder = endpoint(server)
    assert await embedder.embed_batch(["aab", "bb"]) == [[2.0, 1.0], [0.0, 2.0]]
    assert await embedder.embed("a") == [1.0, 0.0]
    assert server.bodies[0] == {"model": "letters", "input": ["aab", "bb"]}
    assert server.paths[0].endswith("/embeddings")
    assert (embedder.name, embedder.dim) == ("letters:2", 2)


async def test_a_key_is_sent_only_where_one_is_named(server: OpenAIServer) -> None:
    await endpoint(server).embed("a")
    await endpoint(server, "sk-1").embed("a")
    assert "authorization" not in server.headers[0]
    assert server.headers[1]["authorization"] == "Bearer sk-1"


async def test_a_long_text_is_cut_before_it_is_sent(server: OpenAIServer) -> None:
    assert await endpoint(server).embed("a" * 100_000) == [8000.0, 0.0]


def said(data: Any) -> Raw:
    return Raw(json.dumps({"data": data}))


BAD: dict[str, tuple[Any, str]] = {
    "an error": (Failure(500), "answered 500"),
    "a redirect": (Failure(302, headers={"location": "http://127.0.0.1:1/"}), "answered 302"),
    "nothing": (Drop(), "E_LLM_CONNECTION"),
    "no JSON": (Raw("<html>"), "gave no vectors"),
    "no data": (Raw("{}"), "gave no vectors"),
    "a list": (Raw("[]"), "gave no vectors"),
    "too few": (said([]), "one vector for each text"),
    "too many": (
        said([{"index": 0, "embedding": [1, 2]}, {"index": 1, "embedding": [1, 2]}]),
        "one vector for each text",
    ),
    "another length": (said([{"index": 0, "embedding": [1, 2, 3]}]), "set `memory.embedding_dim`"),
    "no number": (said([{"index": 0, "embedding": [1, float("nan")]}]), "a number that is none"),
    "words": (said([{"index": 0, "embedding": ["x", "y"]}]), "gave no vectors"),
    "too much": (Raw(" " * 70_000), "larger than vectors are"),
    "deep": (Raw("[" * 20_000), "gave no vectors"),
}


@pytest.mark.parametrize("answer", BAD)
async def test_an_answer_that_is_none_is_one_sentence(answer: str) -> None:
    reply, words = BAD[answer]
    async with openai_server([reply]) as server:
        with pytest.raises(LLMError) as error:
            await endpoint(server).embed("a")
    assert words in str(error.value)
    assert "\n" not in str(error.value)
    assert len(server.bodies) == 1


async def test_a_server_that_does_not_answer_is_not_waited_for() -> None:
    assert httpx  # imported before, so that the wait below is not spent on it
    async with openai_server([Hang()]) as server, asyncio.timeout(SECONDS):
        embedder = EndpointEmbedder(server.base_url, "m", 2, "", 0.5)
        with pytest.raises(LLMError, match=r"within 0.5 seconds|timed out"):
            await embedder.embed("a")
        await server.gone.wait()


async def test_a_configured_server_finds_what_no_word_finds(
    server: OpenAIServer, tmp_path: Path
) -> None:
    settings: dict[str, Any] = {
        "embedder": "endpoint",
        "embedding_base_url": server.base_url,
        "embedding_model": "letters",
        "embedding_dim": 2,
    }
    with a_house(tmp_path, **settings) as house:
        await house.rooms.store.store_many([a_memory("x", "aaa"), a_memory("y", "bbb")])
        assert await house.rooms.retriever.recall("aaaaa", "owner", 2) == []
        done = await house.rooms.consolidator.run_once()
        assert done["reembedded"] == 2
        found = await house.rooms.retriever.recall("aaaaa", "owner", 2)
        assert found[0].item.memory_id == "x"


# what is configured -------------------------------------------------------------------------------
def configured(tmp_path: Path, **memory: Any) -> SilasConfig:
    return SilasConfig.model_validate({"data_dir": tmp_path, "memory": memory})


async def test_unless_configured_nothing_makes_vectors(tmp_path: Path) -> None:
    assert isinstance(embedder_of(configured(tmp_path)), NoEmbedder)
    assert embedder_finding(configured(tmp_path))[1:] == (
        True,
        "by words; set `memory.embedder` to find by meaning, too",
    )
    with a_house(tmp_path) as house:
        assert isinstance(house.rooms.vectors, NoVectors)


@pytest.mark.parametrize("url", ["", "ftp://somewhere", "somewhere:80"])
def test_an_endpoint_needs_an_address(tmp_path: Path, url: str) -> None:
    with pytest.raises(ValidationError, match="embedding_base_url"):
        configured(tmp_path, embedder="endpoint", embedding_base_url=url)


def test_a_key_that_is_named_and_not_there_is_one_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = configured(
        tmp_path,
        embedder="endpoint",
        embedding_base_url="http://127.0.0.1:1/v1",
        embedding_api_key_env="EMBED_KEY",
    )
    monkeypatch.delenv("EMBED_KEY", raising=False)
    with pytest.raises(ConfigError, match="export EMBED_KEY"):
        embedder_of(config)
    assert embedder_finding(config)[1] is False
    monkeypatch.setenv("EMBED_KEY", "sk")
    assert embedder_finding(config)[1:] == (
        True,
        "by words and by meaning: all-MiniLM-L6-v2, http://127.0.0.1:1/v1",
    )


@pytest.mark.parametrize(
    ("embedder", "missing"), [("endpoint", "numpy"), ("fastembed", "fastembed")]
)
def test_a_package_that_is_missing_is_one_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, embedder: str, missing: str
) -> None:
    from silas.services import embedder as room

    def spec(name: str) -> object | None:
        return None if name == missing else object()

    monkeypatch.setattr(room, "find_spec", spec)
    config = configured(tmp_path, embedder=embedder, embedding_base_url="http://127.0.0.1:1/v1")
    part, well, words = embedder_finding(config)
    assert (part, well) == ("memory search", False)
    assert f"needs {missing}, which is not installed" in words
    assert "pip install 'silas[vector]'" in words


def test_a_path_is_meant_from_the_data_directory(tmp_path: Path) -> None:
    config = configured(tmp_path, embedder="fastembed", embedding_path="minilm")
    assert config.memory.embedding_path == tmp_path / "minilm"


# a model on this machine: these need `make embeddings` --------------------------------------------
@pytest.fixture
def fastembed() -> None:
    pytest.importorskip("fastembed", reason="`make embeddings` installs it")
    if not (MINILM / "model.onnx").is_file():
        pytest.skip("`make embeddings` makes the model")


def minilm(tmp_path: Path, path: Path | None = MINILM, **changed: Any) -> FastEmbedder:
    options: dict[str, Any] = {"model": "all-MiniLM-L6-v2", "dim": 384, **changed}
    return FastEmbedder(path=path, cache=tmp_path / "models", download=False, **options)


@pytest.mark.usefixtures("fastembed")
async def test_sentences_that_mean_alike_are_near_where_the_model_is_installed(
    tmp_path: Path,
) -> None:
    made = await minilm(tmp_path).embed_batch(
        [
            "A man is eating food.",
            "A man is eating a piece of bread.",
            "The girl is carrying a baby.",
            "A monkey is playing drums.",
        ]
    )

    def cosine(one: int, other: int) -> float:
        return sum(a * b for a, b in zip(made[one], made[other], strict=True))

    # what its makers publish for these sentences is 0.7553
    assert cosine(0, 1) == pytest.approx(0.7553, abs=0.001)
    assert cosine(0, 2) < 0.1
    assert cosine(0, 3) < 0.1
    assert [len(vector) for vector in made] == [384] * 4


@pytest.mark.usefixtures("fastembed")
async def test_a_question_finds_what_answers_it_where_the_model_is_installed(
    tmp_path: Path,
) -> None:
    with a_house(tmp_path, embedder="fastembed", embedding_path=MINILM) as house:
        await house.rooms.store.store_many(
            [
                a_memory("pet", "Bruno the labrador sleeps in the kitchen."),
                a_memory("food", "Anna is allergic to peanuts."),
                a_memory("trip", "The flight to Lisbon leaves at seven."),
            ]
        )
        assert (await house.rooms.consolidator.run_once())["reembedded"] == 3
        for question, name in (
            ("what kind of dog do we have", "pet"),
            ("which snacks are dangerous for her", "food"),
            ("when do we travel to Portugal", "trip"),
        ):
            near = await house.rooms.vectors.search("owner", question, 3)
            assert near[0][0] == name


@pytest.mark.usefixtures("fastembed")
@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"path": None}, "name its directory in `memory.embedding_path`, or allow"),
        ({"path": Path("/nowhere")}, "/nowhere has no model.onnx"),
        ({"model": "no-such-model"}, "knows no model 'no-such-model'"),
    ],
    ids=["not downloaded", "no directory", "unknown"],
)
def test_a_model_that_is_not_there_is_one_sentence_and_nothing_is_fetched_where_fastembed_is(
    tmp_path: Path, change: dict[str, Any], words: str
) -> None:
    fault = minilm(tmp_path, **change).fault()
    assert words in fault
    assert "\n" not in fault


@pytest.mark.usefixtures("fastembed")
async def test_a_wrong_length_is_one_sentence_where_the_model_is_installed(tmp_path: Path) -> None:
    with pytest.raises(LLMError, match="makes vectors of 384 numbers"):
        await minilm(tmp_path, dim=512).embed("a")


@pytest.mark.usefixtures("fastembed")
def test_a_damaged_model_is_one_sentence_where_fastembed_is(tmp_path: Path) -> None:
    broken = tmp_path / "broken"
    broken.mkdir()
    for name in ("config.json", "tokenizer.json", "tokenizer_config.json"):
        (broken / name).write_bytes((MINILM / name).read_bytes())
    (broken / "model.onnx").write_bytes(b"not a model")
    assert "cannot be read" in minilm(tmp_path, broken).fault()


@pytest.mark.usefixtures("fastembed")
def test_the_doctor_says_that_the_model_works_where_it_is_installed(tmp_path: Path) -> None:
    config = configured(tmp_path, embedder="fastembed", embedding_path=str(MINILM))
    assert embedder_finding(config) == (
        "memory search",
        True,
        "by words and by meaning: all-MiniLM-L6-v2, on this machine",
    )
