import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from silas.canonical import canonical_bytes, canonical_json, canonical_text, digest, sha256_hex

json_values: st.SearchStrategy[Any] = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


@given(json_values)
def test_canonical_json_reads_back_as_the_same_value(value: Any) -> None:
    assert json.loads(canonical_json(value)) == value


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


def test_digests_are_plain_sha256() -> None:
    assert sha256_hex(b"abc") == (
        "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
    )
    assert digest({}) == sha256_hex(b"{}")


@given(st.text(st.characters(exclude_categories=())))
def test_text_written_alone_is_what_canonical_json_makes_of_it(text: str) -> None:
    assert canonical_text(text) == canonical_json(text)
