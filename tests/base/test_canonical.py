"""Canonical JSON: one value, one text; frozen vectors that the code under test never wrote."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from silas.canonical import (
    canonical_bytes,
    canonical_json,
    canonical_text,
    digest,
    read_json,
    sha256_hex,
)

VECTORS: dict[str, list[dict[str, str]]] = json.loads(
    (Path(__file__).parents[1] / "vectors" / "canonical.json").read_text(encoding="ascii")
)

json_values: st.SearchStrategy[Any] = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


@pytest.mark.parametrize("vector", VECTORS["canonical"], ids=lambda v: v["name"])
def test_the_frozen_vectors(vector: dict[str, str]) -> None:
    for value in (read_json(vector["json"]), json.loads(vector["json"])):
        assert canonical_json(value) == vector["canonical"]
        assert canonical_bytes(value) == vector["canonical"].encode("ascii")
        assert digest(value) == vector["sha256"]
    assert canonical_json(read_json(vector["canonical"])) == vector["canonical"]


@pytest.mark.parametrize("vector", VECTORS["refused"], ids=lambda v: v["name"])
def test_what_two_readers_could_read_differently_is_not_read(vector: dict[str, str]) -> None:
    for text in (vector["json"], vector["json"].encode()):
        with pytest.raises(ValueError, match=r"."):
            read_json(text)


NO_TEXT = [
    '{"a":1}'.encode("utf-16"),
    '{"a":1}'.encode("utf-32-le"),
    b'"\xff"',
    b'"\xc0\xaf"',
    b'"\xed\xa0\xbd"',
]


@pytest.mark.parametrize("data", NO_TEXT, ids=repr)
def test_bytes_are_utf_8_and_never_guessed(data: bytes) -> None:
    with pytest.raises(ValueError, match=r"."):
        read_json(data)


@pytest.mark.parametrize("text", ["[" * 200_000, '{"a":' * 200_000, "9" * 10_000])
def test_what_would_exhaust_the_reader_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        read_json(text)


def test_what_would_exhaust_the_writer_is_refused() -> None:
    value: list[Any] = []
    for _ in range(200_000):
        value = [value]
    with pytest.raises(ValueError, match="nested too deeply"):
        canonical_bytes(value)


@given(json_values)
def test_canonical_json_reads_back_as_the_same_value(value: Any) -> None:
    text = canonical_json(value)
    assert json.loads(text) == value
    assert read_json(text) == value
    assert canonical_json(read_json(text)) == text


@given(st.dictionaries(st.text(), st.integers(), max_size=6))
def test_key_order_does_not_matter(value: dict[str, int]) -> None:
    assert canonical_bytes(dict(reversed(value.items()))) == canonical_bytes(value)


@given(json_values)
def test_the_encoder_makes_the_normative_bytes(value: Any) -> None:
    normative = json.dumps(value, sort_keys=True, separators=(",", ":"))
    assert canonical_bytes(value) == normative.encode("utf-8")


def test_bytes_are_compact_sorted_and_ascii() -> None:
    assert canonical_bytes({"b": 1, "a": "é"}) == b'{"a":"\\u00e9","b":1}'


@pytest.mark.parametrize("bad", [float("nan"), float("inf"), -float("inf")])
def test_numbers_without_json_are_refused(bad: float) -> None:
    with pytest.raises(ValueError, match="not JSON compliant"):
        canonical_bytes({"x": bad})


@pytest.mark.parametrize("bad", [b"bytes", {1, 2}, object(), {"x": b""}, {("a",): 1}, 1j])
def test_what_is_not_json_is_refused(bad: Any) -> None:
    with pytest.raises(TypeError):
        canonical_bytes(bad)


def test_digests_are_plain_sha256() -> None:
    assert sha256_hex(b"abc") == (
        "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
    )
    assert digest({}) == sha256_hex(b"{}")


@given(st.text(st.characters(exclude_categories=())))
def test_text_written_alone_is_what_canonical_json_makes_of_it(text: str) -> None:
    assert canonical_text(text) == canonical_json(text)
